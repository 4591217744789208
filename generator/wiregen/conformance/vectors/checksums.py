"""Corrected checksums: a decoder reports another error of a frame only if the frame's checksum is right."""

from __future__ import annotations

from os.path import commonprefix
from typing import TypeAlias

from wiregen.conformance.samples.basis import rows_of
from wiregen.conformance.vectors.frame_parts import owner_of, row_of
from wiregen.conformance.vectors.splicing import number_bytes, replaced
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.reference.expressions import checksum
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.declarations import Derived
from wiregen.runtime.schema.expressions import Checksum
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.shapes import every_field

__all__ = ["Checksums"]

Sum: TypeAlias = tuple[Node, str, Node, Node]
"""The node of a checksum, its name, and the first and last node that it covers."""


class Checksums:
    """The checksums of a protocol."""

    def __init__(self, schema: Schema) -> None:
        self._known = {
            (owner, field.name): field.value.value
            for owner, fields in rows_of(schema)
            for field in every_field(fields)
            if isinstance(field.value, Derived) and isinstance(field.value.value, Checksum)
        }
        self.sites = frozenset(f"{owner}.{name}" for owner, name in self._known)

    def mended(self, tree: Node, before: bytes, after: bytes) -> bytes:
        """Return changed bytes with corrected checksums; `tree` describes the bytes before the change.

        A checksum that was changed itself is kept.
        """
        if not self._known or before == after:
            return after
        start = len(commonprefix((before, after)))
        end = len(before) - min(
            len(commonprefix((before[::-1], after[::-1]))), min(len(before), len(after)) - start
        )
        grown = len(after) - len(before)

        def moved(place: int) -> int:
            return place + grown if place >= end and place > start else place

        for node, algorithm, first, last in self._sums(tree):
            if start < node.end and end > node.start:
                continue
            at = Node("", "", node.type, moved(node.start), moved(node.start) + node.size)
            told = number_bytes(at, checksum(algorithm, after[moved(first.start) : moved(last.end)]))
            if told is not None and len(told) == at.size and at.end <= len(after):
                after = replaced(after, at, told)
        return after

    def is_told(self, error: DecodeError) -> bool:
        """Return whether an error is about a wrong checksum."""
        return error.code in ("constraint", "length_mismatch") and any(
            error.path.endswith(f".{name}") for _, name in self._known
        )

    def _sums(self, tree: Node) -> list[Sum]:
        """Return the checksums in a frame, inner ones first."""
        found: list[Sum] = []
        for node in tree.walk():
            owner = None if node.inner else owner_of(node)
            row = row_of(node) if owner is not None else {}
            for name, child in row.items():
                told = self._known.get((owner or "", name))
                if told is not None and told.first in row and told.last in row:
                    found.append((child, told.algorithm, row[told.first], row[told.last]))
        return found[::-1]
