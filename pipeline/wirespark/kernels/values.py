"""Values of each type as rows of a program. Their columns are a group: the column, and those next to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from wirespark.kernels import ops
from wirespark.kernels.layout import Column, groups_of
from wirespark.kernels.operands import column_rows, endian_flag, integer_form
from wirespark.kernels.terms import Known, Scope
from wirespark.kernels.writing import JumpTarget, ProgramWriter, Unsupported
from wirespark.nodes import Nodes

if TYPE_CHECKING:
    from wireproto._runtime.reference.layout import Fields, Layout
    from wireproto._runtime.schema.declarations import Variety
    from wireproto._runtime.schema.expressions import Expression
    from wireproto._runtime.schema.types import (
        Arm,
        Boolean,
        EnumReference,
        Float,
        Integer,
        Length,
        List,
        Match,
        Region,
        Span,
        Type,
        UnionReference,
        Uuid,
        Varint,
    )

__all__ = ["ValueWriter"]

Group = list[Column]
_TEXTS = {"utf8": ops.UTF8, "mutf8": ops.MUTF8, "ascii": ops.ASCII}
_MOST_DENSE = 1 << 12
_WIDEST = 8  # bytes of the widest integer that a register holds


class ValueWriter(ABC):
    """Writes the code for values; a subclass writes the records in them."""

    def __init__(self, layout: Layout, nodes: Nodes, writer: ProgramWriter) -> None:
        self.layout = layout
        self.nodes = nodes
        self.writer = writer
        self._has_end = False

    @abstractmethod
    def term(self, term: Expression, scope: Scope) -> int: ...

    @abstractmethod
    def record(self, fields: Fields, scope: Scope, groups: list[Group]) -> None: ...

    @abstractmethod
    def entered(self, name: str) -> AbstractContextManager[None]: ...

    def value(self, type_: Type, scope: Scope, group: Group, *, is_asked: bool = False) -> Known:
        """Write the code that reads a value into its columns; an empty group: the value has no columns.

        Raises:
            Unsupported: The kernels do not support it.
        """
        if group and group[0].wire == "json":
            raise Unsupported("what is laid out no further")
        n = self.nodes
        match type_:
            case n.Integer() | n.Boolean() | n.Float() | n.Uuid() | n.EnumReference():
                return self._plain(type_, group, is_asked=is_asked)
            case n.Varint():
                return self._varint(type_, group)
            case n.Bytes(length):
                return self._span(length, scope, group, ops.NO_TEXT)
            case n.Text(encoding, length) if encoding in _TEXTS:
                return self._span(length, scope, group, _TEXTS[encoding])
            case n.List():
                return self._list(type_, scope, group)
            case n.Region(content):
                with self.region(type_, scope):
                    return self.value(content, scope, group, is_asked=is_asked)
            case n.StructReference(name):
                return self._struct(name, scope, group)
            case n.UnionReference():
                return self._union(type_, scope, group)
            case n.Match():
                return self._match(type_, scope, group)
        raise Unsupported(type(type_).__name__)

    # ---- fixed sizes

    def _plain(
        self, type_: Integer | Boolean | Float | Uuid | EnumReference, group: Group, *, is_asked: bool
    ) -> Known:
        n = self.nodes
        match type_:
            case n.Integer(size):
                if size > _WIDEST:
                    raise Unsupported("an integer beyond 64 bits")
                return self._number(size, integer_form(type_), group, is_asked=is_asked)
            case n.Boolean():
                offset = self.writer.fixed(1, fields=column_rows(ops.F_INT, group, 1))
                self.writer.look(ops.FLAG, offset)
                return Known(value=self._loaded(offset, 1)) if is_asked else Known()
            case n.Float(_, endian):
                is_other = any(column.field.type.bit_width != type_.bits for column in group)
                if not type_.letter or is_other:  # the bytes of those of `struct` are Arrow's
                    raise Unsupported("a float that Arrow keeps in another format")
                form = type_.size + endian_flag(endian)
                self.writer.fixed(type_.size, fields=column_rows(ops.F_INT, group, form))
                return Known()
            case n.Uuid():
                self.writer.fixed(16, fields=column_rows(ops.F_UUID, group, 0))
                return Known()
            case n.EnumReference():
                return self._enum(type_, group, is_asked=is_asked)
        raise AssertionError(type_)

    def _number(self, size: int, form: int, group: Group, *, is_asked: bool) -> Known:
        offset = self.writer.fixed(size, fields=column_rows(ops.F_INT, group, form))
        return Known(value=self._loaded(offset, form)) if is_asked else Known()

    def _loaded(self, offset: int, form: int) -> int:
        register = self.writer.register()
        self.writer.look(ops.LOAD, register, offset, form)
        return register

    def _enum(self, type_: EnumReference, group: Group, *, is_asked: bool) -> Known:
        enum, only = self.layout.schema.enums[type_.name], type_.only
        if not isinstance(enum.type, self.nodes.Integer):
            raise Unsupported("an enum of a varint")
        form = integer_form(enum.type)
        fields: tuple[tuple[int, ...], ...] = ()
        if group:
            member, number = group
            fields = (
                (ops.F_ENUM, number.index, form, member.index, self.writer.enum(type_.name, enum.members)),
            )
        offset = self.writer.fixed(enum.type.size, fields=fields)
        allowed = [each.value for each in enum.members if only is None or each.name in only]
        if enum.is_open and only is None and not is_asked:
            return Known()
        register = self._loaded(offset, form)
        if not enum.is_open or only is not None:
            self.writer.look(ops.MEMBER, register, *self.writer.sorted_numbers(allowed))
        return Known(value=register)

    def _varint(self, type_: Varint, group: Group) -> Known:
        register = self.writer.register()
        self.writer.row(ops.VARINT, register, type_.bits, int(type_.is_zigzag))
        for column in group:
            self.writer.row(ops.VALUE, register, column.index)
        return Known(value=register)

    # ---- lengths

    def length(self, length: Length, scope: Scope) -> int:
        """Return the register of a length or count."""
        n = self.nodes
        match length:
            case n.Prefix(n.Integer(size) as type_):
                return self._loaded(self.writer.fixed(size), integer_form(type_))
            case n.Prefix(n.Varint() as type_):
                found = self._varint(type_, []).value
                assert found is not None
                return found
            case n.Computed(term):
                return self.term(term, scope)
            case n.ToEnd():
                self.demand_end()
                register = self.writer.register()
                self.writer.row(ops.REST, register)
                return register
        raise Unsupported(type(length).__name__)

    def demand_end(self) -> None:
        """Accept only values in a region whose end is known."""
        if not self._has_end:
            raise Unsupported("what takes all that there is")

    def _span(self, length: Length, scope: Scope, group: Group, kind: int) -> Known:
        size = self.length(length, scope)
        self.writer.row(ops.SPAN, size, group[0].index if group else -1, kind)
        return Known(count=size)

    @contextmanager
    def region(self, type_: Region, scope: Scope) -> Iterator[None]:
        """Write the code that enters a region, and leaves it at its end."""
        n = self.nodes
        match type_.carrier:
            case n.InSize(expression):
                size = self.term(expression, scope)
            case n.Prefix() as prefix:
                size = self.length(prefix, scope)
            case other:
                raise Unsupported(type(other).__name__)
        former = self.writer.register()
        self.writer.row(ops.REGION, size, former)
        before, self._has_end = self._has_end, True
        try:
            yield
        finally:
            self._has_end = before
        self.writer.row(ops.CLOSE, former)

    # ---- lists

    def _list(self, type_: List, scope: Scope, group: Group) -> Known:
        item, length, smallest = type_.item, type_.length, type_.smallest_item
        if type_.where is not None:
            raise Unsupported("items with a condition")
        if smallest < 1 or smallest > 1 << 20:
            raise Unsupported("items without a size")
        if not group:
            raise Unsupported("a list that is not shown")
        inner = [column.children[0] for column in group]
        if isinstance(length, self.nodes.ToEnd):
            return self._items_to_the_end(item, scope, group, inner)
        if isinstance(length, self.nodes.Until):
            raise Unsupported("a list up to a condition")
        count, left = self.length(length, scope), self.writer.register()
        self.writer.row(ops.SET, left, 0)
        self.writer.row(ops.MATH, left, ops.ADD, left, count)
        self.writer.row(ops.LIST, count, group[0].index, smallest)
        top, behind = JumpTarget(), JumpTarget()
        self.writer.row(ops.UNLESS, left, behind)
        self.writer.here(top)
        self._item(item, scope, inner)
        self.writer.row(ops.NEXT, left, top)
        self.writer.here(behind)
        return Known(count=count)

    def _items_to_the_end(self, item: Type, scope: Scope, group: Group, inner: Group) -> Known:
        self.demand_end()
        place = self.writer.register()
        self.writer.row(ops.OPEN, place, group[0].index)
        top, behind = JumpTarget(), JumpTarget()
        self.writer.here(top)
        self.writer.row(ops.MORE, place, behind)
        self._item(item, scope, inner)
        self.writer.row(ops.GO, top)
        self.writer.here(behind)
        return Known()

    def _item(self, item: Type, scope: Scope, inner: Group) -> None:
        """Write the code that reads an item; an item that extends to a region's end cannot be followed by others."""
        if self.layout.reaches_end(item):
            raise Unsupported("items that take all that there is")
        self.value(item, scope, inner)

    # ---- composite types

    def _struct(self, name: str, scope: Scope, group: Group) -> Known:
        if not group:
            raise Unsupported("a struct that is not shown")
        with self.entered(name):
            self.fields_of(self.layout.structs[name], scope, group[0])
        return Known()

    def fields_of(self, fields: Fields, scope: Scope, column: Column) -> None:
        """Write a record into the columns of a struct; one without fields is a flag."""
        groups: list[Group] = []
        if column.wire == "nothing":
            self.writer.row(ops.EMIT, ops.T_VALUE, column.index, 1)
        else:
            self._present(column)
            groups = list(groups_of(column.children))
        self.record(fields, Scope(frame=scope.frame), groups)

    def _present(self, column: Column) -> None:
        self.writer.row(ops.EMIT, ops.T_PRESENT, column.index)
        column.kind = ops.C_STRUCT

    def null(self, group: Group) -> None:
        """Write that a value is absent."""
        for column in group:
            if column.wire == "raw":
                continue
            if column.children and column.kind == ops.C_NOTHING:
                column.kind = ops.C_STRUCT
            self.writer.row(ops.EMIT, ops.T_NULL, column.index)

    def _union(self, type_: UnionReference, scope: Scope, group: Group) -> Known:
        """Write the code that reads a union: the alternative, its code, and its columns."""
        name, only, union = type_.name, type_.only, self.layout.schema.unions[type_.name]
        if not group:
            raise Unsupported("a union that is not shown")
        which, code, *rest = groups_of(group[0].children)
        shown = [each for each in union.varieties if only is None or type_.is_lenient or each.name in only]
        self._present(group[0])
        number = self.value(union.type, scope, code, is_asked=True).value
        assert number is not None
        labels = [JumpTarget() for _ in shown]
        self.choose(number, _patterns([each.spans for each in shown], labels))
        behind = JumpTarget()
        for n, (variety, label) in enumerate(zip(shown, labels, strict=True)):
            self.writer.here(label)
            others = [other for m, other in enumerate(rest) if m != n]
            if only is None or variety.name in only:
                self._variety(name, variety, scope, which[0], rest[n], others)
            else:
                self.writer.row(ops.STOP)
            self.writer.row(ops.GO, behind)
        self.writer.here(behind)
        return Known()

    def _variety(
        self, union: str, variety: Variety, scope: Scope, which: Column, group: Group, others: list[Group]
    ) -> None:
        fields = variety.fields
        mark = self.writer.mark()
        try:
            with self.entered(union):
                if self.layout.fields_reach_end(fields):
                    raise Unsupported("a variety that takes all that there is")
                self.writer.row(ops.EMIT, ops.T_CONST, which.index, self.writer.text(variety.name))
                for other in others:
                    self.null(other)
                shown = any(not field.is_hidden for field in fields)
                if variety.is_lone and shown:
                    self.record(fields, Scope(frame=scope.frame), [group])
                else:
                    self.fields_of(fields, scope, group[0])
        except Unsupported:
            self.writer.rewind(mark)

    def _match(self, type_: Match, scope: Scope, group: Group) -> Known:
        """Write the code that reads a choice by a number; all arms have the same columns."""
        arms = type_.arms
        if group and group[0].wire == "choice":
            raise Unsupported("a choice of several types")
        number = self.term(type_.subject, scope)
        labels = [JumpTarget() for _ in arms]
        if arms and not arms[-1].spans:
            self._choose_or(number, arms, labels)
        else:
            self.choose(number, _patterns([arm.spans for arm in arms], labels))
        behind = JumpTarget()
        for arm, label in zip(arms, labels, strict=True):
            self.writer.here(label)
            self._arm(arm.type, scope, group)
            self.writer.row(ops.GO, behind)
        self.writer.here(behind)
        return Known()

    def _arm(self, arm: Type, scope: Scope, group: Group) -> None:
        mark = self.writer.mark()
        try:
            self.value(arm, scope, group)
        except Unsupported:
            self.writer.rewind(mark)

    def _choose_or(self, number: int, arms: tuple[Arm, ...], labels: list[JumpTarget]) -> None:
        """Write a jump to the arm that takes a number, the last arm for all other numbers."""
        found = _patterns([arm.spans for arm in arms[:-1]], labels[:-1])
        others: dict[tuple[int, int], JumpTarget] = {(-(1 << 62), 1 << 62): labels[-1]}
        self._seek(number, found | others)

    # ---- jumps

    def choose(self, register: int, targets: dict[tuple[int, int], JumpTarget]) -> None:
        """Write a jump to the label of the first range that has the register; numbers outside all ranges
        are left to the object path.
        """
        if not targets:
            self.writer.row(ops.STOP)
            return
        low = min(low for low, _ in targets)
        size = max(high for _, high in targets) - low + 1
        if size > _MOST_DENSE:
            self._seek(register, targets)
            return
        labels: dict[int, JumpTarget] = {}
        for (first, last), label in targets.items():
            for number in range(first, last + 1):
                labels.setdefault(number, label)
        self.writer.row(ops.CHOOSE, register, self.writer.table(labels, low, size), size, low)

    def _seek(self, register: int, targets: dict[tuple[int, int], JumpTarget]) -> None:
        start = len(self.writer.numbers)
        for (low, high), label in targets.items():
            if max(abs(low), abs(high)) > 1 << 62:
                raise Unsupported("a number beyond 62 bits")
            label.places.append(len(self.writer.numbers) + 2)
            self.writer.numbers.extend((low, high, ops.STOP))
        self.writer.row(ops.SEEK, register, start, len(targets))


def _patterns(rows: list[tuple[Span, ...]], labels: list[JumpTarget]) -> dict[tuple[int, int], JumpTarget]:
    found: dict[tuple[int, int], JumpTarget] = {}
    for spans, label in zip(rows, labels, strict=True):
        for span in spans:
            found.setdefault((span.low, span.high), label)
    return found
