"""Changes of fields in wire order, and their effect on the bytes after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, assert_never

from wiregen.language.breaking.changes import Change
from wiregen.language.breaking.matching import keyed_fields, renamed_fields
from wiregen.language.breaking.plain import Renames, plain
from wiregen.language.breaking.runs import refilled_runs
from wiregen.language.spelling import expression_text, type_text
from wiregen.runtime.schema.node import Node, fields_of
from wiregen.schema import model as m
from wiregen.schema.copies import mapped, replace
from wiregen.schema.sizes import Laid, Sizes
from wiregen.schema.values import number_of

__all__ = ["Pair", "compare_fields", "eased"]


_Node = TypeVar("_Node", bound=Node)
_TURNED: Final[Mapping[str, m.Operator]] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operators with which the operands change sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two states of a protocol with the sizes of both."""

    old: m.Protocol
    new: m.Protocol
    renames: Renames
    old_sizes: Sizes
    new_sizes: Sizes

    def growth(self, old: Laid, new: Laid) -> int | None:
        """Return how many bytes more a new type or field takes than an old one, or None if a size depends on the value."""
        before, after = self.old_sizes.fixed(old), self.new_sizes.fixed(new)
        return None if before is None or after is None else after - before

    def is_open_enum(self, type_: m.Type, as_: m.Type) -> bool:
        """Return whether a type is an open enum of numbers of the other type: all its bytes mean the same."""
        enum = next((each for each in self.old.enums if each.name == getattr(type_, "name", "")), None)
        enum = enum if isinstance(type_, m.EnumReference) else None
        return enum is not None and enum.is_open and plain(enum.type, self.renames) == as_


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """The fields of one declaration in both states: `name` and `path` of the new one."""

    pair: Pair
    name: str
    path: str
    old: tuple[m.Field, ...]
    new: tuple[m.Field, ...]

    def moved(self, field: m.Field, by: int | None) -> str:
        """Return the effect of a change in the size of an old field, in bytes; `by` None: it depends on the value."""
        index = self.old.index(field)
        before = self.pair.old_sizes.fixed(self.old[:index])
        place = f"offset {before} of `{self.name}`" if before is not None else f"`{field.name}`"
        is_last = index == len(self.old) - 1
        if by is None:
            return f"the bytes from {place} on are decoded differently"
        if by == 0:
            return f"the bytes at {place} are decoded differently"
        if is_last:
            return (
                f"`{self.name}` becomes {abs(by)} bytes {'longer' if by > 0 else 'shorter'}, from {place} on"
            )
        return f"every field after {place} moves by {by}"

    def inserted(self, field: m.Field, at: int) -> str:
        """Return the effect of a new field before the old field at an index."""
        size = self.pair.new_sizes.fixed(field)
        before = self.pair.old_sizes.fixed(self.old[:at])
        place = (
            f"offset {before} of `{self.name}`" if before is not None else f"the field before `{field.name}`"
        )
        by = "its size" if size is None else str(size)
        return (
            f"every field from {place} on moves by {by}"
            if at < len(self.old)
            else f"`{self.name}` becomes longer"
        )


def compare_fields(
    old: Sequence[m.Field], new: Sequence[m.Field], name: str, path: str, pair: Pair
) -> Iterator[Change]:
    """Yield the changes between the fields of one declaration, `name`, or of a block in it."""
    own = renamed_fields(old, new, pair.renames)
    pair = replace(pair, renames=pair.renames.within(own))
    row = _Row(pair=pair, name=name, path=path, old=tuple(old), new=tuple(new))
    runs = tuple(refilled_runs(old, new, pair.renames, (pair.old_sizes, pair.new_sizes)))
    kept = keyed_fields(_without(old, [run.old_places for run in runs]))
    ours = {own.get(key, key): field for key, field in kept.items()}
    theirs = keyed_fields(_without(new, [run.new_places for run in runs]))
    yield from _renamed(row, own, theirs)
    yield from _order(row, ours, theirs)
    for run in runs:
        yield from run.changes(name, path)
    yield from _removed(row, ours, theirs)
    yield from _added(row, ours, theirs)
    for key, field in theirs.items():
        if key in ours:
            yield from _between(row, ours[key], field)


def _without(fields: Sequence[m.Field], places: Sequence[range]) -> list[m.Field]:
    left_out = {at for each in places for at in each}
    return [field for at, field in enumerate(fields) if at not in left_out]


def _renamed(row: _Row, own: Mapping[str, str], new: Mapping[str, m.Field]) -> Iterator[Change]:
    for before, after in own.items():
        if after in new and not new[after].is_hidden:
            message = f"field `{row.name}.{before}` is renamed to `{after}`"
            effect = "programs that use the attribute fail; the bytes are the same"
            yield Change(code="WG8102", path=new[after].path, message=message, effect=effect)


