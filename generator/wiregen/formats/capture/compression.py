"""Compressed captures: gzip, xz and zstd, recognised by their first bytes and decompressed in bounded pieces."""

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Final, Protocol

from wiregen.formats.capture.errors import CaptureError

__all__ = ["COMPRESSIONS", "LONGEST_MAGIC", "Compression", "Library", "MemberDecompressor", "compression_of"]

_MOST_MEMORY: Final = 1 << 27
"""The most bytes that a member of xz may need; the largest preset of `xz` needs 65 MiB."""
_LARGEST_WINDOW: Final = 27
"""The binary logarithm of the largest window of zstd: that of `zstd --ultra -22`, and of its own default for decompression."""


class MemberDecompressor(Protocol):
    """The decompressor of one member of a file."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more can be decompressed without further bytes."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` bytes; `data` follows the bytes given before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The functions of a library: one that begins a member, and the error that damaged bytes raise."""

    begin: Callable[[], MemberDecompressor]
    error: type[Exception]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A form of compression: its name, the first bytes of a file, and the function that imports the library.

    `load` raises a CaptureError if the library is missing.
    """

    name: str
    magic: bytes
    load: Callable[[], Library]


class _GzipMember:
    """A member of gzip; zlib returns the bytes that it did not use, and the other libraries keep them."""

    def __init__(self) -> None:
        self._inflating = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inflating.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflating.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflating.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inflating.decompress(self._inflating.unconsumed_tail + data, max_length)


def _gzip() -> Library:
    return Library(begin=_GzipMember, error=zlib.error)


def _xz() -> Library:
    import lzma

    begin = partial(lzma.LZMADecompressor, format=lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    return Library(begin=begin, error=lzma.LZMAError)


def _zstd() -> Library:
    try:
        zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        message = "the capture is compressed with zstd: pip install 'wiregen[zstd]', or decompress it with `zstd -d`"
        raise CaptureError(message) from None
    window = {zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    return Library(begin=partial(zstd.ZstdDecompressor, options=window), error=zstd.ZstdError)


COMPRESSIONS: Final = (
    Compression(name="gzip", magic=b"\x1f\x8b", load=_gzip),
    Compression(name="xz", magic=b"\xfd7zXZ\0", load=_xz),
    Compression(name="zstd", magic=b"\x28\xb5\x2f\xfd", load=_zstd),
)
LONGEST_MAGIC: Final = max(len(each.magic) for each in COMPRESSIONS)


def compression_of(head: bytes) -> Compression | None:
    """Return the compression of a file that begins with these bytes, or None."""
    return next((each for each in COMPRESSIONS if head.startswith(each.magic)), None)
