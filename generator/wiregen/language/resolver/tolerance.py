"""`lenient`: applied to every part of a shape that can tolerate something."""

from wiregen.runtime.schema.node import Node
from wiregen.schema import model
from wiregen.schema.copies import mapped, replace
from wiregen.schema.walk import shapes


def tolerates(type_: model.Type) -> bool:
    """Return whether any part of a shape can tolerate something, the fields of its blocks excluded."""
    return any(_lenient(part) is not None for part in shapes(type_))


def tolerant(type_: model.Type) -> model.Type:
    """Return the shape with every part lenient that can be."""
    return mapped(type_, lambda part: part if isinstance(part, model.Block) else _lenient(part))


def _lenient(part: Node) -> Node | None:
    """Return a part and those in it as lenient ones, or None if it cannot tolerate anything itself."""
    match part:
        case model.Boolean() | model.Varint():
            return replace(part, is_lenient=True)
        case model.Text(encoding="utf8" | "mutf8", length=length):
            return replace(part, length=mapped(length, _lenient), is_lenient=True)
        case model.Region(content=content):
            return replace(part, content=tolerant(content), lenient=True)
    if isinstance(part, model.Restrictable) and part.only is not None:
        return replace(part, is_lenient=True)
    return None
