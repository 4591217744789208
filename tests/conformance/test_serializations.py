"""Other people's bytes through all three serializations: read, carried as protobuf and as msgpack, and written the same."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

import pytest
from tests.conformance import test_geode_vectors as geode
from tests.conformance import test_reactive_streams_vectors as rs
from tests.conformance.test_pravega_vectors import VECTORS
from tests.conformance.two_codecs import Wire
from tests.conformance.vectors import bytes_of, foreign_vectors, own_vectors
from tests.property.test_serializations import Package, code_of

from wiregen.tools.cli.protocols import package_of
from wiregen.tools.transcoding import StreamWishes, Transcoder

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


def test_pravega() -> None:
    for vector in VECTORS:
        name = module_of(vector).__name__.rpartition(".")[2]
        check(Package(name), bytes.fromhex(vector["hex"]), is_exact=True)


# ---- protocols in which earlier messages say how later ones are laid out


def carried(wire: Wire, data: bytes) -> list[Any]:
    """Carry the frames of a direction through both serializations, each judged with the context before it;
    return the frames.
    """
    decoder = wire.call(wire.module.Decoder, errors="yield")
    found = [item for _, _, item in decoder.items(wire.opening + data)]
    for frame in found[1 if wire.opening else 0 :]:
        if not isinstance(frame, wire.module.DecodeError):
            check_carried(wire, frame)
    return found[1 if wire.opening else 0 :]


def check_carried(wire: Wire, frame: Any) -> None:
    protobuf, msgpack = (
        importlib.import_module(f"{wire.module.__name__}.{name}") for name in ("protobuf", "msgpack")
    )
    if (
        type(frame.message).__name__ == "Unknown"
    ):  # asked for by nobody; a context that knows who asked would name it
        assert code_of(protobuf.encode, frame)[0] == code_of(msgpack.encode, frame)[0] == "unrepresentable"
        return
    octets = code_of(wire.call, protobuf.encode, frame)
    if not isinstance(octets, bytes):
        assert octets == code_of(wire.call, msgpack.encode, frame)
        assert octets == code_of(wire.call, wire.module.encode, frame) or octets[0] == "unrepresentable"
        return
    packed = wire.call(msgpack.encode, wire.call(protobuf.decode, octets))
    again = wire.call(msgpack.decode, packed)
    assert again == frame
    assert wire.call(wire.module.encode, again) == wire.call(wire.module.encode, frame)


@geode.cases("frame", "several")
def test_geode(vector: dict[str, Any]) -> None:
    wire, data = geode.wire_of(vector), bytes.fromhex(vector["hex"])
    frames = carried(wire, data)
    assert frames and not any(isinstance(frame, Exception) for frame in frames)
    if vector["id"] not in geode.DECODE_ONLY:
        assert b"".join(wire.call(wire.module.encode, frame) for frame in frames) == data


@geode.cases("session", "reject_frame", "pieces")
def test_what_geode_leaves_to_others(vector: dict[str, Any]) -> None:
    carried(geode.wire_of(vector), bytes.fromhex(vector["hex"]))


@rs.cases("frame")
def test_reactive_streams(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["hex"])
    for role in [vector["direction"]] if "direction" in vector else ["client", "server"]:
        (frame,) = carried(rs.wire_of(role, vector.get("elementSize", 0)), data)
        assert not isinstance(frame, Exception)


@rs.cases("session", "accept")
def test_what_reactive_streams_leaves_to_the_session(vector: dict[str, Any]) -> None:
    carried(rs.after(vector), bytes.fromhex(vector["hex"]))


@rs.cases("transcript")
def test_a_conversation_goes_through_all_three_byte_by_byte(vector: dict[str, Any]) -> None:
    package = package_of("reactive_streams", ("protobuf", "msgpack"))
    conversions = (("native", "protobuf"), ("protobuf", "msgpack"), ("msgpack", "native"))
    for role, data in rs.streams_of(vector).items():
        stream = data
        for source, target in conversions:
            transcoder = Transcoder(package, source, target, StreamWishes(role=role))
            pieces = [piece for byte in stream for piece in transcoder.feed(bytes([byte]))]
            assert all(isinstance(piece, bytes) for piece in (*pieces, *transcoder.finish()))
            stream = b"".join(piece for piece in pieces if isinstance(piece, bytes))
        assert stream == data


@pytest.mark.parametrize("backend", ["protobuf", "msgpack"])
def test_a_piece_of_a_message_is_refused_by_name(backend: str) -> None:
    geode = importlib.import_module("wireproto.geode")
    serialization = importlib.import_module(f"wireproto.geode.{backend}")
    piece = geode.decode(bytes.fromhex("00000000000220050100"), from_role="client")
    with pytest.raises(geode.EncodeError) as raised:
        serialization.encode(piece)
    assert (raised.value.code, raised.value.path) == ("unrepresentable", "RequestPart")
    assert "a whole message" in str(raised.value)
