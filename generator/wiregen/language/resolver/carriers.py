"""Carriers `in …`: a region of a given size, after a prefix, compressed, or in chunks."""

from typing import Final, cast

from wiregen.language import syntax
from wiregen.language.resolver import lengths
from wiregen.language.resolver.annotations import rule_of_type
from wiregen.language.resolver.builtin_types import ALGORITHMS
from wiregen.language.resolver.expressions import require
from wiregen.language.resolver.layouts import layout_of
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import BYTES, INTEGER, record_of
from wiregen.runtime.schema.literals import Algorithm
from wiregen.schema import model

_HELP: Final = "write a carrier: `size`, `u32`, `zlib[u32]` or `Chunk[until not more]`"


def resolve_carrier(place: FieldPlace, node: syntax.Expression) -> model.Carrier | None:
    """Return the carrier of a shape, or None if the expression cannot be one."""
    if isinstance(node, syntax.Name) and node.text in ALGORITHMS and node.text not in place.scope.own:
        message = f"`{node.text}` needs a length"
        help_ = f"write `{node.text}[u32]`, or `{node.text}[]` for all remaining bytes"
        place.work.error("WG2102", message, node.span, label="length missing", help_=help_)
        return None
    if isinstance(node, syntax.Sized | syntax.ToTheEnd | syntax.Terminated) and isinstance(
        node.base, syntax.Name
    ):
        if node.base.text in ALGORITHMS:
            return _compressed(place, node, node.base.text)
        if place.work.named(node.base.text, syntax.Struct) is not None:
            return _chunks(place, node, node.base)
    prefix = lengths.resolve_prefix(place, node)
    if prefix is not None:
        return model.Prefix(type=prefix, rule=rule_of_type(place.work, node))
    if isinstance(node, syntax.ToTheEnd | syntax.Terminated):
        place.work.error("WG2106", "this is not a carrier", node.span, label="not a carrier", help_=_HELP)
        return None
    return model.InSize(size=require(place.work, place.scope, node, INTEGER, "the size of a region"))


def _compressed(
    place: FieldPlace, node: syntax.Sized | syntax.ToTheEnd | syntax.Terminated, algorithm: str
) -> model.Carrier:
    length = lengths.resolve_byte_length(place, node)
    return model.Compressed(algorithm=cast(Algorithm, algorithm), length=length)


def _chunks(
    place: FieldPlace, node: syntax.Sized | syntax.ToTheEnd | syntax.Terminated, base: syntax.Name
) -> model.Carrier | None:
    struct = place.work.named(base.text, syntax.Struct)
    if not isinstance(struct, syntax.Struct):
        return None
    place.work.refer(base, struct.name.span)
    if not isinstance(node, syntax.Terminated):
        message = f"the end of the chunks of `{base.text}` is missing"
        place.work.error("WG2106", message, node.span, help_=f"write `{base.text}[until not more]`")
        return None
    layout = layout_of(place.work, struct.fields)
    data = [name for name, known in layout.fields.items() if known.sort == BYTES]
    if len(data) != 1:
        message = f"a chunk has one field of bytes, but `{base.text}` has {len(data)}"
        place.work.error("WG2106", message, base.span, label="not a chunk")
        return None
    until = lengths.resolve_until(place, node.until, record_of(base.text))
    return model.Chunks(struct=base.text, data=data[0], until=until)
