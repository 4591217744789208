"""The declarations of a schema that have fields, with these fields in text order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.runtime.schema.shapes import blocks

__all__ = ["every_field", "rows_of"]


def rows_of(schema: Schema) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """Yield every declaration that has fields, with its fields; those of layout variants too."""
    owners: tuple[Schema | Variant, ...] = (schema, *schema.variants.values())
    for layouts in owners:
        yield from layouts.structs.items()
        for declared in (layouts.messages, layouts.frames, layouts.preambles):
            yield from ((name, each.fields) for name, each in declared.items())
    for union, declaration in schema.unions.items():
        yield from ((f"{union}.{each.name}", each.fields) for each in declaration.varieties)


def every_field(fields: Iterable[Field]) -> Iterator[Field]:
    """Return fields, and those of blocks among them, which belong to the same declaration."""
    for field in fields:
        yield field
        for block in blocks(field.type):
            yield from every_field(block)
