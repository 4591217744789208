"""Floats as JSON."""

from __future__ import annotations

import math
import struct

from ..reference.expressions import Value
from ..schema.types import Float
from .scalars import kind, octets, only, wrong

__all__ = ["float_record", "float_value"]


def float_record(value: float, type_: Float) -> Value:
    """Return the shortest decimal that is this float; of NaN and the infinities their bytes."""
    order = ">" if type_.endian == "big" else "<"
    if not math.isfinite(value):
        return {"hex": struct.pack(order + ("f" if type_.size == 4 else "d"), value).hex()}
    return float(value) if type_.size == 8 else _shortest(float(value))


def _shortest(value: float) -> float:
    try:
        data = struct.pack(">f", value)
    except OverflowError:
        return value
    candidates = (float(f"{value:.{digits}g}") for digits in range(6, 10))
    return next((short for short in candidates if _packs_to(short, data)), value)


def _packs_to(value: float, data: bytes) -> bool:
    try:
        return struct.pack(">f", value) == data
    except OverflowError:
        return False


def float_value(type_: Float, data: Value, path: str) -> float:
    """Return a float as its type holds it."""
    size = type_.size
    form = (">" if type_.endian == "big" else "<") + ("f" if size == 4 else "d")
    if type(data) is dict:
        only(data, ("hex",), path)
        packed = octets(data.get("hex"), path)
        if len(packed) != size:
            raise wrong(path, f"{size} bytes", f"{len(packed)} bytes")
        return float(struct.unpack(form, packed)[0])
    if type(data) not in (int, float):
        raise wrong(path, "a number", kind(data))
    try:
        return float(struct.unpack(form, struct.pack(form, data))[0])
    except (OverflowError, struct.error):
        raise wrong(path, f"a {8 * size} bit float", "a larger number") from None
