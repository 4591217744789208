"""The scope of expressions in a row that is written; a hidden field is computed when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...codec.errors import EncodeError
from ...lazy import Lazy
from ...records.types import is_nullable
from ...schema.declarations import Derived, Trailing
from ...schema.expressions import Call, Expression, FieldReference, Number, Operation
from ...schema.shapes import content, has_blocks
from ...schema.types import List, StructReference, Type, UnionReference
from ..access import MISSING, attribute, kind_of
from ..expressions import Undefined, Value, about, checksum
from ..scalars import SCALARS
from .cells import UNSEEN, Cell

if TYPE_CHECKING:
    from .rows import CellRow

__all__ = ["LastItem", "RowScope", "measured_by", "undefined"]

_COMPARABLE = Lazy("reference.writing.lists", "comparable")


class LastItem:
    """The item of a list, or the chunk, that an expression is about.

    Attributes:
        row: The row of a struct, or None for a value without fields.
        size: Its size in bytes.
    """

    __slots__ = ("row", "size", "type", "value")

    def __init__(self, type_: Type, value: object, row: CellRow | None, size: int) -> None:
        self.type = type_
        self.value = value
        self.row = row
        self.size = size


class RowScope:
    """A row, the place in it of the expression, and the last item for an expression of `until`."""

    __slots__ = ("_item", "_row", "_start")

    def __init__(self, row: CellRow, start: Callable[[], int], item: LastItem | None = None) -> None:
        self._row = row
        self._start = start
        self._item = item

    def _below(self, row: CellRow) -> RowScope:
        return RowScope(row, self._start)

    def _cell(self, name: str) -> Cell:
        cell = self._row.cells.get(name)
        if cell is None:
            raise Undefined("field", name)
        return cell

    def _inner(self, cell: Cell) -> RowScope | None:
        """Return the scope of the struct or message that a field holds."""
        if cell.inner is None and not isinstance(content(cell.type), SCALARS):
            self._row.data(cell)
        return None if cell.inner is None else self._below(cell.inner)

    def field(self, path: tuple[str, ...], scope: str) -> Value:
        if scope == "item":
            return self._of_item(path)
        if scope == "frame" and self._row.frame is not None:
            return self._below(self._row.frame).field(path, "own")
        cell = self._cell(path[0])
        if (
            cell.field.condition is not None
            and not isinstance(cell.field.value, Trailing)
            and not self._row.is_written(cell)
        ):
            return None
        if not path[1:]:
            value, type_ = self._row.value(cell), self._row.type_of(cell)
            is_whole = isinstance(type_, List | StructReference | UnionReference)
            return _COMPARABLE.load()(self._row, type_, value, cell.path) if is_whole else value
        inner = self._inner(cell)
        return _deep(self._row.value(cell), path[1:]) if inner is None else inner.field(path[1:], "own")

    def _of_item(self, path: tuple[str, ...]) -> object:
        if self._item is None:
            raise Undefined("item")
        item = self._item
        if item.row is not None and path:
            return self._below(item.row).field(path, "own")
        return _COMPARABLE.load()(self._row, item.type, item.value, "")

    def about_item(self, function: str, path: tuple[str, ...]) -> object:
        """Return the result of a function of the last item, or of a field of it."""
        item = self._item
        if item is not None and not path and function == "size":
            return item.size
        if item is not None and not path:
            of = self._row.writer.count if function == "count" else self._code_of
            return of(content(item.type), item.value, "")
        if item is None or item.row is None:
            raise Undefined("item")
        return about(function, path, self._below(item.row))

    def limit(self, name: str) -> int:
        value = self._row.writer.layout.limits.get(name)
        if value is None:
            raise Undefined("limit", name)
        return value

    def context(self, name: str, keys: tuple[object, ...]) -> Value:
        return self._row.writer.context(name, keys)

    def variable(self, name: str) -> Value:
        if name == "sender" and self._row.writer.sender is not None:
            return self._row.writer.sender
        raise Undefined("variable", name)

    def remaining(self) -> int:
        # Only later fields determine it, and they may depend on the same.
        self._row.writer.is_to_be_read = True
        raise Undefined("remaining")

    def offset(self) -> int:
        return self._start()

    def size(self, path: tuple[str, ...]) -> int:
        cell = self._cell(path[0])
        if not path[1:]:
            return self._row.size_of(cell)
        inner = self._inner(cell)
        if inner is None:
            raise Undefined("size", ".".join(path))
        return inner.size(path[1:])

    def count(self, path: tuple[str, ...]) -> int | None:
        cell = self._cell(path[0])
        if not path[1:]:
            return (
                0
                if self._is_absent(cell)
                else self._row.writer.count(content(cell.type), self._row.value(cell), cell.path)
            )
        inner = self._inner(cell)
        return None if inner is None else inner.count(path[1:])

    def _is_absent(self, cell: Cell) -> bool:
        """Return whether a conditional field is absent; None may also be a null value."""
        if cell.field.condition is None or isinstance(cell.field.value, Trailing) or self._row.is_given(cell):
            return False
        return not is_nullable(cell.type) or not self._row.is_written(cell)

    def present(self, path: tuple[str, ...]) -> bool:
        cell = self._cell(path[0])
        if path[1:]:
            inner = self._inner(cell)
            return inner is not None and inner.present(path[1:])
        if has_blocks(cell.type) and cell.field.condition is not None:
            return self._row.is_block_given(cell)
        if cell.is_hidden or has_blocks(cell.type) or cell.field.value is not None:
            return self._row.is_written(cell)
        return self._row.is_given(cell)

    def code(self, path: tuple[str, ...]) -> int:
        cell = self._cell(path[0])
        return self._code_of(cell.type, self._row.value(cell), cell.path)

    def _code_of(self, type_: Type, value: object, path: str) -> int:
        code = self._row.writer.code(content(type_), value, path)
        if code is None:
            raise Undefined("code", kind_of(value))
        return code

    def checksum(self, algorithm: str, first: str, last: str) -> int:
        cells = self._row.between(self._cell(first), self._cell(last))
        return checksum(algorithm, b"".join([self._row.data(cell) for cell in cells]))


def measured_by(cell: Cell, cells: Mapping[str, Cell]) -> Cell | None:
    """Return the field whose size a derived field has, if it is not written yet and can be written before the size is asked for."""
    declared = cell.field.value
    if not isinstance(declared, Derived) or cell.value is not UNSEEN:
        return None
    measured = cells.get(_measured_name(declared.value) or "")
    if measured is None or measured.start is None or measured.is_busy or measured.run:
        return None
    return measured


def _measured_name(expression: Expression) -> str | None:
    """Return the name of the field whose size an expression is, plus or times numbers; None for other expressions."""
    match expression:
        case Call("size", (FieldReference((name,), "own"),)):
            return name
        case Operation(_, inner, Number()) | Operation(_, Number(), inner):
            return _measured_name(inner)
    return None


def _deep(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        value = attribute(value, name, name)
    if value is MISSING:
        raise Undefined("field", ".".join(path))
    return value


def undefined(error: Undefined, path: str) -> EncodeError:
    """Return the error of a value whose layout depends on a missing value."""
    if error.what == "code":
        return EncodeError("unknown_code", path=path, expected="a message with a code", found=error.name)
    if error.what == "context":
        return EncodeError("missing_context", path=path, expected=f"an entry of {error.name}")
    return EncodeError("constraint", path=path, expected=f"{error.what} {error.name}".strip())
