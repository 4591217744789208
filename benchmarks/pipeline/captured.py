"""Captures: their streams put together in one process, and all of the way to Parquet."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from files import converted, emptied
from rounds import Group
from traffic import write_traffic

from wiregen.formats.capture import ConnectionWriter, Endpoint, PcapWriter, read_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_N_FLOWS = 32
_SEGMENT = 1448
_TIME = 7.0


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
        pcap, other = PcapWriter(file), Endpoint(address="10.1.1.1", port=12_345)
        connections = [ConnectionWriter(pcap, _opener(number), other) for number in range(n_flows)]
        for connection in connections:
            connection.open(_TIME)
        for start in range(0, len(data), _SEGMENT):
            for connection in connections:
                connection.send(data[start : start + _SEGMENT], _TIME, from_opener=True)


def _opener(number: int) -> Endpoint:
    return Endpoint(address=f"10.0.{number >> 8}.{number & 255}", port=40_000 + number % 256)
