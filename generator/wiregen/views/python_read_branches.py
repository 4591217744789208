"""What may be there or not, and choices, as the templates of reading functions print them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wiregen import model as m
from wiregen.plan.steps import (
    Choose,
    Option,
    UnsupportedError,
)
from wiregen.views.python_expressions import python_expression, span_test
from wiregen.views.python_read_names import ReadLookup
from wiregen.views.python_steps import ReadAssign, ReadCase, ReadChoose, ReadOption, ReadStep
from wiregen.views.python_text import default_text

if TYPE_CHECKING:
    from wiregen.views.python_read import ReadBuilder

__all__ = ["BranchReader"]


class BranchReader:
    """Reads branches; what a branch reads becomes a variable that is said before it."""

    def __init__(self, builder: ReadBuilder) -> None:
        self._builder = builder
        self._names = builder.names
        self._shared = builder.names.shared

    def option(self, step: Option) -> Iterator[ReadStep]:
        names = self._names
        if step.is_trailing:
            yield from self._trailing(step)
            return
        condition = (
            python_expression(step.condition, ReadLookup(names, step.prefix)) if step.condition else ""
        )
        before, known = list(self._builder.settle()), frozenset(names.values)
        inside = (*self._builder.steps(step.steps), *self._builder.settle())
        targets, assigns = self._kept(known, step.prefix)
        before += [ReadAssign(target=target, value="None", annotation="Any") for target in targets]
        yield ReadOption(before=tuple(before), condition=condition, steps=(*inside, *assigns))

    def _trailing(self, step: Option) -> Iterator[ReadStep]:
        """Yield an option with the rest of its row inside; the first one says the defaults of all."""
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
        known = frozenset(names.values)
        counted = ReadAssign(target=names.row, value=str(len(step.row) - 1))
        inside = (*self._builder.steps(step.steps), *self._builder.settle())
        _, assigns = self._kept(known, step.prefix)
        # The value stands before what follows it in the row: a branch inside may end the function's luck, not the value.
        yield ReadOption(before=tuple(before), condition=condition, steps=(counted, *inside, *assigns))
        if is_first:
            names.row = None

    def _default(self, field: m.Field, prefix: str) -> ReadAssign:
        key = prefix + field.name
        default = default_text(field, self._shared.enums)
        if default is None:
            raise UnsupportedError(field.path, "a default like this")
        return ReadAssign(target=self._names.locals.name(key), value=default, annotation="Any")

    def _kept(self, known: frozenset[str], prefix: str) -> tuple[tuple[str, ...], tuple[ReadAssign, ...]]:
        """Return the variables of the fields that a branch has read, and what makes them their values at its end."""
        names = self._names
        targets, assigns = [], []
        for key in [key for key in names.values if key not in known]:
            value, target = names.values.pop(key), names.locals.name(key)
            names.raws.pop(key, None)
            if not _is_field(key, prefix):
                continue
            targets.append(target)
            if target != value:
                assigns.append(ReadAssign(target=target, value=value))
            names.give(key, target)
            names.optional.add(key)
        return tuple(targets), tuple(assigns)

    def choose(self, step: Choose) -> Iterator[ReadStep]:
        names = self._names
        subject = python_expression(step.subject, ReadLookup(names, step.prefix))
        before: list[ReadAssign] = list(self._builder.settle())
        if not subject.isidentifier():
            chosen = names.locals.name(f"{step.key}#subject")
            before.append(ReadAssign(target=chosen, value=subject))
            subject = chosen
        target, first = names.locals.name(step.key), frozenset(names.values)
        cases, targets = [], [target]
        for case in step.cases:
            known = frozenset(names.values)
            names.move(names.on)
            inside = (*self._builder.steps(case.steps), *self._builder.settle())
            value = names.values.pop(case.key, None)
            own = () if value is None else (ReadAssign(target=target, value=value),)
            flat, assigns = self._kept(known, step.prefix)
            targets += flat
            condition = span_test(subject, case.spans)
            cases.append(ReadCase(condition=condition, steps=(*inside, *own, *assigns)))
            if case.key in names.codes:
                names.codes.pop(case.key)
        before += [ReadAssign(target=each, value="None", annotation="Any") for each in dict.fromkeys(targets)]
        if all(case.key not in first for case in step.cases):
            names.give(step.key, target)
        names.arrive()
        has_else = any(not case.spans for case in step.cases)
        yield ReadChoose(before=tuple(before), cases=tuple(cases), has_else=has_else)


def _is_field(key: str, prefix: str) -> bool:
    """Tell whether a key is a whole field of the declaration with that prefix."""
    name = key.removeprefix(prefix)
    return key.startswith(prefix) and not any(mark in name for mark in ".[#")
