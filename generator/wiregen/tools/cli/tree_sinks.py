"""Decoded messages as trees and hexdumps."""

import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.text import Text

from wiregen.formats.inspect import (
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
from wiregen.runtime.codec.errors import DecodeError
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, message_of
from wiregen.tools.cli.messages import has_colour, is_terminal

__all__ = ["HexdumpSink", "Tree"]


class Tree:
    """A tree of values for each frame."""

    def __init__(self, settings: DecodingSettings, clock: Clock) -> None:
        self._schema = settings.schema
        self._clock = clock
        self._secrets = secret_names(settings.schema)
        self._page = _Page(sys.stdout, is_cropped=False)

    def write(self, decoded: Decoded) -> None:
        head, outcome = _head(decoded, self._clock), decoded.outcome
        if isinstance(outcome, DecodeError):
            self._page.print(lines(tree_of_fault(outcome, head, self._secrets)))
        else:
            self._page.print(lines(tree_of_frame(outcome, head, self._schema, self._secrets)))

    def close(self) -> None:
        pass


class HexdumpSink:
    """A hexdump of each frame."""

    def __init__(self, settings: DecodingSettings, clock: Clock) -> None:
        self._schema = settings.schema
        self._clock = clock
        self._secrets = secret_names(settings.schema)
        self._page = _Page(sys.stdout, is_cropped=True)

    def write(self, decoded: Decoded) -> None:
        outcome, raw, offset = decoded.outcome, decoded.raw, decoded.offset
        self._page.print(lines(_head(decoded, self._clock)))
        if isinstance(outcome, DecodeError):
            is_secret = may_hold_secret(self._schema, (outcome.partial or {}).get("message"))
            self._page.print(dump_fault(raw, outcome, offset, is_secret=is_secret))
        else:
            self._page.print(dump_frame(raw, outcome, offset, self._secrets))

    def close(self) -> None:
        pass


def _head(decoded: Decoded, clock: Clock) -> Branch:
    """Return the first line of a frame or error."""
    outcome = decoded.outcome
    is_fault = isinstance(outcome, DecodeError)
    sender = "" if decoded.role is None else f" from {decoded.role}"
    what = f"error {outcome.code}" if isinstance(outcome, DecodeError) else message_of(decoded)
    flow = "" if decoded.flow is None else f"{decoded.flow} at {clock.text(decoded.time)}"
    text = f"{plural(decoded.size, 'byte')}{sender}: {what}"
    return Branch(label=f"@{decoded.offset}", text=text, note=flow, style="bold red" if is_fault else "bold")


class _Page:
    """Prints rows on a stream: coloured on a terminal, plain elsewhere; `is_cropped`: cut to its width."""

    def __init__(self, stream: TextIO, *, is_cropped: bool) -> None:
        self._stream = stream
        self._is_cropped = is_cropped and is_terminal(stream)
        self._console = _console(stream) if self._is_cropped or has_colour(stream) else None

    def print(self, rows: Iterable[Text]) -> None:
        for row in rows:
            if self._console is None:
                self._stream.write(f"{row.plain}\n")
            elif self._is_cropped:
                self._console.print(row, no_wrap=True, overflow="ellipsis")
            else:
                self._console.print(row, soft_wrap=True)


def _console(stream: TextIO) -> Any:
    from rich.console import Console

    # FORCE_COLOR and similar variables are ignored: colour is for a terminal.
    is_coloured = has_colour(stream)
    return Console(
        file=stream,
        force_terminal=is_coloured,
        no_color=not is_coloured,
        highlight=False,
        markup=False,
        emoji=False,
    )
