"""Floats as JSON."""

from __future__ import annotations

import math
import struct

from ..reference.expressions import Value
from ..schema.types import Float
from .scalars import kind, octets, only, wrong

__all__ = ["float_record", "float_value"]


def float_record(value: float, type_: Float) -> Value:
    """Return the shortest decimal that is this float; for NaN and the infinities their bytes."""
    if not math.isfinite(value):
        return {"hex": type_.encode(value).hex()}
    return _shortest(float(value), type_)


def _shortest(value: float, type_: Float) -> float:
    data, most = _bytes_of(value, type_), type_.definition.digits
    if data is None:
        return value
    candidates = (float(f"{value:.{digits}g}") for digits in range(most - 3, most + 1))
    return next((short for short in candidates if _bytes_of(short, type_) == data), value)


def _bytes_of(value: float, type_: Float) -> bytes | None:
    try:
        return type_.encode(value)
    except OverflowError:
        return None


def float_value(type_: Float, data: Value, path: str) -> float:
    """Return a float as its type holds it."""
    if type(data) is dict:
        only(data, ("hex",), path)
        packed = octets(data.get("hex"), path)
        if len(packed) != type_.size:
            raise wrong(path, f"{type_.size} bytes", f"{len(packed)} bytes")
        return type_.decode(packed)
    if type(data) not in (int, float):
        raise wrong(path, "a number", kind(data))
    try:
        return type_.decode(type_.encode(data))
    except (OverflowError, struct.error):
        raise wrong(path, f"a {type_.bits} bit float", "a larger number") from None
