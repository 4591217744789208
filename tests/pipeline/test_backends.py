"""Streams in other serializations than the wire's own are the same rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
pytest.importorskip("msgspec", reason="the extra `msgpack` is not installed")
pytest.importorskip("google.protobuf", reason="the extra `protobuf` is not installed")

from tests.pipeline.damage import damaged
from tests.pipeline.rows import rows_of
from tests.pipeline.streams import STREAMS, stream_of

from wirespark import WireSparkError
from wirespark.decoders import context_of, decoder_of
from wirespark.encoding import encoder_of
from wirespark.options import ReadOptions, Wishes

BACKENDS = ("msgpack", "protobuf")
OF_THE_WIRE = ("_offset", "_size", "_part", "_joined")


def carried(protocol: str, backend: str, seed: int) -> tuple[Wishes, bytes, bytes]:
    """Return how to read a stream, its native bytes, and the same in another serialization."""
    stream = stream_of(protocol, seed, 40)
    native = Wishes(protocol=protocol, role=stream.role)
    context = context_of(native)
    encode = native.package.codec(backend).encode
    known: dict[str, Any] = {} if context is None else {"context": context_of(native)}
    items = decoder_of(native, stream.role, context).items(stream.data)
    if native.package.schema.opens:
        known["from_role"] = stream.role
    found = b"".join(encode(item, **known) for _, _, item in items if is_carried(native, item))
    return Wishes(protocol=protocol, role=stream.role, backend=backend), stream.data, found


def is_carried(wishes: Wishes, item: Any) -> bool:
    """Say whether other serializations have it: a preamble and pieces of something are of the wire alone."""
    is_opening = type(item).__name__ in wishes.package.schema.opens.values()
    return not is_opening and getattr(item, "part", None) is None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("protocol", [name for name in STREAMS if name != "pravega_proposal"])
def test_rows_are_those_of_the_native_bytes(tmp_path: Path, protocol: str, backend: str) -> None:
    wishes, native, data = carried(protocol, backend, 1)
    expected = rows_of(native, Wishes(protocol=protocol, role=wishes.role), tmp_path)
    rows = rows_of(data, wishes, tmp_path, batch_size=300)
    assert sum(row["_size"] for row in rows) == len(data) != len(native)
    assert all(row["_error"] is None for row in rows)
    openings = wishes.package.schema.opens.values()
    expected = [row for row in expected if row.get("_part") is None and row["_message"] not in openings]
    expected = [row for row in expected if row["_size"]]  # without what is left open in the end
    for row in (*rows, *expected):
        for name in OF_THE_WIRE:
            row.pop(name, None)
    assert rows == expected


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("protocol", ["lumberjack", "pravega", "geode"])
def test_damaged_bytes_are_rows_too(tmp_path: Path, protocol: str, backend: str) -> None:
    dice = random.Random(protocol + backend)
    for seed in range(10):
        wishes, _, data = carried(protocol, backend, seed % 3)
        data = damaged(data, dice)
        rows = rows_of(data, wishes, tmp_path, batch_size=500)
        assert sum(row["_size"] for row in rows) == len(data)


def test_a_backend_that_is_not_there_is_named() -> None:
    with pytest.raises(WireSparkError, match="no backend 'avro'"):
        ReadOptions.of({"protocol": "lumberjack", "path": "x", "backend": "avro"})
    with pytest.raises(WireSparkError, match="native"):
        ReadOptions.of({"protocol": "lumberjack", "path": "x", "backend": "msgpack", "capture": "true"})
    assert encoder_of("lumberjack", "msgpack")
