"""The parts of a row that is written: its cells, and the spot of a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...codec.errors import EncodeError
from ...schema.declarations import Field, Trailing
from ...schema.types import Type, Uuid
from ..expressions import Undefined

if TYPE_CHECKING:
    from ..expressions import Value
    from .rows import CellRow

__all__ = ["UNSEEN", "Cell", "RegionContext", "Spot", "join", "joined", "missing", "nowhere", "unasked"]

UNSEEN: Final[object] = object()
"""Marks a value that was not evaluated yet."""


class RegionContext:
    """The facts about the region of a value.

    Attributes:
        has_end: Its end is known to a reader.
        is_bounded: Its end is known and within the innermost frame: unknown content can be skipped.
        is_last: The value is the last one in it.
    """

    __slots__ = ("has_end", "is_bounded", "is_last")

    def __init__(self, *, has_end: bool = False, is_bounded: bool = False, is_last: bool = True) -> None:
        self.has_end = has_end
        self.is_bounded = is_bounded
        self.is_last = is_last

    def at(self, *, is_last: bool) -> RegionContext:
        return RegionContext(
            has_end=self.has_end, is_bounded=self.is_bounded, is_last=self.is_last and is_last
        )

    def frame(self) -> RegionContext:
        """Return the region facts of a frame that begins here."""
        return RegionContext(has_end=self.has_end, is_last=self.is_last)


_UNDECLARED = Field("", False, Uuid(), None, None, None, "", None, False)
"""The field of an undeclared part of another value."""


class Cell:
    """One field of a row, or an item of a list.

    Attributes:
        holder: The field whose block contains this one.
        inner: The row of the struct or message that is its value.
        is_choosing, is_deciding: Its arm is being found; its condition is being evaluated.
        is_assumed: Its condition depends on its own size, so that its value decided it; checked when the row is written.
    """

    __slots__ = (
        "around", "before", "data", "field", "holder", "inner", "is_assumed", "is_busy", "is_choosing", "is_deciding", "path", "run", "start", "value",
    )  # fmt: skip

    def __init__(
        self, field: Field, path: str, before: tuple[Cell, ...] = (), holder: Cell | None = None
    ) -> None:
        self.field = field
        self.holder = holder
        self.path = path
        self.before = before
        self.run: list[Cell] = []
        self.start: Callable[[], int] | None = None
        self.around = RegionContext()
        self.is_busy = False
        self.is_choosing = False
        self.is_deciding = False
        self.is_assumed = False
        self.value: Value = UNSEEN
        self.data: bytes | None = None
        self.inner: CellRow | None = None

    @property
    def is_declared(self) -> bool:
        """Whether it is of a field; an item of a list is not."""
        return self.field is not _UNDECLARED

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def rule(self) -> str | None:
        return self.field.rule

    @property
    def is_hidden(self) -> bool:
        return self.field.is_hidden

    @property
    def type(self) -> Type:
        return self.field.type


class Spot:
    """Where a value is written.

    Attributes:
        path: The path of the value, for errors.
        row: The row in which expressions are evaluated here.
        start: Returns the offset from the frame's first byte; raises Undefined if that depends on unwritten bytes.
        cell: The field or item whose whole value is written here.
    """

    __slots__ = ("around", "cell", "path", "row", "start")

    def __init__(
        self, path: str, row: CellRow, start: Callable[[], int], around: RegionContext, cell: Cell
    ) -> None:
        self.path = path
        self.row = row
        self.start = start
        self.around = around
        self.cell = cell

    def within(self, start: Callable[[], int]) -> Spot:
        """Return the spot of the content of a region here."""
        return Spot(self.path, self.row, start, RegionContext(has_end=True, is_bounded=True), self.cell)

    def item(self, index: int, offset: int) -> Spot:
        """Return the spot of an item of a list, `offset` bytes after this one."""
        path = f"{self.path}[{index}]"
        return Spot(
            path,
            self.row,
            lambda: self.start() + offset,
            self.around.at(is_last=False),
            Cell(_UNDECLARED, path),
        )

    def behind(self, offset: int) -> Callable[[], int]:
        return lambda: self.start() + offset


def nowhere() -> int:
    """The start of an element with unknown offset.

    Raises:
        Undefined: Always.
    """
    raise Undefined("offset")


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def unasked(cell: Cell) -> EncodeError:
    """Return the error of a value that its condition excludes."""
    expected = "nothing"
    if cell.is_assumed:
        expected = "None: the condition of the field does not hold for the size of this value"
    elif isinstance(cell.field.value, Trailing):
        expected = "no value, as its condition does not hold: a greater `absent`"
    return EncodeError("constraint", path=cell.path, expected=expected, found="a value")


def missing(cell: Cell) -> EncodeError:
    """Return the error of a missing value that its condition requires."""
    expected = "a value"
    if isinstance(cell.field.value, Trailing):
        expected = "a value, as its condition holds: a smaller `absent`"
    return EncodeError("invalid_value", path=cell.path, expected=expected, found="nothing")


def joined(cells: list[Cell]) -> bytes:
    """Return the bytes of written cells, joined."""
    return b"".join([cell.data or b"" for cell in cells])
