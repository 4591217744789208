"""Faults that move an end: lengths that wrap round to step back, lists with negative counts, elements without an end."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.conformance.vectors.fault_kinds import FaultyBytes, Fields
from wiregen.conformance.vectors.frame_parts import FramePart
from wiregen.conformance.vectors.splicing import number_bytes, spliced
from wiregen.runtime.schema.types import CodingReference, Integer, List, UnionReference

__all__ = ["endless_parts", "negative_counts", "wrapped_lengths"]


def negative_counts(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Give a list a negative count, and leave its items out: a loop over them would do nothing."""
    parent = part.parent
    if part.node.part != "count" or parent is None or not isinstance(parent.type, List) or part.node.inner:
        return
    for told in _negative(part, data, fields):
        for end, which in ((part.node.end, "of what follows"), (parent.end, "of nothing")):
            changed = spliced(data, part.node.start, end, told, part.lengths)
            if changed is not None:
                yield FaultyBytes(kind="length negative", which=which, data=changed)


def _negative(part: FramePart, data: bytes, fields: Fields) -> Iterator[bytes]:
    node = part.node
    if not isinstance(node.type, CodingReference):
        told = number_bytes(node, -1)
        if told is not None:
            yield told
        return
    coding = fields.schema.codings[node.type.name]
    for each in coding.widths:
        if each.wide is not None and each.wide.is_signed:
            yield coding.type.encode(each.low) + each.wide.encode(-1)


def wrapped_lengths(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Set a length that, where numbers wrap round, steps back to the length itself."""
    match part.node.type:
        case Integer(size, False, endian) if part.node.part == "length" and size > 2:
            told = ((1 << 8 * size) - size).to_bytes(size, endian)
            outer = tuple(each for each in part.lengths if each is not part.node)
            changed = spliced(data, part.node.start, part.node.end, told, outer)
            if changed is not None:
                yield FaultyBytes(kind="length wrapped round", which="", data=changed)


def endless_parts(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Put an alternative that extends to the end of its region in a place where more bytes might follow,
    though none do here.
    """
    node = part.node
    if not isinstance(node.type, UnionReference) or node.end != len(data) or not node.children:
        return
    code = node.children[0]
    for number in fields.endless(node.type.name):
        told = number_bytes(code, number) if code.name == "code" else None
        changed = None if told is None else spliced(data, node.start, node.end, told + b"Z", part.lengths)
        if changed is not None:
            yield FaultyBytes(kind="no end inside", which=f"in {part.around}", data=changed)
