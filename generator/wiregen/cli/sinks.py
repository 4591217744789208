"""The formats of decoded messages: each takes frames and faults one by one and holds none of them."""

import sys
from collections.abc import Iterator
from typing import Any, Protocol, TextIO

from rich.text import Text

from wiregen.cli.decoded import Decoded, Settings
from wiregen.cli.talk import has_colour, is_terminal
from wiregen.inspect import (
    Branch,
    dump_fault,
    dump_frame,
    lines,
    may_hold_secret,
    plural,
    secret_names,
    tree_of_fault,
    tree_of_frame,
)
from wiregen.jsonl import LineMaker, dumps, error_line
from wiregen.runtime.errors import DecodeError
from wiregen.runtime.tree import FrameValue, Unknown

__all__ = ["Sink", "message_of", "sink"]


class Sink(Protocol):
    """Where decoded frames and faults go."""

    def write(self, decoded: Decoded) -> None: ...

    def close(self) -> None:
        """Write what ends the result; not called where decoding was broken off."""


def sink(format_: str, settings: Settings) -> Sink:
    """Return the sink of a format, writing to stdout."""
    match format_:
        case "jsonl":
            return _Jsonl(settings)
        case "json":
            return _Json(settings)
        case "tree":
            return _Tree(settings)
        case _:
            return _Hex(settings)


# ---- for programs ----


class _Jsonl:
    """A line for every frame and fault."""

    def __init__(self, settings: Settings) -> None:
        self._maker = LineMaker(settings.plan, variant=settings.variant, limits=dict(settings.limits))

    def write(self, decoded: Decoded) -> None:
        print(dumps(self.line(decoded)))

    def close(self) -> None:
        pass

    def line(self, decoded: Decoded) -> dict[str, Any]:
        time = None if decoded.time is None else round(decoded.time, 6)
        outcome, role, flow = decoded.outcome, decoded.role, decoded.flow
        if not isinstance(outcome, DecodeError):
            return self._maker.decoded(
                outcome.value, decoded.raw, offset=decoded.offset, role=role, flow=flow, time=time
            )
        line = error_line(outcome, decoded.raw, offset=decoded.offset, role=role, flow=flow, time=time)
        return line | {"size": decoded.size, "bytes_truncated": decoded.size != len(decoded.raw)}


class _Json(_Jsonl):
    """One array with the same objects."""

    _before = "["

    def write(self, decoded: Decoded) -> None:
        print(f"{self._before}\n{dumps(self.line(decoded))}", end="")
        self._before = ","

    def close(self) -> None:
        print("[]" if self._before == "[" else "\n]")


# ---- for people ----


class _Views:
    """What trees and hexdumps share: the first line of each frame, and the way to the terminal."""

    is_cropped = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._secrets = secret_names(settings.plan)
        self._page = _Page(sys.stdout, is_cropped=self.is_cropped)

    def write(self, decoded: Decoded) -> None:
        for row in self._rows(decoded):
            self._page.print(row)

    def close(self) -> None:
        pass

    def _rows(self, decoded: Decoded) -> Iterator[Text]:
        raise AssertionError("each view has its own")

    def _head(self, decoded: Decoded) -> Branch:
        sender = "" if decoded.role is None else f" from {decoded.role}"
        flow = "" if decoded.flow is None else f"{decoded.flow} at {decoded.time:.6f}"
        what = (
            f"error {decoded.outcome.code}"
            if isinstance(decoded.outcome, DecodeError)
            else message_of(decoded)
        )
        text = f"{plural(decoded.size, 'byte')}{sender}: {what}"
        style = "bold red" if isinstance(decoded.outcome, DecodeError) else "bold"
        return Branch(label=f"@{decoded.offset}", text=text, note=flow, style=style)


class _Tree(_Views):
    """A tree of values for each frame."""

    def _rows(self, decoded: Decoded) -> Iterator[Text]:
        head, outcome = self._head(decoded), decoded.outcome
        if isinstance(outcome, DecodeError):
            return lines(tree_of_fault(outcome, head, self._secrets))
        return lines(tree_of_frame(outcome, head, self._settings.plan, self._secrets))


class _Hex(_Views):
    """A hexdump of each frame."""

    is_cropped = True

    def _rows(self, decoded: Decoded) -> Iterator[Text]:
        outcome = decoded.outcome
        yield from lines(self._head(decoded))
        if not isinstance(outcome, DecodeError):
            yield from dump_frame(decoded.raw, outcome, decoded.offset, self._secrets)
            return
        message = (outcome.partial or {}).get("message")
        is_secret = may_hold_secret(self._settings.plan, message)
        yield from dump_fault(decoded.raw, outcome, decoded.offset, is_secret=is_secret)


class _Page:
    """Prints rows on a stream: coloured on a terminal, plain elsewhere; `is_cropped` cuts them at a terminal's edge."""

    def __init__(self, stream: TextIO, *, is_cropped: bool) -> None:
        self._stream = stream
        self._is_cropped = is_cropped and is_terminal(stream)
        self._console = _console(stream) if self._is_cropped or has_colour(stream) else None

    def print(self, row: Text) -> None:
        if self._console is None:
            self._stream.write(f"{row.plain}\n")
        elif self._is_cropped:
            self._console.print(row, no_wrap=True, overflow="ellipsis")
        else:
            self._console.print(row, soft_wrap=True)


def _console(stream: TextIO) -> Any:
    from rich.console import Console

    # FORCE_COLOR and the like have no say: colour is for a terminal.
    is_coloured = has_colour(stream)
    return Console(
        file=stream,
        force_terminal=is_coloured,
        no_color=not is_coloured,
        highlight=False,
        markup=False,
        emoji=False,
    )


def message_of(decoded: Decoded) -> str:
    """Return the name of the message that a frame carries, or of the preamble."""
    value = getattr(decoded.outcome, "value", None)
    message = value.message if isinstance(value, FrameValue) else value
    if isinstance(message, Unknown):
        return "Unknown" if message.code is None else f"Unknown (code {message.code})"
    return str(getattr(message, "name", None) or getattr(value, "name", ""))
