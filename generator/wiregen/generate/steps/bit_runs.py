"""Adjacent bit fields: one slot of whole bytes."""

from __future__ import annotations

from wiregen.generate.steps.step import BitField, Slot, UnsupportedError
from wiregen.schema import model as m

__all__ = ["bit_slot"]


def bit_slot(row: tuple[m.Field, ...], prefix: str) -> Slot:
    """Return the slot that a run of bit fields fills.

    Raises:
        UnsupportedError: The run does not fill whole bytes, or fills too many.
    """
    types = [field.type for field in row if isinstance(field.type, m.Bits)]
    total = sum(type_.bits for type_ in types)
    if total % 8 or total > 64 or any(field.condition for field in row):
        raise UnsupportedError(row[0].path, "bit fields like these")
    pieces, done = [], 0
    for field, type_ in zip(row, types, strict=True):
        shift = total - done - type_.bits if type_.order == "msb" else done
        key, is_flag = prefix + field.name, type_.is_flag
        pieces.append(BitField(key=key, bits=type_.bits, shift=shift, is_flag=is_flag, field=field))
        done += type_.bits
    endian: m.Endian = "big" if types[0].order == "msb" else "little"
    return Slot(
        key=f"{prefix}{row[0].name}#bits",
        type=m.Integer(size=total // 8, is_signed=False, endian=endian),
        bits=total,
        field=row[0],
        part="bits",
        prefix=prefix,
        pieces=tuple(pieces),
    )
