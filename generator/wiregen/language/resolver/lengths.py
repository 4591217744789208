"""Lengths `[L]`: a prefix, an expression, up to a delimiter or a condition, or all remaining bytes."""

from wiregen.language import syntax
from wiregen.language.resolver import types
from wiregen.language.resolver.annotations import rule_of_type
from wiregen.language.resolver.builtin_types import sort_of_word
from wiregen.language.resolver.expressions import require
from wiregen.language.resolver.layouts import layouts_of
from wiregen.language.resolver.scopes import merged
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import BOOLEAN, INTEGER, Sort, sort_of_type
from wiregen.schema import model
from wiregen.schema.copies import replace


def resolve_byte_length(
    place: FieldPlace, node: syntax.Sized | syntax.ToTheEnd | syntax.Terminated
) -> model.ByteLength:
    """Return the length of bytes or of a text."""
    match node:
        case syntax.ToTheEnd():
            return model.ToEnd()
        case syntax.Sized(length=length):
            return _sized(place, length)
        case syntax.Terminated(until=syntax.Bytes(value=delimiter)) if delimiter:
            return model.Delimited(delimiter=delimiter.hex())
        case syntax.Terminated(until=until):
            message = "bytes and texts end at a delimiter"
            place.work.error("WG2110", message, until.span, label="not bytes", help_='write `until x"00"`')
            return model.ToEnd()


def resolve_item_length(
    place: FieldPlace, node: syntax.Sized | syntax.ToTheEnd | syntax.Terminated, item: model.Type
) -> model.ItemLength:
    """Return the length of a list of items of that type."""
    match node:
        case syntax.ToTheEnd():
            return model.ToEnd()
        case syntax.Sized(length=length):
            return _sized(place, length)
        case syntax.Terminated(until=until):
            return model.Until(condition=resolve_until(place, until, sort_of_type(item)))


def _sized(place: FieldPlace, length: syntax.Expression) -> model.Prefix | model.Computed:
    prefix = resolve_prefix(place, length)
    if prefix is not None:
        return model.Prefix(type=prefix, rule=rule_of_type(place.work, length))
    return model.Computed(value=require(place.work, place.scope, length, INTEGER, "a length"))


def resolve_prefix(
    place: FieldPlace, node: syntax.Expression
) -> model.Integer | model.Varint | model.CodingReference | None:
    """Return the type of a number that precedes the bytes that it measures, or None if the word is not a type."""
    if not isinstance(node, syntax.Name) or not _is_type(place, node.text):
        return None
    found = types.resolve_type(place.inside(), node)
    match found:
        case model.Integer() | model.Varint() | model.CodingReference():
            return found
        case _:
            message = f"a length is an integer or a coding, but `{node.text}` is neither"
            place.work.error(
                "WG2110", message, node.span, label="not a number", help_="write `u16`, for example"
            )
            return model.Integer(size=1, is_signed=False, endian="big")


def _is_type(place: FieldPlace, word: str) -> bool:
    declared = place.work.names.get(word)
    if isinstance(declared, syntax.Const | syntax.Context):
        return False
    return declared is not None or sort_of_word(word) is not None and word not in place.scope.own


def resolve_until(place: FieldPlace, until: syntax.Expression, item: Sort) -> model.Expression:
    """Return a condition on the last item read."""
    scope = replace(
        place.scope, item=merged(layout.fields for layout in layouts_of(place.work, item)), item_sort=item
    )
    return require(place.work, scope, until, BOOLEAN, "the end of a list")
