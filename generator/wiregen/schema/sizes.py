"""The size of types on the wire, as far as the layout determines it; every answer is exact or on the safe side.

Invariant: the work is linear in the model; a group of declarations that contain each other is processed a
bounded number of times. Declarations are not followed by recursion, so that a chain may have any length.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from wiregen.runtime.schema.node import Node
from wiregen.schema.declared import kept
from wiregen.schema.graph import components
from wiregen.schema.model import (
    Block,
    Bytes,
    Carrier,
    Chunks,
    Coding,
    CodingReference,
    Compressed,
    Computed,
    Delimited,
    Enum,
    Field,
    FixedSize,
    Frame,
    InSize,
    Integer,
    Length,
    List,
    Match,
    Message,
    MessageMatch,
    Preamble,
    Prefix,
    Protocol,
    Reference,
    Region,
    Span,
    Struct,
    Text,
    ToEnd,
    Trailing,
    Type,
    Union,
    UnionReference,
    Until,
    Variant,
    Variety,
    Varint,
    target_of,
)
from wiregen.schema.values import coding_span, number_of, span_of
from wiregen.schema.walk import references

__all__ = ["Laid", "Sizes", "fixed_size", "largest", "smallest"]

Declaration: TypeAlias = Struct | Message | Frame | Preamble | Union | Variety | Enum | Coding
Laid: TypeAlias = Type | Field | Declaration | tuple[Field, ...]
_Key: TypeAlias = tuple[str, str]

_UNBOUNDED = 2**128
"""Larger sizes are treated as equal: `bytes[2**127]` never arrives."""
_ENDLESS = 2**200
"""The smallest size of a declaration that contains itself on every path; sums of bounded sizes do not reach it."""
_MAX_ROUNDS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extent:
    """Sizes in bits, at least `low` and at most `high` (None: the layout sets no bound)."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """Numbers of bytes, units or items, at least `low` and at most `high` (None: the layout sets no bound)."""

    low: int
    high: int | None


_SOME = _Counts(low=0, high=None)
_NOTHING = _Extent(low=0, high=0)
_ANYTHING = _Extent(low=0, high=None)
_NEVER = _Extent(low=_ENDLESS, high=None)


class Sizes:
    """The sizes of one protocol in one of its variants; each declaration is measured once."""

    __slots__ = ("_declarations", "_known")

    def __init__(self, protocol: Protocol, variant: Variant | None = None) -> None:
        self._declarations = _declarations(protocol, variant)
        self._known: dict[_Key, _Extent] = {}

    def fixed(self, laid: Laid) -> int | None:
        """Return the size in bytes, or None if it depends on the value or is not a whole number of bytes."""
        bits = self.fixed_bits(laid)
        return None if bits is None or bits % 8 else bits // 8

    def fixed_bits(self, laid: Laid) -> int | None:
        """Return the size in bits, or None if it depends on the value."""
        extent = self._extent(laid)
        return extent.low if extent.low == extent.high else None

    def smallest(self, laid: Laid) -> int:
        """Return a lower bound of the size in bytes."""
        return self._extent(laid).low // 8

    def largest(self, laid: Laid) -> int | None:
        """Return an upper bound of the size in bytes, or None if the layout alone does not bound it."""
        high = self._extent(laid).high
        return None if high is None else -(-high // 8)

    def counts(self, length: Length) -> Span:
        """Return the numbers from the least to the greatest that a length can be; a null is not one of them."""
        counts = _Ruler(self._known, self._declarations).counts(length)
        return Span(low=counts.low, high=_UNBOUNDED if counts.high is None else counts.high)

    def span(self, laid: Laid) -> Span:
        """Return a lower and an upper bound of the size in bytes."""
        largest = self.largest(laid)
        return Span(low=self.smallest(laid), high=_UNBOUNDED if largest is None else largest)

    def is_endless(self, laid: Laid) -> bool:
        """Return whether every value would contain itself, so that a finite value does not exist."""
        return self._extent(laid).low >= _ENDLESS

    def _extent(self, laid: Laid) -> _Extent:
        missing = [key for key in _keys(laid) if key not in self._known]
        for group in components(missing, self._following):
            self._settle(group)
        return _Ruler(self._known, self._declarations).laid(laid)

    def _following(self, key: _Key) -> Iterable[_Key]:
        if key in self._known or key not in self._declarations:
            return ()
        return _keys(self._declarations[key])

    def _settle(self, group: tuple[_Key, ...]) -> None:
        known = {key: _NEVER for key in group if key not in self._known}
        for _ in range(_MAX_ROUNDS):
            if not self._measure_once(known):
                break
        else:
            known = dict.fromkeys(known, _ANYTHING)
            self._measure_once(known)
        self._known.update(known)

    def _measure_once(self, known: dict[_Key, _Extent]) -> bool:
        """Measure each declaration of a group again; return whether the size of any became smaller."""
        has_changed = False
        for key, before in tuple(known.items()):
            extent = self._measure(key, ChainMap(known, self._known))
            has_changed |= extent != before
            known[key] = extent
        return has_changed

    def _measure(self, key: _Key, known: Mapping[_Key, _Extent]) -> _Extent:
        declaration = self._declarations.get(key)
        return _ANYTHING if declaration is None else _Ruler(known, self._declarations).laid(declaration)


@kept
def _sizes_of(protocol: Protocol) -> Sizes:
    return Sizes(protocol)


def fixed_size(laid: Laid, protocol: Protocol) -> int | None:
    """Return the size in bytes, or None if it depends on the value."""
    return _sizes_of(protocol).fixed(laid)


def smallest(laid: Laid, protocol: Protocol) -> int:
    """Return a lower bound of the size in bytes."""
    return _sizes_of(protocol).smallest(laid)


def largest(laid: Laid, protocol: Protocol) -> int | None:
    """Return an upper bound of the size in bytes, or None if the layout alone does not bound it."""
    return _sizes_of(protocol).largest(laid)


class _Ruler:
    """Measures one type or declaration; declarations are looked up, types that are used twice are measured once."""

    __slots__ = ("_declarations", "_known", "_measured")

    def __init__(self, known: Mapping[_Key, _Extent], declarations: Mapping[_Key, Declaration]) -> None:
        self._known = known
        self._declarations = declarations
        self._measured: dict[int, _Extent] = {}

    def laid(self, laid: Laid) -> _Extent:
        if not isinstance(laid, Node):
            return _sum(self.field(field) for field in laid)
        match laid:
            case Field():
                return self.field(laid)
            case Struct() | Message() | Frame() | Preamble() | Variety():
                return self.laid(laid.fields)
            case Union(type=type_, varieties=varieties):
                return _sum((self.type(type_), _choice(self.laid(variety.fields) for variety in varieties)))
            case Enum(type=type_):
                return self.type(type_)
            case Coding(type=type_, widths=widths):
                wides = (_NOTHING if width.wide is None else self.type(width.wide) for width in widths)
                return _sum((self.type(type_), _choice(wides)))
            case _:
                return self.type(laid)

    def field(self, field: Field) -> _Extent:
        extent = self.type(field.type)
        is_optional = field.condition is not None or isinstance(field.value, Trailing)
        return _Extent(low=0, high=extent.high) if is_optional else extent

    def type(self, type_: Type) -> _Extent:
        known = self._measured.get(
            id(type_)
        )  # a hash would read all that the type contains, at each depth again
        if known is None:
            known = self._measured[id(type_)] = self._measure(type_)
        return known

    def _measure(self, type_: Type) -> _Extent:
        match type_:
            case _ if isinstance(type_, FixedSize):
                return _Extent(low=type_.bits, high=type_.bits)
            case Varint(bits=bits, is_lenient=bool(lenient)):
                return _Extent(low=8, high=80 if lenient else -(-bits // 7) * 8)
            case Bytes(length=length):
                return self._counted(length, _bytes(1))
            case Text(length=length, encoding=encoding):
                return self._counted(length, _bytes(2 if encoding == "utf16" else 1))
            case List(length=length, item=item):
                return self._counted(length, self.type(item))
            case UnionReference():
                return self._union(type_)
            case _ if isinstance(type_, Reference):
                return self._known.get((target_of(type_), type_.name), _ANYTHING)
            case MessageMatch():
                return _ANYTHING
            case Match(arms=arms):
                return _choice(self.type(arm.type) for arm in arms)
            case Block(fields=fields):
                return self.laid(fields)
            case Region(content=content, carrier=carrier, lenient=lenient):
                return self._region(self.type(content), carrier, is_lenient=bool(lenient))
            case _:
                assert_never(type_)

    def _union(self, reference: UnionReference) -> _Extent:
        union = self._declarations.get(("union", reference.name))
        if reference.only is None or not isinstance(union, Union):
            return self._known.get(("union", reference.name), _ANYTHING)
        varieties = (self._known.get(key, _ANYTHING) for key in _variety_keys(union, reference.only))
        return _sum((self.type(union.type), _choice(varieties)))

    def _counted(self, length: Length, item: _Extent) -> _Extent:
        units = _times(item, self.counts(length))
        match length:
            case Prefix(type=type_):
                return _sum((self.type(type_), units))
            case Delimited(delimiter=delimiter):
                return _sum((_Extent(low=len(delimiter) * 4, high=None), units))
            case _:
                return units

    def counts(self, length: Length) -> _Counts:
        match length:
            case Prefix(type=type_):
                return _Counts(low=0, high=self._most(type_))
            case Computed(value=value):
                count = number_of(value)
                return _SOME if count is None else _Counts(low=max(count, 0), high=max(count, 0))
            case ToEnd() | Delimited():
                return _SOME
            case Until():
                return _Counts(low=1, high=None)
            case _:
                assert_never(length)

    def _most(self, type_: Integer | Varint | CodingReference) -> int | None:
        """Return the largest number that a prefix can hold, or None if its coding is not known."""
        if not isinstance(type_, CodingReference):
            return span_of(type_).high
        coding = self._declarations.get(("coding", type_.name))
        return coding_span(coding).high if isinstance(coding, Coding) else None

    def _region(self, content: _Extent, carrier: Carrier, *, is_lenient: bool) -> _Extent:
        filled = _Extent(low=content.low, high=None) if is_lenient else content
        match carrier:
            case InSize(size=size):
                fixed = number_of(size)
                return filled if fixed is None or content.low >= _ENDLESS else _bytes(max(fixed, 0))
            case Prefix(type=type_):
                return _sum((self.type(type_), filled))
            case Compressed(length=length):
                if content.low >= _ENDLESS:
                    return _NEVER
                return self._counted(length, _bytes(1))
            case Chunks(struct=struct):
                chunk = self._known.get(("struct", struct), _ANYTHING)
                return _Extent(low=_sum((chunk, content)).low, high=None)
            case _:
                assert_never(carrier)


def _bytes(size: int) -> _Extent:
    return _Extent(low=min(size, _UNBOUNDED) * 8, high=size * 8 if size < _UNBOUNDED else None)


def _sum(extents: Iterable[_Extent]) -> _Extent:
    low, high = 0, 0
    is_bounded = True
    for extent in extents:
        low = min(low + extent.low, _ENDLESS)
        is_bounded &= extent.high is not None
        high += extent.high or 0
    return _Extent(low=low, high=high if is_bounded and high < _UNBOUNDED else None)


def _choice(extents: Iterable[_Extent]) -> _Extent:
    """Return the extent that covers all of them; without any, the size is 0."""
    choices = tuple(extents)
    highs = [extent.high for extent in choices if extent.high is not None]
    return _Extent(
        low=min((extent.low for extent in choices), default=0),
        high=max(highs, default=0) if len(highs) == len(choices) else None,
    )


def _times(item: _Extent, counts: _Counts) -> _Extent:
    low = _ENDLESS if counts.low and item.low >= _ENDLESS else min(item.low * counts.low, _UNBOUNDED)
    if 0 in (item.high, counts.high):
        return _Extent(low=low, high=0)
    if item.high is None or counts.high is None or item.high * counts.high >= _UNBOUNDED:
        return _Extent(low=low, high=None)
    return _Extent(low=low, high=item.high * counts.high)


def _declarations(protocol: Protocol, variant: Variant | None) -> dict[_Key, Declaration]:
    known: dict[_Key, Declaration] = {}
    for source in (protocol, variant):
        if source is None:
            continue
        known.update((("struct", struct.name), struct) for struct in source.structs)
        known.update((("message", message.name), message) for message in source.messages)
        known.update((("frame", frame.name), frame) for frame in source.frames)
    known.update((("enum", enum.name), enum) for enum in protocol.enums)
    known.update((("coding", coding.name), coding) for coding in protocol.codings)
    for union in protocol.unions:
        known[("union", union.name)] = union
        known.update(zip(_variety_keys(union, None), union.varieties, strict=True))
    return known


def _variety_keys(union: Union, only: tuple[str, ...] | None) -> list[_Key]:
    names = [variety.name for variety in union.varieties] if only is None else only
    return [("variety", f"{union.name}.{name}") for name in names]


def _keys(laid: Laid) -> list[_Key]:
    """Return the keys of the declarations whose sizes have to be known before that of `laid`."""
    keys: list[_Key] = []
    for reference in references(*_types(laid)):
        keys.append((target_of(reference), reference.name))
        if isinstance(reference, UnionReference):
            keys.extend(("variety", f"{reference.name}.{name}") for name in reference.only or ())
    return keys


def _types(laid: Laid) -> tuple[Type, ...]:
    if not isinstance(laid, Node):
        return tuple(field.type for field in laid)
    match laid:
        case Field(type=type_):
            return (type_,)
        case Struct() | Message() | Frame() | Preamble() | Variety():
            return _types(laid.fields)
        case Union(varieties=varieties):
            return tuple(field.type for variety in varieties for field in variety.fields)
        case Enum() | Coding():
            return ()
        case _:
            return (laid,)
