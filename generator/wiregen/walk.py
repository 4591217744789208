"""Walks over types and expressions of the model: what stands inside what, each value once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, assert_never

from wiregen.model import (
    Block,
    Bytes,
    Call,
    Carrier,
    Computed,
    ContextReference,
    Expression,
    Field,
    InChunks,
    InCompressed,
    InPrefix,
    InSize,
    Item,
    Length,
    List,
    ListOf,
    Match,
    MessageMatch,
    Negation,
    Operation,
    Prefix,
    Range,
    Reference,
    Region,
    Text,
    Type,
    UntilHolds,
)

__all__ = [
    "direct_expressions",
    "field_expressions",
    "flat_fields",
    "inner_expressions",
    "inner_types",
    "nested_expressions",
    "nested_types",
    "open_types",
    "references",
    "shapes",
]

_Node = TypeVar("_Node")


def inner_types(type_: Type) -> tuple[Type, ...]:
    """Return the types that stand directly in `type_`, prefixes of lengths and carriers included."""
    match type_:
        case Bytes(length=length) | Text(length=length):
            return _length_types(length)
        case List(item=item, length=length):
            return (item, *_length_types(length))
        case Match(arms=arms):
            return tuple(arm.type for arm in arms)
        case Block(fields=fields):
            return tuple(field.type for field in fields)
        case Region(content=content, carrier=carrier):
            return (content, *_carrier_types(carrier))
        case _:
            return ()


def nested_types(*roots: Type) -> Iterator[Type]:
    """Yield the roots and all that stands in them, outer before inner, an object that is used twice only once."""
    return _nested(roots, inner_types)


def open_types(*roots: Type) -> Iterator[Type]:
    """Yield the types that share the region of the roots: what has a carrier is yielded, what stands in it is not."""
    return _nested(roots, lambda type_: () if isinstance(type_, Region) else inner_types(type_))


def references(*roots: Type) -> Iterator[Reference]:
    """Yield each reference to a declaration below `roots`; chunks of a region name their struct."""
    for type_ in nested_types(*roots):
        if isinstance(type_, Reference):
            yield type_
        elif isinstance(type_, Region) and isinstance(type_.carrier, InChunks):
            yield Reference(target="struct", name=type_.carrier.struct)


def shapes(type_: Type) -> Iterator[Type]:
    """Yield `type_` and all that stands in it, but not what belongs to the fields of its blocks."""
    return _nested((type_,), lambda each: () if isinstance(each, Block) else inner_types(each))


def flat_fields(fields: Iterable[Field]) -> Iterator[Field]:
    """Yield the fields of one declaration in wire order, those of a block (wherever it stands) behind the field that holds it."""
    for field in fields:
        yield field
        for type_ in shapes(field.type):
            if isinstance(type_, Block):
                yield from flat_fields(type_.fields)


def direct_expressions(type_: Type) -> tuple[Expression, ...]:
    """Return the expressions that belong to `type_` itself: its length, its carrier, the subject of a match."""
    match type_:
        case Bytes(length=length) | Text(length=length) | List(length=length):
            return _length_expressions(length)
        case Match(subject=subject) | MessageMatch(subject=subject):
            return (subject,)
        case Region(carrier=carrier):
            return _carrier_expressions(carrier)
        case _:
            return ()


def field_expressions(field: Field) -> tuple[Expression, ...]:
    """Return the expressions of the clauses of a field: value, condition, where; not those of its type."""
    value = None if field.value is None else field.value.value
    return tuple(part for part in (value, field.condition, field.where) if part is not None)


def inner_expressions(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression."""
    match expression:
        case ContextReference(keys=keys):
            return keys
        case Negation(operand=operand):
            return (operand,)
        case Operation(left=left, right=right):
            return (left, right)
        case Range(low=low, high=high):
            return (low, high)
        case ListOf(items=items):
            return items
        case Call(arguments=arguments):
            return arguments
        case Item(list=list_, index=index):
            return (list_, index)
        case _:
            return ()


def nested_expressions(*roots: Expression) -> Iterator[Expression]:
    """Yield the roots and all their operands."""
    return _nested(roots, inner_expressions)


def _nested(roots: Iterable[_Node], inner: Callable[[_Node], tuple[_Node, ...]]) -> Iterator[_Node]:
    seen: set[int] = set()
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(reversed(inner(node)))


def _length_types(length: Length) -> tuple[Type, ...]:
    return (length.type,) if isinstance(length, Prefix) else ()


def _carrier_types(carrier: Carrier) -> tuple[Type, ...]:
    match carrier:
        case InPrefix(type=type_):
            return (type_,)
        case InCompressed(length=length):
            return _length_types(length)
        case InSize() | InChunks():
            return ()
        case _:
            assert_never(carrier)


def _length_expressions(length: Length) -> tuple[Expression, ...]:
    match length:
        case Computed(value=value):
            return (value,)
        case UntilHolds(condition=condition):
            return (condition,)
        case _:
            return ()


def _carrier_expressions(carrier: Carrier) -> tuple[Expression, ...]:
    match carrier:
        case InSize(size=size):
            return (size,)
        case InCompressed(length=length):
            return _length_expressions(length)
        case InChunks(until=until):
            return (until,)
        case InPrefix():
            return ()
        case _:
            assert_never(carrier)
