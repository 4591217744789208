"""Compressed regions."""

from __future__ import annotations

import zlib
from typing import Any

from ...schema.types import Compressed, Region
from ..skimming import BYTES_OF_WORK
from .cells import Spot
from .lengths import measured
from .regions import write_content
from .writer import Writer

__all__ = ["write_compressed"]


_WINDOW_BITS = {"zlib": 15, "gzip": 31, "deflate": -15}


def write_compressed(writer: Writer, type_: Region, carrier: Compressed, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a compressed region with its length."""
    data = write_content(writer, type_, value, spot.within(lambda: 0))
    return measured(writer, carrier.length, _deflate(writer, data, carrier.algorithm, spot.path), 1, spot)


def _deflate(writer: Writer, data: bytes, algorithm: str, path: str) -> bytes:
    """Return one compressed stream; a gzip header without a time, so that equal values have equal bytes."""
    writer.spend_inflated(len(data), path)
    writer.spend_work(len(data) // BYTES_OF_WORK, path)
    stream = zlib.compressobj(writer.compression, zlib.DEFLATED, _WINDOW_BITS[algorithm])
    return stream.compress(data) + stream.flush()
