"""Values of examples: constructors as in Python, checked against the types of the fields that they fill."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from wiregen.language import syntax
from wiregen.language.resolver.expressions import resolve_expression
from wiregen.language.resolver.layouts import PADDING
from wiregen.language.resolver.scopes import STAND_IN, Scope, Typed
from wiregen.language.resolver.sorts import Sort, describe, fits, sort_of_type
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model
from wiregen.schema.walk import attributes

_MAX_LISTED: Final = 12
Record: TypeAlias = model.Struct | model.Message | model.Frame | model.Preamble


@dataclass(frozen=True, slots=True, kw_only=True)
class SentType:
    """The type of an example's own value: anything that can be sent on its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The declarations that examples build, by name, in the layout of one variant."""

    work: Workspace
    records: Mapping[str, Record]
    unions: Mapping[str, model.Union]

    def refer(self, use: syntax.Name, path: str) -> None:
        """Record the node of the model that a name refers to."""
        self.work.refer(use, self.work.origins.get(f"{path}#name"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Built:
    """The declaration that a constructor builds, and the fields that it takes, in order."""

    what: Literal["message", "frame", "struct", "preamble", "variety"]
    name: str
    union: str | None
    fields: tuple[model.Field, ...]


Wanted: TypeAlias = model.Type | SentType


def build(shelf: Shelf, node: syntax.Expression, wanted: Wanted) -> model.ExampleValue | None:
    """Return the value, or None if it is wrong; all errors in it are reported."""
    match node:
        case syntax.Group(expression=inner):
            return build(shelf, inner, wanted)
        case syntax.Call():
            return _construct(shelf, node, wanted)
        case syntax.Listing():
            return _values(shelf, node, wanted)
        case _:
            return _plain(shelf, node, wanted)


def _construct(shelf: Shelf, node: syntax.Call, wanted: Wanted) -> model.Construct | None:
    built = _built(shelf, node, wanted)
    if built is None:
        return None
    given = _given(shelf, node, built)
    _demand_all(shelf, node, built, given)
    arguments: list[model.Argument] = []
    for field in built.fields:
        if field.name in given:
            value = build(shelf, given[field.name], field.type)
            if value is not None:
                arguments.append(model.Argument(name=field.name, value=value))
    return model.Construct(what=built.what, name=built.name, union=built.union, fields=tuple(arguments))


def _built(shelf: Shelf, node: syntax.Call, wanted: Wanted) -> _Built | None:
    """Return the declaration that is built: an alternative if a union is wanted, else the one of that name."""
    name = node.function
    if (
        isinstance(name, syntax.Attribute)
        and isinstance(name.base, syntax.Name)
        and name.base.text in shelf.unions
    ):
        shelf.refer(name.base, shelf.unions[name.base.text].path)
        return _variety(shelf, shelf.unions[name.base.text], name.name, None)
    if not isinstance(name, syntax.Name):
        shelf.work.error("WG2402", "the constructor is not a name", name.span, label="not a constructor")
        return None
    found = list(dict.fromkeys(_candidates(shelf, wanted)))
    for union in found:
        if isinstance(union, _Choice) and any(
            each.name == name.text for each in shelf.unions[union.union].varieties
        ):
            return _variety(shelf, shelf.unions[union.union], name, union.only)
    record = shelf.records.get(name.text)
    if record is not None and any(isinstance(each, str) and _suits(record, each) for each in found):
        shelf.refer(name, record.path)
        return _Built(what=_what(record), name=record.name, union=None, fields=tuple(_parameters(record)))
    _report_not_built(shelf, name, found, record)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    union: str
    only: tuple[str, ...] | None


def _candidates(shelf: Shelf, wanted: Wanted) -> Iterator[str | _Choice]:
    """Yield the candidates of a type: a union's choice, `=name` for one declaration, or a kind of declaration."""
    match wanted:
        case SentType():
            yield from ("message", "frame", "preamble")
        case model.MessageMatch():
            yield "message"
        case model.UnionReference(name=name, only=only) if name in shelf.unions:
            yield _Choice(union=name, only=only)
        case model.Region(content=content):
            yield from _candidates(shelf, content)
        case model.Match(arms=arms):
            for arm in arms:
                yield from _candidates(shelf, arm.type)
        case _ if isinstance(wanted, model.Reference):
            yield f"={wanted.name}"
            if isinstance(wanted, model.FrameReference):
                yield "message"


def _suits(record: Record, candidate: str) -> bool:
    return candidate in {_what(record), f"={record.name}"}


def _report_not_built(
    shelf: Shelf, name: syntax.Name, found: list[str | _Choice], record: Record | None
) -> None:
    if record is not None:
        message = f"a {_what(record)} `{name.text}` does not belong here"
        shelf.work.error("WG2404", message, name.span, label=f"a {_what(record)}")
        return
    varieties = [
        each.name for one in found if isinstance(one, _Choice) for each in shelf.unions[one.union].varieties
    ]
    known = [
        each.name
        for each in shelf.records.values()
        if any(isinstance(x, str) and _suits(each, x) for x in found)
    ]
    if not varieties and not known:
        shelf.work.error("WG2404", "a constructor is not allowed here", name.span, label="a constructor")
        return
    report_unknown(name, "alternative" if varieties else "message", (*varieties, *known), shelf.work.report)


def _variety(
    shelf: Shelf, union: model.Union, name: syntax.Name, only: tuple[str, ...] | None
) -> _Built | None:
    variety = next((each for each in union.varieties if each.name == name.text), None)
    if variety is None:
        names = (each.name for each in union.varieties)
        report_unknown(name, "alternative", names, shelf.work.report, inside=union.name)
        return None
    if only is not None and variety.name not in only:
        message = f"`{variety.name}` is not allowed in this field"
        shelf.work.error("WG2404", message, name.span, help_=f"the field allows {_some(only)}")
    shelf.refer(name, variety.path)
    fields = tuple(each.field for each in attributes(variety.fields) if _is_parameter(each.field))
    if any(span.low != span.high for span in variety.spans) or len(variety.spans) > 1:
        fields = (*fields, _code_of(variety, union))
    return _Built(what="variety", name=variety.name, union=union.name, fields=fields)


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= _MAX_LISTED else f"{', '.join(names[:_MAX_LISTED])} and others"


def _code_of(variety: model.Variety, union: model.Union) -> model.Field:
    """Return the attribute that says which of an alternative's codes is meant."""
    return model.Field(
        path=f"{variety.path}.code",
        name="code",
        is_hidden=False,
        type=union.type,
        value=None,
        condition=None,
        where=None,
        where_text="",
    )


def _what(record: Record) -> Literal["message", "frame", "struct", "preamble"]:
    match record:
        case model.Struct():
            return "struct"
        case model.Message():
            return "message"
        case model.Frame():
            return "frame"
        case model.Preamble():
            return "preamble"


def _parameters(record: Record) -> Iterator[model.Field]:
    """Yield the fields that a constructor takes: a frame's message comes first, as in Python."""
    fields = [each.field for each in attributes(record.fields) if _is_parameter(each.field)]
    message = record.message if isinstance(record, model.Frame) else None
    yield from (field for field in fields if field.name == message)
    yield from (field for field in fields if field.name != message)


def _is_parameter(field: model.Field) -> bool:
    is_fixed = isinstance(field.value, model.Derived | model.Constant)
    return field.name != PADDING and not is_fixed


def _given(shelf: Shelf, node: syntax.Call, built: _Built) -> dict[str, syntax.Expression]:
    given: dict[str, syntax.Expression] = {}
    names = [field.name for field in built.fields]
    paths = {field.name: field.path for field in built.fields}
    for index, argument in enumerate(node.arguments):
        name = (
            argument.name.text if argument.name is not None else names[index] if index < len(names) else None
        )
        if name is None:
            message = f"`{built.name}` takes at most {len(names)} arguments"
            shelf.work.error("WG2403", message, argument.span, label="too many")
        elif name not in names and argument.name is not None:
            report_unknown(
                argument.name, "field that can be given", names, shelf.work.report, inside=built.name
            )
        elif name in given:
            shelf.work.error("WG2403", f"`{name}` is given twice", argument.span, label="second")
        else:
            given[name] = argument.value
            if argument.name is not None:
                shelf.refer(argument.name, paths[name])
    return given


def _demand_all(shelf: Shelf, node: syntax.Call, built: _Built, given: dict[str, syntax.Expression]) -> None:
    missing = [
        field.name
        for field in built.fields
        if field.value is None and field.condition is None and field.name not in given
    ]
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        message = f"`{built.name}` needs {names}"
        shelf.work.error("WG2403", message, node.span, label="arguments missing")


def _values(shelf: Shelf, node: syntax.Listing, wanted: Wanted) -> model.ExampleValue | None:
    type_ = _list_in(wanted)
    if type_ is None:
        shelf.work.error("WG2404", "a list is not allowed here", node.span, label="a list")
        return None
    items = (build(shelf, each, type_.item) for each in node.items)
    return model.Values(items=tuple(item for item in items if item is not None))


def _list_in(wanted: Wanted) -> model.List | None:
    match wanted:
        case model.List():
            return wanted
        case model.Region(content=content):
            return _list_in(content)
        case model.Match(arms=arms):
            return next((found for arm in arms if (found := _list_in(arm.type)) is not None), None)
        case _:
            return None


def _plain(shelf: Shelf, node: syntax.Expression, wanted: Wanted) -> model.ExampleValue | None:
    if isinstance(wanted, SentType):
        message = "the value of an example is a message, a frame or a preamble"
        shelf.work.error("WG2404", message, node.span, label="something else", help_="write `Name(…)`")
        return None
    sorts = list(_sorts(wanted))
    typed = _typed(shelf, node, sorts)
    if typed is STAND_IN:
        return None
    if not any(fits(typed.sort, sort) for sort in sorts):
        message = f"expected {describe(sorts[0])}, found {describe(typed.sort)}"
        shelf.work.error("WG2404", message, node.span, label=describe(typed.sort))
        return None
    return _literal(shelf, node, typed)


def _sorts(type_: model.Type) -> Iterator[Sort]:
    if isinstance(type_, model.Match):
        for arm in type_.arms:
            yield from _sorts(arm.type)
        return
    if isinstance(type_, model.Region):
        yield from _sorts(type_.content)
        return
    yield sort_of_type(type_)


def _typed(shelf: Shelf, node: syntax.Expression, sorts: list[Sort]) -> Typed:
    expected = next((sort for sort in sorts if sort.kind in {"enum", "uuid"}), sorts[0] if sorts else None)
    return resolve_expression(shelf.work, Scope(where="fixed"), node, expected)


def _literal(shelf: Shelf, node: syntax.Expression, typed: Typed) -> model.ExampleValue | None:
    match typed.expression:
        case model.ConstantReference(value=number):
            return model.Number(value=number)
        case value if isinstance(value, model.LiteralExpression):
            return value
        case _:
            shelf.work.error(
                "WG2404", "the values of an example are plain values", node.span, label="calculated"
            )
            return None
