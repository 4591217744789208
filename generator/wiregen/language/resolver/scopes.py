"""The meanings of a bare word at a place: fields before it, variables of the session, constants, members of an enum."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver.layouts import LONE, PlacedField, ResolvedLayout, merged_fields
from wiregen.language.resolver.sorts import INTEGER, ROLE, UNKNOWN, WRONG, Sort, enum_of, item_of
from wiregen.language.resolver.state import Workspace
from wiregen.schema import model
from wiregen.schema.copies import replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """An expression with the sort of its value."""

    expression: model.Expression
    sort: Sort


MAX_LAYERS: Final = 64
STAND_IN: Final = Typed(expression=model.Null(), sort=WRONG)
"""Replaces a wrong expression, so that the rest is checked too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    what: str
    typed: Typed
    places: tuple[Span, ...] = ()
    """Those of the names of its declarations."""
    is_ahead: bool = False
    """Whether the word is a field that is not read yet at this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The names that are visible at a place. `value`: the meaning of the word `value` in the `where` of an alias.

    The fields from `visible` on are not read yet. `where` is the kind of the place: in a `fixed` one no
    fields are visible, in an `alias` any field that its users may have.
    """

    where: Literal["layout", "row", "fixed", "alias"]
    own: Mapping[str, PlacedField] = field(default_factory=dict)
    visible: int = 0
    frame: Mapping[str, PlacedField] = field(default_factory=dict)
    item: Mapping[str, PlacedField] = field(default_factory=dict)
    item_sort: Sort | None = None
    value: tuple[str, Sort] | None = None
    variables: Mapping[str, Sort] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    places: Mapping[str, Span] = field(default_factory=dict)
    """Those of the names of variables and roles."""
    is_question: bool = False
    """Whether a user asks about decoded frames, with a command."""


def layout_scope(layout: ResolvedLayout, visible: int) -> Scope:
    """Return the scope of an expression in a declaration's layout that sees the fields before `visible`."""
    return Scope(where="layout", own=layout.fields, visible=visible)


def meanings(work: Workspace, scope: Scope, word: str, expected: Sort | None) -> tuple[Meaning, ...]:
    """Return all meanings of a word at a place; more than one is an error of the file."""
    found = [*_fields(scope, word), *_special(scope, word), *_declared(work, scope, word, expected)]
    if not found and scope.where == "alias" and word[:1].islower():
        return (_field("a field", (word,), UNKNOWN),)
    return tuple(found)


def known_words(work: Workspace, scope: Scope, expected: Sort | None) -> Iterator[str]:
    """Yield the words that have a meaning at a place, for suggestions."""
    if scope.where != "fixed":
        yield from (name for name, known in scope.own.items() if known.start < scope.visible)
        yield from scope.frame
        yield from scope.item
    yield from scope.variables
    yield from work.words_of(syntax.Const, syntax.Context)
    if expected is not None:
        yield from members_of(work, expected)
    if scope.where == "row" and not scope.is_question:
        yield "sender"
    if scope.where == "layout":
        yield from ("remaining", "offset")


def _fields(scope: Scope, word: str) -> Iterator[Meaning]:
    if scope.value is not None and word == LONE:
        name, sort = scope.value
        yield _field("the value", (name,), sort)
        return
    if word in scope.own:
        known = scope.own[word]
        typed = Typed(expression=model.FieldReference(path=(word,)), sort=known.sort)
        is_ahead = scope.where == "fixed" or known.start >= scope.visible
        yield Meaning(what="a field", typed=typed, places=known.places, is_ahead=is_ahead)
    if word in scope.frame:
        known = scope.frame[word]
        yield _field("a field of the frame", (word,), known.sort, "frame", known.places)
    if word in scope.item:
        known = scope.item[word]
        yield _field("a field of the item", (word,), known.sort, "item", known.places)
    elif scope.item_sort is not None and word == LONE:
        yield _field("the item", (), scope.item_sort, "item")


def _field(
    what: str,
    path: tuple[str, ...],
    sort: Sort,
    scope: model.FieldScope = "own",
    places: tuple[Span, ...] = (),
) -> Meaning:
    typed = Typed(expression=model.FieldReference(path=path, scope=scope), sort=sort)
    return Meaning(what=what, typed=typed, places=places)


