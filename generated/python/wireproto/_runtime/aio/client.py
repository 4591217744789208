"""A client over asyncio: connect, return the peer, close."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Any, TypeVar

from .endpoint import Peer, Wire

__all__ = ["connected"]

P = TypeVar("P", bound=Peer[Any, Any])


@asynccontextmanager
async def connected(
    make: Callable[[float], P],
    host: str,
    port: int,
    *,
    ssl: SSLContext | None,
    server_hostname: str | None,
    timeout: float,
) -> AsyncIterator[P]:
    """Connect to a host, and close when the block is left. `make`: returns a peer, given the time.

    Raises:
        TimeoutError: The connection or the TLS handshake took longer than `timeout` seconds.
        OSError: The host does not accept connections, or TLS failed.
    """
    loop = asyncio.get_running_loop()
    peer = make(loop.time())
    async with asyncio.timeout(timeout):
        await loop.create_connection(lambda: Wire(peer), host, port, ssl=ssl, server_hostname=server_hostname)
    try:
        yield peer
    except BaseException:
        peer.abort()
        raise
    finally:
        await peer.close()
