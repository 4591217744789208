"""Integers in one of several widths: a wider one than the value needs, and first numbers that mean none."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.conformance.vectors.fault_kinds import FaultyBytes, Fields, measures, strangers
from wiregen.conformance.vectors.frame_parts import FramePart
from wiregen.conformance.vectors.splicing import number_bytes, replaced, spliced
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.declarations import Coding
from wiregen.runtime.schema.types import CodingReference, Integer, Span

__all__ = ["wrong_codings"]


def wrong_codings(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    node, type_ = part.node, part.node.type
    if not isinstance(type_, CodingReference) or not node.size:
        return
    coding = fields.schema.codings[type_.name]
    shape = f"every {type_.name}"
    for low, wide, edges in _wide_forms(coding):
        if isinstance(node.value, int):
            own = {f"as {low}": min(node.value, 1)}
            if not measures(part, fields):  # any number may stand there
                own |= {f"as {low}, {number}": number for number in edges}
            for which, number in own.items():
                told = coding.type.encode(low) + wide.encode(number)
                changed = spliced(data, node.start, node.end, told, part.lengths)
                changed = changed or replaced(data, node, told)
                yield FaultyBytes(
                    kind="not canonical", which=which, data=changed, shape=shape, is_common=True
                )
    for code in strangers([Span(each.low, each.high) for each in coding.widths]):
        told = number_bytes(Node("", "", coding.type, 0, 0), code) or b""
        if told:
            changed = replaced(data, node, told)
            yield FaultyBytes(
                kind="bad value", which=f"code {code}", data=changed, shape=shape, is_common=True
            )


def _wide_forms(coding: Coding) -> Iterator[tuple[int, Integer, tuple[int, ...]]]:
    """Yield the first number of each width that announces another number, its type, and the edges of narrower widths."""
    edges: list[int] = []
    for width in coding.widths:
        bounds = (width.low, width.high) if width.wide is None else width.wide.bounds
        if width.wide is not None:
            low, high = width.wide.bounds
            yield width.low, width.wide, tuple(edge for edge in edges if low <= edge <= high)
        if not width.is_null:
            edges += bounds