def _order(row: _Row, ours: Mapping[str, m.Field], theirs: Mapping[str, m.Field]) -> Iterator[Change]:
    before = [key for key in ours if key in theirs]
    after = [key for key in theirs if key in ours]
    first = next((index for index, key in enumerate(before) if after[index] != key), None)
    if first is not None:
        field = ours[before[first]]
        message = f"the fields of `{row.name}` are in another order: {', '.join(before[first:])} before"
        yield Change(
            code="WG8003", path=theirs[after[first]].path, message=message, effect=row.moved(field, None)
        )


def _removed(row: _Row, ours: Mapping[str, m.Field], theirs: Mapping[str, m.Field]) -> Iterator[Change]:
    for key, field in ours.items():
        if key not in theirs:
            size = row.pair.old_sizes.fixed(field)
            effect = row.moved(field, None if size is None else -size)
            message = f"field `{row.name}.{field.name}` ({type_text(field.type)}) is removed"
            yield Change(code="WG8002", path=row.path, message=message, effect=effect)


def _added(row: _Row, ours: Mapping[str, m.Field], theirs: Mapping[str, m.Field]) -> Iterator[Change]:
    keys = list(theirs)
    for index, key in enumerate(keys):
        rest = [theirs[each] for each in keys[index:]]
        is_last = not any(each in ours for each in keys[index:])
        if key in ours or (is_last and all(isinstance(each.value, m.Trailing) for each in rest)):
            continue
        before = next((ours[each] for each in reversed(keys[:index]) if each in ours), None)
        at = 0 if before is None else row.old.index(before) + 1
        field = theirs[key]
        message = f"field `{row.name}.{field.name}` ({type_text(field.type)}) is new"
        yield Change(
            code="WG8002", path=field.path or row.path, message=message, effect=row.inserted(field, at)
        )


# ---- one field


def _between(row: _Row, old: m.Field, new: m.Field) -> Iterator[Change]:
    name, renames, none = f"{row.name}.{new.name}", row.pair.renames, Renames()
    before, after = eased(plain(old, renames), plain(new, none)), plain(new, none)
    if before.type != after.type:
        yield from _type(row, name, old, new)
    if before.condition != after.condition:
        message = f"field `{name}` is present {_when(old.condition)} before, {_when(new.condition)} now"
        effect = row.moved(old, None)
        yield Change(code="WG8004", path=new.path, message=message, effect=effect)
    if not _is_same_where(before, after, old, new):
        message = f"the `where` of field `{name}` is {_shown(new.where)}, it was {_shown(old.where)}"
        effect = "one state refuses values that the other one sends"
        yield Change(code="WG8005", path=new.path, message=message, effect=effect)
    yield from _value(name, old, new, before.value, after.value)
    if plain(old.view, renames) != plain(new.view, none):
        message = f"the view of field `{name}` changes"
        yield Change(
            code="WG8103", path=new.path, message=message, effect="the value has another type in programs"
        )


def _is_same_where(before: m.Field, after: m.Field, old: m.Field, new: m.Field) -> bool:
    """Return whether the conditions of both states are the same, `<= 2` and `< 3` of integers too."""
    return before.where == after.where or _as_strict(before.where, old) == _as_strict(after.where, new)


def _as_strict(where: m.Expression | None, field: m.Field) -> m.Expression | None:
    """Return a condition with `<` and `>` in place of `<=` and `>=`, where the field itself, an integer, is compared with a number."""
    if where is None or not isinstance(field.type, m.Integer | m.Bits | m.Varint):
        return where
    own = plain(m.FieldReference(path=(field.name,)), Renames())

    def change(node: Node) -> Node | None:
        match node:
            case m.Operation(operator=operator, left=m.Number() as left, right=right) if (
                right == own and operator in _TURNED
            ):
                return change(m.Operation(operator=_TURNED[operator], left=right, right=left))
            case m.Operation(operator="<=", left=left, right=m.Number(value=value)) if left == own:
                return m.Operation(operator="<", left=left, right=m.Number(value=value + 1))
            case m.Operation(operator=">=", left=left, right=m.Number(value=value)) if left == own:
                return m.Operation(operator=">", left=left, right=m.Number(value=value - 1))
            case m.Operation(operator="<" | ">", left=left, right=m.Number()) if left == own:
                return node
            case _:
                return None

    return mapped(where, change)


def _type(row: _Row, name: str, old: m.Field, new: m.Field) -> Iterator[Change]:
    inner = _blocks(old.type, new.type, row.pair.renames)
    if inner is not None:
        for one, other in inner:
            yield from compare_fields(one.fields, other.fields, row.name, row.path, row.pair)
        return
    before, after = type_text(old.type), type_text(new.type)
    texts = f"from `{before}` to `{after}`" if before != after else f"`{after}` in its parts"
    message = f"field `{name}` changes {texts}"
    if row.pair.is_open_enum(old.type, new.type):
        effect = "the value has another type in programs; the bytes are the same"
        yield Change(code="WG8103", path=new.path, message=message, effect=effect)
        return
    yield Change(
        code="WG8001", path=new.path, message=message, effect=row.moved(old, row.pair.growth(old, new))
    )


