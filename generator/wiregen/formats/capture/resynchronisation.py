"""Recovery in a damaged pcapng file: finds the next block of a known type with the same length at both its ends.

Time is linear in the skipped bytes; memory is at most the size of the largest accepted block and a window.
"""

import re
import struct

from wiregen.formats.capture.source import CaptureInput

_OPTIONS_SIZE = 64 * 1024  # of a packet or an interface
_SECTION = re.escape(bytes.fromhex("0a0d0d0a"))
_TYPES = {
    "<": re.compile(_SECTION + rb"|[\x01\x06]\0\0\0"),
    ">": re.compile(_SECTION + rb"|\0\0\0[\x01\x06]"),
}
_MAGICS = {bytes.fromhex("4d3c2b1a"): "<", bytes.fromhex("1a2b3c4d"): ">"}


def find_block(file: CaptureInput, byte_order: str, packet_size: int) -> bool:
    """Skip to the next valid section header, interface or packet; return False if the file ends before."""
    largest = packet_size + _OPTIONS_SIZE
    is_more = True
    while is_more:
        is_more = file.widen(2 * largest)
        end = len(file.window) - (largest if is_more else 0)
        found = _find(file.window, file.position, end, byte_order, largest)
        file.position = end if found is None else found
        if found is not None:
            return True
    return False


def _find(window: bytes, position: int, end: int, byte_order: str, largest: int) -> int | None:
    """Return the offset of a valid block that begins before `end`."""
    while (match := _TYPES[byte_order].search(window, position)) and match.start() < end:
        if _is_sound(window, match.start(), byte_order, largest):
            return match.start()
        position = match.start() + 1
    return None


def _is_sound(window: bytes, start: int, byte_order: str, largest: int) -> bool:
    head = window[start + 4 : start + 12]
    if window[start] == 0x0A:
        byte_order = _MAGICS.get(head[4:], "")
    if len(head) < 8 or not byte_order:
        return False
    (length,) = struct.unpack_from(byte_order + "I", head)
    end = start + length
    return bool(16 <= length <= largest and length % 4 == 0 and window[end - 4 : end] == head[:4])
