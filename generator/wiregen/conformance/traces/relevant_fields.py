"""The fields of one kind of message on which the sessions, contexts and reassemblies of a schema depend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wiregen.runtime.schema.declarations import Context, Derived, Join
from wiregen.runtime.schema.expressions import (
    Call,
    Expression,
    FieldReference,
    LimitReference,
    Negation,
    Number,
    Operation,
    VariableReference,
)
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.sessions import Effect, Go
from wiregen.runtime.schema.types import FrameReference, List, Region, Type
from wiregen.runtime.sessions.names import Kind

__all__ = ["Mention", "measuring", "mentions_of", "paths_in"]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A field that matters, and the values that it is compared with: numbers, and variables as (session, name).

    `concerns`: the sessions that depend on it; the entry None means contexts, reassemblies and inner
    frames.
    """

    path: Path
    numbers: tuple[int, ...]
    variables: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    """The sessions whose instances it identifies."""
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
        """Add a field; a derived field is replaced by the fields that it is derived from."""
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
        """Return the sessions that depend on a field, on a part of it, or on a value that it is a part of."""
        return frozenset(
            session
            for other, sessions in self._concerns.items()
            if other[: len(path)] == path or path[: len(other)] == other
            for session in sessions
        )


def mentions_of(schema: Schema, kind: Kind, limits: dict[str, int]) -> tuple[Mention, ...]:
    """Return the fields of a kind of message that matter."""
    gathered = _Gathered(kind)
    names = _names(schema, kind)
    for session, table in schema.sessions.items():
        rows = [row for row in table.rows if row.targets is None or names.intersection(row.targets)]
        for key in table.keys if rows else ():
            gathered.add(session, (key,), key_of=(session,))
        for row in rows:
            for part in (*_comparisons(row.when), *_updates(row.effect)):
                numbers = tuple(_numbers_in(part, limits))
                variables = tuple(
                    (session, each.name) for each in nodes_in(part) if isinstance(each, VariableReference)
                )
                for path in paths_in(part):
                    gathered.add(session, path, numbers, variables)
    for path in _of_rules(schema, names):
        gathered.add(None, path)
    for name, field in kind.fields.items():
        if _holds_frames(field.type):
            gathered.add(None, (name,))
    return gathered.mentions()


def measuring(schema: Schema, kind: Kind) -> frozenset[str]:
    """Return the sessions that depend on a length, or on facts that only the bytes give: they depend on the
    whole message.
    """
    names = _names(schema, kind)
    return frozenset(
        session
        for session, table in schema.sessions.items()
        if any(
            _is_measured(part, kind)
            for row in table.rows
            if row.targets is None or names.intersection(row.targets)
            for part in (row.when, *_updates(row.effect))
        )
    )


def _is_measured(expression: Expression | None, kind: Kind) -> bool:
    for node in nodes_in(expression):
        match node:
            case Call("size"):
                return True
            case FieldReference((name, *_)):
                field = kind.fields.get(name) or kind.frame_fields.get(name)
                if field is not None and field.is_hidden:
                    return True
    return False


def _updates(effect: Effect) -> tuple[Expression, ...]:
    return tuple(update.value for update in effect.updates) if isinstance(effect, Go) else ()


def _comparisons(expression: Expression | None) -> Iterator[Expression]:
    """Yield the operands of `and`, `or` and `not` in a condition."""
    match expression:
        case Operation("and" | "or", left, right):
            yield from _comparisons(left)
            yield from _comparisons(right)
        case Negation("not", operand):
            yield from _comparisons(operand)
        case None:
            return
        case _:
            yield expression


def _holds_frames(type_: Type) -> bool:
    match type_:
        case Region(inner) | List(inner):
            return _holds_frames(inner)
        case _:
            return isinstance(type_, FrameReference)


def _names(schema: Schema, kind: Kind) -> frozenset[str]:
    names = {kind.name, kind.frame or kind.name}
    for name, join in schema.joins.items():
        if join.block is None and any(setting.target in names for setting in (*join.parts, *join.lasts)):
            names.add(name)
    return frozenset(names)


def _of_rules(schema: Schema, names: frozenset[str]) -> Iterator[Path]:
    """Yield the fields of such messages on which contexts and reassemblies depend."""
    for entry in schema.contexts.values():
        for setting in entry.settings:
            if setting.target in names:
                yield from ((key,) for key in (*entry.keys, setting.field))
                yield from paths_in(setting.when)
        yield from _of_clearings(entry, names)
    for join in schema.joins.values():
        for setting in (*join.parts, *join.lasts):
            if setting.target in names:
                yield from ((key,) for key in join.keys)
                # Whether a frame is a fragment of a block follows from its content, and is not varied.
                if join.block is None:
                    yield from ((setting.field,), *paths_in(setting.when))
        yield from _of_clearings(join, names)


def _of_clearings(declared: Context | Join, names: frozenset[str]) -> Iterator[Path]:
    for clearing in declared.clearings:
        if names.intersection(clearing.targets):
            yield from ((key,) for key in declared.keys)
            yield from paths_in(clearing.when)


def _settable(kind: Kind, path: Path, outside: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield the fields that can be set so that this one changes."""
    field = kind.fields.get(path[0]) or kind.frame_fields.get(path[0])
    body = None if kind.frame is None else kind.schema.frames[kind.frame].message
    if field is None or path in outside or path[0] == body:
        return
    outside |= {path}
    for below in paths_in(field.condition):
        yield from _settable(kind, below, outside)
    if not field.is_hidden:
        yield path
    elif isinstance(field.value, Derived):
        for below in paths_in(field.value.value):
            yield from _settable(kind, below, outside)


def paths_in(expression: Expression | None) -> Iterator[Path]:
    """Yield the paths of the fields that an expression names."""
    yield from (node.path for node in nodes_in(expression) if isinstance(node, FieldReference))


def _numbers_in(expression: Expression, limits: dict[str, int]) -> Iterator[int]:
    """Yield the numbers that an expression names, and those of limits."""
    for node in nodes_in(expression):
        match node:
            case Number(value):
                yield value
            case LimitReference(name) if isinstance(limits.get(name), int):
                yield limits[name]
