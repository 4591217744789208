"""An HTTP server for a browser on the same computer, and for no other client.

Invariant: a request is answered only after four checks. The address is the loopback; `Host` is this server's
own, as a foreign name may resolve to it; an `Origin` is this server's own; the path begins with a secret
token of the printed URL. A request arrives as a whole within `_PATIENCE`. The bytes before these checks are
bounded, and so are the connections that wait for them.
"""

from __future__ import annotations

import io
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self, TypeAlias
from urllib.parse import unquote

__all__ = ["MOST_BODY", "Answer", "Loopback", "Reply", "Request"]

MOST_BODY: Final = 1 << 20
"""The largest body of a request, in bytes."""
_MOST_AT_ONCE: Final = 16
_MOST_WAITING: Final = 64
"""Connections whose request has not arrived yet; one more closes the oldest of them."""
_MOST_HEAD: Final = 1 << 15
"""The largest request line with its headers, in bytes."""
_PATIENCE: Final = 10.0
"""Seconds in which a whole request must arrive, and in which a reply must be received."""
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'"
)
_COMPILING: Final = f"{_POLICY}; script-src 'self' 'wasm-unsafe-eval'"
"""The policy of a page, or of a worker, that compiles WebAssembly."""
_HEADERS: Final = {
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
    """`kind`: the media type of the body; `location`: where a redirect leads; `compiles`: it may compile WebAssembly."""

    body: bytes
    kind: str = "text/plain; charset=utf-8"
    status: int = 200
    location: str = ""
    compiles: bool = False


Answer: TypeAlias = Callable[[Request], Reply]


class Loopback:
    """A server that runs while the context is entered; `port` 0: any free port."""

    def __init__(
        self, answer: Answer, *, port: int = 0, token: str | None = None, patience: float = _PATIENCE
    ) -> None:
        self._token = token or secrets.token_urlsafe(16)
        room = threading.BoundedSemaphore(_MOST_AT_ONCE)

        class Handler(_Handler):
            pass

        Handler.answer, Handler.token, Handler.room = staticmethod(answer), self._token, room
        Handler.timeout = patience
        self._server = _Server(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """Return the URL of the first page."""
        return f"http://127.0.0.1:{self.port}/{self._token}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    """A server that bounds the connections which have not passed the checks: it closes the oldest."""

    daemon_threads = True
    request_queue_size = 2 * _MOST_WAITING

    def __init__(self, *arguments: Any) -> None:
        self._waiting: dict[socket.socket, None] = {}
        self._lock = threading.Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: object) -> None:
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING:
                oldest = next(iter(self._waiting))
                del self._waiting[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            self._waiting[request] = None
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.note_arrival(request)
        super().shutdown_request(request)

    def note_arrival(self, request: socket.socket) -> None:
        """Remove a connection from the waiting ones: its request passed the checks, or it ended."""
        with self._lock:
            self._waiting.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the traceback of an error of the server; a closed tab (OSError) is not one."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Arrival(io.RawIOBase):
    """The bytes of one request: at most `budget` of them, and none after the deadline."""

    def __init__(self, line: socket.socket, seconds: float) -> None:
        self._line, self._deadline = line, time.monotonic() + seconds
        self.budget = _MOST_HEAD

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes.

        Raises:
            TimeoutError: The time or the budget of the request is used up.
        """
        seconds = self._deadline - time.monotonic()
        if seconds <= 0 or self.budget <= 0:
            raise TimeoutError("the request is too slow or too long")
        self._line.settimeout(seconds)
        n_read = self._line.recv_into(memoryview(buffer)[: self.budget])
        self.budget -= n_read
        return n_read


class _Handler(BaseHTTPRequestHandler):
    answer: Answer
    token: str
    room: threading.BoundedSemaphore
    server: _Server
    timeout = _PATIENCE
    server_version = "wiregen"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._arrival = _Arrival(self.connection, self.timeout)
        self.rfile = io.BufferedReader(self._arrival)

    def do_GET(self) -> None:
        if self._is_for_us():
            self._respond()

    do_HEAD = do_GET
    do_POST = do_GET

    def log_message(self, format: str, *arguments: object) -> None:
        """Do nothing: requests are not logged."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse bytes that are not HTTP, with the headers of every reply and without a word of the request."""
        self._refuse(int(code))

    def _body(self) -> bytes | None:
        """Return the body; None where it was refused or ended before its length."""
        lengths = self.headers.get_all("Content-Length", [])
        length = lengths[0] if len(lengths) == 1 else ""
        if not length.isascii() or not length.isdigit() or "Transfer-Encoding" in self.headers:
            self._refuse(411)
        elif len(length) > 9 or int(length) > MOST_BODY:
            self._refuse(413)
        else:
            self._arrival.budget += int(length)
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                return body
            self._refuse(400)
        return None

    def _parts(self) -> tuple[str, str]:
        """Return the token and the path below it; both empty where the path is not of this server."""
        path = self.path.partition("#")[0].partition("?")[0]
        token, _, rest = unquote(path[1:] if path.startswith("/") else "").partition("/")
        return token, rest

    def _is_for_us(self) -> bool:
        """Return whether the headers of a request are acceptable, before its body is read; else refuse it."""
        if not self._is_ours():
            self._refuse(403)
        elif not compare_digest(self._parts()[0].encode("utf-8", "replace"), self.token.encode()):
            self._refuse(404)
        else:
            self.server.note_arrival(self.connection)
            return True
        return False

    def _respond(self) -> None:
        if not self.room.acquire(blocking=False):
            self._refuse(503)
            return
        try:
            body = self._body() if self.command == "POST" else b""
            if body is not None:
                self._send(self._reply(Request(method=self.command, path=self._parts()[1], body=body)))
        finally:
            self.room.release()

    def _reply(self, request: Request) -> Reply:
        try:
            return type(self).answer(request)
        except Exception:
            self._refuse(500)
            raise

    def _is_ours(self) -> bool:
        """Return whether `Host` names this server, and `Origin` is one of its own pages or absent."""
        port = self.server.server_address[1]
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if len(hosts) != 1 or hosts[0] not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return False
        if not origins:
            return self.command != "POST"
        return origins == [f"http://{hosts[0]}"]

    def _refuse(self, status: int) -> None:
        self._send(Reply(status=status, body=f"{status}\n".encode()))
        self.close_connection = True

    def _send(self, reply: Reply) -> None:
        self.connection.settimeout(
            self.timeout
        )  # of the whole reply: `sendall` applies it to all its parts together
        self.send_response(reply.status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if reply.location:
            self.send_header("Location", reply.location)
        self.send_header("Content-Security-Policy", _COMPILING if reply.compiles else _POLICY)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
