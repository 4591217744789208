"""Walks over types and expressions of the model: the nodes inside a node, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.schema.node import Node, inner_nodes
from wiregen.runtime.schema.shapes import blocks, content, every_field, fields_below, has_blocks, is_flat
from wiregen.schema.copies import replace
from wiregen.schema.model import (
    Arm,
    Block,
    Carrier,
    Chunks,
    Compressed,
    Default,
    Expression,
    Field,
    Frame,
    FrameReference,
    Match,
    Message,
    MessageMatch,
    Preamble,
    Protocol,
    RecordReference,
    Reference,
    Region,
    Struct,
    StructReference,
    Trailing,
    Type,
    Variant,
    Variety,
)

__all__ = [
    "AttributeField",
    "arm_path",
    "attributes",
    "compresses",
    "declared_types",
    "direct_expressions",
    "every_field",
    "field_expressions",
    "inner_expressions",
    "inner_types",
    "is_compressed",
    "is_compression",
    "matched_messages",
    "may_lack_message",
    "nested_expressions",
    "nested_types",
    "open_types",
    "placed_matches",
    "references",
    "sent_messages",
    "shapes",
    "tail_keepers",
]

_Node = TypeVar("_Node")


def inner_types(type_: Type) -> tuple[Type, ...]:
    """Return the types directly in `type_`, prefixes of lengths and carriers included."""
    return tuple(_types_below(type_))


def _types_below(node: Node) -> Iterator[Type]:
    for each in inner_nodes(node):
        if isinstance(each, Type):
            yield each
        elif not isinstance(each, Expression):
            yield from _types_below(each)


def nested_types(*roots: Type) -> Iterator[Type]:
    """Yield the roots and all types in them, outer before inner, an object that is used twice only once."""
    return _nested(roots, inner_types)


def open_types(*roots: Type) -> Iterator[Type]:
    """Yield the types that share the region of the roots; a type with a carrier is yielded, but not the types in it."""
    return _nested(roots, lambda type_: () if isinstance(type_, Region) else inner_types(type_))


def references(*roots: Type) -> Iterator[Reference]:
    """Yield each reference to a declaration below `roots`; chunks of a region name their struct."""
    for type_ in nested_types(*roots):
        if isinstance(type_, Reference):
            yield type_
        elif isinstance(type_, Region) and isinstance(type_.carrier, Chunks):
            yield StructReference(name=type_.carrier.struct)


def shapes(type_: Type) -> Iterator[Type]:
    """Yield `type_` and all types in it, but not those of the fields of its blocks."""
    return _nested((type_,), lambda each: () if isinstance(each, Block) else inner_types(each))


def placed_matches(field: Field) -> Iterator[tuple[str, Match]]:
    """Yield each choice of a field with its path, outer before inner, without those of the fields of its blocks."""
    return _placed_matches(field.type, field.path)


def _placed_matches(type_: Type, path: str) -> Iterator[tuple[str, Match]]:
    if isinstance(type_, Match):
        yield path, type_
        for index, arm in enumerate(type_.arms):
            yield from _placed_matches(arm.type, arm_path(path, index))
    elif not isinstance(type_, Block):
        for inner in inner_types(type_):
            yield from _placed_matches(inner, path)


def arm_path(path: str, index: int) -> str:
    """Return the path of an arm of the choice at `path`."""
    return f"{path}.arms[{index}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeField:
    """A field with a value of its own; `may_be_absent`: its value is None if another arm, or no arm, is present."""

    field: Field
    may_be_absent: bool


def attributes(fields: Iterable[Field]) -> tuple[AttributeField, ...]:
    """Return the fields of a declaration that have a value of their own, in wire order, those of blocks included.

    Fields of one name in different arms are one attribute: the first of them, secret if any of them is.
    """
    found: dict[str | int, AttributeField] = {}
    for field, is_inside in fields_below(fields, False, _may_be_absent):
        if is_flat(field.type):
            continue
        each = AttributeField(field=field, may_be_absent=_may_be_absent(field, is_inside))
        key = field.name if field.name != "_" else len(found)
        first = found.setdefault(key, each)
        if first is not each:
            is_secret = first.field.is_secret or field.is_secret
            found[key] = AttributeField(field=replace(first.field, is_secret=is_secret), may_be_absent=True)
    return tuple(found.values())


def _may_be_absent(field: Field, is_inside: bool) -> bool:
    """Return whether a field may have no value; `is_inside`: it is in a block that may be absent."""
    is_optional = field.condition is not None and not isinstance(field.value, Trailing)
    is_chosen = has_blocks(field.type) and isinstance(content(field.type), Match)
    return is_inside or is_optional or is_chosen


def frame_attributes(frame: Frame, protocol: Protocol) -> tuple[AttributeField, ...]:
    """Return the same for a frame. Fields without a default in a fragmented block are absent in a fragment."""
    joined = {join.block[1] for join in protocol.joins if join.block and join.block[0] == frame.name}
    inside = {
        each.path
        for field in every_field(frame.fields)
        if field.name in joined
        for block in blocks(field.type)
        for each in every_field(block)
        if each.value is None
    }
    return tuple(
        replace(each, may_be_absent=each.may_be_absent or each.field.path in inside)
        for each in attributes(frame.fields)
    )


def may_lack_message(frame: Frame) -> bool:
    """Return whether the message of a frame is optional: it has a condition, or is in a block of one arm of a choice."""
    return any(each.field.name == frame.message and each.may_be_absent for each in attributes(frame.fields))


def sent_messages(messages: Iterable[Message], role: str | None) -> Iterator[Message]:
    """Yield the messages with codes that a frame of `role` may carry; without a role, either one sends it."""
    for message in messages:
        if message.code is not None and (None in (role, message.role) or message.role == role):
            yield message


def matched_messages(
    messages: Iterable[Message], type_: MessageMatch | FrameReference, role: str | None
) -> Iterator[Message]:
    """Yield the messages that a code, or a frame of that name, may carry for `role`; a lenient `only` excludes none."""
    named = None if type_.is_lenient else type_.only
    return (each for each in sent_messages(messages, role) if named is None or each.name in named)


def tail_keepers(content: Type, owner: str, protocol: Protocol) -> set[str]:
    """Return the declarations that may keep the trailing bytes of a lenient region of `owner` with this content."""
    if isinstance(content, RecordReference):
        return {content.name}
    match content:
        case MessageMatch():
            return {message.name for message in protocol.messages}
        case Match(arms=arms):
            return {name for arm in arms for name in tail_keepers(arm.type, owner, protocol)}
        case _:
            return {owner}


def direct_expressions(type_: Type) -> tuple[Expression, ...]:
    """Return the expressions of `type_` itself: its length, the condition of its items, its carrier, its subject."""
    return tuple(_expressions_below(type_))


def _expressions_below(node: Node) -> Iterator[Expression]:
    for each in inner_nodes(node):
        if isinstance(each, Expression):
            yield each
        elif not isinstance(each, Type | Arm | Field):
            yield from _expressions_below(each)


def field_expressions(field: Field) -> tuple[Expression, ...]:
    """Return the expressions of the clauses of a field: value, condition, where; not those of its type."""
    value = None if field.value is None else field.value.value
    others = tuple(each.value for each in field.value.others) if isinstance(field.value, Default) else ()
    return tuple(part for part in (value, *others, field.condition, field.where) if part is not None)


def inner_expressions(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression."""
    return tuple(each for each in inner_nodes(expression) if isinstance(each, Expression))


