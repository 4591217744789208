"""What the sessions, contexts and joins of a plan ask of one kind of message: the fields that make a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.session_words import Kind

__all__ = ["Mention", "measuring", "mentions_of", "paths_in"]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A field that something depends on, and what it is compared with: numbers, and variables as (session, name).

    `concerns`: the sessions that depend on it; None is what contexts and joins remember, and what stands inside.
    """

    path: Path
    numbers: tuple[int, ...]
    variables: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    """The sessions that tell their instances apart by it."""
    concerns: frozenset[str | None]


class _Gathered:
    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._found: dict[Path, tuple[dict[int, None], dict[tuple[str, str], None], dict[str, None]]] = {}
        self._concerns: dict[Path, set[str | None]] = {}

    def add(
        self,
        session: str | None,
        path: Path,
        numbers: Iterable[int] = (),
        variables: Iterable[tuple[str, str]] = (),
        key_of: tuple[str, ...] = (),
    ) -> None:
        """Add a field; one that is derived stands for what it is derived from."""
        for settable in _settable(self._kind, path):
            known = self._found.setdefault(settable, ({}, {}, {}))
            self._concerns.setdefault(settable, set()).add(session)
            known[0].update(dict.fromkeys(numbers))
            known[1].update(dict.fromkeys(variables))
            known[2].update(dict.fromkeys(key_of))

    def mentions(self) -> tuple[Mention, ...]:
        return tuple(
            Mention(
                path=path,
                numbers=tuple(numbers),
                variables=tuple(variables),
                keys=tuple(keys),
                concerns=self._all_about(path),
            )
            for path, (numbers, variables, keys) in self._found.items()
        )

    def _all_about(self, path: Path) -> frozenset[str | None]:
        """Return whom a field concerns, or a part of it, or what it is a part of."""
        return frozenset(
            session
            for other, sessions in self._concerns.items()
            if other[: len(path)] == path or path[: len(other)] == other
            for session in sessions
        )


def mentions_of(plan: Schema, kind: Kind, limits: dict[str, Any]) -> tuple[Mention, ...]:
    """Return what is asked of a kind of message."""
    gathered = _Gathered(kind)
    names = _names(plan, kind)
    for session, table in plan.sessions.items():
        rows = [row for row in table.rows if row[2] is None or names.intersection(row[2])]
        for key in table.keys if rows else ():
            gathered.add(session, (key,), key_of=(session,))
        for _, _, _, when, effect in rows:
            for part in (*_comparisons(when), *_updates(effect)):
                numbers = tuple(_numbers_in(part, limits))
                variables = tuple((session, name) for name in _variables_in(part))
                for path in paths_in(part):
                    gathered.add(session, path, numbers, variables)
    for path in _of_rules(plan, names):
        gathered.add(None, path)
    for name, field in kind.fields.items():
        if _holds_frames(field[2]):
            gathered.add(None, (name,))
    return gathered.mentions()


def measuring(plan: Schema, kind: Kind) -> frozenset[str]:
    """Return the sessions that ask how long something is, or for what only the bytes say: all of a message concerns them."""
    names = _names(plan, kind)
    return frozenset(
        session
        for session, table in plan.sessions.items()
        if any(
            _is_measured(part, kind)
            for row in table.rows
            if row[2] is None or names.intersection(row[2])
            for part in (row[3], *_updates(row[4]))
        )
    )


def _is_measured(expression: Any, kind: Kind) -> bool:
    match expression:
        case ("call", "size", _):
            return True
        case ("field", (name, *_), _):
            field = kind.fields.get(name) or kind.frame_fields.get(name)
            return field is not None and bool(field[1])
        case tuple():
            return any(_is_measured(part, kind) for part in expression)
        case _:
            return False


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


def _names(plan: Schema, kind: Kind) -> frozenset[str]:
    names = {kind.name, kind.frame or kind.name}
    for name, (_, block, _, parts, lasts, _) in plan.joins.items():
        if block is None and any(target in names for target, _, _ in (*parts, *lasts)):
            names.add(name)
    return frozenset(names)


def _of_rules(plan: Schema, names: frozenset[str]) -> Iterator[Path]:
    """Yield the fields that contexts and joins ask of such messages."""
    for _, keys, _, settings, clearings in plan.contexts.values():
        for target, field, when in settings:
            if target in names:
                yield from ((key,) for key in (*keys, field))
                yield from paths_in(when)
        for targets, when in clearings:
            if names.intersection(targets):
                yield from ((key,) for key in keys)
                yield from paths_in(when)
    for _, block, keys, parts, lasts, clearings in plan.joins.values():
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
    body = None if kind.frame is None else kind.plan.frames[kind.frame][2]
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
