"""Sequence diagrams as drawings: the participants at the sides, one line for each message, from top to bottom.

Invariant: a label is above its arrow, between the sides, and does not touch a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.site.diagrams import Happening, SentMessage, SequenceDiagram
from wiregen.site.diagrams.state_drawings import CHARACTER

__all__ = ["Ladder", "Rung", "ladder_of", "lines_of"]

_STEP: Final = 40
_HEAD: Final = 34
_SIDE: Final = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One line: an arrow from `start` to `end` for a message, else a text alone."""

    y: int
    start: int
    end: int
    text: str
    detail: str
    is_wrong: bool

    @property
    def head(self) -> str:
        back = self.end - 7 if self.start < self.end else self.end + 7
        return f"M{self.end} {self.y}L{back} {self.y - 4}v8Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    width: int
    height: int
    title: str
    sides: tuple[tuple[int, str], ...]
    rungs: tuple[Rung, ...]
    middle: int


def ladder_of(title: str, diagram: SequenceDiagram) -> Ladder:
    """Return the drawing of a conversation."""
    texts = list(lines_of(diagram))
    longest = max((len(part) for line in texts for part in line), default=0)
    room = max(220, int(longest * CHARACTER) + 40)
    roles = diagram.participants or ("",)
    places = {role: _SIDE + room * number for number, role in enumerate(roles)}
    height = _HEAD + _STEP * (len(texts) + 1) - 10
    rungs = tuple(
        _rung(diagram, number, text, places, _HEAD + _STEP * (number + 1))
        for number, text in enumerate(texts)
    )
    width = 2 * _SIDE + room * (len(roles) - 1)
    sides = tuple((x, role) for role, x in places.items())
    return Ladder(width=width, height=height, title=title, sides=sides, rungs=rungs, middle=width // 2)


def _rung(
    diagram: SequenceDiagram, number: int, text: tuple[str, str], places: dict[str, int], y: int
) -> Rung:
    line = diagram.lines[number]
    start = end = 0
    if isinstance(line, SentMessage):
        start, end = places[line.sender], places[line.receiver]
    is_wrong = diagram.violation is not None and number == len(diagram.lines) - 1
    return Rung(y=y, start=start, end=end, text=text[0], detail=text[1], is_wrong=is_wrong)


def lines_of(diagram: SequenceDiagram) -> Iterator[tuple[str, str]]:
    """Yield the text and the values of each line.

    The text names the time where it changed, and the broken rules.
    """
    before = 0.0
    for line in diagram.lines:
        more = f" at {line.at:g} s" if line.at != before else ""
        more += f" violates {' and '.join(line.violations)}" if line.violations else ""
        before = line.at
        match line:
            case SentMessage(message=message, fields=fields):
                yield f"{message}{more}", ", ".join(f"{name} = {value}" for name, value in fields)
            case Happening(role=role, text=text):
                yield f"{role}: {text}{more}" if role else f"{text}{more}", ""
