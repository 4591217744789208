"""Fields that may be absent where a number is needed: calculations, lengths, sizes, choices, derived values.

Such fields are refused unless they are guarded. A field is guarded if the conditions that hold at an
expression imply the conditions under which the field is present. The conditions that hold are those of the
expression's own field, those of the enclosing blocks and arms, and the left sides of `and` and `or`.

Comparing with `==` needs no guard: an absent field equals only null. Fields of one name in several arms are
one field, which is present in each of these arms. The size and the count of an absent field are 0. They are
unknown if the block that contains the field is absent too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from wiregen.language.checker.conditions import never
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.checker.intervals import Numbers, intersected, normal
from wiregen.language.checker.presence import Fact, Facts, Placed, placed, ways_inside
from wiregen.language.checker.value_ranges import numbers_of
from wiregen.runtime.schema.literals import Function
from wiregen.runtime.schema.shapes import content
from wiregen.schema.model import (
    Bytes,
    Call,
    Computed,
    Expression,
    Field,
    FieldReference,
    Item,
    List,
    ListOf,
    Match,
    Negation,
    Number,
    Operation,
    Range,
    Span,
    Text,
    Trailing,
    Type,
)
from wiregen.schema.walk import direct_expressions, inner_expressions, nested_expressions

__all__ = ["RULES", "Uses", "is_positive"]

_MOST_WAYS = 64
"""The maximum number of combinations, one condition of each arm with the field, that are checked."""
_ABSENT = Span(low=0, high=0)
_CALCULATIONS = ("+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=")


def _absent_where_a_number_is_needed(inspection: Inspection) -> None:
    for record in inspection.records:
        for need, field, part in Uses(inspection, record).unguarded():
            _report(inspection, record, need, field, part)


def is_positive(inspection: Inspection, record: Record, field: Field, expression: Expression) -> bool:
    """Return whether conditions say that a number in the type of a field is at least 1.

    The conditions are those under which the field is present, and each `where` that is checked before it.
    """
    uses, position = Uses(inspection, record), record.positions.get(field.name, 0)
    below = Operation(operator="<", left=expression, right=Number(value=1))
    return never([*uses.known_before(position, uses.facts_of(field)), (below, True)], uses)


def _names(expression: Expression) -> Iterator[str]:
    for each in nested_expressions(expression):
        if isinstance(each, FieldReference) and each.scope == "own":
            yield each.path[0]


@dataclass(frozen=True, slots=True)
class _Need:
    """A field that is needed: its number, or its `function` (size or count). Dots in `name` lead into structs."""

    name: str
    function: str = ""


def _report(inspection: Inspection, record: Record, need: _Need, field: Field, part: str) -> None:
    name, _, inside = need.name.partition(".")
    tested = f"present({need.name})"
    if need.function:
        message = f"the block around `{name}` may be absent here, and then its {need.function} is not defined"
        help_ = f"use it inside of that block, or test the field first: `… if {tested}`"
    else:
        message = f"`{need.name}` may be absent here, but a number is needed"
        value = f"`{(inside or name).rpartition('.')[2]} : … ?= 0 if …`"
        help_ = f"give it a value for when it is absent, {value}, or test it first: `{tested} and …`"
    inspection.error(
        "WG3067",
        message,
        inspection.place(field.path, part),
        "used here",
        inspection.also(
            record.by_name[name].path, "does not always have it" if inside else "not always present", "name"
        ),
        help_=help_,
    )


class Uses:
    """The expressions of one declaration."""

    def __init__(self, inspection: Inspection, record: Record) -> None:
        self._declared = inspection.declared
        self._record = record
        self._placed = tuple(placed(record.fields, ()))
        self._presence: dict[str, list[Facts]] = {}
        self._measured: dict[tuple[Function, str], Numbers | None] = {}
        self._blocks: dict[str, list[Facts]] = {}
        """The conditions of the blocks that contain a field, by its name."""
        for each in self._placed:
            self._presence.setdefault(each.field.name, []).append(each.own)
            self._blocks.setdefault(each.field.name, []).append(each.above)

    def is_always(self, name: str) -> bool:
        """Return whether a field is present under all conditions."""
        ways = self._presence.get(name)
        return ways is None or () in ways

    def facts_of(self, field: Field) -> Facts:
        """Return the conditions under which a field is present."""
        return next((each.own for each in self._placed if each.field is field), ())

    def known_at(self, type_: Type) -> list[Fact]:
        """Return the facts that hold in a declaration wherever a field with this type is present."""
        facts = next((facts for each in self._placed for facts, laid in each.laid if laid is type_), ())
        return self.known_before(len(self._record.flat), facts)

    def known_before(self, position: int, facts: Facts) -> list[Fact]:
        """Return the facts that follow from `facts`, and each `where` checked before the field at `position`."""
        wheres = [(condition, True) for last, condition in self._wheres if last < position]
        return [*(each for fact in facts for each in self.implied(fact)), *wheres]

    @cached_property
    def _wheres(self) -> tuple[tuple[int, Expression], ...]:
        """Each `where` of an always present field, with the position of the last field that it needs."""
        positions, end = self._record.positions, len(self._record.flat)
        return tuple(
            (max((position, *(positions.get(name, end) for name in _names(each.where)))), each.where)
            for position, each in enumerate(self._record.flat)
            if each.where is not None and self.is_always(each.name)
        )

    def choices(self) -> Iterator[tuple[int, Field, Facts, Match]]:
        """Yield each choice by number with its field, that field's position, and the conditions under which it is made."""
        for position, each in enumerate(self._placed):
            for facts, type_ in each.laid:
                if isinstance(type_, Match):
                    yield position, each.field, facts, type_

    def unguarded(self) -> Iterator[tuple[_Need, Field, str]]:
        """Yield each use of a field that may be absent, with the field and the part of it that uses it."""
        for each in self._placed:
            for part, need in self._unguarded_in(each):
                if need is not None:
                    yield need, each.field, part

    def _unguarded_in(self, place: Placed) -> Iterator[tuple[str, _Need | None]]:
        """Yield each part of a field with the first use of an absent field in it, None where all uses are guarded."""
        field = place.field
        if field.condition is not None:
            yield "if", next(self._absent(field.condition, place.above), None)
        if field.value is not None:
            yield "value", next(self._operands((field.value.value,), place.own), None)
        if field.where is not None:
            yield "where", next(self._absent(field.where, place.own), None)
        for facts, type_ in place.laid:
            yield "type", next(self._operands(direct_expressions(type_), facts), None)

    def _absent(self, expression: Expression, facts: Facts) -> Iterator[_Need]:
        match expression:
            case Operation(operator="and" | "or" as operator, left=left, right=right):
                yield from self._absent(left, facts)
                yield from self._absent(right, (*facts, (left, operator == "and")))
            case Operation(operator=operator, left=left, right=right) if operator in _CALCULATIONS:
                yield from self._operands((left, right), facts)
            case Operation(operator="in" | "not in", left=left, right=Range() as right):
                yield from self._operands((left, right.low, right.high), facts)
            case Operation(operator="in" | "not in", left=left, right=ListOf(items=items)):
                has_range = any(isinstance(item, Range) for item in items)
                yield from self._operands((left,) if has_range else (), facts)
            case Negation(operator="-", operand=operand):
                yield from self._operands((operand,), facts)
            case Call(function="min" | "max", arguments=arguments):
                yield from self._operands(arguments, facts)
            case Call(
                function="size" | "count" as function, arguments=(FieldReference(path=(name,), scope="own"),)
            ):
                if not self._is_there((name,), self._blocks.get(name, [()]), facts):
                    yield _Need(name, function)
            case Call():
                return
            case Item(list=list_, index=index):
                yield from self._operands((list_, index), facts)
            case _:
                for inner in inner_expressions(expression):
                    yield from self._absent(inner, facts)

    def _operands(self, operands: Iterable[Expression], facts: Facts) -> Iterator[_Need]:
        for operand in operands:
            match operand:
                case FieldReference(path=(_, *_) as path, scope="own"):
                    if not self._is_there(path, self._ways(path), facts):
                        yield _Need(".".join(path) if self.is_always(path[0]) else path[0])
                case _:
                    yield from self._absent(operand, facts)

    def _ways(self, path: tuple[str, ...]) -> list[Facts]:
        """Return each set of conditions under which a field, also one inside structs, is present."""
        ways = self._presence.get(path[0], [()])
        if not path[1:]:
            return ways
        inside = ways_inside(self._declared, self._record.by_name[path[0]], path[1:])
        return [(*way, *more) for way in ways for more in inside]

    def _is_there(self, path: tuple[str, ...], ways: list[Facts], facts: Facts) -> bool:
        """Return whether `facts` imply that a field, or the block around it, is present in one of `ways`."""
        if () in ways:
            return True
        known = [each for fact in facts for each in self.implied(fact)]
        if any(_says_present(fact, path) for fact in known) or any(
            all(self._excludes(known, (fact,)) for fact in way) for way in ways
        ):
            return True
        if prod(map(len, ways)) > _MOST_WAYS:
            return False
        return all(self._excludes(known, missing) for missing in product(*ways))

    def _excludes(self, known: list[Fact], missing: Facts) -> bool:
        """Return whether the known facts exclude that all of some conditions are false."""
        is_one_known = any(fact is each for fact in missing for each in known)
        return is_one_known or never([*known, *((each, not truth) for each, truth in missing)], self)

    def implied(self, fact: Fact) -> Iterator[Fact]:
        """Yield a fact and the facts that it implies; `present(x)` implies the conditions of `x`."""
        match fact:
            case (Operation(operator="and", left=left, right=right), True):
                yield from self.implied((left, True))
                yield from self.implied((right, True))
            case (Call(function="present", arguments=(FieldReference(path=(name,)),)), True):
                yield fact
                ways = self._presence.get(name, ())
                yield from ways[0] if len(ways) == 1 else ()
            case _:
                yield fact

    # ---- Subjects

    def numbers(self, subject: Expression) -> Numbers | None:
        """Return the numbers that a field can hold, or its count or size can be.

        They are None for a field without numbers, and where they are unknown.
        """
        match subject:
            case Call(
                function="count" | "size" as function, arguments=(FieldReference(path=(name,), scope="own"),)
            ):
                return self._measures(function, name)
        type_ = self._declared.type_of(subject, self._record.by_name)
        possible = None if type_ is None else self._declared.numbers_in(type_)
        return None if possible is None else (possible,)

    def _measures(self, function: Function, name: str) -> Numbers | None:
        """Return the numbers that the count or size of a field can be."""
        key = (function, name)
        if key not in self._measured:
            field = self._record.by_name.get(name)
            numbers = None if field is None else self._measured_by_type(function, field.type)
            is_there = field is None or (self.is_always(name) and not isinstance(field.value, Trailing))
            self._measured[key] = numbers if numbers is None or is_there else normal((*numbers, _ABSENT))
        return self._measured[key]

    def _measured_by_type(self, function: Function, type_: Type) -> Numbers | None:
        if function == "size":
            return (self._record.sizes.span(type_),)
        match content(type_):
            case Bytes(length=length) | Text(length=length) | List(length=length):
                counted = numbers_of(length.value, self) if isinstance(length, Computed) else None
                possible = (self._record.sizes.counts(length),)
                return possible if counted is None else intersected(counted, possible)
            case _:
                return None

    def is_there(self, subject: Expression) -> bool:
        """Return whether a subject always has a value."""
        return not isinstance(subject, FieldReference) or not subject.path or self.is_always(subject.path[0])


def _says_present(fact: Fact, path: tuple[str, ...]) -> bool:
    match fact:
        case (Call(function="present", arguments=(FieldReference(path=named),)), True):
            return named == path
        case _:
            return False


RULES = (_absent_where_a_number_is_needed,)
