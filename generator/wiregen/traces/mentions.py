"""What the sessions, contexts and joins of a plan ask of one kind of message: the fields that make a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from wiregen.runtime.options import Plan
from wiregen.runtime.session_words import Kind

__all__ = ["Mention", "mentions_of", "paths_in"]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A field that something depends on, and what it is compared with: numbers, and variables as (session, name)."""

    path: Path
    numbers: tuple[int, ...]
    variables: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    """The sessions that tell their instances apart by it."""


class _Gathered:
    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._found: dict[Path, tuple[dict[int, None], dict[tuple[str, str], None], dict[str, None]]] = {}

    def add(
        self,
        path: Path,
        numbers: Iterable[int] = (),
        variables: Iterable[tuple[str, str]] = (),
        key_of: tuple[str, ...] = (),
    ) -> None:
        """Add a field; one that is derived stands for what it is derived from."""
        for settable in _settable(self._kind, path):
            known = self._found.setdefault(settable, ({}, {}, {}))
            known[0].update(dict.fromkeys(numbers))
            known[1].update(dict.fromkeys(variables))
            known[2].update(dict.fromkeys(key_of))

    def mentions(self) -> tuple[Mention, ...]:
        return tuple(
            Mention(path=path, numbers=tuple(numbers), variables=tuple(variables), keys=tuple(keys))
            for path, (numbers, variables, keys) in self._found.items()
        )


def mentions_of(plan: Plan, kind: Kind, limits: dict[str, Any]) -> tuple[Mention, ...]:
    """Return what is asked of a kind of message."""
    gathered = _Gathered(kind)
    names = _names(plan, kind)
    for session, table in plan["sessions"].items():
        rows = [row for row in table["rows"] if row[2] is None or names.intersection(row[2])]
        for key in table["keys"] if rows else ():
            gathered.add((key,), key_of=(session,))
        for _, _, _, when, effect in rows:
            for part in (*_comparisons(when), *_updates(effect)):
                numbers = tuple(_numbers_in(part, limits))
                variables = tuple((session, name) for name in _variables_in(part))
                for path in paths_in(part):
                    gathered.add(path, numbers, variables)
    for path in _of_rules(plan, names):
        gathered.add(path)
    for name, field in kind.fields.items():
        if _holds_frames(field[2]):
            gathered.add((name,))
    return gathered.mentions()


def _updates(effect: Any) -> tuple[Any, ...]:
    return tuple(value for _, value in effect[2]) if effect[0] == "go" else ()


def _comparisons(expression: Any) -> Iterator[Any]:
    """Yield the parts of a condition that stand between `and`, `or` and `not`."""
    match expression:
        case ("operation", "and" | "or", left, right):
            yield from _comparisons(left)
            yield from _comparisons(right)
        case ("negation", "not", operand):
            yield from _comparisons(operand)
        case None:
            return
        case _:
            yield expression


def _variables_in(expression: Any) -> Iterator[str]:
    if isinstance(expression, tuple):
        if expression[:1] == ("variable",):
            yield expression[1]
        for part in expression:
            yield from _variables_in(part)


def _holds_frames(type_: Any) -> bool:
    while type_[0] in ("region", "list"):
        type_ = type_[1]
    return bool(type_[0] == "frame")


def _names(plan: Plan, kind: Kind) -> frozenset[str]:
    names = {kind.name, kind.frame or kind.name}
    for name, (_, block, _, parts, lasts, _) in plan["joins"].items():
        if block is None and any(target in names for target, _, _ in (*parts, *lasts)):
            names.add(name)
    return frozenset(names)


def _of_rules(plan: Plan, names: frozenset[str]) -> Iterator[Path]:
    """Yield the fields that contexts and joins ask of such messages."""
    for _, keys, _, settings, clearings in plan["contexts"].values():
        for target, field, when in settings:
            if target in names:
                yield from ((key,) for key in (*keys, field))
                yield from paths_in(when)
        for targets, when in clearings:
            if names.intersection(targets):
                yield from ((key,) for key in keys)
                yield from paths_in(when)
    for _, block, keys, parts, lasts, clearings in plan["joins"].values():
        for target, field, when in (*parts, *lasts):
            if target in names:
                yield from ((key,) for key in keys)
                # Whether a frame is a piece of a block follows from what it holds, and is not for trying.
                yield from (() if block is not None else ((field,), *paths_in(when)))
        for targets, when in clearings:
            if names.intersection(targets):
                yield from ((key,) for key in keys)
                yield from paths_in(when)


def _settable(kind: Kind, path: Path, outside: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield the fields that can be given so that this one changes."""
    field = kind.fields.get(path[0]) or kind.frame_fields.get(path[0])
    body = None if kind.frame is None else kind.plan["frames"][kind.frame][2]
    if field is None or path in outside or path[0] == body:
        return
    outside |= {path}
    if field[4] is not None:
        for below in paths_in(field[4]):
            yield from _settable(kind, below, outside)
    if not field[1]:
        yield path
    elif field[3] is not None and field[3][0] == "derived":
        for below in paths_in(field[3][1]):
            yield from _settable(kind, below, outside)


def paths_in(expression: Any) -> Iterator[Path]:
    """Yield the paths of the fields that an expression names."""
    if isinstance(expression, tuple):
        if expression[:1] == ("field",):
            yield expression[1]
            return
        for part in expression:
            yield from paths_in(part)


def _numbers_in(expression: Any, limits: dict[str, Any]) -> Iterator[int]:
    """Yield the numbers that an expression names, and those of limits."""
    match expression:
        case ("number", int() as value):
            yield value
        case ("limit", name) if isinstance(limits.get(name), int):
            yield limits[name]
        case tuple():
            for part in expression:
                yield from _numbers_in(part, limits)
