"""Checks of the value whose fields a row writes."""

from __future__ import annotations

from ...codec.errors import EncodeError
from ...schema.shapes import is_flat
from ..access import extra, is_a, kind_of
from ..expressions import Value
from ..tree import FrameValue, Record, Variety
from .cells import Cell, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["n_kept", "refuse_undeclared"]


def refuse_undeclared(owner: Value, cells: Iterable[Cell], body: str | None, path: str) -> None:
    """Refuse a field that is not declared; only values of the tree can have one.

    Raises:
        EncodeError: invalid_value.
    """
    if not is_a(owner, Record, Variety, FrameValue) or type(owner.fields) is not dict:
        return
    known = {cell.name for cell in cells if not cell.is_hidden and not is_flat(cell.type)}
    for name in owner.fields:
        if name not in known - {body}:
            expected = ", ".join(sorted(known)) or "no field"
            raise EncodeError("invalid_value", path=path, expected=expected, found="another field")


def n_kept(owner: Value, n_trailing: int, path: str) -> int:
    """Return how many of the trailing fields are written.

    Raises:
        EncodeError: invalid_value, `absent` is not a number of trailing fields.
    """
    absent = extra(owner, "absent", 0, path) if n_trailing else 0
    if type(absent) is not int or not 0 <= absent <= n_trailing:
        raise EncodeError(
            "invalid_value", path=join(path, "absent"), expected=f"0 to {n_trailing}", found=kind_of(absent)
        )
    return n_trailing - absent
