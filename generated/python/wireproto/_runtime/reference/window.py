"""The position of the reference decoder: the bytes, the end of the usable ones, and the place in the value."""

from __future__ import annotations

from .layout import UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Short = Literal["truncated", "partial_inner"]

__all__ = ["Place", "Window"]


class Window:
    """One buffer and a position in it. Positions here are offsets in `data`; those of nodes and errors have `base` added.

    Attributes:
        stop: The end of the usable bytes, or None if they are all of `data`, which may grow.
        end: The end of the innermost region whose end is known, or None.
        short, short_rule: Code and rule of an error beyond `end`.
        frame_start, frame_end: The start of the frame, and the end that its limit allows.
        outer_at: In transformed bytes, the start of the outermost of them in the outer stream.
        is_inflated: The bytes come out of a compressed region.
    """

    __slots__ = (
        "base", "data", "end", "frame_end", "frame_start", "is_inflated", "outer_at", "position", "short", "short_rule",
        "stop",
    )  # fmt: skip

    def __init__(
        self, data: bytes | bytearray, position: int, *, stop: int | None = None, base: int = 0
    ) -> None:
        self.data = data
        self.position = position
        self.stop = stop
        self.base = base
        self.end: int | None = None
        self.short: Short = "truncated"
        self.short_rule: str | None = None
        self.frame_start = position
        self.frame_end = UNBOUNDED
        self.outer_at: int | None = None
        self.is_inflated = False

    @property
    def available(self) -> int:
        return len(self.data) if self.stop is None else self.stop

    @property
    def here(self) -> int:
        """The position as nodes and errors count it."""
        return self.base + self.position

    @property
    def inner(self) -> bool:
        return self.outer_at is not None

    def inside(self, data: bytes, at: int, *, is_inflated: bool) -> Window:
        """Return a window on bytes that are in this one in transformed form, from `at` on."""
        window = Window(data, 0, stop=len(data))
        window.end = len(data)
        window.outer_at = at if self.outer_at is None else self.outer_at
        window.is_inflated = is_inflated
        return window


class Place:
    """The place of the current element, for nodes and errors: its name, its path, and the rule that its field names."""

    __slots__ = ("is_part", "name", "path", "rule")

    def __init__(self, name: str, path: str, rule: str | None = None, *, is_part: bool = False) -> None:
        self.name = name
        self.path = path
        self.rule = rule
        self.is_part = is_part

    @property
    def is_item(self) -> bool:
        return self.name.startswith("[")

    def field(self, name: str, rule: str | None) -> Place:
        return Place(name, f"{self.path}.{name}", rule)

    def item(self, index: int) -> Place:
        return Place(f"[{index}]", f"{self.path}[{index}]", self.rule)

    def part(self, name: str) -> Place:
        """Return the place of a part that is not a field: a length, a delimiter."""
        return Place(name, self.path, self.rule, is_part=True)
