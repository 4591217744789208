"""The settings of a relay, and the bounds that are the same for each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Final

from wiregen.formats.capture import Endpoint

__all__ = ["CHUNK", "CONNECTING", "RelaySettings"]

CHUNK: Final = 64 << 10
"""Bytes that are read at once; the buffers of a connection hold a few times as many."""
CONNECTING: Final = 10.0
"""Seconds for a connection, TLS included, and for a peer to take the last bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """The two sides of a relay, and its bounds.

    Attributes:
        opener, other: The role of the peers that connect, and that of the target.
        server_name: The name in the target's certificate; the default is that of the host.
        backlog: Bytes of one connection that may wait to be decoded; further ones are not.
        closes_on_error: Connections are closed after an error or a violation.
        delays: Seconds by which the bytes of a role are delayed.
    """

    listen: Endpoint
    target: Endpoint
    opener: str
    other: str
    listen_tls: SSLContext | None = None
    target_tls: SSLContext | None = None
    server_name: str | None = None
    most_connections: int = 64
    backlog: int = 8 << 20
    closes_on_error: bool = False
    delays: Mapping[str, float] = field(default_factory=dict)
