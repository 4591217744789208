"""The fields of a declaration in wire order, blocks and aliases expanded, each with its sort; from the syntax alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver.builtin_types import needs_length, sort_of_word
from wiregen.language.resolver.names import PlacedName, check_case, report_duplicate
from wiregen.language.resolver.sorts import (
    BLOCK,
    INTEGER,
    MESSAGE,
    UNKNOWN,
    WRONG,
    Sort,
    common,
    enum_of,
    list_of,
    record_of,
)
from wiregen.language.resolver.state import MAX_ALIAS_CHAIN, Workspace

PADDING = "_"
LONE = "value"
"""The field of an alternative that is a single shape; also the name of the value in a `where` of an alias."""

WithFields: TypeAlias = syntax.Struct | syntax.Message | syntax.Frame | syntax.Preamble


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedField:
    """A field of a layout; `start` is its position, `end` the position after its last part.

    `places`: those of its name, several if fields of that name are in different arms or layouts.
    """

    sort: Sort
    start: int
    end: int
    places: tuple[Span, ...] = ()


Arms: TypeAlias = tuple[tuple[int, int], ...]
"""The arms that contain a field, outer before inner: the number of each choice in its declaration, and of the arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedLayout:
    """`places`: start and end of every syntax field by its span, nameless ones included.

    `arms`: by the same span, the arms that contain it. `namesakes`: the fields of one name in different arms.
    """

    fields: Mapping[str, PlacedField]
    places: Mapping[Span, tuple[int, int]]
    n_fields: int
    arms: Mapping[Span, Arms]
    namesakes: Mapping[str, tuple[tuple[Arms, PlacedField], ...]]

    def fields_at(self, node: syntax.Field) -> Mapping[str, PlacedField]:
        """Return the fields that are visible to the expressions of a field: of namesakes, the one in its own arm."""
        here = self.arms.get(node.span, ())
        if not here or not self.namesakes:
            return self.fields
        own = {
            name: known
            for name, namesakes in self.namesakes.items()
            for arms, known in namesakes
            if not are_exclusive(arms, here)
        }
        return MappingProxyType({**self.fields, **own})


def are_exclusive(first: Arms, second: Arms) -> bool:
    """Return whether two fields are in different arms of one choice, so that only one of them is ever present."""
    for (choice, arm), (other_choice, other_arm) in zip(first, second, strict=False):
        if (choice, arm) != (other_choice, other_arm):
            return choice == other_choice
    return False


def layout_of(work: Workspace, fields: tuple[syntax.Field, ...]) -> ResolvedLayout:
    """Return the layout of a declaration's fields; names used twice and in wrong case are reported."""
    begin = fields[0].span if fields else None
    known = work.layouts.get(begin)
    if not isinstance(known, ResolvedLayout):
        rows = _Rows(work)
        known = work.layouts[begin] = _measured(work, rows, rows.of(fields))
    return known


def lone_layout(work: Workspace, shape: syntax.Shape) -> ResolvedLayout:
    """Return the layout of an alternative that is a single shape: its field `value`, and the fields of a block in it."""
    rows = _Rows(work)
    inner = _measured(work, rows, rows.inside(shape, (), ()))
    value = PlacedField(sort=sort_of_shape(work, shape), start=inner.n_fields, end=inner.n_fields + 1)
    return ResolvedLayout(
        fields=MappingProxyType({**inner.fields, LONE: value}),
        places=inner.places,
        n_fields=inner.n_fields + 1,
        arms=inner.arms,
        namesakes=inner.namesakes,
    )


def _measured(work: Workspace, rows: _Rows, opened: Iterable[_Row]) -> ResolvedLayout:
    named: dict[str, list[tuple[_Row, PlacedField]]] = {}
    places: dict[Span, tuple[int, int]] = {}
    for row in opened:
        places[row.node.span] = (row.start, row.end)
        if row.node.name.text != PADDING:
            sort = sort_of_shape(work, row.node.shape)
            known = PlacedField(sort=sort, start=row.start, end=row.end, places=(row.node.name.span,))
            named.setdefault(row.node.name.text, []).append((row, known))
    for found in named.values():
        _check_names(work, [row for row, _ in found])
    return ResolvedLayout(
        fields=MappingProxyType(
            {name: _first([known for _, known in found]) for name, found in named.items()}
        ),
        places=MappingProxyType(places),
        n_fields=next(rows.counter),
        arms=MappingProxyType({row.node.span: row.arms for found in named.values() for row, _ in found}),
        namesakes=MappingProxyType(
            {
                name: tuple((row.arms, known) for row, known in found)
                for name, found in named.items()
                if len(found) > 1
            }
        ),
    )


def _first(namesakes: list[PlacedField]) -> PlacedField:
    """Return the first of the fields of one name in different arms, with the places of all."""
    first, *others = namesakes
    return replace(first, places=places_of(namesakes)) if others else first


def places_of(namesakes: Iterable[PlacedField]) -> tuple[Span, ...]:
    """Return the places of fields of one name."""
    return tuple(dict.fromkeys(place for known in namesakes for place in known.places))


