"""Captures: their streams put together in one process, and all of the way to Parquet."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from files import converted, emptied
from rounds import Group
from traffic import write_traffic

from wiregen.formats.capture import read_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_N_FLOWS = 32
_SEGMENT = 1448


def group(spark: SparkSession, folder: Path, size: int) -> Group:
    path = folder / "traffic.pcap"
    write_capture(path, folder / "flow.bin", size)
    n_bytes = path.stat().st_size
    split = str(max(size // 2, 1 << 16))
    ways = {
        "streams of a capture, one process": lambda: deque(read_streams(str(path)), 0),
        "convert of a capture": lambda: converted(spark, path, emptied(folder / "captured"), split=split),
    }
    title = f"{n_bytes / (1 << 20):.0f} MiB of packets of {_N_FLOWS} connections"
    return Group(title=title, unit="MB", amount=n_bytes / 1000, ways=ways)


def write_capture(path: Path, flow: Path, size: int, n_flows: int = _N_FLOWS) -> None:
    """Write a capture of about so many bytes; all connections send the same, in full segments, by turns."""
    write_traffic(flow, size // n_flows)
    data = flow.read_bytes()
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
        for number in range(n_flows):
            file.write(_packet(number, 0, 2, b""))
        for start in range(0, len(data), _SEGMENT):
            file.writelines(_turn(start, data[start : start + _SEGMENT], n_flows))


def _turn(start: int, data: bytes, n_flows: int) -> Iterator[bytes]:
    for number in range(n_flows):
        yield _packet(number, 1 + start, 16, data)


def _packet(number: int, sequence: int, flags: int, data: bytes) -> bytes:
    tcp = struct.pack(">HHIIBBHHH", 40_000 + number % 256, 12_345, sequence, 1, 5 << 4, flags, 1024, 0, 0)
    addresses = bytes([10, 0, number >> 8, number & 255, 10, 1, 1, 1])
    ip = struct.pack(">BxHIBBH", 0x45, 40 + len(data), 0, 64, 6, 0) + addresses
    frame = bytes(12) + b"\x08\x00" + ip + tcp + data
    return struct.pack("<IIII", 7, 0, len(frame), len(frame)) + frame
