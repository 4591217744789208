"""Declarations of types: aliases, enums, structs, unions, codings."""

from collections.abc import Iterator

from wiregen.language import syntax
from wiregen.language.diagnostics import Label
from wiregen.language.resolver import types
from wiregen.language.resolver.annotations import NO_NOTES, resolve_notes
from wiregen.language.resolver.expressions import require
from wiregen.language.resolver.fields import resolve_lone, resolve_owned
from wiregen.language.resolver.names import PlacedName, check_case, refuse_duplicates
from wiregen.language.resolver.patterns import resolve_range, resolve_ranges
from wiregen.language.resolver.scopes import Scope
from wiregen.language.resolver.settings import kept_of, refuse_reserved, resolve_reserved
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import BOOLEAN, UNKNOWN_TYPE, sort_of_type
from wiregen.language.resolver.state import Workspace
from wiregen.schema import model


def resolve_alias(work: Workspace, node: syntax.Alias) -> model.Alias:
    """Return an alias, for the docs; its names that refer to fields of its users are not resolved."""
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, type=node.shape.span)
    scope = Scope(where="alias")
    place = FieldPlace(work=work, owner=path, path=path, scope=scope, aliases=(node.name.text,))
    type_ = types.resolve_shape(place, node.shape)
    where = None
    if node.where is not None:
        where = require(
            work,
            Scope(where="alias", value=("value", sort_of_type(type_))),
            node.where,
            BOOLEAN,
            "`where`",
        )
    notes = resolve_notes(work, node.annotations)
    return model.Alias(path=path, name=node.name.text, doc=node.docs, type=type_, where=where, notes=notes)


def resolve_struct(
    work: Workspace, node: syntax.Struct, path: str, above: model.Notes = NO_NOTES
) -> model.Struct:
    notes = resolve_notes(work, node.annotations, above)
    work.place(path, node.span, name=node.name.span)
    return model.Struct(
        path=path,
        name=node.name.text,
        doc=node.docs,
        fields=resolve_owned(work, path, node.fields, notes),
        notes=notes,
    )


def resolve_enum(work: Workspace, node: syntax.Enum) -> model.Enum:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, type=node.type.span)
    notes = resolve_notes(work, node.annotations)
    members = [each for each in node.members if isinstance(each, syntax.Member)]
    refuse_duplicates((PlacedName(name=each.name, what="member") for each in members), work.report)
    _refuse_same_numbers(work, members)
    reserved = [each for each in node.members if isinstance(each, syntax.Reserved)]
    kept = kept_of(reserved)
    for each in members:
        refuse_reserved(work, each.code.value, each.code.span, kept, "number")
    return model.Enum(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=number_type(work, node.type, "an enum"),
        is_open=node.open is not None,
        members=tuple(_member(work, path, each, notes) for each in members),
        reserved=resolve_reserved(work, reserved),
        notes=notes,
    )


def _refuse_same_numbers(work: Workspace, members: list[syntax.Member]) -> None:
    first: dict[int, syntax.Member] = {}
    for each in members:
        before = first.setdefault(each.code.value, each)
        if before is not each and before.name.text != each.name.text:
            message = f"number {each.code.value} is already used by `{before.name.text}`"
            others = (Label(span=before.code.span, text="first used here"),)
            work.error("WG2006", message, each.code.span, label="second use", others=others)


def _member(work: Workspace, owner: str, node: syntax.Member, above: model.Notes) -> model.Member:
    check_case(node.name, "constant", "a member", work.report)
    path = work.place(f"{owner}.{node.name.text}", node.span, name=node.name.span, code=node.code.span)
    notes = resolve_notes(work, node.annotations, above)
    return model.Member(
        path=path,
        name=node.name.text,
        doc=node.docs,
        value=node.code.value,
        notes=notes,
        is_character=isinstance(node.code, syntax.Character),
    )


