"""Other people's bytes through all three serializations: read, carried as protobuf and as msgpack, and written the same."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

import pytest
from tests.conformance.test_pravega_vectors import VECTORS
from tests.conformance.vectors import bytes_of, foreign_vectors, own_vectors
from tests.property.test_serializations import Package, code_of

LUMBERJACK = [vector for vector in (*own_vectors(), *foreign_vectors()) if vector["kind"] == "valid"]


def module_of(vector: dict[str, Any]) -> Any:
    name = vector["protocol"]
    return importlib.import_module(f"wireproto.{'pravega' if name.startswith('pravega-impl') else name}")


def check(package: Package, data: bytes, *, is_exact: bool) -> None:
    """Carry the frames of a stream through both; `is_exact`: the bytes come back, inflated where they are compressed."""
    decoder = package.native.Decoder(errors="yield")
    for offset, size, frame in [*decoder.items(data), *decoder.finish_items()]:
        octets = code_of(package.protobuf.encode, frame)
        if isinstance(octets, bytes):
            again = package.msgpack.decode(package.msgpack.encode(package.protobuf.decode(octets)))
            assert again == frame
            native = package.native.encode(again)
            assert native == package.native.encode(frame)
            assert not is_exact or inflated(package, native) == inflated(
                package, data[offset : offset + size]
            )
        elif not isinstance(frame, package.native.DecodeError):
            assert octets[0] == "unrepresentable", octets


def inflated(package: Package, data: bytes) -> bytes:
    """Return the bytes of a frame; of a compressed one what it holds, down to the last level."""
    if data[:2] not in (b"1C", b"2C"):
        return data
    inner = zlib.decompress(data[6:])
    pieces = package.native.Decoder().items(inner)
    return data[:2] + b"".join(inflated(package, inner[at : at + size]) for at, size, _ in pieces)


@pytest.mark.parametrize("vector", LUMBERJACK, ids=lambda vector: vector["id"])
def test_lumberjack(vector: dict[str, Any]) -> None:
    check(Package("lumberjack"), bytes_of(vector), is_exact=vector["encodes"] == "exact")


@pytest.mark.skipif(not VECTORS, reason="no shared/vectors beside the checkout")
def test_pravega() -> None:
    for vector in VECTORS:
        name = module_of(vector).__name__.rpartition(".")[2]
        check(Package(name), bytes.fromhex(vector["hex"]), is_exact=True)
