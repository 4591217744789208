"""Fields that are decoded again, as another type."""

from __future__ import annotations

from typing import Any

from ..codec.options import Options
from .explain import explain_type
from .objects import typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..schema.protocol import Schema

__all__ = ["decode_view"]


def decode_view(schema: Schema, namespace: dict[str, Any], path: str, data: bytes | None) -> Any:
    """Return the content of a field, decoded as another type to objects of the generated module, or None if it is absent.

    Raises:
        DecodeError: It does not conform.
    """
    if data is None:
        return None
    owner, _, name = path.rpartition(".")
    type_ = schema.views[owner][name]
    assert not isinstance(type_, str)
    node = explain_type(schema, type_, data, Options(), name=name)
    return typed(schema, type_, node.value, namespace)
