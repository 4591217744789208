"""The memory that a few megabytes of protobuf and msgpack take before they are refused."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hostile_serializations import INPUTS, field, varint

from wireproto import lumberjack as lj
from wireproto.lumberjack import msgpack, protobuf
from wireproto.reactive_streams import msgpack as rs_msgpack

ROOT = Path(__file__).resolve().parents[3]
REFUSED = {
    "pairs of msgpack": ("limit_exceeded", "Data.pairs"),
    "frames of msgpack": ("limit_exceeded", "Compressed.frames"),
    "small arrays of msgpack": ("trailing_bytes", "Data.pairs[0]"),
    "an array of geode": ("limit_exceeded", ""),
    "an array of pravega": ("limit_exceeded", ""),
    "an array of reactive streams": ("limit_exceeded", ""),
    "a map of msgpack": ("limit_exceeded", ""),
    "levels of protobuf": ("too_deep", "Compressed.frames[0]"),
    "pairs of protobuf": ("limit_exceeded", "Data.pairs"),
    "long keys of protobuf": ("limit_exceeded", "Data.pairs"),
    "frames of protobuf": ("limit_exceeded", "Compressed.frames"),
    "a oneof of protobuf": ("duplicate", ""),
    "unknown fields of protobuf": ("unknown_code", ""),
    "a doubled number of protobuf": ("duplicate", "version"),
    "packed numbers of protobuf": ("limit_exceeded", "ClientHello.extensions"),
    "no packed numbers of protobuf": ("limit_exceeded", "ClientHello.extensions"),
}
MOST = 100
"""MiB; the bytes are copied a few times. Parsers alone made 1500 of some."""


@pytest.mark.skipif(sys.platform == "win32", reason="a process is asked how large it was as POSIX has it")
@pytest.mark.parametrize("name", INPUTS)
def test_hostile_bytes_are_refused_before_much_is_made_of_them(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "unit" / "hostile_serializations.py"), name],
        env={**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    code, path, grown = done.stdout.rstrip("\n").split("\t")
    expected_code, expected_path = REFUSED[name]
    assert (code, path[: len(expected_path)]) == (expected_code, expected_path)
    assert len(path) <= 200
    assert int(grown) < MOST


def test_a_count_beyond_its_limit_is_refused_at_its_head() -> None:
    decoder = msgpack.Decoder("writer")
    with pytest.raises(msgpack.DecodeError) as caught:
        list(decoder.feed(bytes.fromhex("94443201dd") + struct.pack(">I", 60_000_000)))
    error = caught.value
    assert (error.code, error.rule, error.path) == ("limit_exceeded", "too_many_pairs", "Data.pairs")
    assert (error.at, error.recoverable, decoder.needed) == (4, False, 0)


@pytest.mark.parametrize("size", [4096, 4097])
def test_a_protocol_with_a_limit_of_its_own_has_it_here(size: int) -> None:
    head = bytes.fromhex("930102") + b"\xdc" + struct.pack(">H", size)  # version, extensions
    decoder = rs_msgpack.Decoder("client")
    if size == 4096:
        assert list(decoder.feed(head)) == []
        assert decoder.needed == size
        return
    with pytest.raises(rs_msgpack.DecodeError, match=r"ClientHello.*limit_exceeded at 3"):
        list(decoder.feed(head))


@pytest.mark.parametrize("module", [protobuf, msgpack])
def test_what_the_limits_allow_is_read_however_long(module: Any) -> None:
    few = lj.Frame(lj.Data(1, [lj.Pair("k", "v" * 20)] * 32000))
    many = lj.Compressed([few, lj.Frame(lj.Data(2, [lj.Pair("", "")] * 33500))])
    data = module.encode(many)
    assert len(data) > 650_000
    assert module.decode_message(data) == many
    with pytest.raises(module.DecodeError, match="limit_exceeded"):
        module.decode(data, limits=lj.Limits(messages=65000))
    with pytest.raises(module.DecodeError, match=r"frames\[1\].*limit_exceeded"):
        module.decode(data, limits=lj.Limits(count=33000))


def n_pairs_of(data: bytes) -> int:
    message = protobuf.decode_message(data)
    assert isinstance(message, lj.Data)
    return len(message.pairs)


def test_a_long_body_of_protobuf_is_counted_first() -> None:
    pair = field(0x12, field(0x0A, b"k" * 60))
    for n_pairs, expected in ((60_000, None), (65_537, "limit_exceeded")):
        body = b"\x08\x32" + field(0x12, b"\x08\x01" + pair * n_pairs)
        data = varint(len(body)) + body
        if expected is None:
            assert n_pairs_of(data) == n_pairs
        else:
            with pytest.raises(protobuf.DecodeError, match=expected):
                protobuf.decode(data)


@pytest.mark.parametrize(
    ("behind", "code", "path"),
    [
        pytest.param(b"\x12\x05\x0a", "truncated", "Data.pairs", id="cut"),
        pytest.param(b"\x12", "truncated", "Data.pairs", id="cut in the length"),
        pytest.param(b"\x78\x00", "unknown_code", "Data", id="unknown"),
        pytest.param(b"\x0a\x00", "invalid_value", "Data.sequence", id="another wire type"),
        pytest.param(b"\x13\x14", "invalid_value", "Data.pairs", id="a group"),
        pytest.param(b"\x08\x01\x08\x01", "duplicate", "Data.sequence", id="doubled"),
        pytest.param(b"\x12\x03\x0a\x01\xff", None, "", id="nothing wrong: lenient bytes"),
    ],
)
def test_a_long_body_has_the_errors_of_a_short_one(behind: bytes, code: str | None, path: str) -> None:
    for n_pairs in (1, 40_000):
        body = b"\x08\x32" + field(0x12, b"\x08\x01" + field(0x12, field(0x0A, b"k" * 40)) * n_pairs + behind)
        data = varint(len(body)) + body
        if code is None:
            assert n_pairs_of(data) == n_pairs + 1
            continue
        with pytest.raises(protobuf.DecodeError) as caught:
            protobuf.decode(data)
        assert (caught.value.code, caught.value.path) == (code, path)
