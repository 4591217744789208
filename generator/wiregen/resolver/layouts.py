"""The fields of a declaration in one row, blocks and aliases opened, each with its sort; from the syntax alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

from wiregen import syntax
from wiregen.resolver.names import Entry, check_case, refuse_duplicates
from wiregen.resolver.sorts import (
    BLOCK,
    INTEGER,
    MESSAGE,
    UNKNOWN,
    WRONG,
    Sort,
    enum_of,
    list_of,
    record_of,
)
from wiregen.resolver.words import needs_length, sort_of_word
from wiregen.resolver.workspace import MAX_ALIAS_CHAIN, Workspace

PADDING = "_"
LONE = "value"
"""The field of a variety that is a lone shape; also what a `where` of an alias calls its value."""

WithFields: TypeAlias = syntax.Struct | syntax.Message | syntax.Frame | syntax.Preamble


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A field of a layout; `start` is its place in the row, `end` that behind its last part."""

    sort: Sort
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """`places`: start and end of every syntax field by its id, the nameless ones too."""

    fields: Mapping[str, Known]
    places: Mapping[int, tuple[int, int]]
    n_fields: int


def layout_of(work: Workspace, fields: tuple[syntax.Field, ...]) -> Layout:
    """Return the layout of a declaration's fields; names used twice and in wrong case are reported."""
    known = work.layouts.get(id(fields))
    if isinstance(known, Layout) and fields:
        return known
    layout = _measured(work, fields)
    work.layouts[id(fields)] = layout
    return layout


def lone_layout(work: Workspace, shape: syntax.Shape) -> Layout:
    """Return the layout of a variety that is a lone shape: its field `value`, and what a block in it holds."""
    inner = _measured(work, tuple(_nested(work, shape, ())))
    value = Known(sort=sort_of_shape(work, shape), start=inner.n_fields, end=inner.n_fields + 1)
    return Layout(
        fields=MappingProxyType({**inner.fields, LONE: value}),
        places=inner.places,
        n_fields=inner.n_fields + 1,
    )


def _measured(work: Workspace, fields: tuple[syntax.Field, ...]) -> Layout:
    named: dict[str, Known] = {}
    places: dict[int, tuple[int, int]] = {}
    seen: list[syntax.Name] = []
    counter = count()
    for row in _rows(work, fields, counter):
        places[id(row.node)] = (row.start, row.end)
        if row.node.name.text != PADDING:
            seen.append(row.node.name)
            sort = sort_of_shape(work, row.node.shape)
            named.setdefault(row.node.name.text, Known(sort=sort, start=row.start, end=row.end))
    _check_names(work, seen)
    return Layout(fields=MappingProxyType(named), places=MappingProxyType(places), n_fields=next(counter))


