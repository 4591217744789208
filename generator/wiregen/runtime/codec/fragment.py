"""The note on a frame that carries a fragment."""

from __future__ import annotations

from .values import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

__all__ = ["Part", "part_of"]


class Part(Shown):
    """A fragment of data that several frames carry.

    Attributes:
        join: The name of the join.
        key: The key that distinguishes simultaneous reassemblies, in the order of the join's `per`.
        index: The number of earlier fragments.
        last: Whether this fragment is the last one.
        header: The fields before a fragment of a block as they were read, as they cannot be derived.
        joined: The reassembled bytes, frame or message of the last fragment, or None for the others.
    """

    __slots__ = ("header", "index", "join", "joined", "key", "last")

    def __init__(
        self,
        join: str,
        key: tuple[Any, ...],
        index: int,
        last: bool,
        joined: Any = None,
        *,
        header: Mapping[str, object] | None = None,
    ) -> None:
        self.header = header or {}
        self.join = join
        self.key = key
        self.index = index
        self.last = last
        self.joined = joined

    def __eq__(self, other: object) -> bool:
        return type(other) is Part and all(
            getattr(self, name) == getattr(other, name) for name in Part.__slots__ if name != "header"
        )

    __hash__ = None  # type: ignore[assignment]

    def _shown(self, spell: Callable[[object], str]) -> Iterator[str]:
        yield self.join if type(self.join) is str else spell(self.join)
        yield spell(self.key)
        yield f"index={spell(self.index)}"
        yield f"last={spell(self.last)}"
        if self.last:
            yield f"joined={spell(self.joined)}"


def part_of(item: object) -> Part | None:
    """Return the fragment that a frame is; None for other frames, and for preambles, whose field may be called `part`."""
    part = getattr(item, "part", None)
    return part if isinstance(part, Part) else None
