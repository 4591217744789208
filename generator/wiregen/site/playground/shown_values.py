"""Values of a tree as the page shows them: numbers that stand for something have the digits that the dump has."""

from __future__ import annotations

from typing import Final

from wiregen.formats.inspect.values import scalar_text
from wiregen.generate.escaping import harmless
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.declarations import is_code
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import EnumReference

__all__ = ["ShownValues"]

_CODE: Final = "code"
"""The part of a union that holds the code of an alternative."""


class ShownValues:
    """Makes the texts of values of one protocol."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._codes = {
            f"{name}.{field.name}"
            for name, frame in schema.frames.items()
            for field in frame.fields
            if is_code(field)
        }

    def text_of(self, node: Node) -> str:
        """Return the value of a node; empty for a node with parts and without a value of its own."""
        if node.children and not isinstance(node.value, str | bytes | int):
            return ""
        is_number = isinstance(node.value, int) and not isinstance(node.value, bool)
        if is_number and isinstance(node.type, EnumReference):
            return f"{self._member_of(node) or node.value} ({_digits(node)})"
        if is_number and (node.part == _CODE or node.path in self._codes):
            return f"{node.value} ({_digits(node)})"
        plain = isinstance(node.value, bool | int | float | str | bytes) or hasattr(node.value, "hex")
        return harmless(scalar_text(node.value)) if plain and node.value is not None else ""

    def note_of(self, node: Node) -> str:
        """Return the further facts about a node; the name of a number is a part of its text."""
        member = self._member_of(node) if isinstance(node.type, EnumReference) else None
        return harmless(", ".join(each for each in node.note.split(", ") if each != member))

    def _member_of(self, node: Node) -> str | None:
        """Return the member of an enum that the value of a node is."""
        assert isinstance(node.type, EnumReference)
        members = self._schema.enums[node.type.name].members
        return next((each.name for each in members if each.value == node.value), None)


def _digits(node: Node) -> str:
    """Return a number in hexadecimal; one below zero as the bytes have it."""
    if node.value < 0:
        return f"0x{node.value & ((1 << 8 * node.size) - 1):02x}"
    return f"0x{node.value:02x}"
