"""Classes of faults: how each is made from valid bytes, and with which codes it may be reported.

A maker is given a part of a frame and yields the faults that are possible there. The reference codec
decodes the result. If it accepts the bytes, or reports a code outside the class, they are not a vector of
that class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.conformance.samples.basis import shape_of
from wiregen.conformance.vectors.coding_faults import wrong_codings
from wiregen.conformance.vectors.end_faults import endless_parts, negative_counts, wrapped_lengths
from wiregen.conformance.vectors.fault_kinds import (
    AT_THE_END,
    FaultyBytes,
    Fields,
    Maker,
    measures,
    strangers,
)
from wiregen.conformance.vectors.frame_parts import FramePart, row_of
from wiregen.conformance.vectors.region_faults import wrong_compression, wrong_regions
from wiregen.conformance.vectors.splicing import number_bytes, replaced, spliced
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.declarations import is_code
from wiregen.runtime.schema.elements import Element
from wiregen.runtime.schema.types import (
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    FrameReference,
    Integer,
    List,
    Span,
    Text,
    UnionReference,
    Varint,
)

__all__ = ["bad_parts"]

_LONGEST: Final = 300
"""Units of the texts that are made for a condition."""


def bad_parts(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Yield the possible faults of a part of a frame."""
    for make in _MAKERS:
        yield from make(part, data, fields)


# ---- numbers


def _constants(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Change a constant or a computed value; sizes have classes of their own."""
    node = part.node
    notes = node.note.split(", ")
    if node.children or not node.size or isinstance(node.type, Bits):
        return
    for note, kind in (("constant", "wrong constant"), ("derived", "not as derived")):
        if note in notes:
            for bit in (0, 7):
                changed = bytes([data[node.start] ^ 1 << bit]) + data[node.start + 1 : node.end]
                yield FaultyBytes(kind=kind, which=f"bit {bit}", data=replaced(data, node, changed))
            last = data[node.start : node.end - 1] + bytes([data[node.end - 1] ^ 1])
            yield FaultyBytes(kind=kind, which="last bit", data=replaced(data, node, last))


def _constant_bits(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Change the first and the last of the constant bits; a field's place excludes the byte that it shares
    with the field before.
    """
    node, type_ = part.node, part.node.type
    if not isinstance(type_, Bits) or "constant" not in node.note.split(", "):
        return
    first = int(node.note.partition("from bit ")[2].partition(",")[0])
    start = node.start - bool(node.size and first)
    for which, bit in (("first bit", first), ("last bit", first + type_.bits - 1)):
        place = start + bit // 8
        mask = 0x80 >> bit % 8 if type_.order == "msb" else 1 << bit % 8
        changed = data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]
        yield FaultyBytes(kind="wrong constant", which=which, data=changed)


