"""Regions whose content is carried in transformed bytes."""

from __future__ import annotations

from typing import Any

from ...codec.transforms import TRANSFORMS
from ...schema.types import Compressed, Region
from ..skimming import BYTES_OF_WORK
from .cells import Spot
from .lengths import measured
from .regions import write_content
from .writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.literals import Algorithm

__all__ = ["write_compressed"]


def write_compressed(writer: Writer, type_: Region, carrier: Compressed, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a compressed region with its length."""
    data = write_content(writer, type_, value, spot.within(lambda: 0))
    return measured(writer, carrier.length, _encode(writer, data, carrier.algorithm, spot.path), 1, spot)


def _encode(writer: Writer, data: bytes, algorithm: Algorithm, path: str) -> bytes:
    transform = TRANSFORMS[algorithm]
    if transform.is_compression:
        writer.spend_inflated(len(data), path)
    writer.spend_work(len(data) // BYTES_OF_WORK, path)
    return transform.encode(data, writer.compression)
