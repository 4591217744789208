"""Decoded messages as trees and hexdumps."""

import sys
from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any, TextIO

from rich.text import Text

from wiregen.formats.inspect.hexdump import dump_fault, dump_frame
from wiregen.formats.inspect.secrets import may_hold_secret, secret_names
from wiregen.formats.inspect.tree_lines import Branch, lines
from wiregen.formats.inspect.trees import tree_of_fault, tree_of_frame
from wiregen.formats.inspect.values import plural
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.schema.protocol import Schema
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, message_of
from wiregen.tools.cli.messages import has_colour, is_terminal

__all__ = ["HexdumpSink", "TerminalPage", "Tree"]

_ROLE_STYLES = ("bold blue", "bold magenta", "bold green", "bold yellow")
"""The styles of the first lines of frames, in the order of the protocol's roles; errors are red."""


class Tree:
    """A tree of values for each frame."""

    def __init__(self, settings: DecodingSettings, clock: Clock, *, is_live: bool = False) -> None:
        self._schema = settings.schema
        self._clock = clock
        self._styles = _styles(settings.schema) if is_live else {}
        self._secrets = secret_names(settings.schema)
        self._page = TerminalPage(sys.stdout, is_cropped=False)

    def write(self, decoded: Decoded) -> None:
        head, outcome = _head(decoded, self._clock, self._styles), decoded.outcome
        if isinstance(outcome, DecodeError):
            self._page.print(lines(tree_of_fault(outcome, head, self._secrets)))
        else:
            self._page.print(lines(tree_of_frame(outcome, head, self._schema, self._secrets)))

    def close(self) -> None:
        pass


class HexdumpSink:
    """A hexdump of each frame."""

    def __init__(self, settings: DecodingSettings, clock: Clock, *, is_live: bool = False) -> None:
        self._schema = settings.schema
        self._clock = clock
        self._styles = _styles(settings.schema) if is_live else {}
        self._secrets = secret_names(settings.schema)
        self._page = TerminalPage(sys.stdout, is_cropped=True)

    def write(self, decoded: Decoded) -> None:
        outcome, raw, offset = decoded.outcome, decoded.raw, decoded.offset
        self._page.print(lines(_head(decoded, self._clock, self._styles)))
        if isinstance(outcome, DecodeError):
            is_secret = may_hold_secret(self._schema, (outcome.partial or {}).get("message"))
            self._page.print(dump_fault(raw, outcome, offset, is_secret=is_secret))
        else:
            self._page.print(dump_frame(raw, outcome, offset, self._secrets))

    def close(self) -> None:
        pass


def _styles(schema: Schema) -> dict[str | None, str]:
    return dict(zip(schema.roles, cycle(_ROLE_STYLES), strict=False))


def _head(decoded: Decoded, clock: Clock, styles: Mapping[str | None, str]) -> Branch:
    """Return the first line of a frame or error."""
    outcome = decoded.outcome
    is_fault = isinstance(outcome, DecodeError)
    sender = "" if decoded.role is None else f" from {decoded.role}"
    what = f"error {outcome.code}" if isinstance(outcome, DecodeError) else message_of(decoded)
    flow = "" if decoded.flow is None else f"{decoded.flow} at {clock.text(decoded.time)}"
    text = f"{plural(decoded.size, 'byte')}{sender}: {what}"
    style = "bold red" if is_fault else styles.get(decoded.role, "bold")
    return Branch(label=f"@{decoded.offset}", text=text, note=flow, style=style)


class TerminalPage:
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
