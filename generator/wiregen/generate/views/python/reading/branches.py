"""Optional fields and choices, as the templates of reading functions print them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wiregen.generate.steps.step import (
    Choose,
    OptionalField,
    UnsupportedError,
)
from wiregen.generate.views.python.expressions import python_expression, span_test
from wiregen.generate.views.python.reading.names import ReadLookup
from wiregen.generate.views.python.reading.step_views import (
    ReadAssign,
    ReadCase,
    ReadChoose,
    ReadOption,
    ReadStep,
)
from wiregen.generate.views.python.text import default_text
from wiregen.schema import model as m

if TYPE_CHECKING:
    from wiregen.generate.views.python.reading.steps import ReadBuilder

__all__ = ["BranchReader"]


class BranchReader:
    """Reads branches; a value read in a branch becomes a variable that is assigned before it."""

    def __init__(self, builder: ReadBuilder) -> None:
        self._builder = builder
        self._names = builder.names
        self._shared = builder.names.shared

    def option(self, step: OptionalField) -> Iterator[ReadStep]:
        names = self._names
        if step.is_trailing:
            yield from self._trailing(step)
            return
        # Settled first: a condition on `remaining` or `offset` refers to the position variable.
        before, known = list(self._builder.settle()), self._know()
        condition = (
            python_expression(step.condition, ReadLookup(names, step.prefix)) if step.condition else ""
        )
        inside = (*self._builder.steps(step.steps), *self._builder.settle())
        keys, assigns = self._kept(known, step.prefix)
        before += [*self._give(keys), *self._unread(known)]
        yield ReadOption(before=tuple(before), condition=condition, steps=(*inside, *assigns))

    def _trailing(self, step: OptionalField) -> Iterator[ReadStep]:
        """Yield an option with the rest of its row inside; the first one assigns the defaults of all."""
        names = self._names
        before = list(self._builder.settle())
        if step.condition is None:
            condition = f"{names.on.end} - {names.on.position} >= {step.size or 1}"
        else:
            condition = python_expression(step.condition, ReadLookup(names, step.prefix))
        is_first = names.row is None
        if names.row is None:
            names.row = names.locals.name(f"{step.prefix}{step.field.name}#absent")
            names.absent.setdefault(step.prefix, []).append(names.row)
            before.append(ReadAssign(target=names.row, value=str(len(step.row))))
            before += [self._default(field, step.prefix) for field in step.row]
        known = self._know()
        counted = ReadAssign(target=names.row, value=str(len(step.row) - 1))
        inside = (*self._builder.steps(step.steps), *self._builder.settle())
        keys, assigns = self._kept(known, step.prefix)
        before += self._unread(known)
        self._give(keys)
        # The value is assigned before the next fields of the row: a failure in a branch must not undo it.
        yield ReadOption(before=tuple(before), condition=condition, steps=(counted, *inside, *assigns))
        if is_first:
            names.row = None

    def _default(self, field: m.Field, prefix: str) -> ReadAssign:
        key = prefix + field.name
        default = default_text(field, self._shared.enums)
        if default is None:
            raise UnsupportedError(field.path, "a default like this")
        return ReadAssign(target=self._names.locals.name(key), value=default, annotation="Any")

    def _kept(self, known: _Known, prefix: str) -> tuple[tuple[str, ...], tuple[ReadAssign, ...]]:
        """Return the variables of the fields that a branch has read, and the assignments of their values at its end.

        Their keys are forgotten, because another branch may read fields of the same names.
        """
        names = self._names
        targets, assigns = [], []
        for key in [key for key in names.values if key not in known.values]:
            value, target = names.values.pop(key), names.locals.name(key)
            names.raws.pop(key, None)
            if not _is_field(key, prefix):
                continue
            targets.append(key)
            if target != value:
                assigns.append(ReadAssign(target=target, value=value))
        return tuple(targets), tuple(assigns)

    def _know(self) -> _Known:
        names = self._names
        n_rows = {prefix: len(rows) for prefix, rows in names.absent.items()}
        return _Known(values=frozenset(names.values), tails=dict(names.tails), n_rows=n_rows)

    def _give(self, keys: Iterable[str]) -> tuple[ReadAssign, ...]:
        """Make fields known that a branch may have read; return the initial values of their variables."""
        names, before = self._names, []
        for key in dict.fromkeys(keys):
            target = names.locals.name(key)
            names.give(key, target)
            names.optional.add(key)
            before.append(ReadAssign(target=target, value="None", annotation="Any"))
        return tuple(before)

    def _unread(self, known: _Known) -> Iterator[ReadAssign]:
        """Yield the trailing bytes and the numbers of absent fields that a branch may leave unread."""
        yield from self._names.empty_tails(known.tails)
        for prefix, rows in self._names.absent.items():
            yield from (ReadAssign(target=row, value="0") for row in rows[known.n_rows.get(prefix, 0) :])

    def choose(self, step: Choose) -> Iterator[ReadStep]:
        names = self._names
        before: list[ReadAssign] = list(self._builder.settle())
        subject = python_expression(step.subject, ReadLookup(names, step.prefix))
        if not subject.isidentifier():
            chosen = names.locals.name(f"{step.key}#subject")
            before.append(ReadAssign(target=chosen, value=subject))
            subject = chosen
        target, known = names.locals.name(step.key), self._know()
        cases: list[ReadCase] = []
        keys: list[str] = []
        for case in step.cases:
            names.move(names.on)
            inside = (*self._builder.steps(case.steps), *self._builder.settle())
            value = names.values.pop(case.key, None)
            own = () if value is None else (ReadAssign(target=target, value=value),)
            flat, assigns = self._kept(known, step.prefix)
            keys += flat
            condition = span_test(subject, case.spans)
            cases.append(ReadCase(condition=condition, steps=(*inside, *own, *assigns)))
            names.codes.pop(case.key, None)
        before.append(ReadAssign(target=target, value="None", annotation="Any"))
        before += [*self._give(keys), *self._unread(known)]
        names.give(step.key, target)
        names.arrive()
        has_else = any(not case.spans for case in step.cases)
        yield ReadChoose(before=tuple(before), cases=tuple(cases), has_else=has_else)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The state before a branch: known keys, trailing bytes, and the number of rows of trailing fields."""

    values: frozenset[str]
    tails: dict[str, str]
    n_rows: Mapping[str, int]


def _is_field(key: str, prefix: str) -> bool:
    """Return whether a key is a whole field of the declaration with that prefix."""
    name = key.removeprefix(prefix)
    return key.startswith(prefix) and not any(mark in name for mark in ".[#")
