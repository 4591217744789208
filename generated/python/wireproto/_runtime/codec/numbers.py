"""Numbers that straight-line code does not read or write in place: of many bytes, or computed.

Exceptions have no details: the reference codec finds out the reason.
"""

from __future__ import annotations

from binascii import crc_hqx

from .compiled import Bad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["count", "crc16", "power", "read_varint", "varint"]

_SHORT = tuple(bytes((value,)) for value in range(0x80))
_LONGEST = 10  # bytes of 64 bits
_MOST_BITS = 4096  # the same as in the reference codec


def read_varint(buffer: bytes, offset: int, bits: int, is_lenient: bool) -> tuple[int, int]:
    """Return the LEB128 number that begins at `offset`, and where it ends.

    Raises:
        Bad: Too large, or longer than needed.
        IndexError: It is cut.
    """
    value = shift = 0
    for position in range(offset, offset + _LONGEST):
        byte = buffer[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> bits or (byte == 0 and shift and not is_lenient):
                raise Bad
            return value, position + 1
        shift += 7
    raise Bad


def varint(value: int, bits: int) -> bytes:
    """Return a number as LEB128, in the fewest bytes.

    Raises:
        Bad: It is negative, or too large.
    """
    if 0 <= value < 0x80:
        return _SHORT[value]
    if not 0 <= value < 1 << bits:
        raise Bad
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def count(value: Any) -> Any:
    """Return the length of bytes, text or a list, or None for a null, which does not compare with any number."""
    return None if value is None else len(value)


def power(base: int, exponent: int) -> int:
    """Return a power of reasonable size.

    Raises:
        Bad: A negative exponent, or too large.
    """
    if exponent < 0 or (base not in (0, 1, -1) and exponent * base.bit_length() > _MOST_BITS):
        raise Bad
    if base in (0, 1, -1):
        return int(base ** (2 - exponent % 2 if exponent else 0))
    return int(base**exponent)


def crc16(data: bytes) -> int:
    """Return CRC-16/XMODEM: 0x1021, from 0, not reflected."""
    return crc_hqx(data, 0)
