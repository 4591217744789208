"""Fields in a row, and the values in them, as rows of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from wirespark.kernels import ops
from wirespark.kernels.layout import Column
from wirespark.kernels.terms import Known, Scope, Terms, names_asked
from wirespark.kernels.values import ValueWriter
from wirespark.kernels.writing import JumpTarget, ProgramWriter, Unsupported
from wirespark.nodes import Nodes

if TYPE_CHECKING:
    from wireproto._runtime.reference.layout import Fields, Layout
    from wireproto._runtime.schema.declarations import Field
    from wireproto._runtime.schema.expressions import Expression
    from wireproto._runtime.schema.types import Bits, MessageMatch, Type

__all__ = ["Records"]

Group = list[Column]
Groups = dict[str, Group]
_MOST_BITS = 56
_MOST_ROWS = 1 << 16


class Records(ValueWriter):
    """Writes the code for records; `carried` writes the code that reads the message of a frame."""

    def __init__(self, layout: Layout, nodes: Nodes, carried: Callable[[MessageMatch, Scope], None]) -> None:
        super().__init__(layout, nodes, ProgramWriter())
        self._carried = carried
        self._terms = Terms(self.writer, layout.limits, nodes)
        kinds = (layout.frames, layout.structs, layout.messages, layout.schema.unions)
        self._asked = frozenset(name for kind in kinds for name in names_asked(nodes, kind))
        self._measured = frozenset(name for kind in kinds for name in names_asked(nodes, kind, "size"))
        self._level = 0
        self._body: str | None = None
        self._certain: frozenset[tuple[str, str, str]] = frozenset()

    def term(self, term: Expression, scope: Scope) -> int:
        """Return the register of an expression whose fields are all read.

        Raises:
            Unsupported: The kernels do not support it.
        """
        try:
            return self._terms.value(term, scope)
        except KeyError:
            raise Unsupported("a field that is not read yet") from None

    @contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """Count how many declarations that can stand inside themselves are inside each other."""
        is_counted = name in self.layout.circular
        if (is_counted and self._level > self.layout.depth) or len(self.writer.rows) > _MOST_ROWS:
            raise Unsupported("deeper than allowed")
        self._level += is_counted
        try:
            yield
        finally:
            self._level -= is_counted

    # ---- fields

    def record(
        self,
        fields: Fields,
        scope: Scope,
        groups: list[Group],
        *,
        without: str | None = None,
        is_frame: bool = False,
    ) -> None:
        """Write the code that reads a declaration; its columns are in the order of its visible fields."""
        names = self._shown(fields, without)
        if len(names) != len(groups):
            raise AssertionError("the columns are of another schema")
        before = (self._body, self._certain)
        self._body, self._certain = without if is_frame else None, frozenset(self._certainties(fields))
        try:
            self._fields(fields, scope, dict(zip(names, groups, strict=True)))
        finally:
            self._body, self._certain = before
        for check, late in scope.late:
            check(late)
        scope.late.clear()

    def _shown(self, fields: Fields, without: str | None) -> list[str]:
        found: dict[str, None] = {}
        for field in self._flat_fields(fields):
            if not field.is_hidden and field.name != without:
                found[field.name] = None
        return list(found)

    def _fields(self, fields: Fields, scope: Scope, groups: Groups) -> None:
        at = 0
        while at < len(fields):
            field = fields[at]
            if isinstance(field.type, self.nodes.Bits):
                run = list(self._run(fields[at:]))
                self._bits(run, scope, groups)
                at += len(run)
                continue
            if isinstance(field.value, self.nodes.Trailing):
                self._trailing(fields[at:], scope, groups)
                return
            if field.condition is not None:
                self._conditional(field, field.condition, scope, groups)
            else:
                self._field(field, scope, groups)
            at += 1

    def _field(self, field: Field, scope: Scope, groups: Groups) -> None:
        """Write the code that reads one field and checks its value."""
        name, type_ = field.name, field.type
        start = self._here() if name in self._measured else None
        if name == self._body and isinstance(self.nodes.content(type_), self.nodes.MessageMatch):
            known = self._body_value(type_, scope)
        elif self.nodes.has_blocks(type_):
            known = self._flat(type_, scope, groups)
        else:
            known = self.value(type_, scope, groups.get(name, []), is_asked=name in self._asked)
        if start is not None:
            known.size = self._terms.math(ops.SUB, self._here(), start)
        scope.fields[name] = known
        self._check(field, scope)

    def _here(self) -> int:
        found = self.writer.register()
        self.writer.row(ops.HERE, found)
        return found

    def _body_value(self, type_: Type, scope: Scope) -> Known:
        """Write the code that reads the message of a frame, in its region if it has one."""
        if isinstance(type_, self.nodes.Region):
            with self.region(type_, scope):
                return self._body_value(type_.content, scope)
        assert isinstance(type_, self.nodes.MessageMatch)
        self._carried(type_, scope)
        return Known()

    def _flat(self, type_: Type, scope: Scope, groups: Groups) -> Known:
        """Write the code that reads a block, whose fields belong to the enclosing record."""
        with ExitStack() as regions:
            while isinstance(type_, self.nodes.Region):
                regions.enter_context(self.region(type_, scope))
                type_ = type_.content
            if not isinstance(type_, self.nodes.Block):
                raise Unsupported("a choice of blocks")
            self._fields(type_.fields, scope, groups)
        return Known()

    # ---- fields that may not be there

    def _conditional(self, field: Field, condition: Expression, scope: Scope, groups: Groups) -> None:
        present = self.term(condition, scope)
        absent, behind = JumpTarget(), JumpTarget()
        self.writer.row(ops.UNLESS, present, absent)
        mark = self.writer.mark()
        try:
            inner = Scope(frame=scope.frame, fields=dict(scope.fields))
            self._field(field, inner, groups)
            for check, late in inner.late:
                check(late)
            scope.fields[field.name] = inner.fields[field.name]
        except Unsupported:
            self.writer.rewind(mark)
            scope.fields[field.name] = Known()
        self.writer.row(ops.GO, behind)
        self.writer.here(absent)
        self._absent((field,), groups)
        self.writer.here(behind)
        for each in (field.name, *self._names(field)):
            known = scope.fields.get(each, Known())
            scope.fields[each] = Known(value=known.value, count=known.count, size=known.size, present=present)

    def _trailing(self, fields: Fields, scope: Scope, groups: Groups) -> None:
        """Write the code that reads fields that old peers leave out, each only if those before it are present."""
        self.demand_end()
        behind = JumpTarget()
        absent = [JumpTarget() for _ in fields]
        for field, label in zip(fields, absent, strict=True):
            size = fixed_size(self.layout, field.type) or 1
            rest, least = self.writer.register(), self.writer.register()
            self.writer.row(ops.REST, rest)
            self.writer.row(ops.SET, least, size)
            self.writer.row(ops.UNLESS, self._terms.math(ops.GE, rest, least), label)
            is_plain = isinstance(field.value, self.nodes.Trailing) and field.condition is None
            if not is_plain or self.nodes.has_blocks(field.type):
                raise Unsupported("a field behind trailing ones")
            self._field(field, scope, groups)
            scope.fields[field.name] = Known()
        self.writer.row(ops.GO, behind)
        for number, label in enumerate(absent):
            self.writer.here(label)
            self._absent(fields[number : number + 1], groups)
        self.writer.here(behind)

    def _absent(self, fields: Fields, groups: Groups) -> None:
        for name in dict.fromkeys(name for field in fields for name in self._names(field)):
            self.null(groups.get(name, []))

    # ---- bits

    def _run(self, fields: Fields) -> Iterator[tuple[Field, Bits]]:
        for field in fields:
            if not isinstance(field.type, self.nodes.Bits):
                return
            yield field, field.type

    def _bits(self, run: list[tuple[Field, Bits]], scope: Scope, groups: Groups) -> None:
        total = sum(bits.bits for _, bits in run)
        n_bytes = -(-total // 8)
        if 8 * n_bytes > _MOST_BITS or any(field.condition is not None for field, _ in run):
            raise Unsupported("a long row of bits")
        is_msb = run[0][1].order == "msb"
        number = self.writer.register()
        offset = self.writer.fixed(n_bytes)
        self.writer.look(ops.LOAD, number, offset, n_bytes + (0 if is_msb else ops.LITTLE))
        done = 0
        for field, bits in run:
            width = bits.bits
            register = self.writer.register()
            shift = 8 * n_bytes - done - width if is_msb else done
            self.writer.row(ops.BITS, register, number, shift, width)
            for column in groups.get(field.name, []):
                self.writer.row(ops.VALUE, register, column.index)
            scope.fields[field.name] = Known(value=register)
            self._check(field, scope)
            done += width

    # ---- checks of a field's value

    def _check(self, field: Field, scope: Scope) -> None:
        n = self.nodes
        match field.value:
            case n.Constant(value):
                self._demand_equal(field, value, scope)
            case n.Derived(value) if not self._is_certain(field, value):
                self._now_or_later(lambda is_late: self._demand_equal(field, value, scope), scope)
        where = field.where
        if where is not None:
            self._now_or_later(lambda is_late: self._demand(where, scope), scope)

    def _is_certain(self, field: Field, value: Expression) -> bool:
        n = self.nodes
        match value:
            case n.Call(function, (n.FieldReference((name,), "own"),)):
                return (function, name, field.name) in self._certain
        return False

    def _now_or_later(self, check: Callable[[bool], None], scope: Scope) -> None:
        try:
            check(False)
        except KeyError:
            scope.late.append((self._surely(check), True))

    @staticmethod
    def _surely(check: Callable[[bool], None]) -> Callable[[bool], None]:
        def late(is_late: bool) -> None:
            try:
                check(is_late)
            except KeyError:
                raise Unsupported("a field that is never read") from None

        return late

    def _demand(self, term: Expression, scope: Scope) -> None:
        self.writer.row(ops.DEMAND, self._terms.value(term, scope))

    def _demand_equal(self, field: Field, term: Expression, scope: Scope) -> None:
        value = scope.fields[field.name].value
        if value is None:
            raise Unsupported("the value of something long")
        expected = self._terms.value(term, scope)
        self.writer.row(ops.DEMAND, self._terms.math(ops.EQ, value, expected))

    # ---- which fields there are

    def _names(self, field: Field) -> list[str]:
        return [each.name for each in self._flat_fields((field,))]

    def _flat_fields(self, fields: Fields) -> Iterator[Field]:
        for field in fields:
            if not self.nodes.is_flat(field.type):
                yield field
            for block in self.nodes.blocks(field.type):
                yield from self._flat_fields(block)

    def _certainties(self, fields: Fields) -> Iterator[tuple[str, str, str]]:
        """Yield (function, field, number) for numbers by which the field is read: they equal the values
        derived from it.
        """
        n = self.nodes
        for field in fields:
            for block in self.nodes.blocks(field.type):
                yield from self._certainties(block)
            type_ = field.type
            while True:
                match type_:
                    case n.Region(type_, n.InSize(n.FieldReference((number,), "own"))):
                        yield "size", field.name, number
                        continue
                    case n.MessageMatch(n.FieldReference((number,), "own")):
                        yield "code", field.name, number
                break


def fixed_size(layout: Layout, type_: Type) -> int | None:
    """Return the number of bytes that every value of a type takes, or None if that varies."""
    bits = layout.bits(type_)
    return None if bits is None else -(-bits // 8)
