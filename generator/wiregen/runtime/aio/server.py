"""A server over asyncio: one task a connection, their number bounded, TLS handshakes included.

Invariant: `close` ends every connection; a running handler may finish within the grace period.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from errno import ECONNABORTED, ECONNREFUSED
from ssl import CERT_REQUIRED, PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER, SSLContext, TLSVersion
from typing import Any, Generic, TypeVar

from ..codec.errors import DecodeError
from ..sessions.session_error import SessionError
from .endpoint import Peer, Wire

__all__ = ["Server", "listening", "tls_client", "tls_server"]

P = TypeVar("P", bound=Peer[Any, Any])

HANDSHAKE_WAIT = 10.0
"""Seconds for a TLS handshake."""
ACCEPT_PAUSE = 0.1
"""Seconds until the next attempt if the machine has no free sockets."""

Report = Callable[[Any, Exception], None]


class Server(Generic[P]):
    """A listening server; made by `serve`.

    Attributes:
        refused: The number of connections that were closed at once as too many.
    """

    def __init__(
        self,
        handler: Callable[[P], Awaitable[None]],
        make: Callable[[float], P],
        listener: socket.socket,
        *,
        ssl: SSLContext | None,
        max_connections: int,
        report: Report | None,
    ) -> None:
        self.refused = 0
        self._handler = handler
        self._make = make
        self._listener = listener
        self._ssl = ssl
        self._max_connections = max_connections
        self._report = report or _ignore
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._peers: set[P] = set()
        self._is_closing = False
        self._accepting = self._loop.create_task(self._accept())

    @property
    def port(self) -> int:
        """The port on which it listens."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def n_connections(self) -> int:
        """The number of connections, those within a TLS handshake included."""
        return len(self._tasks)

    async def close(self, grace: float = 10.0) -> None:
        """Stop listening, let each handler process the frames it has received, and close; after `grace`
        seconds, abort.
        """
        self._is_closing = True
        self._accepting.cancel()
        with suppress(asyncio.CancelledError):
            await self._accepting
        for peer in tuple(self._peers):
            peer.finish()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def wait_closed(self) -> None:
        """Wait until it has stopped listening."""
        with suppress(asyncio.CancelledError):
            await asyncio.shield(self._accepting)

    async def __aenter__(self) -> Server[P]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _accept(self) -> None:
        with self._listener:
            while True:
                try:
                    accepted, address = await self._loop.sock_accept(self._listener)
                except OSError as error:  # gone again before it was accepted, or no descriptor left for it
                    self._report(None, error)
                    await asyncio.sleep(ACCEPT_PAUSE)
                    continue
                if len(self._tasks) >= self._max_connections:
                    self.refused += 1
                    accepted.close()
                    self._report(None, _too_many(self._max_connections, address))
                    continue
                task = self._loop.create_task(self._admit(accepted, address))
                self._tasks.add(task)
                task.add_done_callback(self._done)

    async def _admit(self, accepted: socket.socket, address: object) -> None:
        accepted.setblocking(False)
        peer = self._make(self._loop.time())
        wait = None if self._ssl is None else HANDSHAKE_WAIT
        try:
            await self._loop.connect_accepted_socket(
                lambda: Wire(peer), accepted, ssl=self._ssl, ssl_handshake_timeout=wait
            )
        except OSError as error:
            accepted.close()
            self._report(None, _at(address, error))
            return
        self._peers.add(peer)
        try:
            if not self._is_closing:
                await self._handle(peer)
        finally:
            self._peers.discard(peer)
            await peer.close()

    async def _handle(self, peer: P) -> None:
        """Run the handler; errors of the peer and the network end this connection only."""
        try:
            await self._handler(peer)
        except (SessionError, DecodeError, OSError) as error:
            self._report(peer, error)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._loop.call_exception_handler(
                {"message": "a handler of connections failed", "exception": error, "task": task}
            )


def _at(address: object, error: OSError) -> OSError:
    """Return the error with the address of its peer, which never came about and has none of its own."""
    if error.errno is None:  # its text would be lost
        return type(error)(ECONNABORTED, str(error) or "the connection was lost", address)
    error.filename = address
    return error


def _too_many(most: int, address: object) -> OSError:
    return ConnectionRefusedError(ECONNREFUSED, f"there are {most} connections already", address)


def _ignore(_peer: object, _error: Exception) -> None:
    pass


async def listening(
    handler: Callable[[P], Awaitable[None]],
    make: Callable[[float], P],
    host: str,
    port: int,
    *,
    ssl: SSLContext | None,
    max_connections: int,
    report: Report | None,
) -> Server[P]:
    """Return a server that listens already. `make`: returns a peer, given the time.

    Raises:
        ValueError: The arguments of the peer are wrong.
        OSError: It cannot listen there.
    """
    make(0.0)  # errors in the settings are raised here, not at the first connection
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    listener.setblocking(False)
    return Server(handler, make, listener, ssl=ssl, max_connections=max_connections, report=report)


def tls_server(certificate: str, key: str, *, client_ca: str | None = None) -> SSLContext:
    """Return a context for TLS 1.2 and later from PEM files. `client_ca`: demand client certificates that it has signed."""
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.minimum_version = TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = CERT_REQUIRED
    return context


def tls_client(
    ca: str | None = None, *, certificate: str | None = None, key: str | None = None
) -> SSLContext:
    """Return a context for TLS 1.2 and later. `ca`: PEM file of trusted authorities, else the system's;
    `certificate`: our own.
    """
    context = SSLContext(PROTOCOL_TLS_CLIENT)
    context.minimum_version = TLSVersion.TLSv1_2
    if ca is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(ca)
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    return context
