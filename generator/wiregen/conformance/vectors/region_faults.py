"""Faults of regions: a size that is off by one, and streams with wrong compression."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from wiregen.conformance.vectors.fault_kinds import FaultyBytes, Fields
from wiregen.conformance.vectors.frame_parts import FramePart
from wiregen.conformance.vectors.splicing import spliced
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.schema.elements import CompressedBody
from wiregen.runtime.schema.literals import Algorithm
from wiregen.runtime.schema.types import (
    InSize,
    Prefix,
    Region,
)

__all__ = ["wrong_compression", "wrong_regions"]

_STORED: Final = 0
"""The level at which all builds of zlib make the same bytes."""


def wrong_regions(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    """Add a byte to the end of a region that must be filled, and remove its last byte."""
    node = part.node
    if not isinstance(node.type, Region) or not isinstance(node.type.carrier, InSize | Prefix):
        return
    lengths = (*part.own, *part.lengths)
    for kind, which, start, new in (
        ("extra", "", node.end, b"\0"),
        ("extra", "many", node.end, b"\xff\xfe\xfd"),
        ("length too short", "a byte less", node.end - 1, b""),
    ):
        changed = spliced(data, start, node.end, new, lengths)
        if changed is not None:
            yield FaultyBytes(kind=kind, which=which, data=changed)


def wrong_compression(part: FramePart, data: bytes, fields: Fields) -> Iterator[FaultyBytes]:
    node, type_ = part.node, part.node.type
    if not isinstance(type_, CompressedBody) or not node.size:
        return
    body = data[node.start : node.end]
    for kind, which, new in _wrong_streams(body, type_.algorithm):
        changed = spliced(data, node.start, node.end, new, part.lengths)
        if changed is not None:
            yield FaultyBytes(kind=kind, which=which, data=changed)


def _wrong_streams(body: bytes, algorithm: Algorithm) -> Iterator[tuple[str, str, bytes]]:
    own = TRANSFORMS[algorithm]
    content = own.decode(body, sys.maxsize - 1)
    yield "not inflatable", "checksum", body[:-1] + bytes([body[-1] ^ 1])
    yield "not inflatable", "cut", body[:-1]
    yield "not inflatable", "head", bytes([body[0] ^ 0xFF]) + body[1:]
    yield "not inflatable", "nothing", b""
    yield "behind the stream", "", body + b"\0"
    for name, other in TRANSFORMS.items():
        if other is not own:
            yield "not inflatable", name, other.encode(content, _STORED)
    if content:
        yield "partial inside", "", own.encode(content[:-1], _STORED)