def nested_expressions(*roots: Expression) -> Iterator[Expression]:
    """Yield the roots and all their operands."""
    return _nested(roots, inner_expressions)


def compresses(protocol: Protocol) -> bool:
    """Return whether a declaration of a protocol, its variants included, has a compressed region."""
    return any(map(is_compressed, declared_types(protocol)))


def is_compressed(type_: Type) -> bool:
    """Return whether a type is a region of compressed content."""
    return isinstance(type_, Region) and is_compression(type_.carrier)


def is_compression(carrier: Carrier) -> bool:
    """Return whether content may be far longer than the bytes that carry it."""
    return isinstance(carrier, Compressed) and TRANSFORMS[carrier.algorithm].is_compression


def declared_types(protocol: Protocol) -> Iterator[Type]:
    """Yield every type in the declarations of a protocol, its variants included."""
    layouts: tuple[Protocol | Variant, ...] = (protocol, *protocol.variants)
    owners: list[Struct | Message | Frame | Preamble | Variety] = []
    for layout in layouts:
        owners += [*layout.structs, *layout.messages, *layout.frames, *layout.preambles]
    owners += [variety for union in protocol.unions for variety in union.varieties]
    yield from nested_types(*(field.type for owner in owners for field in owner.fields))


def _nested(roots: Iterable[_Node], inner: Callable[[_Node], tuple[_Node, ...]]) -> Iterator[_Node]:
    seen: set[int] = set()  # of nodes below the roots: equal ones at two places are both yielded
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(reversed(inner(node)))
