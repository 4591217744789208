"""Pairs of declarations and fields of two models: by name, or renamed with the same content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeAlias, TypeVar

from wiregen.language.breaking.plain import Renames, plain
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.walk import every_field

__all__ = ["Declared", "Matched", "declared", "keyed_fields", "matched", "renames_of"]

Declared: TypeAlias = (
    m.Enum | m.Struct | m.Message | m.Frame | m.Preamble | m.Union | m.Coding | m.Const | m.Context | m.Join | m.Session
)  # fmt: skip
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched(Generic[_Part]):
    """The parts of two lists: both, by the new name; those that only one has; and the new names of renamed ones."""

    both: tuple[tuple[str, _Part, _Part], ...]
    removed: Mapping[str, _Part]
    added: Mapping[str, _Part]
    renamed: Mapping[str, str]


def matched(
    old: Mapping[str, _Part], new: Mapping[str, _Part], is_same: Callable[[_Part, _Part], bool]
) -> Matched[_Part]:
    """Return the pairs of equal names, and those of other names that are the same otherwise, in text order."""
    renamed: dict[str, str] = {}
    removed = {name: part for name, part in old.items() if name not in new}
    added = {name: part for name, part in new.items() if name not in old}
    for name, part in tuple(removed.items()):
        other = next((each for each, node in added.items() if is_same(part, node)), None)
        if other is not None:
            renamed[name] = other
            del removed[name], added[other]
    former = {other: name for name, other in renamed.items()}
    both = tuple((name, old[former.get(name, name)], part) for name, part in new.items() if name not in added)
    return Matched(both=both, removed=removed, added=added, renamed=renamed)


def declared(source: m.Protocol | m.Variant) -> Iterator[Declared]:
    """Yield the declarations of a protocol or of a variant with a name."""
    groups: tuple[tuple[Declared, ...], ...] = (
        source.structs,
        source.messages,
        source.frames,
        source.preambles,
    )
    if isinstance(source, m.Protocol):
        groups += (source.enums, source.unions, source.codings, source.constants)
        groups += (source.contexts, source.joins, source.sessions)
    for group in groups:
        yield from group


def keyed_fields(fields: Sequence[m.Field]) -> dict[str, m.Field]:
    """Return fields by name; those without a name by their number among these."""
    unnamed = count(1)
    return {field.name if field.name != "_" else f"_{next(unnamed)}": field for field in fields}


def renames_of(old: m.Protocol, new: m.Protocol) -> Renames:
    """Return the renamed roles, declarations and fields of a protocol."""
    roles = dict(zip(old.roles, new.roles, strict=False))
    first = Renames(roles=roles, endian={old.endian: new.endian} if old.endian != new.endian else {})
    names: dict[str, str] = {}
    for kind in {type(each) for each in declared(old)}:
        ours = {each.name: each for each in declared(old) if type(each) is kind}
        theirs = {each.name: each for each in declared(new) if type(each) is kind}
        names |= matched(ours, theirs, lambda one, other: _is_same(one, other, first)).renamed
    fields: dict[str, str] = {}
    both = {each.name: each for each in declared(new)}
    for each in declared(old):
        other = both.get(names.get(each.name, each.name))
        if isinstance(each, m.Struct | m.Message | m.Frame) and isinstance(other, type(each)):
            fields |= renamed_fields(each.fields, other.fields, replace(first, declarations=names))
    return replace(first, declarations=names, fields=fields)


def renamed_fields(old: Sequence[m.Field], new: Sequence[m.Field], renames: Renames) -> dict[str, str]:
    """Return the new names of fields that have the same place and layout, blocks included."""
    ours, theirs = tuple(every_field(old)), tuple(every_field(new))
    kept = {each.name for each in ours} & {each.name for each in theirs}
    found: dict[str, str] = {}
    for one, other in zip(ours, theirs, strict=False):
        if one.name in kept or other.name in kept or "_" in (one.name, other.name):
            continue
        if plain(replace(one, name=""), renames) == plain(replace(other, name=""), Renames()):
            found[one.name] = other.name
    return found


def _is_same(old: Declared, new: Declared, renames: Renames) -> bool:
    """Return whether two declarations differ in nothing but their names, and names of members or fields are the same."""
    return plain(replace(old, name=""), renames) == plain(replace(new, name=""), Renames())
