"""`wiregen replay`: checks both directions of a recorded connection against the sessions of any .wire file."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import tell

if TYPE_CHECKING:
    from wiregen.runtime.sessions.table import Program
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.input import Input
    from wiregen.tools.cli.replay_sinks import State
    from wiregen.tools.cli.replayed import Replayed, Watch

__all__ = ["verb"]


@click.command("replay")
@shared_options.protocol
@click.argument("capture")
@click.argument("second", required=False)
@shared_options.capture_port
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@shared_options.strict
@click.option(
    "--on-error",
    type=click.Choice(["close", "continue"]),
    help="Whether a connection closes after an error. Default: as the protocol declares.",
)
@shared_options.variant
@shared_options.limits
@shared_options.session_options
def verb(
    protocol: str,
    capture: str,
    second: str | None,
    port: int | None,
    format_: str,
    strict: bool,
    on_error: str | None,
    variant: str | None,
    limits: tuple[str, ...],
    options: tuple[str, ...],
) -> int:
    """Check a recorded connection against the sessions of PROTOCOL (a name, or a path to a .wire file).

    CAPTURE is a capture (pcap or pcapng, also .gz, .xz, .zst). Or it contains the bytes of the first role, and SECOND those of the other:
    files have no times, so all bytes of the first role are replayed first. Exits with 1 if a rule was broken, or any bytes could not
    be decoded.

    If a connection closes after an error (`on error close`), later messages of the sender are listed, but the
    sessions ignore them, because the receiver has not read them.
    """
    from wiregen.runtime.sessions.table import Program
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.input import open_bytes, refuse_stdin_twice
    from wiregen.tools.cli.protocol_options import limits_of, options_of, variant_of
    from wiregen.tools.cli.protocols import decodable

    refuse_stdin_twice(protocol, capture, second)
    found = decodable(protocol, capture, second)
    schema = found.schema
    if not schema.sessions:
        raise Failure(
            f"{schema.name} has no sessions", "use `wiregen decode` to see the messages of a capture"
        )
    settings = DecodingSettings(
        schema=schema,
        variant=variant_of(schema, variant),
        limits=limits_of(schema, limits),
        is_strict=strict,
        compiled=found.compiled,
    )
    closes = (on_error or schema.on_error) == "close"
    replay = _Replay(Program(schema), settings, options_of(schema, options), closes=closes)
    with open_bytes(capture, is_capture=False if second is not None else None) as source:
        if source.path is not None:
            return _print(lambda: replay.of_capture(source, port, found.ports), replay, format_)
        if second is None or port is not None:
            raise Failure(
                f"`{capture}` is not a capture",
                "give a capture, or two files: the bytes of the first role, then those of the other",
            )
        with open_bytes(second, is_capture=False) as other:
            return _print(lambda: replay.of_files(source, other), replay, format_)


class _Replay:
    """Replays connections, with the sessions of each connection that is not over."""

    def __init__(
        self, program: "Program", settings: "DecodingSettings", options: Mapping[str, object], *, closes: bool
    ) -> None:
        self._program = program
        self._closes = closes
        self._settings = settings
        self._options = options
        self._watches: dict[str | None, Watch] = {}
        self._left: dict[str | None, tuple[State, ...]] = {}

    def states(self) -> "dict[str | None, tuple[State, ...]]":
        """Return the last states of the instances of each connection."""
        return self._left | {flow: tuple(watch.states()) for flow, watch in self._watches.items()}

    def of_capture(self, source: "Input", port: int | None, ports: tuple[int, ...]) -> "Iterator[Replayed]":
        """Yield the replayed frames of a capture's connections, in the order of time."""
        from wiregen.tools.cli.conversations import conversations
        from wiregen.tools.cli.progress import progress

        assert source.path is not None
        with progress(source.size) as advance:
            for event, conversation in conversations(source.path, self._settings, port, ports, advance):
                watch = self._watch(event.flow.name, conversation.context, event.time)
                yield from watch.expire(event.time)
                yield from map(watch.judge, conversation.take(event))
                if not conversation.directions:
                    self._left[event.flow.name] = tuple(self._watches.pop(event.flow.name).states())

    def of_files(self, first: "Input", second: "Input") -> "Iterator[Replayed]":
        """Yield the replayed frames of two directions, all of the first one first."""
        from wiregen.runtime.stream.context import Context
        from wiregen.tools.cli.direction import Direction

        tell("files have no times: all bytes of the first role are replayed before those of the other")
        context = Context(self._settings.schema)
        watch = self._watch(None, context, 0.0)
        roles = self._settings.schema.roles
        for role, source in ((roles[0], first), (roles[-1], second)):
            direction = Direction(self._settings, role, context)
            for chunk in source.chunks:
                yield from map(watch.judge, direction.feed(chunk))
            yield from map(watch.judge, direction.finish())

    def _watch(self, flow: str | None, context: Any, now: float) -> "Watch":
        from wiregen.tools.cli.replayed import Watch

        if flow not in self._watches:
            self._watches[flow] = Watch(
                self._program,
                self._settings,
                context,
                options=self._options,
                closes=self._closes,
                flow=flow,
                now=now,
            )
        return self._watches[flow]


def _print(replayed: "Callable[[], Iterator[Replayed]]", replay: _Replay, format_: str) -> int:
    """Print a replay; return the exit code."""
    from wiregen.tools.cli.replay_sinks import ReplayTotals, replay_sink

    sink, tally = replay_sink(format_), ReplayTotals()
    for each in replayed():
        tally.add(each)
        sink.write(each)
    sink.close(tally, replay.states())
    return FINDINGS if tally.has_findings else DONE
