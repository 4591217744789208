"""The events in the streams of a capture: pieces of bytes, gaps between them, and ends."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One end of a flow."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One TCP connection; `generation` counts from 1 those of the same two ends.

    The opener sent the SYN. Without a SYN (`saw_syn` False) it is the end whose port is not the declared one
    (`by_port`), or else the first end that was seen to send data, which is a guess. `name` has the ends, opener first,
    and the generation from the second on; it is made once, because every event is looked up by it.
    """

    opener: Endpoint
    other: Endpoint
    generation: int
    saw_syn: bool
    by_port: bool = False
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        suffix = f"#{self.generation}" if self.generation > 1 else ""
        object.__setattr__(self, "name", f"{self.opener}-{self.other}{suffix}")


class FlowBytes(NamedTuple):
    """The next bytes of one direction; a tuple for the same reason as a packet.

    `time` is that of the packet that made them deliverable; `offset` counts from the direction's first byte.
    """

    flow: Flow
    from_opener: bool
    time: float
    offset: int
    data: bytes


class FlowRun(NamedTuple):
    """The next bytes of one direction from several packets, each with one of `pieces` and of `times`; a tuple as `FlowBytes` is.

    `offset` counts from the direction's first byte.
    """

    flow: Flow
    from_opener: bool
    offset: int
    pieces: list[bytes]
    times: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Bytes of one direction that the capture lacks; the stream continues after them."""

    flow: Flow
    from_opener: bool
    time: float
    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The end of a direction (`fin`) or of the flow.

    `from_opener`: whether the opener sent the FIN or RST. It is None for `end`, which has one of three
    reasons: the capture ends, the same ends open a new flow, or too many flows are open.
    """

    flow: Flow
    from_opener: bool | None
    time: float
    reason: Literal["fin", "rst", "end"]


Event = FlowBytes | Gap | Closed
