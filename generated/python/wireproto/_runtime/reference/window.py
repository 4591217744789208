"""Where the careful reader stands: the bytes, how far reading may go, and who asks for them."""

from __future__ import annotations

from .layout import UNBOUNDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Short = Literal["truncated", "partial_inner"]

__all__ = ["Place", "Window"]


class Window:
    """One buffer and a position in it. Positions here count in `data`; those of nodes and errors have `base` added.

    Attributes:
        stop: Behind the last byte that may be used; None: all that `data` holds, and it may grow.
        end: Behind the innermost region whose end is known; None: endless.
        short, short_rule: Code and rule of an error beyond `end`.
        frame_start, frame_end: Where the frame begins, and what its limit allows.
        outer_at: In transformed bytes, where the outermost of them begin in the outer stream.
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
        """Return a window on bytes that stand transformed in this one, from `at` on."""
        window = Window(data, 0, stop=len(data))
        window.end = len(data)
        window.outer_at = at if self.outer_at is None else self.outer_at
        window.is_inflated = is_inflated
        return window


class Place:
    """What is being read, for nodes and errors: its name, its path, and the rule that its field names."""

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
        """Return the place of a piece that no field names: a length, a delimiter."""
        return Place(name, self.path, self.rule, is_part=True)
