"""Lumberjack's codecs hold to vectors: written by hand here, and by others in other languages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.built_schema import schema_of
from tests.conformance.vectors import Vector, bytes_of, foreign_vectors, own_vectors

from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_from_record, frame_record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.stream.reference_decoder import reference_decoder
from wireproto import lumberjack as lj


def cases(*kinds: str) -> pytest.MarkDecorator:
    """Return the vectors of these kinds as parameters."""
    vectors = [*own_vectors(), *foreign_vectors()]
    chosen = [pytest.param(vector, id=vector["id"]) for vector in vectors if vector["kind"] in kinds]
    return pytest.mark.parametrize("vector", chosen)


def decoded(codec: str, vector: Vector) -> tuple[list[Any], list[int], Any]:
    """Return the frames, their sizes, and the error after them if there is one."""
    limits = vector.get("limits") or None
    if codec == "fast":
        chosen = lj.Limits(**limits) if limits else None
        decoder: Any = lj.Decoder(vector["from"], limits=chosen, errors="yield")
    else:
        decoder = reference_decoder(PLAN, Options(vector["from"], limits=limits), "yield")
    items = [*decoder.items(bytes_of(vector)), *decoder.finish_items()]
    frames = [item if codec == "fast" else getattr(item, "value", item) for _, _, item in items]
    error = frames.pop() if frames and isinstance(frames[-1], ValueError) else None
    return frames, [size for _, size, _ in items], error


PLAN = schema_of("lumberjack")
CODECS = pytest.mark.parametrize("codec", ["fast", "reference"])


@CODECS
@cases("valid")
def test_valid_bytes_are_these_frames(codec: str, vector: Vector) -> None:
    frames, sizes, error = decoded(codec, vector)
    assert error is None
    assert [frame_record(PLAN, frame) for frame in frames] == vector["frames"]
    assert sum(sizes) == len(bytes_of(vector))


@cases("valid")
def test_these_frames_are_written_as_the_bytes(vector: Vector) -> None:
    values = [frame_from_record(PLAN, line) for line in vector["frames"]]
    stored = b"".join(write_frame(PLAN, value, Options(), compression=0) for value in values)
    again = b"".join(
        frame.encode(compression=0) for frame in lj.Decoder(vector["from"]).feed(bytes_of(vector))
    )
    assert again == stored
    if vector["encodes"] == "exact":
        assert stored == bytes_of(vector)
    assert [frame_record(PLAN, frame) for frame in lj.Decoder(vector["from"]).feed(stored)] == vector[
        "frames"
    ]


@CODECS
@cases("invalid")
def test_malformed_bytes_are_refused_at_their_place(codec: str, vector: Vector) -> None:
    frames, _, error = decoded(codec, vector)
    assert len(frames) == vector["frames_before"]
    assert {name: getattr(error, name) for name in vector["error"]} == vector["error"]


@cases("invalid")
def test_malformed_bytes_are_refused_byte_by_byte(vector: Vector) -> None:
    limits = lj.Limits(**vector["limits"]) if vector.get("limits") else None
    decoder = lj.Decoder(vector["from"], limits=limits)
    data = bytes_of(vector)
    frames: list[lj.Frame] = []
    with pytest.raises(lj.DecodeError) as caught:
        for offset in range(len(data)):
            frames += decoder.feed(data[offset : offset + 1])
        decoder.finish()
    assert len(frames) == vector["frames_before"]
    assert {name: getattr(caught.value, name) for name in vector["error"]} == vector["error"]


@CODECS
@cases("codec", "session", "value")
def test_what_is_no_affair_of_the_codec_is_read(codec: str, vector: Vector) -> None:
    frames, sizes, error = decoded(codec, vector)
    assert error is None
    assert sum(sizes) == len(bytes_of(vector))
    assert b"".join(write_frame(PLAN, frame, Options(), compression=0) for frame in frames) == bytes_of(
        vector
    )


@cases("value")
def test_a_document_that_is_no_json_costs_only_the_view(vector: Vector) -> None:
    *_, last = decoded("fast", vector)[0]
    with pytest.raises(lj.DecodeError) as caught:
        last.message.document_json  # noqa: B018 - reading is the test
    error = caught.value
    assert (error.code, error.rule, error.path) == ("invalid_value", "bad_json", "Json.document")
    assert "document_json" not in frame_record(PLAN, last)["fields"]


def test_own_vectors_are_of_the_documented_form() -> None:
    known = {"id", "kind", "from", "bytes", "encodes", "frames", "limits", "frames_before", "error", "note"}
    vectors = own_vectors()
    assert len({vector["id"] for vector in vectors}) == len(vectors)
    for vector in vectors:
        assert vector.keys() <= known
        assert json.loads(json.dumps(vector)) == vector