def _special(scope: Scope, word: str) -> Iterator[Meaning]:
    if word in scope.variables:
        typed = Typed(expression=model.VariableReference(name=word), sort=scope.variables[word])
        yield Meaning(what="a variable", typed=typed, places=_placed(scope, word))
    if scope.where == "row" and word == "sender":
        yield Meaning(
            what="the sender", typed=Typed(expression=model.RoleReference(name="sender"), sort=ROLE)
        )
    is_field = word in scope.own or word in scope.item  # documents have fields called `offset`
    if scope.where in {"layout", "alias"} and word in {"remaining", "offset"} and not is_field:
        position = model.Position(what="offset" if word == "offset" else "remaining")
        yield Meaning(what="a position", typed=Typed(expression=position, sort=INTEGER))


def _placed(scope: Scope, word: str) -> tuple[Span, ...]:
    return (scope.places[word],) if word in scope.places else ()


def _declared(work: Workspace, scope: Scope, word: str, expected: Sort | None) -> Iterator[Meaning]:
    constant = work.named(word, syntax.Const)
    if constant is not None:
        yield Meaning(what="a constant", typed=_constant(work, word), places=(constant.name.span,))
    if expected is None:
        return
    if expected.kind == "role" and word in scope.roles:
        typed = Typed(expression=model.RoleReference(name=word), sort=ROLE)
        yield Meaning(what="a role", typed=typed, places=_placed(scope, word))
    found = members_of(work, expected).get(word)
    if found is not None:
        typed = member(expected.name, word, found.code.value)
        yield Meaning(what="a member", typed=typed, places=(found.name.span,))


def _constant(work: Workspace, name: str) -> Typed:
    value = work.constants.get(name)
    if value is None:
        return STAND_IN
    return Typed(expression=model.ConstantReference(name=name, value=value), sort=INTEGER)


def with_members(work: Workspace, literal: model.Expression, sort: Sort) -> model.Expression:
    """Return a literal of a sort, with the numbers of an enum's members as these members."""
    match literal:
        case model.ListOf(items=items):
            return replace(literal, items=tuple(with_members(work, each, item_of(sort)) for each in items))
        case model.Number(value=number):
            named = (name for name, each in members_of(work, sort).items() if each.code.value == number)
            return next((member(sort.name, name, number).expression for name in named), literal)
        case _:
            return literal


def member(enum: str, name: str, value: int) -> Typed:
    return Typed(expression=model.MemberReference(enum=enum, member=name, value=value), sort=enum_of(enum))


def members_of(work: Workspace, sort: Sort) -> Mapping[str, syntax.Member]:
    """Return the members of an enum's sort by name; {} for any other sort."""
    node = work.names.get(sort.name) if sort.kind == "enum" else None
    if not isinstance(node, syntax.Enum):
        return {}
    known = work.members.get(sort.name)
    if known is None:
        members = (each for each in node.members if isinstance(each, syntax.Member))
        known = work.members[sort.name] = {each.name.text: each for each in members}
    return known


def layered(layouts: Iterable[Mapping[str, PlacedField]]) -> Mapping[str, PlacedField]:
    """Return the fields of several layouts as one mapping.

    A few layouts are searched at each lookup and many are merged at once, because rows may name large frames
    often.
    """
    layers = tuple(layouts)
    return merged(layers) if len(layers) > MAX_LAYERS else Layers(layers=layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers(Mapping[str, PlacedField]):
    """The fields of several layouts as one mapping; the sort of a field is common to them."""

    layers: tuple[Mapping[str, PlacedField], ...]

    def __getitem__(self, name: str) -> PlacedField:
        found = [layer[name] for layer in self.layers if name in layer]
        if not found:
            raise KeyError(name)
        return found[0] if len(found) == 1 else merged_fields(found)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for layer in self.layers for name in layer))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def merged(layouts: Iterable[Mapping[str, PlacedField]]) -> Mapping[str, PlacedField]:
    """Return the fields of several layouts as one mapping; the sort of a field is common to them."""
    fields: dict[str, list[PlacedField]] = {}
    for layout in layouts:
        for name, known in layout.items():
            fields.setdefault(name, []).append(known)
    return MappingProxyType(
        {name: found[0] if len(found) == 1 else merged_fields(found) for name, found in fields.items()}
    )