def _codes(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put undefined codes, those next to a defined code first."""
    node, parent = part.node, part.parent
    if parent is not None and isinstance(parent.type, UnionReference) and node.part == "code":
        known, shape = fields.codes(parent.type.name), f"every {parent.type.name}"
        yield from _outside(part, parent.type, data, fields)
    elif "derived" in node.note and _is_of_header(part, fields):
        known, shape = _codes_of_messages(fields), ""
    else:
        return
    for code in strangers(known):
        told = _number_bytes(node, code, fields)
        if told is not None and len(told) == node.size:
            changed = replaced(data, node, told)
            yield FaultyBytes(
                kind="wrong code", which=str(code), data=changed, shape=shape, is_common=bool(shape)
            )


def _is_of_header(part: FramePart, fields: Fields) -> bool:
    return part.site.partition(".")[0] in fields.schema.frames and part.site not in fields.sums


def _codes_of_messages(fields: Fields) -> list[Span]:
    return [Span(code, code) for role in fields.schema.codes.values() for code in role]


def _outside(part: FramePart, type_: UnionReference, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put the code of an alternative that is not allowed here."""
    for each in fields.schema.unions[type_.name].varieties if type_.only is not None else ():
        told = number_bytes(part.node, each.spans[0].low)
        if told is not None and len(told) == part.node.size and each.name not in (type_.only or ()):
            yield FaultyBytes(kind="outside only", which="", data=replaced(data, part.node, told))


def _base(node: Node, fields: Fields) -> Element:
    """Return the type of the number in a node's bytes; of an enum its underlying type."""
    return fields.schema.enums[node.type.name].type if isinstance(node.type, EnumReference) else node.type


def _number_bytes(node: Node, number: int, fields: Fields) -> bytes | None:
    return number_bytes(Node(node.name, node.path, _base(node, fields), node.start, node.end), number)


def _enums(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    node, type_ = part.node, part.node.type
    if not isinstance(type_, EnumReference) or not node.size:
        return
    members = fields.members(type_.name)
    for number in strangers([Span(member, member) for member in sorted(members)]):
        told = _number_bytes(node, number, fields)
        if told is not None and len(told) == node.size:
            shape = f"every {type_.name}"
            yield FaultyBytes(
                kind="bad enum", which=str(number), data=replaced(data, node, told), shape=shape
            )


def _booleans(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    if isinstance(part.node.type, Boolean):
        for value in (2, 255):
            which = f"{value} for {'true' if part.node.value else 'false'}"
            yield FaultyBytes(kind="bad value", which=which, data=replaced(data, part.node, bytes([value])))


def _constraints(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put numbers at and next to those that expressions compare with, and the extremes."""
    node = part.node
    base = _base(node, fields)
    if not isinstance(base, Integer | Varint) or node.part in ("length", "count", "code"):
        return
    low, high = base.bounds
    near = [number + step for number in fields.numbers.get(node.name, ()) for step in (-1, 0, 1)]
    for number in dict.fromkeys((*near, low, high, 0, -1)):
        told = _number_bytes(node, number, fields)
        if told is not None and number != node.value:
            changed = spliced(data, node.start, node.end, told, part.lengths)
            if changed is not None:
                yield FaultyBytes(kind="constraint broken", which=str(number), data=changed)


def _varints(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    node, type_ = part.node, part.node.type
    if not isinstance(type_, Varint) or not node.size:
        return
    longer = data[node.start : node.end - 1] + bytes([data[node.end - 1] | 0x80, 0])
    forms = (
        ("longer than needed", "not canonical", longer),
        ("eleven bytes", "too large", b"\xff" * 10 + b"\x01"),
    )
    top = ("a bit too many", "too large", b"\xff" * 9 + (b"\x02" if type_.bits == 64 else b"\x01"))
    for which, kind, told in (*forms, top):
        changed = spliced(data, node.start, node.end, told, part.lengths)
        if changed is not None:
            yield FaultyBytes(kind=kind, which=which, data=changed)


# ---- lengths


def _lengths(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Set wrong lengths and counts, with the bytes unchanged."""
    node = part.node
    if not isinstance(node.value, int) or isinstance(node.value, bool) or not measures(part, fields):
        return
    wrong = [
        ("length too long", "", node.value + 1),
        ("length too short", "", node.value - 1),
        ("length negative", AT_THE_END * (node.end == len(data)), -1),
        *(("length beyond the limit", which, number) for which, number in _beyond(node, fields)),
    ]
    if isinstance(node.type, Integer):
        wrong.append(("length negative", "", node.type.bounds[0]))
    for kind, which, number in wrong:
        told = number_bytes(node, number)
        if told is not None and (kind != "length too short" or number >= 0):
            outer = tuple(each for each in part.lengths if each is not node)
            changed = spliced(data, node.start, node.end, told, outer)
            if changed is not None:
                shape = f"every {_kind(node)}" if kind == "length beyond the limit" else ""
                yield FaultyBytes(kind=kind, which=which, data=changed, shape=shape)


def _beyond(node: Node, fields: Fields) -> Iterator[tuple[str, int]]:
    """Yield lengths that exceed every frame: their names are the same at every place, so that each is shown once."""
    if isinstance(node.type, Integer):
        yield "largest", node.type.bounds[1]
    limits = fields.schema.limits
    for name in ("count", "frame"):
        if limits[name] is not None:
            yield f"above {name}", limits[name] + 1
            yield f"all of {name}", limits[name] - node.end
            yield f"a byte above all of {name}", limits[name] - node.end + 1


def _kind(node: Node) -> str:
    """Return the name of a number that is a length or count, the same at every place."""
    name = node.part if node.part in ("length", "count") else "size"
    match node.type:
        case Integer(size):
            return f"{name} of int {size}"
        case Varint(bits):
            return f"{name} of varint {bits}"
        case CodingReference(coding):
            return f"{name} of coding {coding}"
        case other:
            return f"{name} of {other}"


# ---- text, regions


def _texts(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    node, type_ = part.node, part.node.type
    if not isinstance(type_, Text) or not node.value:
        return
    inside = next((child for child in node.children if child.name == "data"), node)
    unit = _unit(type_)
    lengths = (*part.own, *part.lengths)
    wrong = [("a byte that begins nothing", "bad text", b"\xff"), ("cut character", "bad text", b"\xe2\x82")]
    wrong += [("surrogate", "bad text", b"\xed\xa0\x80"), ("four bytes", "bad text", b"\xf0\x9f\x98\x80")]
    wrong += [("raw NUL", "not canonical", b"\0"), ("overlong", "not canonical", b"\xc1\x81")]
    wrong += [("overlong", "bad text", b"\xc1\x81"), ("first beyond ASCII", "bad text", b"\x80")]
    for which, kind, told in wrong:
        for start, end, where in (
            (inside.end, inside.end, "at the end"),
            (inside.start, inside.start, "first"),
        ):
            changed = spliced(data, start, end, told, lengths, unit)
            if changed is not None:
                yield FaultyBytes(
                    kind=kind, which=f"{which} {where}", data=changed, shape=f"every {shape_of(type_)}"
                )


def _lengths_asked(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put texts, bytes and lists with lengths at and next to those that conditions ask for, empty ones first."""
    node = part.node
    inside = next((child for child in node.children if child.name == "data"), node)
    if isinstance(node.type, List):
        yield from _no_items(part, data)
    if not isinstance(node.type, Text | Bytes) or not (inside.size and node.value) or len(part.own) > 1:
        return
    names = (node.name, "value")
    near = (number + step for name in names for number in fields.counts.get(name, ()) for step in (-1, 0, 1))
    unit = data[inside.start : inside.start + _unit(node.type)]
    for count in dict.fromkeys((0, *near)):
        if 0 <= count <= _LONGEST and count != len(node.value):
            told = unit * count
            changed = spliced(data, inside.start, inside.end, told, (*part.own, *part.lengths), len(unit))
            if changed is not None:
                yield FaultyBytes(
                    kind="constraint broken", which=f"{count} long" if count else "empty", data=changed
                )


def _unit(type_: Text | Bytes) -> int:
    """Return the number of bytes in one unit of the length."""
    return 2 if isinstance(type_, Text) and type_.encoding == "utf16" else 1


def _no_items(part: FramePart, data: bytes) -> Iterator[FaultyBytes]:
    node = part.node
    count = next((child for child in node.children if child.part == "count" and not child.inner), None)
    told = number_bytes(count, 0) if count is not None and node.value else None
    if count is not None and told is not None and count.start == node.start:
        changed = spliced(data, node.start, node.end, told, part.lengths)
        if changed is not None:
            yield FaultyBytes(kind="constraint broken", which="empty", data=changed)


def _items_twice(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put the first item of a list a second time: conditions may ask for different ones."""
    node = part.node
    if not isinstance(node.type, List) or not node.value:
        return
    count = next((child for child in node.children if child.part == "count" and not child.inner), None)
    first = next((child for child in node.children if child.name == "[0]"), None)
    if count is None or first is None or count.start != node.start or not isinstance(count.value, int):
        return
    told = number_bytes(count, count.value + 1)
    if told is not None and len(told) == count.size:
        item = data[first.start : first.end]
        new = told + data[count.end : first.end] + item + data[first.end : node.end]
        changed = spliced(data, node.start, node.end, new, part.lengths)
        if changed is not None:
            yield FaultyBytes(kind="constraint broken", which="an item twice", data=changed)


def _unknown_and_empty(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put an undefined code before an empty rest."""
    node, frame = part.node, part.parent
    if frame is None or not isinstance(frame.type, FrameReference):
        return
    layout = fields.schema.frames.get(frame.type.name)
    if layout is None or node.name != layout.message:
        return
    code = next((row_of(frame)[field.name] for field in layout.fields if is_code(field)), None)
    inside = next((child for child in node.children if child.name == "content"), node)
    if code is None or code.inner or inside.inner:
        return
    empty = spliced(data, inside.start, inside.end, b"", (*part.own, *part.lengths))
    for stranger in strangers(_codes_of_messages(fields))[:1]:
        told = number_bytes(code, stranger)
        if empty is not None and told is not None and len(told) == code.size and code.end <= inside.start:
            yield FaultyBytes(kind="wrong code", which="without data", data=replaced(empty, code, told))


_MAKERS: Final[tuple[Maker, ...]] = (
    _constants,
    _constant_bits,
    _codes,
    _enums,
    _booleans,
    _lengths,
    negative_counts,
    wrapped_lengths,
    endless_parts,
    _varints,
    wrong_codings,
    _constraints,
    _texts,
    _lengths_asked,
    _items_twice,
    _unknown_and_empty,
    wrong_regions,
    wrong_compression,
)
