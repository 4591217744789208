"""Fields in a row, and the values in them, as rows of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wirespark.kernels import ops
from wirespark.kernels.layout import Column
from wirespark.kernels.terms import Known, Scope, Terms, names_asked
from wirespark.kernels.values import Values
from wirespark.kernels.writing import Label, ProgramWriter, Unsupported

__all__ = ["Records"]

Group = list[Column]
Groups = dict[str, Group]
_MOST_BITS = 56
_MOST_ROWS = 1 << 16


class Records(Values):
    """Writes records; `carried` writes what reads the message of a frame."""

    def __init__(self, schema: Any, carried: Callable[[Any, Scope], None]) -> None:
        super().__init__(schema, ProgramWriter())
        self._carried = carried
        self._terms = Terms(self.writer, schema.limits)
        kinds = (schema.frames, schema.structs, schema.messages, schema.plan.unions)
        self._asked = frozenset(name for kind in kinds for name in names_asked(kind))
        self._measured = frozenset(name for kind in kinds for name in names_asked(kind, "size"))
        self._nesting: dict[tuple[str, str], int] = {}
        self._body: str | None = None
        self._certain: frozenset[tuple[str, str, str]] = frozenset()

    def term(self, term: Any, scope: Scope) -> int:
        """Return the register of an expression whose fields are all read.

        Raises:
            Unsupported: It is beyond the kernels.
        """
        try:
            return self._terms.value(term, scope)
        except KeyError:
            raise Unsupported("a field that is not read yet") from None

    @contextmanager
    def entered(self, kind: str, name: str) -> Iterator[None]:
        """Count how often a declaration is inside itself."""
        level = self._nesting.get((kind, name), 0)
        if level > self.schema.depth or len(self.writer.rows) > _MOST_ROWS:
            raise Unsupported("deeper than allowed")
        self._nesting[kind, name] = level + 1
        try:
            yield
        finally:
            self._nesting[kind, name] = level

    # ---- fields

    def record(
        self,
        fields: Any,
        scope: Scope,
        groups: list[Group],
        *,
        without: str | None = None,
        is_frame: bool = False,
    ) -> None:
        """Write what reads a declaration; its columns are in the order of its shown fields."""
        names = self._shown(fields, without)
        if len(names) != len(groups):
            raise AssertionError("the columns are of another plan")
        before = (self._body, self._certain)
        self._body, self._certain = without if is_frame else None, frozenset(_certain(fields))
        try:
            self._fields(fields, scope, dict(zip(names, groups, strict=True)))
        finally:
            self._body, self._certain = before
        for check, late in scope.late:
            check(late)
        scope.late.clear()

    def _shown(self, fields: Any, without: str | None) -> list[str]:
        found: dict[str, None] = {}
        for field in _flat_fields(fields):
            if not field[1] and field[0] != without:
                found[field[0]] = None
        return list(found)

    def _fields(self, fields: Any, scope: Scope, groups: Groups) -> None:
        at = 0
        while at < len(fields):
            field = fields[at]
            if field[2][0] == "bits":
                run = [field]
                while at + len(run) < len(fields) and fields[at + len(run)][2][0] == "bits":
                    run.append(fields[at + len(run)])
                self._bits(run, scope, groups)
                at += len(run)
                continue
            if field[3] is not None and field[3][0] == "trailing":
                self._trailing(fields[at:], scope, groups)
                return
            if field[4] is not None:
                self._conditional(field, scope, groups)
            else:
                self._field(field, scope, groups)
            at += 1

    def _field(self, field: Any, scope: Scope, groups: Groups) -> None:
        """Write what reads one field, and what its value must be."""
        name, _, type_, *_ = field
        start = self._here() if name in self._measured else None
        if name == self._body and type_content(type_)[0] == "message_match":
            known = self._body_value(type_, scope)
        elif is_flat(type_):
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

    def _body_value(self, type_: Any, scope: Scope) -> Known:
        """Write what reads the message that a frame carries, in its region if it has one."""
        if type_[0] == "region":
            with self.region(type_, scope):
                return self._body_value(type_[1], scope)
        self._carried(type_, scope)
        return Known()

    def _flat(self, type_: Any, scope: Scope, groups: Groups) -> Known:
        """Write what reads a block, whose fields belong to the record around it."""
        match type_:
            case ("block", fields):
                self._fields(fields, scope, groups)
            case ("region", inner, *_):
                with self.region(type_, scope):
                    self._flat(inner, scope, groups)
            case _:
                raise Unsupported("a choice of blocks")
        return Known()

    # ---- fields that may not be there

    def _conditional(self, field: Any, scope: Scope, groups: Groups) -> None:
        present = self.term(field[4], scope)
        absent, behind = Label(), Label()
        self.writer.row(ops.UNLESS, present, absent)
        mark = self.writer.mark()
        try:
            inner = Scope(frame=scope.frame, fields=dict(scope.fields))
            self._field(field, inner, groups)
            for check, late in inner.late:
                check(late)
            scope.fields[field[0]] = inner.fields[field[0]]
        except Unsupported:
            self.writer.rewind(mark)
            scope.fields[field[0]] = Known()
        self.writer.row(ops.GO, behind)
        self.writer.here(absent)
        self._absent([field], groups)
        self.writer.here(behind)
        for each in (field[0], *_names(field)):
            known = scope.fields.get(each, Known())
            scope.fields[each] = Known(value=known.value, count=known.count, size=known.size, present=present)

    def _trailing(self, fields: Any, scope: Scope, groups: Groups) -> None:
        """Write what reads fields that old peers leave out, each only where those before it are there."""
        self.demand_end()
        behind = Label()
        absent = [Label() for _ in fields]
        for field, label in zip(fields, absent, strict=True):
            size = fixed_size(self.schema, field[2]) or 1
            rest, least = self.writer.register(), self.writer.register()
            self.writer.row(ops.REST, rest)
            self.writer.row(ops.SET, least, size)
            self.writer.row(ops.UNLESS, self._terms.math(ops.GE, rest, least), label)
            if field[3] is None or field[3][0] != "trailing" or field[4] is not None or is_flat(field[2]):
                raise Unsupported("a field behind trailing ones")
            self._field(field, scope, groups)
            scope.fields[field[0]] = Known()
        self.writer.row(ops.GO, behind)
        for number, label in enumerate(absent):
            self.writer.here(label)
            self._absent(fields[number : number + 1], groups)
        self.writer.here(behind)

    def _absent(self, fields: Any, groups: Groups) -> None:
        for name in dict.fromkeys(name for field in fields for name in _names(field)):
            self.null(groups.get(name, []))

    # ---- bits

    def _bits(self, run: list[Any], scope: Scope, groups: Groups) -> None:
        total = sum(field[2][1] for field in run)
        n_bytes = -(-total // 8)
        if 8 * n_bytes > _MOST_BITS or any(field[4] is not None for field in run):
            raise Unsupported("a long row of bits")
        is_msb = run[0][2][3] == "msb"
        number = self.writer.register()
        offset = self.writer.fixed(n_bytes)
        self.writer.look(ops.LOAD, number, offset, n_bytes + (0 if is_msb else ops.LITTLE))
        done = 0
        for field in run:
            width = field[2][1]
            register = self.writer.register()
            shift = 8 * n_bytes - done - width if is_msb else done
            self.writer.row(ops.BITS, register, number, shift, width)
            for column in groups.get(field[0], []):
                self.writer.row(ops.VALUE, register, column.index)
            scope.fields[field[0]] = Known(value=register)
            self._check(field, scope)
            done += width

    # ---- what a field's value must be

    def _check(self, field: Any, scope: Scope) -> None:
        value, where = field[3], field[5]
        if value is not None and value[0] == "constant":
            self._demand_equal(field, value[1], scope)
        elif value is not None and value[0] == "derived" and not self._is_certain(field):
            self._now_or_later(lambda is_late: self._demand_equal(field, value[1], scope), scope)
        if where is not None:
            self._now_or_later(lambda is_late: self._demand(where, scope), scope)

    def _is_certain(self, field: Any) -> bool:
        match field[3][1]:
            case ("call", function, (("field", (name,), "own"),)):
                return (function, name, field[0]) in self._certain
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

    def _demand(self, term: Any, scope: Scope) -> None:
        self.writer.row(ops.DEMAND, self._terms.value(term, scope))

    def _demand_equal(self, field: Any, term: Any, scope: Scope) -> None:
        value = scope.fields[field[0]].value
        if value is None:
            raise Unsupported("the value of something long")
        expected = self._terms.value(term, scope)
        self.writer.row(ops.DEMAND, self._terms.math(ops.EQ, value, expected))


def _names(field: Any) -> list[str]:
    return [each[0] for each in _flat_fields((field,))]


def _flat_fields(fields: Any) -> Iterator[Any]:
    for field in fields:
        if _has_value(field[2]):
            yield field
        for block in _blocks(field[2]):
            yield from _flat_fields(block)


def _blocks(type_: Any) -> Iterator[Any]:
    match type_content(type_):
        case ("block", fields):
            yield fields
        case ("match", _, arms):
            for _, arm in arms:
                yield from _blocks(arm)


def _has_value(type_: Any) -> bool:
    """Return whether a field has a value of its own: it is neither a block nor a choice of blocks only."""
    match type_content(type_):
        case ("block", _):
            return False
        case ("match", _, arms):
            return any(_has_value(arm) for _, arm in arms)
        case _:
            return True


def type_content(type_: Any) -> Any:
    while type_[0] == "region":
        type_ = type_[1]
    return type_


def is_flat(type_: Any) -> bool:
    return next(_blocks(type_), None) is not None


def fixed_size(schema: Any, type_: Any) -> int | None:
    """Return how many bytes every value of a type takes; None: that depends."""
    bits = schema.bits(type_)
    return None if bits is None else -(-bits // 8)


def _certain(fields: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (function, field, number) of numbers by which the field is read: they agree with what is derived from it."""
    for field in fields:
        for block in _blocks(field[2]):
            yield from _certain(block)
        match field[2]:
            case ("region", inner, ("size", ("field", (number,), "own")), _):
                yield "size", field[0], number
                yield from _certain(((field[0], False, inner),))
            case ("message_match", ("field", (number,), "own"), _, _):
                yield "code", field[0], number
