"""Data in chunks inside one frame, cut in other places: the places of the cuts do not matter, but all
chunks are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.frame_parts import FramePart, parts_of
from wiregen.conformance.vectors.splicing import number_bytes, spliced
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.expressions import Expression, FieldReference, Negation
from wiregen.runtime.schema.types import Boolean, Chunks, Region

__all__ = ["pieced_drafts"]

_LONGEST: Final = 300


def pieced_drafts(drafting: Drafting, frames: list[Draft]) -> Iterator[Draft]:
    """Return a frame with each chunked field in two chunks, with an empty one at its end, and with twice as much as there is."""
    shown: set[str] = set()
    for least, draft in product((2, 1), frames):
        if len(draft.trees) != 1 or not draft.is_whole or len(draft.data) > _LONGEST:
            continue
        # Offsets of parts count from the start of their sender's stream, after the bytes that it sent
        # before.
        behind = b"".join(sent for role, sent in draft.scene.before if role == draft.scene.role)
        parts = parts_of(draft.trees[0])
        for part in parts:
            name = f"{draft.scene.variant}: {part.site}" if draft.scene.variant else part.site
            chunks = _chunks_of(part.node) if name not in shown else None
            if chunks is not None:
                for what, data in _cut(behind + draft.data, chunks, part, parts, least):
                    shown.add(name)
                    found = drafting.draft(draft.scene, data[len(behind) :])
                    yield found.as_variation().showing((f"{name}: {what}",))


def _chunks_of(node: Node) -> Chunks | None:
    """Return how a part is cut in chunks, or None if it is not."""
    match node.type:
        case Region(carrier=Chunks() as chunks) if node.children and not node.inner:
            return chunks
        case _:
            return None


def _cut(
    data: bytes, type_: Chunks, part: FramePart, parts: tuple[FramePart, ...], least: int
) -> Iterator[tuple[str, bytes]]:
    chunk = part.node.children[0]
    inside = next((each for each in parts if each.parent is chunk and each.node.name == type_.data), None)
    flag = next((each for each in chunk.children if each.name == _flag(type_.until)), None)
    if (
        inside is None
        or flag is None
        or not isinstance(flag.type, Boolean)
        or len(inside.own) != 1
        or inside.node.size < least
    ):
        return
    whole = data[inside.node.start : inside.node.end]
    for what, pieces in (
        ("two chunks", (whole[:1], whole[1:])),
        ("an empty chunk last", (whole, b"")),
        ("a chunk too many", (whole, whole)),
    ):
        chunks = [
            _chunk(data, chunk, inside, flag, piece, is_last=index == len(pieces) - 1)
            for index, piece in enumerate(pieces)
        ]
        changed = spliced(data, part.node.start, chunk.end, b"".join(chunks), part.lengths)
        if changed is not None:
            yield what, changed


def _flag(condition: Expression) -> str:
    """Return the flag of a chunk that says whether it is the last one, or whether it is not."""
    match condition:
        case Negation("not", FieldReference((name,), "item")) | FieldReference((name,), "item"):
            return name
        case _:
            return ""


def _chunk(data: bytes, chunk: Node, inside: FramePart, flag: Node, piece: bytes, *, is_last: bool) -> bytes:
    """Return one chunk; the flag of the existing chunk marks it as the last one."""
    last = data[flag.start] != 0
    told = number_bytes(inside.own[0], len(piece)) or b""
    changes = [
        (inside.own[0], told),
        (flag, bytes([last if is_last else not last])),
        (inside.node, piece),
    ]
    made, place = b"", chunk.start
    for node, new in sorted(changes, key=lambda change: change[0].start):
        made += data[place : node.start] + new
        place = node.end
    return made + data[place : chunk.end]
