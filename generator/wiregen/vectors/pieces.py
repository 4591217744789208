"""What comes in chunks inside one frame, cut in other places: where it is cut says nothing, but all chunks are needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from wiregen.runtime.tree import Node
from wiregen.vectors.drafts import Draft, Drafting
from wiregen.vectors.sites import Part, parts_of
from wiregen.vectors.splicing import number_bytes, spliced

__all__ = ["pieced_drafts"]

_LONGEST: Final = 300


def pieced_drafts(drafting: Drafting, frames: list[Draft]) -> Iterator[Draft]:
    """Return a frame with each chunked field in two chunks, with an empty one at its end, and with twice as much as there is."""
    shown: set[str] = set()
    for least, draft in product((2, 1), frames):
        if len(draft.trees) != 1 or not draft.is_whole or len(draft.data) > _LONGEST:
            continue
        # Parts lie in the stream of their sender, behind what it sent before.
        behind = b"".join(sent for role, sent in draft.scene.before if role == draft.scene.role)
        parts = parts_of(draft.trees[0])
        for part in parts:
            name = f"{draft.scene.variant}: {part.site}" if draft.scene.variant else part.site
            if name not in shown and _is_chunked(part.node):
                for what, data in _cut(behind + draft.data, part, parts, least):
                    shown.add(name)
                    found = drafting.draft(draft.scene, data[len(behind) :])
                    yield found.as_variation().showing((f"{name}: {what}",))


def _is_chunked(node: Node) -> bool:
    return node.type[0] == "region" and node.type[2][0] == "chunks" and bool(node.children) and not node.inner


def _cut(data: bytes, part: Part, parts: tuple[Part, ...], least: int) -> Iterator[tuple[str, bytes]]:
    chunk, payload = part.node.children[0], part.node.type[2][2]
    inside = next((each for each in parts if each.parent is chunk and each.node.name == payload), None)
    flag = next((each for each in chunk.children if each.name == _flag(part.node.type[2][3])), None)
    if (
        inside is None
        or flag is None
        or flag.type[0] != "bool"
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


def _flag(condition: Any) -> str:
    """Return the flag of a chunk that says whether it is the last one, or whether it is not."""
    match condition:
        case ("negation", "not", ("field", (name,), "item")) | ("field", (name,), "item"):
            return str(name)
        case _:
            return ""


def _chunk(data: bytes, chunk: Node, inside: Part, flag: Node, piece: bytes, *, is_last: bool) -> bytes:
    """Return one chunk; the flag of the chunk that there is says that it is the last one."""
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
