"""The connections of a capture, both directions of each in the order of time."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from wiregen.formats.capture import CaptureError, Closed, Flow, FlowBytes, Gap, read_streams
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, name_of
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.role_detection import opener_is_first

if TYPE_CHECKING:
    from wiregen.formats.capture import Event, EventSource

__all__ = ["OpenConnection", "conversations", "decode_capture"]

_MOST_SHOWN = 10
"""The most ports that a failure names."""
_TLS_RECORD: Final = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
"""The first bytes of a TLS record: its type, and a version from SSL 3.0 to TLS 1.3."""
_TLS_HELP: Final = (
    "record it with `wiregen proxy --tls`, or decrypt the capture with a key log (docs/guide/recipes.md)"
)


class _TlsNotice:
    """Tells once for a capture that a connection is TLS, whose bytes no protocol decodes."""

    def __init__(self) -> None:
        self._is_told = False

    def judge(self, first: Decoded, event: "Event") -> None:
        """Tell it if the first item of a direction begins as TLS does, and has no known message."""
        head = event.data if isinstance(event, FlowBytes) and event.offset == 0 else first.raw
        if self._is_told or not _TLS_RECORD.match(head):
            return
        if isinstance(first.outcome, DecodeError) or name_of(first) == "Unknown":
            self._is_told = True
            tell(f"warning: {event.flow.name} is TLS, and its bytes are encrypted")
            tell(f"  = help: {_TLS_HELP}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConnection:
    """A connection by its directions: the opener's and the other one; finished directions are removed."""

    directions: dict[bool, Direction]
    context: Context
    tls: _TlsNotice

    def take(self, event: "Event") -> Iterator[Decoded]:
        """Yield the frames and errors that an event completes."""
        flow, time = event.flow.name, event.time
        for decoded in _decoded(event, self.directions):
            if decoded.offset == 0:
                self.tls.judge(decoded, event)
            yield decoded.seen(flow, time)


def decode_capture(
    path: Path,
    settings: DecodingSettings,
    port: int | None,
    ports: tuple[int, ...],
    advance: Callable[[int], None],
    role: str | None = None,
    growing: BinaryIO | None = None,
) -> Iterator[Decoded]:
    """Yield the frames and errors in the connections of a capture; `ports` are those that the protocol declares.

    `role`: only those that this role sends. `growing`: the bytes of a capture that is still being written.
    """
    for event, conversation in conversations(path, settings, port, ports, advance, growing):
        for decoded in conversation.take(event):
            if role in (None, decoded.role):
                yield decoded


def conversations(
    path: Path,
    settings: DecodingSettings,
    port: int | None,
    ports: tuple[int, ...],
    advance: Callable[[int], None],
    growing: BinaryIO | None = None,
) -> "Iterator[tuple[Event, OpenConnection]]":
    """Yield each event of a capture, in the order of time, with the conversation that it belongs to.

    Raises:
        Failure: The capture cannot be read, or no connection has the requested port.
    """
    streams, is_any = read_streams(growing or path, port=port), False
    live: dict[str, OpenConnection] = {}
    orient = _Orientation(path, settings, port, ports)
    try:
        for event in streams:
            is_any = True
            conversation = live.get(event.flow.name)
            if conversation is None:
                if isinstance(event, Closed):
                    continue
                conversation = live[event.flow.name] = orient.open(event.flow)
            advance(len(event.data) if isinstance(event, FlowBytes) else 0)
            yield event, conversation
            if not conversation.directions:
                del live[event.flow.name]
        if port is not None and not is_any:
            raise _nobody(path, port)
    except CaptureError as error:
        raise Failure(
            str(error), "with --no-pcap, the bytes are decoded as one direction of a connection"
        ) from None
    _tell_issues(streams)


def _nobody(path: Path, port: int) -> Failure:
    """Return the failure that no connection has a port, with the ports of the opened ends."""
    ports = sorted({event.flow.other.port for event in read_streams(path)})
    shown = ", ".join(map(str, ports[:_MOST_SHOWN])) + (" and more" if len(ports) > _MOST_SHOWN else "")
    there = f"the capture has connections to {shown}" if ports else "the capture has no TCP connections"
    return Failure(f"no connection in the capture has port {port}", there)


class _Orientation:
    """Decides which end of a connection has which role, and reports the choice if it is not certain."""

    def __init__(
        self, path: Path, settings: DecodingSettings, port: int | None, ports: tuple[int, ...]
    ) -> None:
        self._path = path
        self._settings = settings
        self._port = port
        self._ports = ports
        self._tls = _TlsNotice()

    def open(self, flow: Flow) -> OpenConnection:
        roles = self._settings.schema.roles
        first, last = roles[0], roles[-1]
        if not self._is_opener_first(flow, first):
            first, last = last, first
        context = Context(self._settings.schema, limits=dict(self._settings.limits))
        directions = {
            True: Direction(self._settings, first, context),
            False: Direction(self._settings, last, context),
        }
        return OpenConnection(directions=directions, context=context, tls=self._tls)

    def _is_opener_first(self, flow: Flow, first: str) -> bool:
        if flow.saw_syn:
            return True
        opener_has, other_has = flow.opener.port in self._ports, flow.other.port in self._ports
        if flow.by_port or opener_has != other_has:
            is_opener = flow.by_port or other_has
            how = f"by port {(flow.other if is_opener else flow.opener).port}"
        else:
            is_opener, how = opener_is_first(self._path, self._settings, self._port, flow)
        tell(
            f"{flow.name}: no SYN was captured; {how}, {flow.opener if is_opener else flow.other} is the {first}"
        )
        return is_opener


def _decoded(event: "Event", directions: dict[bool, Direction]) -> Iterable[Decoded]:
    match event:
        case FlowBytes() | Gap() if event.from_opener not in directions:
            return ()
        case FlowBytes():
            return directions[event.from_opener].feed(event.data)
        case Gap():
            return directions[event.from_opener].gap(event.size)
        case Closed(reason="fin", from_opener=bool() as from_opener):
            finished = directions.pop(from_opener, None)
            return () if finished is None else finished.finish()
        case _:
            return _finished(directions)


def _finished(directions: dict[bool, Direction]) -> Iterator[Decoded]:
    for side in tuple(directions):
        yield from directions.pop(side).finish()


def _tell_issues(streams: "EventSource") -> None:
    for issue in streams.issues:
        tell(f"{'note' if issue.is_harmless else 'warning'}: {issue}")