def number_type(work: Workspace, name: syntax.Name, what: str) -> model.Integer | model.Varint:
    """Return the type of a number that chooses: that of an enum's members, or of a union's alternatives."""
    place = FieldPlace(work=work, owner=work.path, path=work.path, scope=Scope(where="fixed"))
    found = types.resolve_type(place, name)
    if isinstance(found, model.Integer | model.Varint):
        return found
    if found != UNKNOWN_TYPE:
        message = f"{what} needs an integer type, but `{name.text}` is not one"
        work.error("WG2107", message, name.span, label="not an integer type", help_="write `u8`, for example")
    return model.Integer(size=1, is_signed=False, endian="big")


def resolve_union(work: Workspace, node: syntax.Union) -> model.Union:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, type=node.type.span)
    notes = resolve_notes(work, node.annotations)
    refuse_duplicates(
        (PlacedName(name=each.name, what="alternative") for each in node.varieties), work.report
    )
    return model.Union(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=number_type(work, node.type, "a union"),
        varieties=tuple(_variety(work, path, each, notes) for each in node.varieties),
        is_raw=notes.raw,
        notes=notes,
    )


def _variety(work: Workspace, owner: str, node: syntax.Variety, above: model.Notes) -> model.Variety:
    check_case(node.name, "camel", "an alternative", work.report)
    codes = node.codes[0].span
    notes = resolve_notes(work, node.annotations, above)
    path = work.place(f"{owner}.{node.name.text}", node.span, name=node.name.span, code=codes)
    return model.Variety(
        path=path,
        name=node.name.text,
        doc=node.docs,
        spans=resolve_ranges(work, node.codes),
        fields=_variety_fields(work, path, node, notes),
        is_lone=isinstance(node.body, syntax.Shape),
        notes=notes,
        is_character=all(
            isinstance(end, syntax.Character) for each in node.codes for end in (each.low, each.high)
        ),
    )


def _variety_fields(
    work: Workspace, path: str, node: syntax.Variety, notes: model.Notes
) -> tuple[model.Field, ...]:
    match node.body:
        case None:
            return ()
        case syntax.Block(fields=fields):
            return resolve_owned(work, path, fields, notes)
        case shape:
            return (resolve_lone(work, path, node, shape, notes),)


def resolve_coding(work: Workspace, node: syntax.Coding) -> model.Coding:
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span, type=node.type.span)
    type_ = number_type(work, node.type, "a coding")
    if isinstance(type_, model.Varint):
        work.error(
            "WG2107", "a coding begins with an integer of a fixed width", node.type.span, help_="write `u8`"
        )
        type_ = model.Integer(size=1, is_signed=False, endian="big")
    return model.Coding(
        path=path,
        name=node.name.text,
        doc=node.docs,
        type=type_,
        widths=tuple(_widths(work, path, node)),
        notes=resolve_notes(work, node.annotations),
    )


def _widths(work: Workspace, owner: str, node: syntax.Coding) -> Iterator[model.Width]:
    for index, each in enumerate(node.widths):
        work.place(f"{owner}.widths[{index}]", each.span, code=each.codes.span)
        span = resolve_range(work, each.codes)
        is_null = isinstance(each.target, syntax.Null)
        wide = (
            None if each.target is None or isinstance(each.target, syntax.Null) else _wide(work, each.target)
        )
        yield model.Width(low=span.low, high=span.high, wide=wide, is_null=is_null)


def _wide(work: Workspace, node: syntax.Ref) -> model.Integer:
    place = FieldPlace(work=work, owner=work.path, path=work.path, scope=Scope(where="fixed"))
    found = types.resolve_type(place, node)
    if isinstance(found, model.Integer):
        return found
    if found != UNKNOWN_TYPE:
        message = "the wider numbers of a coding are integers of a fixed width"
        work.error(
            "WG2107", message, node.span, label="not an integer type", help_="write `u16`, for example"
        )
    return model.Integer(size=1, is_signed=False, endian="big")
