"""Answers to a browser on this very computer, and to nobody else.

Invariant: an answer is asked for only behind four checks: the address is the loopback, `Host` is this server's own (a foreign
name may lead here), an `Origin` is this server's own, and the path begins with a token that only who was given the URL knows.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self, TypeAlias
from urllib.parse import unquote, urlsplit

__all__ = ["MOST_BODY", "Answer", "Loopback", "Reply", "Request"]

MOST_BODY: Final = 1 << 20
"""Bytes of a request's body."""
_MOST_AT_ONCE: Final = 16
_PATIENCE: Final = 10.0
"""Seconds that a request may take to arrive."""
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`path`: below the token, decoded, without a leading slash."""

    method: str
    path: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`kind`: the media type of the body."""

    body: bytes
    kind: str = "text/plain; charset=utf-8"
    status: int = 200


Answer: TypeAlias = Callable[[Request], Reply]


class Loopback:
    """A server that answers while it is entered; `port` 0: any that is free."""

    def __init__(self, answer: Answer, *, port: int = 0, token: str | None = None) -> None:
        self._token = token or secrets.token_urlsafe(16)
        room = threading.BoundedSemaphore(_MOST_AT_ONCE)

        class Handler(_Handler):
            pass

        Handler.answer, Handler.token, Handler.room = staticmethod(answer), self._token, room
        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """Where the first page is."""
        return f"http://127.0.0.1:{self.port}/{self._token}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    answer: Answer
    token: str
    room: threading.BoundedSemaphore
    timeout = _PATIENCE
    server_version = "wiregen"
    sys_version = ""

    def do_GET(self) -> None:
        if self._is_for_us():
            self._respond(b"")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self._body() if self._is_for_us() else None
        if body is not None:
            self._respond(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: what is asked for is nobody's business."""

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or "Transfer-Encoding" in self.headers:
            self._refuse(411)
        elif len(length) > 9 or int(length) > MOST_BODY:
            self._refuse(413)
        else:
            return self.rfile.read(int(length))
        return None

    def _is_for_us(self) -> bool:
        """Tell whether a request may be looked at, before its body is read; refuse it where it may not."""
        token = unquote(urlsplit(self.path).path).removeprefix("/").partition("/")[0]
        if not self._is_ours():
            self._refuse(403)
        elif not compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            self._refuse(404)
        else:
            return True
        return False

    def _respond(self, body: bytes) -> None:
        path = unquote(urlsplit(self.path).path).removeprefix("/").partition("/")[2]
        if not self.room.acquire(blocking=False):
            self._refuse(503)
            return
        try:
            self._send(self.answer(Request(method=self.command, path=path, body=body)))
        finally:
            self.room.release()

    def _is_ours(self) -> bool:
        """Tell whether the request is meant for this server, and comes from a page of its own or from no page."""
        port = self.server.server_address[1]  # type: ignore[index]
        hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host not in hosts or (origin is None and self.command == "POST"):
            return False
        return origin in (None, f"http://{host}")

    def _refuse(self, status: int) -> None:
        self._send(Reply(status=status, body=f"{status}\n".encode()))
        self.close_connection = True

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
