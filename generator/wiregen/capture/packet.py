"""One packet as a capture holds it, before any header in it is believed."""

from typing import NamedTuple


class Packet(NamedTuple):
    """A captured packet; a tuple because there are millions of them (a frozen dataclass takes three times as long).

    `number` counts from 1; `time` is in seconds since 1970; `size` is the length on the wire, never below `len(data)`.
    """

    number: int
    time: float
    link_type: int
    data: bytes
    size: int
