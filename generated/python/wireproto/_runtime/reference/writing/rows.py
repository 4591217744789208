"""The fields of one declaration while they are written: the value of each, and its bytes.

Bytes are made on demand and once: a size that looks ahead needs later fields before its own place is
reached. Checks (`where`, computed lengths) wait until the whole row is written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from ...codec.errors import EncodeError
from ...lazy import Lazy
from ...records.types import default_with, has_null, unsure_names
from ...schema.declarations import Constant, Derived, Trailing
from ...schema.shapes import blocks, content, every_field, has_blocks, is_flat
from ...schema.types import Bits, Computed, Counted, Match, Uuid
from ..access import MISSING, attribute, extra
from ..expressions import Circular, Undefined, Value, evaluate
from ..layout import Fields, conditions_of, fixed_size
from ..scalars import number_shown, zero
from .cells import UNSEEN, Cell, RegionContext, Spot, join, joined, missing, unasked
from .owner_checks import n_kept, refuse_undeclared
from .row_scope import LastItem, RowScope, measured_by, undefined
from .writer import PLAIN

if TYPE_CHECKING:
    from ...schema.expressions import Expression
    from ...schema.types import Type
    from .writer import Writer

__all__ = ["CellRow"]

_CHOSEN = Lazy("reference.writing.choices", "chosen")
_WRITE_BITS = Lazy("reference.writing.bits", "write_bits")


class CellRow:
    """A declaration that is written.

    Attributes:
        owner: The value that has the fields.
        body: The field of a frame that carries its message, whose path is `body_path`.
        frame: The row of the enclosing frame.
    """

    __slots__ = (
        "_at", "_body_path", "_checks", "_fields", "_groups", "_n_kept", "body", "cells", "frame", "owner", "path", "writer",
    )  # fmt: skip

    def __init__(
        self,
        writer: Writer,
        fields: Fields,
        owner: Value,
        path: str,
        *,
        frame: CellRow | None = None,
        body: str | None = None,
        body_path: str = "",
    ) -> None:
        self.writer = writer
        self.owner = owner
        self.path = path
        self.frame, self.body = frame, body
        self._body_path = body_path
        self._fields = fields
        self._at: Cell | None = None  # the innermost field that is being written
        self._checks: list[tuple[Cell | None, Callable[[], None]]] = []
        self._groups: dict[int, list[Cell]] = {}  # by the identity of fields: blocks of two arms may be equal
        self.cells: dict[str, Cell] = {}
        self._collect(fields, None)
        refuse_undeclared(self.owner, self.cells.values(), body, path)
        self._n_kept = n_kept(self.owner, len(self._trailing()), path)
        self._check_trailing()

    # ---- layout ----

    def _collect(self, fields: Fields, holder: Cell | None) -> None:
        """Make the cells of fields and of all blocks below them, which share the row's names; `holder` has the block."""
        cells: list[Cell] = []
        for field in fields:
            cell = Cell(field, join(self.path, field.name), tuple(cells), holder)
            if isinstance(cell.type, Bits):
                cell.run = cells[-1].run if cells and cells[-1].run else []
                cell.run.append(cell)
            cells.append(cell)
            self.cells.setdefault(cell.name if cell.name != "_" else f"_{len(self.cells)}", cell)
            for block in blocks(cell.type):
                self._collect(block, cell)
        self._groups[id(fields)] = cells

    def _trailing(self) -> list[Cell]:
        return [cell for cell in self.cells.values() if isinstance(cell.field.value, Trailing)]

    def _check_trailing(self) -> None:
        """Check `absent` against the conditions of the trailing fields, once the row is written."""

        def compare(cell: Cell, condition: Expression, *, is_kept: bool) -> None:
            if bool(self.evaluate(condition, cell, otherwise=is_kept)) != is_kept:
                raise unasked(cell) if is_kept else missing(cell)

        for index, cell in enumerate(self._trailing()[: self._n_kept + 1]):
            if cell.field.condition is not None:
                self.later(partial(compare, cell, cell.field.condition, is_kept=index < self._n_kept), cell)

    def write(self, start: Callable[[], int], around: RegionContext) -> bytes:
        """Return the bytes of the row, and run the deferred checks."""
        cells = self.placed(self._fields, start, around)
        for cell in cells:
            self.data(cell)
        for cell in self.cells.values():
            if cell.data is None and self.is_given(cell):
                raise unasked(cell).tied(cell.rule)
        for cause, check in self._checks:
            try:
                check()
            except Circular:
                self._hand_on(check)
            except EncodeError as error:
                error.tied(cause.rule if cause else None)
                raise
        return joined(cells)

    def _hand_on(self, check: Callable[[], None]) -> None:
        """Defer a check to the enclosing frame, on whose size it depends."""
        if self.frame is None:
            raise EncodeError("constraint", path=self.path, expected="a size that does not depend on itself")
        self.frame.later(check)

    def later(self, check: Callable[[], None], cell: Cell | None = None) -> None:
        """Defer a check of a field, by default of the one that is being written, until the whole row is written."""
        self._checks.append((cell or self._at, check))

    def attempt(self, write: Callable[[], bytes]) -> bytes | None:
        """Return the bytes that a function writes in this row; if it is refused, undo its effects and return None."""
        n_checks, written = len(self._checks), [(cell, cell.data) for cell in self.cells.values()]
        budgets = self.writer.budgets()
        try:
            return write()
        except EncodeError:
            del self._checks[n_checks:]
            self.writer.restore(budgets)
            for cell, data in written:
                cell.data = data
            return None

    def placed(self, fields: Fields, start: Callable[[], int], around: RegionContext) -> list[Cell]:
        """Return the cells of the row's fields, or of one of its blocks, with their places set."""
        cells = self._groups[id(fields)]
        for cell in cells:
            cell.start = start
            cell.around = around.at(is_last=cell is cells[-1])
            if cell.name != "_":
                self.cells[cell.name] = cell
        return cells

    def between(self, first: Cell, last: Cell) -> list[Cell]:
        """Return the cells from one to another of the same group."""
        for cells in self._groups.values():
            if first in cells and last in cells:
                return cells[cells.index(first) : cells.index(last) + 1]
        raise Undefined("size", first.name)

    # ---- bytes ----

    def data(self, cell: Cell) -> bytes:
        """Return the bytes of a field; those of a run of bits belong to its first field.

        The field's content is written from here directly: each function in between would take stack at each level.
        """
        if cell.data is None:
            if cell.is_busy:
                raise Circular("size", cell.name)
            if cell.start is None and cell.holder is not None:
                self.data(cell.holder)  # which writes the block, and with it the field
                return self.cells[cell.name].data or b""
            if cell.start is None:
                raise Undefined("size", cell.name)
            cell.is_busy = True
            before, self._at = self._at, cell
            try:
                if cell.run:
                    cell.data = _WRITE_BITS.load()(self, cell)
                elif self.is_written(cell):
                    measured = measured_by(cell, self.cells)
                    if measured is not None:  # its expression would ask from twelve functions further down
                        self.data(measured)
                    value = None if is_flat(cell.type) else self.value(cell)
                    cell.data = self.writer.write(cell.type, value, self._spot(cell))
                    self.check_where(cell)
                else:
                    cell.data = b""
            except EncodeError as error:
                error.tied(cell.rule)
                raise
            finally:
                cell.is_busy = False
                self._at = before
        return cell.data

    def _spot(self, cell: Cell) -> Spot:
        path = self._body_path if cell.name == self.body else cell.path
        return Spot(path, self, lambda: self.start(cell), cell.around, cell)

    def start(self, cell: Cell) -> int:
        """Return the offset of a field from the frame's first byte."""
        if cell.start is None:
            raise Undefined("offset", cell.name)
        return cell.start() + sum(self.size_of(other) for other in cell.before)

    def end(self, cell: Cell) -> int:
        """Return the offset after a field, or after the run of bits that it is in."""
        first = cell.run[0] if cell.run else cell
        return self.start(first) + self.size_of(first)

    def size_of(self, cell: Cell) -> int:
        """Return the size of a field in bytes, from its type if that decides it: its value may depend on the size.

        The size of a run of bits belongs to its first field.
        """
        if cell.run:
            run = (each for each in cell.run if cell is cell.run[0] and self.is_written(each))
            return sum(self.writer.layout.bits(each.type) or 0 for each in run) // 8
        is_optional = cell.field.condition is not None or isinstance(cell.field.value, Trailing)
        is_there = not is_optional or (cell.is_busy and not cell.is_deciding)
        known = fixed_size(self.writer.layout, cell.type) if is_there else None
        return len(self.data(cell)) if known is None else known

    def check_where(self, cell: Cell) -> None:
        """Defer the conditions of a field until the whole row is written."""
        for condition, text, rule in conditions_of(cell.field):
            self.later(partial(self._hold, cell, condition, text, rule), cell)

    def _hold(self, cell: Cell, condition: Expression, text: str, rule: str | None) -> None:
        if self.worth_at(condition, cell.path, lambda: self.end(cell), otherwise=True):
            return
        found = "" if cell.field.is_secret else number_shown(cell.type, self.value(cell))
        raise EncodeError("constraint", path=cell.path, expected=text, found=found).tied(rule or cell.rule)

    def is_written(self, cell: Cell) -> bool:
        """Return whether a field is written.

        Raises:
            EncodeError: It is set and must not be.
        """
        if isinstance(cell.field.value, Trailing):
            return self._trailing().index(cell) < self._n_kept
        condition = cell.field.condition
        if condition is None:
            return True
        is_there = self._is_asked_for(cell, condition)
        if not is_there and self.is_given(cell):
            raise unasked(cell)
        return is_there

    def _is_asked_for(self, cell: Cell, condition: Expression) -> bool:
        """Return whether the condition of a field holds; one about the code of a message without a code does not.

        If it depends on the field's own size, or on facts that only a reader has, it holds if there is a value.
        """
        if cell.is_deciding:
            raise Circular("size", cell.name)
        is_given = self.is_given(cell) or (has_blocks(cell.type) and self.is_block_given(cell))
        cell.is_deciding = True
        try:
            return bool(self.evaluate(condition, cell, otherwise=is_given))
        except Circular:
            self._assume(cell, condition, is_there=is_given)
            return is_given
        except EncodeError as error:
            if error.code != "unknown_code":
                raise
            return False
        finally:
            cell.is_deciding = False

    def _assume(self, cell: Cell, condition: Expression, *, is_there: bool) -> None:
        """Let a field's value decide whether it is present; its condition is checked when the row is written."""

        def compare() -> None:
            if bool(self.evaluate(condition, cell)) != is_there:
                raise unasked(cell) if is_there else missing(cell)

        if not cell.is_assumed:
            cell.is_assumed = True
            self.later(compare, cell)

    # ---- values ----

    def is_given(self, cell: Cell) -> bool:
        given = self._given(cell)
        return given is not MISSING and given is not None

    def is_block_given(self, cell: Cell) -> bool:
        """Return whether a field that holds blocks, or a field of one below it, has a value."""
        inside = (field.name for block in blocks(cell.type) for field in every_field(block))
        return self.is_given(cell) or any(self.is_given(self.cells[name]) for name in inside if name != "_")

    def _given(self, cell: Cell) -> object:
        """Return the owner's value for a field, or MISSING."""
        if cell.is_hidden or is_flat(cell.type):
            return MISSING
        read = partial(attribute, self.owner, cell.name, cell.path)
        if cell.name == self.body:
            read = partial(extra, self.owner, "message", MISSING, cell.path)
        return self.writer.given_once(self.owner, cell.name, read)

    def value(self, cell: Cell) -> Value:
        """Return the value of a field: given, derived, a constant or a default."""
        if cell.value is not UNSEEN:
            return cell.value
        value, type_ = self._worth(cell), self.type_of(cell)
        if isinstance(type_, PLAIN):
            value = self.writer.coerce(type_, value, cell.path)
        cell.value = UNSEEN if isinstance(type_, Match) else value
        return value

    def type_of(self, cell: Cell) -> Type:
        """Return the type of a field's value: of the chosen arm, or the choice while its subject is unknown."""
        type_ = content(cell.type)
        return _CHOSEN.load()(self, cell, type_) if isinstance(type_, Match) else type_

    def _worth(self, cell: Cell) -> object:
        declared, given = cell.field.value, self._given(cell)
        if isinstance(declared, Derived | Constant):
            return self._evaluated(cell)
        if cell.name == "_" and declared is None:
            return zero(cell.type, self._padding(cell))
        if declared is not None and (given is MISSING or (given is None and self._may_be_left_out(cell))):
            return self._evaluated(cell)
        if given is None and isinstance(declared, Trailing) and not self.is_written(cell):
            return self._evaluated(cell)
        if given is MISSING and cell.field.condition is None and not has_blocks(cell.type):
            raise EncodeError("invalid_value", path=cell.path, expected="a value", found="nothing")
        return None if given is MISSING else given

    def _may_be_left_out(self, cell: Cell) -> bool:
        """Return whether None means the default of a field: it may be absent, and its type has no null."""
        return cell.name in unsure_names(self._fields) and not has_null(self.writer.layout.schema, cell.type)

    def _evaluated(self, cell: Cell) -> Value:
        """Return the result of a field's value expression; UUIDs are bytes there."""
        assert cell.field.value is not None
        place = self.end if isinstance(cell.field.value, Derived | Constant) else self.start
        expression = default_with(cell.field.value, self._message())
        value: Value = self.worth_at(expression, cell.path, lambda: place(cell))
        is_uuid = isinstance(cell.type, Uuid) and type(value) is bytes and len(value) == 16
        return UUID(bytes=value) if is_uuid else value

    def _message(self) -> str | None:
        """Return the name of the message that a frame carries."""
        if self.body is None:
            return None
        return self.writer.message_name(extra(self.owner, "message", None, self.path))

    def _padding(self, cell: Cell) -> int:
        length = cell.type.length if isinstance(cell.type, Counted) else None
        count = self.evaluate(length.value, cell) if isinstance(length, Computed) else 0
        if type(count) is not int or not 0 <= count <= self.writer.layout.frame:
            raise EncodeError("length_mismatch", path=cell.path, expected="a length", found="no number fits")
        return count

    # ---- expressions ----

    def evaluate(self, expression: Expression, cell: Cell, *, otherwise: object = UNSEEN) -> Value:
        """Return the value of an expression at a field; see `worth_at`."""
        return self.worth_at(expression, cell.path, lambda: self.start(cell), otherwise=otherwise)

    def worth_at(
        self,
        expression: Expression,
        path: str,
        start: Callable[[], int],
        *,
        item: LastItem | None = None,
        otherwise: object = UNSEEN,
    ) -> object:
        """Return the value of an expression, or `otherwise` if it depends on facts that only a reader has.

        Raises:
            EncodeError: `missing_context`; `constraint`, another value is missing.
            Circular: It depends on the size of the value that is being written.
        """
        try:
            return evaluate(expression, RowScope(self, start, item))
        except Circular:
            raise
        except Undefined as error:
            if error.what in self.writer.unknowable and otherwise is not UNSEEN:
                return otherwise
            raise undefined(error, path or self.path) from None
