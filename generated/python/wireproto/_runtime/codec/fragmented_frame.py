"""Frames that may be fragments."""

from __future__ import annotations

from .classes import Envelope
from .fragment import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Divisible"]


class Divisible(Envelope):
    """A frame that may carry a fragment; the fragment's note is not a part of its value."""

    __slots__ = ("_part",)
    _part: Part

    @property
    def part(self) -> Part | None:
        """The fragment that this frame carries, or None."""
        return getattr(self, "_part", None)

    @part.setter
    def part(self, part: Part) -> None:
        self._part = part

    def _shown(self, spell: Callable[[object], str]) -> Iterator[str]:
        yield from super()._shown(spell)
        if self.part is not None:
            yield f"part={spell(self.part)}"
