"""The server for a browser on this computer answers nobody else, and bounds what it takes."""

from __future__ import annotations

import errno
import select
import socket
import struct
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from wiregen.site.loopback import MOST_BODY, Loopback, Reply, Request

asked: list[Request] = []


def answer(request: Request) -> Reply:
    asked.append(request)
    return Reply(body=request.body or request.path.encode())


@pytest.fixture
def server() -> Iterator[Loopback]:
    asked.clear()
    with Loopback(answer, token="secret") as running:
        yield running


def ask(
    server: Loopback,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    response.data = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def test_who_has_the_address_is_answered(server: Loopback) -> None:
    response = ask(server, "/secret/a/b%20c.html")
    assert (response.status, response.data) == (200, b"a/b c.html")  # type: ignore[attr-defined]
    assert server.url == f"http://127.0.0.1:{server.port}/secret/"


def test_tokens_are_made_where_none_is_given() -> None:
    one, other = Loopback(answer), Loopback(answer)
    with one, other:
        assert one.url.rsplit("/", 2)[1] != other.url.rsplit("/", 2)[1]
        assert len(one.url.rsplit("/", 2)[1]) >= 20


@pytest.mark.parametrize("path", ["/", "/index.html", "/secre/x", "/secretx/x", "/%ff/x"])
def test_without_the_token_nothing_is_there(server: Loopback, path: str) -> None:
    assert ask(server, path).status == 404
    assert asked == []


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Host": "evil.example"}, id="a foreign name that leads here"),
        pytest.param({"Host": "127.0.0.1"}, id="another port"),
        pytest.param({"Origin": "https://evil.example"}, id="a page of another site"),
        pytest.param({"Origin": "null"}, id="a page of no site"),
    ],
)
def test_pages_of_others_are_refused(server: Loopback, headers: dict[str, str]) -> None:
    assert ask(server, "/secret/x", headers=headers).status == 403
    assert asked == []


def test_what_is_posted_says_where_it_comes_from(server: Loopback) -> None:
    assert ask(server, "/secret/x", "POST", b"hello").status == 403
    own = f"http://127.0.0.1:{server.port}"
    response = ask(server, "/secret/x", "POST", b"hello", {"Origin": own})
    assert (response.status, response.data) == (200, b"hello")  # type: ignore[attr-defined]


def test_long_bodies_are_refused_before_they_are_read(server: Loopback) -> None:
    own = f"http://127.0.0.1:{server.port}"
    for length in (str(MOST_BODY + 1), "9" * 30):
        assert ask(server, "/secret/x", "POST", b"", {"Origin": own, "Content-Length": length}).status == 413
    assert ask(server, "/secret/x", "POST", b"", {"Origin": own, "Content-Length": "-1"}).status == 411
    assert asked == []