def _check_names(work: Workspace, seen: list[syntax.Name]) -> None:
    refuse_duplicates((Entry(name=name, what="field") for name in seen), work.report)
    for name in seen:
        check_case(name, "snake", "a field", work.report, is_warning=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    node: syntax.Field
    start: int
    end: int


def _rows(
    work: Workspace, fields: Iterable[syntax.Field], counter: Iterator[int], aliases: tuple[str, ...] = ()
) -> list[_Row]:
    """Return the fields in text order, a block before what it holds; duplicates in aliases stay duplicates."""
    rows: list[_Row] = []
    for node in fields:
        start = next(counter)
        inner: list[_Row] = []
        for nested, unfolded in _blocks(work, node.shape, aliases):
            inner.extend(_rows(work, nested.fields, counter, unfolded))
        end = 1 + max((row.end - 1 for row in inner), default=start)
        rows.extend((_Row(node=node, start=start, end=end), *inner))
    return rows


def _nested(work: Workspace, shape: syntax.Shape, aliases: tuple[str, ...]) -> Iterator[syntax.Field]:
    for block, _ in _blocks(work, shape, aliases):
        yield from block.fields


def _blocks(
    work: Workspace, shape: syntax.Shape, aliases: tuple[str, ...]
) -> Iterator[tuple[syntax.Block, tuple[str, ...]]]:
    """Yield the blocks that a shape is or chooses among, with the aliases that lead there."""
    match shape.core:
        case syntax.Block() as block:
            yield block, aliases
        case syntax.Match(arms=arms):
            for arm in arms or ():
                yield from _blocks(work, arm.shape, aliases)
        case syntax.Name(text=text) as name:
            alias = work.named(text, syntax.Alias)
            if isinstance(alias, syntax.Alias) and work.may_unfold(alias, aliases, name.span):
                yield from _blocks(work, alias.shape, (*aliases, text))
        case _:
            return


def sort_of_shape(work: Workspace, shape: syntax.Shape, depth: int = 0) -> Sort:
    """Return the sort of a shape's value; `unknown` where it has several."""
    match shape.core:
        case syntax.Block():
            return BLOCK
        case syntax.Match(arms=None):
            return MESSAGE
        case syntax.Match(arms=arms):
            return _common(sort_of_shape(work, arm.shape, depth + 1) for arm in arms or ())
        case reference:
            return sort_of_reference(work, reference, depth)


def _common(sorts: Iterable[Sort]) -> Sort:
    different = list(dict.fromkeys(sorts))
    if len(different) == 1:
        return different[0]
    are_messages = all(sort.kind in {"message", "record"} for sort in different)
    return MESSAGE if different and are_messages else UNKNOWN


def sort_of_reference(work: Workspace, reference: syntax.Ref, depth: int = 0) -> Sort:
    """Return the sort of the values of a type as it is written."""
    match reference:
        case syntax.Name(text=text):
            return sort_of_word(text) or _sort_of_declared(work, text, depth)
        case syntax.Sized(base=base) | syntax.ToTheEnd(base=base) | syntax.Terminated(base=base):
            if isinstance(base, syntax.Name) and needs_length(base.text):
                return sort_of_word(base.text) or UNKNOWN
            return list_of(sort_of_reference(work, base, depth))
        case _:
            return WRONG


def _sort_of_declared(work: Workspace, name: str, depth: int) -> Sort:
    match work.names.get(name):
        case syntax.Alias(shape=shape) if depth <= MAX_ALIAS_CHAIN:
            if name not in work.sorts:
                work.sorts[name] = sort_of_shape(work, shape, depth + 1)
            return work.sorts[name]
        case syntax.Enum():
            return enum_of(name)
        case syntax.Struct() | syntax.Message() | syntax.Frame():
            return record_of(name)
        case syntax.Union():
            return Sort(kind="union", name=name)
        case syntax.Coding():
            return INTEGER
        case _:
            return WRONG


def part_of(work: Workspace, sort: Sort, name: str) -> Sort | None:
    """Return the sort of a field of a value by its name, None if nothing of that sort has it."""
    if sort.kind == "unknown":
        return sort
    if sort not in work.parts:
        work.parts[sort] = _parts(work, sort)
    return work.parts[sort].get(name)


def _parts(work: Workspace, sort: Sort) -> dict[str, Sort]:
    found: dict[str, list[Sort]] = {}
    for layout in layouts_of(work, sort):
        for name, known in layout.fields.items():
            found.setdefault(name, []).append(known.sort)
    return {name: _common(sorts) for name, sorts in found.items()}


def layouts_of(work: Workspace, sort: Sort) -> Iterator[Layout]:
    """Yield the layouts that a value of the sort may have."""
    if sort.kind == "message":
        yield from (layout_of(work, node.fields) for node in messages(work))
    node = work.names.get(sort.name)
    if sort.kind == "record" and isinstance(node, WithFields):
        yield layout_of(work, node.fields)
    if sort.kind == "union" and isinstance(node, syntax.Union):
        yield from (variety_layout(work, variety) for variety in node.varieties)


def variety_layout(work: Workspace, variety: syntax.Variety) -> Layout:
    match variety.body:
        case None:
            return layout_of(work, ())
        case syntax.Block(fields=fields):
            return layout_of(work, fields)
        case shape:
            return lone_layout(work, shape)


def messages(work: Workspace) -> tuple[syntax.Message, ...]:
    return work.of_kind(syntax.Message)


def frames(work: Workspace) -> tuple[syntax.Frame, ...]:
    return work.of_kind(syntax.Frame)
