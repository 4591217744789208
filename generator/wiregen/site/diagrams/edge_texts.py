"""The texts of transitions in drawings of states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

from wiregen.site.diagrams import Arrow, Edge

__all__ = ["arrow_text", "edge_lines", "edge_text"]

_LONGEST: Final = 38
"""Characters after which a label goes on in the next line."""
_INDENT: Final = "\N{NO-BREAK SPACE}" * 2


def arrow_text(arrow: Arrow) -> str:
    """Return the texts of all transitions of an arrow in one line."""
    return "; ".join(dict.fromkeys(edge_text(edge) for edge in arrow.edges))


def edge_text(edge: Edge) -> str:
    """Return the text of a transition: the sender, the messages and the guard, or when a timer is due."""
    text = f"after {edge.after}" if edge.kind == "timer" else _speech(edge)
    return f"{text} [{edge.guard}]" if edge.guard else text


def _speech(edge: Edge) -> str:
    said = "any message" if edge.messages is None else ", ".join(edge.messages)
    return f"{edge.role}: {said}" if edge.role else said


def edge_lines(edges: Iterable[Edge]) -> tuple[str, ...]:
    """Return the lines of all transitions, each guard below its messages; equal transitions are one."""
    texts = dict.fromkeys(tuple(_lines_of(edge)) for edge in edges)
    return tuple(line for lines in texts for line in lines)


def _lines_of(edge: Edge) -> Iterator[str]:
    first = f"after {edge.after}" if edge.kind == "timer" else _speech(edge)
    guard = f"[{edge.guard}]" if edge.guard else ""
    if guard and len(first) + len(guard) < _LONGEST:
        yield f"{first} {guard}"
        return
    yield from _wrapped(first, "")
    if guard:
        yield from _wrapped(guard, _INDENT)


def _wrapped(text: str, indent: str) -> list[str]:
    """Return the lines of a text, the first one indented, the others further."""
    return wrap(
        text,
        _LONGEST,
        initial_indent=indent,
        subsequent_indent=indent + _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