def test_who_may_not_ask_is_refused_before_a_body_is_awaited(server: Loopback) -> None:
    for path, origin in (
        ("/wrong/x", f"http://127.0.0.1:{server.port}"),
        ("/secret/x", "https://evil.example"),
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
            line.sendall(
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nOrigin: {origin}\r\nContent-Length: 1000\r\n\r\n".encode()
            )
            assert line.recv(64).startswith(b"HTTP/1.0 40")
    assert asked == []


def test_as_many_as_there_is_room_for_are_answered_at_once() -> None:
    gate = threading.Event()

    def slow(request: Request) -> Reply:
        gate.wait(60)
        return Reply(body=b"done")

    with Loopback(slow, token="secret") as running:
        lines = [socket.create_connection(("127.0.0.1", running.port), timeout=60) for _ in range(20)]
        for line in lines:
            line.sendall(f"GET /secret/x HTTP/1.0\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
        early, _, _ = select.select(lines, [], [], 8)
        refused = [line.recv(64).startswith(b"HTTP/1.0 503") for line in early]
        gate.set()
        for line in lines:
            line.close()
    assert refused and all(refused)


def test_headers_keep_the_page_to_itself(server: Loopback) -> None:
    response = ask(server, "/secret/x")
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'self'") and "frame-ancestors 'none'" in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "Python" not in response.headers["Server"]


def test_it_listens_on_the_loopback_only(server: Loopback) -> None:
    others = {str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        if address.startswith("127."):
            continue
        with pytest.raises(OSError):
            socket.create_connection((address, server.port), timeout=1).close()
    assert server._server.server_address[0] == "127.0.0.1"


# ---- malformed requests


def spoken(server: Loopback, request: bytes, *, is_ended: bool = False) -> bytes:
    """Send bytes, and return all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
        received = b""
        try:
            line.sendall(request)
            if is_ended:
                line.shutdown(socket.SHUT_WR)
            while data := line.recv(1 << 16):
                received += data
        except OSError as error:  # it closed while bytes of the request were still on their way
            if error.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise
        return received


def own_headers(server: Loopback) -> bytes:
    host = f"127.0.0.1:{server.port}"
    return f"Host: {host}\r\nOrigin: http://{host}\r\n".encode()


TARGETS = [
    b"http://[x/", b"//[x/secret/", b"http://[::1]/secret/x", b"*", b"secret/x", b"%", b"/%", b"/%00/x", b"/\xff/x", b"/%ED%A0%80/x", b"/a;b?c#d",
    b"/?/secret/x", b"/#/secret/x", b"/..//secret/x", b"\x00", b"/" + b"a" * 20_000,
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: repr(target[:20]))
@pytest.mark.parametrize("method", [b"GET", b"POST", b"HEAD"])
def test_a_malformed_address_is_refused_without_a_traceback(
    server: Loopback, method: bytes, target: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    received = spoken(server, method + b" " + target + b" HTTP/1.1\r\n" + own_headers(server) + b"\r\n")
    assert b" 40" in received[:16] or b" 41" in received[:16]
    assert asked == []
    assert capfd.readouterr().err == ""


LINES = {
    "nothing": b"\r\n",
    "one word": b"GET\r\n\r\n",
    "no such version": b"GET / HTTP/9.9\r\n\r\n",
    "a version that is no number": b"GET / HTTP/1.\xb2\r\n\r\n",
    "a huge version": b"GET / HTTP/" + b"9" * 5000 + b".1\r\n\r\n",
    "a method nobody knows": b"BREW /secret/x HTTP/1.1\r\n\r\n",
    "not HTTP": bytes(range(256)) + b"\r\n\r\n",
    "TLS": bytes.fromhex("16030100a5010000a10303") + b"\n\n",
    "a long line": b"GET /" + b"a" * 100_000,
    "a header without a name": b"GET /secret/x HTTP/1.1\r\n: x\r\n\r\n",
    "a folded header": b"GET /secret/x HTTP/1.1\r\nHost:\r\n 127.0.0.1\r\n\r\n",
    "many headers": b"GET /secret/x HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    "headers of a megabyte": b"GET /secret/x HTTP/1.1\r\n"
    + (b"a: " + b"b" * 20_000 + b"\r\n") * 50
    + b"\r\n",
    "a header of NUL": b"GET /secret/x HTTP/1.1\r\nHost: \x00\r\n\r\n",
    "a header that is no text": b"GET /secret/x HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    "HTTP 0.9": b"GET /secret/x\r\n\r\n",
}


@pytest.mark.parametrize("request_", LINES.values(), ids=LINES.keys())
def test_what_is_no_request_is_refused_without_a_traceback(
    server: Loopback, request_: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    received = spoken(server, request_, is_ended=True)
    assert b" 200 " not in received[:20]
    assert b"<" not in received
    assert asked == []
    assert capfd.readouterr().err == ""
    assert ask(server, "/secret/x").status == 200


@pytest.mark.parametrize("header", [b"Host", b"Origin"])
def test_a_header_that_decides_is_there_once(server: Loopback, header: bytes) -> None:
    more = header + b": " + (b"evil.example" if header == b"Host" else b"http://evil.example") + b"\r\n"
    received = spoken(server, b"GET /secret/x HTTP/1.1\r\n" + own_headers(server) + more + b"\r\n")
    assert b" 403 " in received[:20]
    assert asked == []


def test_a_header_beyond_the_bound_is_not_left_out(server: Loopback) -> None:
    """A foreign Origin after more bytes than are read is not taken for none."""
    host = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    filler = b"X: " + b"x" * 16_000 + b"\r\n"
    received = spoken(
        server, b"GET /secret/x HTTP/1.1\r\n" + host + filler * 4 + b"Origin: http://evil.example\r\n\r\n"
    )
    assert b" 200 " not in received[:20]
    assert asked == []


BODIES = {
    "none": (b"", b"", b"411"),
    "no number": (b"Content-Length: x\r\n", b"ab", b"411"),
    "below zero": (b"Content-Length: -2\r\n", b"ab", b"411"),
    "other digits": ("Content-Length: \u00b2\r\n".encode("latin-1"), b"ab", b"411"),
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3\r\n", b"abc", b"411"),
    "chunks": (b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", b"2\r\nab\r\n0\r\n\r\n", b"411"),
    "too long": (b"Content-Length: 1048577\r\n", b"", b"413"),
    "shorter than it says": (b"Content-Length: 10\r\n", b"ab", b"400"),
}


@pytest.mark.parametrize(("headers", "body", "status"), BODIES.values(), ids=BODIES.keys())
def test_a_body_of_a_wrong_length_is_refused(
    server: Loopback, headers: bytes, body: bytes, status: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    head = b"POST /secret/x HTTP/1.1\r\n" + own_headers(server) + headers + b"\r\n"
    assert spoken(server, head + body, is_ended=True)[9:12] == status
    assert asked == []
    assert capfd.readouterr().err == ""


def test_a_body_ends_where_its_length_says(server: Loopback) -> None:
    head = b"POST /secret/x HTTP/1.1\r\n" + own_headers(server) + b"Content-Length: 2\r\n\r\n"
    assert spoken(server, head + b"abGET /secret/y HTTP/1.1\r\n\r\n").endswith(b"ab")
    assert [request.body for request in asked] == [b"ab"]


def test_a_largest_body_is_read_whole(server: Loopback) -> None:
    body = b"x" * MOST_BODY
    own = {"Origin": f"http://127.0.0.1:{server.port}"}
    assert ask(server, "/secret/x", "POST", body, own).data == body  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_body", [False, True], ids=["head", "body"])
def test_the_time_of_a_request_is_for_all_of_it(is_body: bool) -> None:
    """Bytes that come one by one, each soon enough, do not hold a connection longer than one request may take."""
    with Loopback(answer, token="secret", patience=1.0) as running:
        head = b"POST /secret/x HTTP/1.1\r\n" + own_headers(running) + b"Content-Length: 100000\r\n\r\n"
        with socket.create_connection(("127.0.0.1", running.port), timeout=60) as line:
            line.sendall(head if is_body else b"GET /secret/x HTTP/1.1\r\nX: ")
            n_sent = 0
            ended = False
            while not ended and n_sent < 600:
                try:
                    line.sendall(b"x")
                    n_sent += 1
                    ended = bool(select.select([line], [], [], 0.1)[0])
                except ConnectionError:
                    ended = True
            assert ended


def test_connections_that_say_nothing_keep_nobody_out(capfd: pytest.CaptureFixture[str]) -> None:
    with Loopback(answer, token="secret", patience=120.0) as running:
        lines = [socket.create_connection(("127.0.0.1", running.port), timeout=60) for _ in range(200)]
        lines[-1].sendall(b"GET /secr")
        assert ask(running, "/secret/x").status == 200
        closed = 0
        for line in lines[:100]:
            closed += line.recv(1) == b""
        assert closed == 100
        assert threading.active_count() < 100
        for line in lines:
            line.close()
    assert capfd.readouterr().err == ""


def test_a_tab_that_is_closed_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    def long(request: Request) -> Reply:
        return Reply(body=b"x" * (64 << 20))

    with Loopback(long, token="secret", patience=30.0) as running:
        for _ in range(3):
            line = socket.create_connection(("127.0.0.1", running.port), timeout=60)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line.sendall(b"GET /secret/x HTTP/1.1\r\n" + own_headers(running) + b"\r\n")
            line.recv(10)
            line.close()  # at once, by a reset
        for thread in threading.enumerate():
            if "process_request" in thread.name:
                thread.join(60)
    assert capfd.readouterr().err == ""


def test_an_answer_that_fails_is_told_in_the_terminal_and_as_a_status(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fail(request: Request) -> Reply:
        raise KeyError("ours")

    with Loopback(fail, token="secret") as running:
        assert ask(running, "/secret/x").status == 500
        for thread in threading.enumerate():  # the answer comes before the line in the terminal
            if "process_request" in thread.name:
                thread.join(60)
    assert "KeyError" in capfd.readouterr().err
