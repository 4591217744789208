"""Views `as …`: a second reading of the same bytes."""

from wiregen.language import syntax
from wiregen.language.resolver import types
from wiregen.language.resolver.layouts import layout_of
from wiregen.language.resolver.restrictions import restrict
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.runtime.schema.shapes import content
from wiregen.schema import model
from wiregen.schema.copies import replace


def resolve_view(place: FieldPlace, node: syntax.View, type_: model.Type) -> model.View:
    """Return a view of a field of that type; one that the type does not allow is reported."""
    word = node.type.text if isinstance(node.type, syntax.Name) else ""
    inner = content(type_)
    if word == "json":
        _demand(place, node, isinstance(inner, model.Bytes | model.Text), "`as json` reads bytes or a text")
        return "json"
    if word == "dict":
        _demand(place, node, _is_pairs(place, inner), "`as dict` reads a list of structs with two fields")
        return "dict"
    _demand(place, node, isinstance(inner, model.Bytes), "a view as a type reads bytes")
    seen = types.resolve_type(replace(place, path=f"{place.path}#view", is_nested=True), node.type)
    return restrict(place.work, seen, node.only) if node.only else seen


def _demand(place: FieldPlace, node: syntax.View, is_fine: bool, message: str) -> None:
    if not is_fine:
        place.work.error("WG2108", message, node.span, label="field of another type")


def _is_pairs(place: FieldPlace, type_: model.Type) -> bool:
    if not isinstance(type_, model.List) or not isinstance(type_.item, model.StructReference):
        return False
    struct = place.work.named(type_.item.name, syntax.Struct)
    return isinstance(struct, syntax.Struct) and len(layout_of(place.work, struct.fields).fields) == 2
