"""The protobuf and msgpack bytes of vectors, read and written by third-party libraries: no unknown fields,
the same values.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import msgpack
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields
from grpc_tools import protoc
from tests.conformance.test_generated_vectors import FILES, Stand, lines_of, vectors_of

from wiregen.conformance.vectors.format import Valid, octets

PROTO = Path(__file__).resolve().parents[2] / "generated" / "proto"


def stand_ins(name: str, folder: Path) -> list[Any]:
    """Return the classes that protoc's descriptors give for the messages of a file, the outer ones."""
    path = folder / f"{name}.bin"
    assert protoc.main(["protoc", f"-I{PROTO}", f"--descriptor_set_out={path}", f"{name}.proto"]) == 0
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = [f"{file.package}.{message.name}" for message in file.message_type]
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(each)) for each in names]


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def unframed(data: bytes) -> bytes:
    """Return the one message after its length."""
    n_digits = next(place for place, byte in enumerate(data, 1) if byte < 128)
    assert data[:n_digits] == varint(len(data) - n_digits)
    return data[n_digits:]


def is_known(message: Any) -> bool:
    """Return whether a message, at any depth, has only fields that its class knows."""
    if len(unknown_fields.UnknownFieldSet(message)):
        return False
    return all(is_known(part) for _, value in message.ListFields() for part in _messages(value))


def _messages(value: Any) -> list[Any]:
    parts = list(value) if hasattr(value, "append") or hasattr(value, "add") else [value]
    return [part for part in parts if hasattr(part, "ListFields")]


def carried(path: Path) -> list[tuple[Stand, dict[str, Any]]]:
    """Return the vectors of one frame that are carried, with their lines; pieces are joined by native streams only."""
    module, vectors = vectors_of(path, Valid)
    found = []
    for vector in vectors:
        if vector.protobuf is not None and len(vector.frames) == 1:
            stand = Stand(module, vector)
            stand.decoder()
            line = {key: part for key, part in lines_of(vector)[0].items() if key not in ("part", "joined")}
            found.append((stand, line))
    assert found
    return found


@pytest.mark.parametrize("path", FILES)
def test_protoc_reads_and_writes_the_same(path: Path, tmp_path: Path) -> None:
    classes = stand_ins(path.stem, tmp_path)
    for stand, line in carried(path):
        way = importlib.import_module(f"{stand.module.__name__}.protobuf")
        data = octets(stand.vector.protobuf or "")
        frame = stand.called(way.decode, data)
        name = type(frame).__name__
        message = next(each for each in classes if each.DESCRIPTOR.name == name).FromString(unframed(data))
        assert is_known(message), stand.vector.id
        again = message.SerializeToString(deterministic=True)
        again = varint(len(again)) + again
        assert stand.line(stand.called(way.decode, again)) == line, stand.vector.id


@pytest.mark.parametrize("path", FILES)
def test_msgpack_reads_and_writes_the_same(path: Path) -> None:
    for stand, line in carried(path):
        way = importlib.import_module(f"{stand.module.__name__}.msgpack")
        data = octets(stand.vector.msgpack or "")
        value = msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass")
        again = msgpack.packb(value, unicode_errors="surrogatepass")
        assert stand.line(stand.called(way.decode, again)) == line, stand.vector.id
