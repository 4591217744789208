"""Decodes one hostile input, and prints the error that refused it and the memory it took: `python FILE NAME`."""

from __future__ import annotations

import importlib
import resource
import struct
import sys
from collections.abc import Callable
from typing import Any

N = 16_000_000


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + varint(len(content)) + content


def protobuf(content: bytes) -> bytes:
    """Return a frame of lumberjack; 12 is Data, 22 Ack, 32 Compressed."""
    return varint(len(content) + 2) + b"\x08\x32" + content


def nested(n_levels: int) -> bytes:
    body = b"\x08\x32" + field(0x1A, b"\x08\x01" + field(0x12, bytes(N // 4)))
    for _ in range(n_levels):
        body = b"\x08\x32" + field(0x32, field(0x0A, body))
    return varint(len(body)) + body


def array(size: int, item: bytes) -> bytes:
    return b"\xdd" + struct.pack(">I", size) + item * size


INPUTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "pairs of msgpack": ("lumberjack.msgpack", lambda: b"\x94\x44\x32\x01" + array(N, b"\x90")),
    "frames of msgpack": ("lumberjack.msgpack", lambda: b"\x93\x43\x32" + array(N, b"\x90")),
    "small arrays of msgpack": (
        "lumberjack.msgpack",
        lambda: b"\x94\x44\x32\x01" + array(65535, (b"\x9f" + b"\x9f" * 15) + b"\x90" * 225),
    ),
    "an array of geode": ("geode.msgpack", lambda: array(N, b"\x90")),
    "an array of pravega": ("pravega.msgpack", lambda: array(N, b"\x90")),
    "an array of reactive streams": ("reactive_streams.msgpack", lambda: array(N, b"\x90")),
    "a map of msgpack": ("lumberjack.msgpack", lambda: b"\xdf" + struct.pack(">I", N // 2) + b"\x90" * N),
    "levels of protobuf": ("lumberjack.protobuf", lambda: nested(200)),
    "pairs of protobuf": ("lumberjack.protobuf", lambda: protobuf(field(0x12, b"\x08\x01" + b"\x12\x00" * (N // 2)))),
    "long keys of protobuf": ("lumberjack.protobuf", lambda: protobuf(field(0x12, b"\x92\x80\x00\x00" * (N // 4)))),
    "frames of protobuf": ("lumberjack.protobuf", lambda: protobuf(field(0x32, b"\x0a\x00" * (N // 2)))),
    "a oneof of protobuf": ("lumberjack.protobuf", lambda: protobuf(b"\x1a\x00\x22\x00" * (N // 4))),
    "unknown fields of protobuf": ("lumberjack.protobuf", lambda: protobuf(b"\x78\x00" * (N // 2))),
    "a doubled number of protobuf": ("lumberjack.protobuf", lambda: protobuf(b"\x08\x32" * (N // 2))),
    "packed numbers of protobuf": (
        "reactive_streams.protobuf",
        lambda: varint(N + 10) + field(0x0A, field(0x12, b"\x01" * N)),
    ),
    "no packed numbers of protobuf": (
        "reactive_streams.protobuf",
        lambda: varint(N + 5) + field(0x0A, b"\x12\x00" * (N // 2)),
    ),
}  # fmt: skip


def refusal(name: str) -> tuple[str, str, int]:
    """Return the code and path of an input's error, and by how many MiB the process grew."""
    module_name, make = INPUTS[name]
    module: Any = importlib.import_module(f"wireproto.{module_name}")
    data = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        module.decode(data)
    except module.DecodeError as error:
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return error.code, error.path, grown // (1024 if sys.platform != "darwin" else 1 << 20)
    raise AssertionError("accepted")


if __name__ == "__main__":
    print(*refusal(sys.argv[1]), sep="\t")
