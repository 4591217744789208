"""The server for a browser on this computer answers nobody else, and bounds what it takes."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from wiregen.loopback import MOST_BODY, Loopback, Reply, Request

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
    connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
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
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as line:
            line.sendall(
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nOrigin: {origin}\r\nContent-Length: 1000\r\n\r\n".encode()
            )
            assert line.recv(64).startswith(b"HTTP/1.0 40")
    assert asked == []


def test_as_many_as_there_is_room_for_are_answered_at_once() -> None:
    gate = threading.Event()

    def slow(request: Request) -> Reply:
        gate.wait(10)
        return Reply(body=b"done")

    with Loopback(slow, token="secret") as running:
        lines = [socket.create_connection(("127.0.0.1", running.port), timeout=10) for _ in range(20)]
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