def _check_names(work: Workspace, namesakes: list[_Row]) -> None:
    """Report fields of one name that may both be present, and names in wrong case."""
    for number, row in enumerate(namesakes):
        before = next((each for each in namesakes[:number] if not are_exclusive(each.arms, row.arms)), None)
        if before is not None:
            is_one_use = (
                row.name.span == before.name.span
            )  # of an alias: the names in it differ in their places
            second, first = (each.node.name if is_one_use else each.name for each in (row, before))
            report_duplicate(PlacedName(name=second, what="field"), first.span, work.report)
    for name in {row.node.span: row.node.name for row in namesakes}.values():
        check_case(name, "snake", "a field", work.report, is_warning=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A field in wire order; `name` is that of the field whose type is an alias, if the field is in that alias."""

    node: syntax.Field
    name: syntax.Name
    start: int
    end: int
    arms: Arms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A block that a shape is or chooses among: the aliases that lead to it, and the arms."""

    block: syntax.Block
    aliases: tuple[str, ...]
    arms: Arms


class _Rows:
    """Opens the blocks of a declaration's fields; numbers fields and choices."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self.counter = count()
        self._choices = count()

    def of(
        self,
        fields: Iterable[syntax.Field],
        aliases: tuple[str, ...] = (),
        arms: Arms = (),
        user: syntax.Name | None = None,
    ) -> list[_Row]:
        """Return the fields in text order, a block before its fields; `user`: the field that the aliases are of."""
        rows: list[_Row] = []
        for node in fields:
            start = next(self.counter)
            name = user or node.name
            inner = self.inside(node.shape, aliases, arms, name)
            end = 1 + max((row.end - 1 for row in inner), default=start)
            shown = replace(name, text=node.name.text) if user is not None else node.name
            rows.extend((_Row(node=node, name=shown, start=start, end=end, arms=arms), *inner))
        return rows

    def inside(
        self, shape: syntax.Shape, aliases: tuple[str, ...], arms: Arms, name: syntax.Name | None = None
    ) -> list[_Row]:
        """Return the fields of the blocks that a shape is or chooses among; `name`: the field of that shape."""
        return [
            row
            for each in self._blocks(shape, aliases, arms)
            for row in self.of(each.block.fields, each.aliases, each.arms, name if each.aliases else None)
        ]

    def _blocks(self, shape: syntax.Shape, aliases: tuple[str, ...], arms: Arms) -> Iterator[_Opened]:
        """Yield the blocks that a shape is or chooses among."""
        match shape.core:
            case syntax.Block() as block:
                yield _Opened(block=block, aliases=aliases, arms=arms)
            case syntax.Match(arms=chosen):
                choice = next(self._choices)
                for number, arm in enumerate(chosen or ()):
                    yield from self._blocks(arm.shape, aliases, (*arms, (choice, number)))
            case syntax.Name(text=text) as name:
                alias = self._work.named(text, syntax.Alias)
                if isinstance(alias, syntax.Alias) and self._work.may_unfold(alias, aliases, name.span):
                    yield from self._blocks(alias.shape, (*aliases, text), arms)
            case _:
                return


def sort_of_shape(work: Workspace, shape: syntax.Shape, depth: int = 0) -> Sort:
    """Return the sort of a shape's value; that of a choice is common to its arms."""
    match shape.core:
        case syntax.Block():
            return BLOCK
        case syntax.Match(arms=None):
            return MESSAGE
        case syntax.Match(arms=arms):
            return common(sort_of_shape(work, arm.shape, depth + 1) for arm in arms or ())
        case reference:
            return sort_of_reference(work, reference, depth)


def sort_of_reference(work: Workspace, reference: syntax.Ref, depth: int = 0) -> Sort:
    """Return the sort of the values of a type as written."""
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


def part_of(work: Workspace, sort: Sort, name: str) -> PlacedField | None:
    """Return the field of a value by its name, or None if values of that sort never have it."""
    if sort.kind == "unknown":
        return PlacedField(sort=sort, start=0, end=0)
    if sort not in work.parts:
        work.parts[sort] = _merged(layouts_of(work, sort))
    found = work.parts[sort].get(name)
    return found if isinstance(found, PlacedField) else None


def _merged(layouts: Iterable[ResolvedLayout]) -> dict[str, object]:
    found: dict[str, list[PlacedField]] = {}
    for layout in layouts:
        for name, known in layout.fields.items():
            found.setdefault(name, []).append(known)
    return {name: merged_fields(namesakes) for name, namesakes in found.items()}


def merged_fields(namesakes: Sequence[PlacedField]) -> PlacedField:
    """Return fields of one name in different layouts as one: its sort is common to them."""
    first, places = namesakes[0], places_of(namesakes)
    if all(known.sort == first.sort for known in namesakes):
        return first if places == first.places else replace(first, places=places)
    return PlacedField(sort=common(known.sort for known in namesakes), start=0, end=0, places=places)


def layouts_of(work: Workspace, sort: Sort) -> Iterator[ResolvedLayout]:
    """Yield the layouts that a value of the sort may have."""
    if sort.kind == "message":
        yield from (layout_of(work, node.fields) for node in messages(work))
    node = work.names.get(sort.name)
    if sort.kind == "record" and isinstance(node, WithFields):
        yield layout_of(work, node.fields)
    if sort.kind == "union" and isinstance(node, syntax.Union):
        yield from (variety_layout(work, variety) for variety in node.varieties)


def variety_layout(work: Workspace, variety: syntax.Variety) -> ResolvedLayout:
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