def _blocks(old: m.Type, new: m.Type, renames: Renames) -> list[tuple[m.Block, m.Block]] | None:
    """Return the blocks of two types that are equal otherwise, in pairs; None if other parts differ."""
    ours: list[m.Block] = []
    theirs: list[m.Block] = []
    before = eased(plain(_emptied(old, ours), renames), plain(_emptied(new, theirs), Renames()))
    if not ours or len(ours) != len(theirs) or before != plain(_emptied(new, []), Renames()):
        return None
    return list(zip(ours, theirs, strict=True))


def _emptied(part: m.Type, found: list[m.Block]) -> m.Type:
    """Return a type with its blocks emptied; the full ones are added to `found` in text order."""

    def change(node: Node) -> Node | None:
        if isinstance(node, m.Block):
            found.append(node)
            return m.Block(fields=())
        return None

    return mapped(part, change)


def _value(
    name: str, old: m.Field, new: m.Field, before: m.FieldValue | None, after: m.FieldValue | None
) -> Iterator[Change]:
    """Yield a change of the value of a field: a default concerns callers, all others concern bytes."""
    is_default = isinstance(before, m.Default | None) and isinstance(after, m.Default | None)
    if before == after:
        return
    if new.name == "_":
        yield from _hidden_value(name, old, new)
        return
    if is_default and after is None:
        message = f"field `{name}` has lost its default"
        yield Change(code="WG8102", path=new.path, message=message, effect="programs that omit it fail")
    elif is_default and before is not None:
        message = f"the default of field `{name}` is {_stated(new)}, it was {_stated(old)}"
        yield Change(
            code="WG8302", path=new.path, message=message, effect="messages without it get another value"
        )
    elif not is_default:
        message = f"field `{name}` is {_described(new.value)}, it was {_described(old.value)}"
        effect = "one state refuses values that the other one sends"
        yield Change(code="WG8004", path=new.path, message=message, effect=effect)


def _hidden_value(name: str, old: m.Field, new: m.Field) -> Iterator[Change]:
    """Yield a change of a field without a name: a constant, or padding, whose value readers skip and writers set to zero."""
    if new.value is None and isinstance(old.value, m.Constant) and _is_zero(old.value.value):
        return  # readers accept more
    before, after = ("padding" if each.value is None else _described(each.value) for each in (old, new))
    effect = "one state refuses values that the other one sends"
    if new.value is None:
        effect = "new writers send zeros, which old readers refuse"
    elif old.value is None:
        effect = "new readers refuse other values, which old ones skip"
    message = f"field `{name}` is {after}, it was {before}"
    yield Change(code="WG8004", path=new.path, message=message, effect=effect)


def _is_zero(expression: m.Expression) -> bool:
    """Return whether all bytes of a constant are zero, as those that writers send as padding."""
    match expression:
        case m.Octets(hex=digits):
            return not digits.strip("0")
        case m.Truth(value=value):
            return not value
        case _:
            return number_of(expression) == 0


def _described(value: m.FieldValue | None) -> str:
    match value:
        case None:
            return "set by hand"
        case m.Default(value=default):
            return f"set by hand, with the default {_shown(default)}"
        case m.Constant(value=constant):
            return f"the constant {_shown(constant)}"
        case m.Derived(value=derived):
            return f"derived as {_shown(derived)}"
        case m.Trailing(value=fallback):
            return f"an optional tail with the default {_shown(fallback)}"
        case _:
            assert_never(value)


def _stated(field: m.Field) -> str:
    return "" if field.value is None else _shown(field.value.value)


def _shown(expression: m.Expression | None) -> str:
    return "none" if expression is None else f"`{expression_text(expression)}`"


def _when(condition: m.Expression | None) -> str:
    return "always" if condition is None else f"if `{expression_text(condition)}`"


def eased(old: _Node, new: Node) -> _Node:
    """Return the old node with the lenience of the new one, where that accepts more: readers of both accept old bytes."""
    if type(old) is not type(new):
        return old
    values = {name: _eased(name, getattr(old, name), getattr(new, name)) for name in fields_of(old)}
    return type(old)(**values)


def _eased(name: str, old: object, new: object) -> object:
    if name in ("is_lenient", "lenient"):
        return new if new and not old else old
    if isinstance(old, Node) and isinstance(new, Node):
        return eased(old, new)
    if type(old) is tuple and type(new) is tuple and len(old) == len(new):
        return tuple(_eased("", one, other) for one, other in zip(old, new, strict=True))
    return old
