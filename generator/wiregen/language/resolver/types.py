"""Types and shapes: references, matches, blocks and lists, with aliases expanded."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, assert_never

from wiregen.language import syntax
from wiregen.language.resolver import carriers, fields, lengths
from wiregen.language.resolver.annotations import rule_of_type
from wiregen.language.resolver.builtin_types import (
    WORDS,
    fixed_type,
    needs_length,
    needs_order,
    sized_type,
    width_help,
)
from wiregen.language.resolver.expressions import resolve_reference
from wiregen.language.resolver.names import Named, what_is
from wiregen.language.resolver.patterns import resolve_patterns
from wiregen.language.resolver.restrictions import restrict
from wiregen.language.resolver.shape_context import FieldPlace
from wiregen.language.resolver.sorts import UNKNOWN_TYPE
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.tolerance import tolerant, tolerates
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model
from wiregen.schema.copies import replace
from wiregen.schema.walk import arm_path

_REFERENCES: Final[Mapping[type, Callable[..., model.Reference]]] = {
    syntax.Enum: model.EnumReference,
    syntax.Struct: model.StructReference,
    syntax.Union: model.UnionReference,
    syntax.Coding: model.CodingReference,
    syntax.Message: model.MessageReference,
    syntax.Frame: model.FrameReference,
}


def resolve_shape(place: FieldPlace, shape: syntax.Shape, *, is_derived: bool = False) -> model.Type:
    """Return the whole type of a shape; `lenient` on a derived field may refer to its value only."""
    type_ = _core(place, shape)
    if shape.only:
        type_ = restrict(place.work, type_, shape.only)
    if shape.carrier is not None:
        carrier = carriers.resolve_carrier(place, shape.carrier)
        type_ = type_ if carrier is None else model.Region(content=type_, carrier=carrier, lenient=False)
    if shape.lenient is None:
        return type_
    if not is_derived and not tolerates(type_) and type_ != UNKNOWN_TYPE:
        help_ = "remove the word, or use it for bool, varint, utf8, mutf8, a region (`in`), a derived field or `only`"
        place.work.error("WG2104", "`lenient` has no effect on this type", shape.lenient, help_=help_)
    return tolerant(type_)


def _core(place: FieldPlace, shape: syntax.Shape) -> model.Type:
    match shape.core:
        case syntax.Match() as match:
            return _match(place, match)
        case syntax.Block(fields=inner):
            return model.Block(fields=fields.resolve_fields(place, inner))
        case reference:
            return resolve_type(place, reference)


def resolve_type(place: FieldPlace, node: syntax.Ref) -> model.Type:
    """Return the type that a reference names."""
    match node:
        case syntax.Name():
            return _word(place, node) or _declared(place, node)
        case syntax.Sized(base=base) | syntax.ToTheEnd(base=base) | syntax.Terminated(base=base):
            return _sized(place, node, base)
        case syntax.Attribute() | syntax.Call():
            work = place.work
            work.error("WG2103", "expected a type", node.span, label="not a type")
            return UNKNOWN_TYPE
        case _:
            assert_never(node)


def _sized(
    place: FieldPlace, node: syntax.Sized | syntax.ToTheEnd | syntax.Terminated, base: syntax.Ref
) -> model.Type:
    if not isinstance(node, syntax.ToTheEnd):
        length_span = node.length.span if isinstance(node, syntax.Sized) else node.until.span
        place.work.place(f"{place.path}#length", length_span)
    if isinstance(base, syntax.Name) and needs_length(base.text):
        _need_order(place, base)
        length = lengths.resolve_byte_length(place, node)
        endian = place.work.settings.endian or "big"
        return sized_type(base.text, length, endian) or UNKNOWN_TYPE
    item = resolve_type(replace(place, is_nested=False), base)
    if isinstance(item, model.Block | model.Bits):
        what = "a block" if isinstance(item, model.Block) else "a bit field"
        message = f"{what} cannot be an item of a list"
        place.work.error(
            "WG2103", message, base.span, help_="declare it as a struct, and make a list of the struct"
        )
    return model.List(
        item=item,
        length=lengths.resolve_item_length(place, node, item),
        rule=rule_of_type(place.work, base),
        where=fields.condition_of_items(place, base, item),
    )


def _word(place: FieldPlace, node: syntax.Name) -> model.Type | None:
    settings = place.work.settings
    if needs_length(node.text):
        if not place.off_wire:
            message = f"`{node.text}` needs a length"
            help_ = (
                f"write `{node.text}[u16]`, `{node.text}[size]`, or `{node.text}[]` for all remaining bytes"
            )
            place.work.error("WG2102", message, node.span, label="length missing", help_=help_)
        return sized_type(node.text, model.ToEnd(), settings.endian or "big")
    found = fixed_type(node.text, settings.endian or "big", settings.bits)
    if found is not None:
        _need_order(place, node)
    return found


def _need_order(place: FieldPlace, node: syntax.Name) -> None:
    work = place.work
    if (
        place.off_wire
        or work.settings.endian is not None
        or work.is_order_missed
        or not needs_order(node.text)
    ):
        return
    work.is_order_missed = True
    message = f"the byte order of `{node.text}` is missing"
    help_ = "write `endian big` or `endian little` in `protocol`"
    if node.text != "utf16":
        help_ += f", or `{node.text}be` here"
    work.error("WG2101", message, node.span, label="several bytes", help_=help_)


def _declared(place: FieldPlace, node: syntax.Name) -> model.Type:
    work = place.work
    declared = work.names.get(node.text)
    work.refer(node, None if declared is None else declared.name.span)
    match declared:
        case None:
            help_ = width_help(node.text)
            candidates = () if help_ is not None else _type_words(work)
            report_unknown(node, "type", candidates, work.report, help_=help_)
            return UNKNOWN_TYPE
        case syntax.Alias():
            return _unfolded(place, declared, node)
        case _:
            return _reference(place, declared, node)


def _type_words(work: Workspace) -> Iterator[str]:
    yield from WORDS
    for name, node in work.names.items():
        if type(node) in _REFERENCES or isinstance(node, syntax.Alias):
            yield name


def _reference(place: FieldPlace, declared: Named, node: syntax.Name) -> model.Type:
    reference = _REFERENCES.get(type(declared))
    if reference is not None:
        return reference(name=node.text)
    message = f"expected a type, but `{node.text}` is {what_is(declared)}"
    place.work.error("WG2007", message, node.span, label=what_is(declared))
    return UNKNOWN_TYPE


def _unfolded(place: FieldPlace, alias: syntax.Alias, node: syntax.Name) -> model.Type:
    work = place.work
    if not work.may_unfold(alias, place.aliases, node.span):
        return UNKNOWN_TYPE
    if place.is_nested and alias.where is not None:
        message = f"type `{node.text}` has a `where`, which needs a field"
        help_ = "put it into a struct, or write the `where` at a field"
        work.error("WG2109", message, node.span, label="no field here", help_=help_)
    return resolve_shape(replace(place, aliases=(*place.aliases, alias.name.text)), alias.shape)


def _match(place: FieldPlace, node: syntax.Match) -> model.Type:
    subject = resolve_reference(place.work, place.scope, node.subject)
    allowed = {"integer", "enum", "boolean", "unknown", "null"}
    if subject.sort.kind not in allowed:
        message = "the subject of `match` must be an integer or an enum"
        place.work.error("WG2202", message, node.subject.span, label="neither of them")
    if node.arms is None:
        return model.MessageMatch(subject=subject.expression)
    if not node.arms:
        place.work.error("WG2111", "this `match` has no arms", node.span, label="no arms")
    patterns = resolve_patterns(place.work, node.arms, subject.sort)
    arms = (
        _arm(place, index, arm, spans)
        for index, (arm, spans) in enumerate(zip(node.arms, patterns, strict=True))
    )
    return model.Match(subject=subject.expression, arms=tuple(arms))


def _arm(place: FieldPlace, index: int, arm: syntax.Arm, spans: tuple[model.Span, ...]) -> model.Arm:
    path = place.work.place(arm_path(place.path, index), arm.span, type=arm.shape.span)
    return model.Arm(spans=spans, type=resolve_shape(place.inside(path=path), arm.shape))
