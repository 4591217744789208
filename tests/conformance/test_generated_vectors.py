"""The vectors that are built, held against the generated packages: all they say of bytes and of values is so there too."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from pathlib import Path
from typing import Any

import msgpack
import pytest

from wiregen.conformance.vectors.format import (
    Invalid,
    Unwritable,
    Valid,
    expanded,
    octets,
    read_vectors,
    size_of,
)
from wireproto._runtime.codec.errors import DecodeError, EncodeError
from wireproto._runtime.records.frames import frame_from_record, frame_record, part_record
from wireproto._runtime.reference.objects import build

FOLDER = Path(__file__).resolve().parents[2] / "generated" / "vectors"
FILES = [
    pytest.param(path, id=path.stem)
    for path in sorted(FOLDER.glob("[a-z]*.json"))
    if "schema" not in path.stem
]
_SHORT = 24  # bytes of vectors that are fed at every split point, byte by byte, and cut at every prefix
_LARGE = 1 << 20
"""Size of the vectors, written out; larger ones are tested in soaks, and by the run over mutants."""
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
_NOT_RECORDED = ("canonical",)


class Stand:
    """A generated package, and the options of one vector for its use."""

    def __init__(self, module: Any, vector: Any) -> None:
        self.module = module
        self.schema = importlib.import_module(f"{module.__name__}._plan").PLAN
        self.vector = vector
        limits = getattr(vector, "limits", {})
        bounds = module.Limits(**limits) if limits else None
        self.wishes = {
            "context": module.Context(limits=bounds) if hasattr(module, "Context") else None,
            "limits": bounds,
            "strict": getattr(vector, "strict", False),
            "variant": vector.variant,
            "from_role": vector.from_role,
            "compression": 0,
        }

    def called(self, function: Any, *arguments: Any, **more: Any) -> Any:
        known = inspect.signature(function).parameters
        wishes = {**self.wishes, **more}
        return function(*arguments, **{name: wish for name, wish in wishes.items() if name in known})

    def decoder(self) -> Any:
        """Return a decoder of the vector's role, after all that came before."""
        decoders: dict[Any, Any] = {}
        for sent in (*self.vector.before, None):
            role = self.vector.from_role if sent is None else sent.from_role
            if role not in decoders:
                decoders[role] = self.called(self.module.Decoder, from_role=role)
            if sent is not None:
                list(decoders[role].feed(octets(sent.bytes)))
        return decoders[self.vector.from_role]

    def line(self, frame: Any) -> dict[str, Any]:
        record = frame_record(self.schema, frame, variant=self.vector.variant)
        return record | part_record(self.schema, frame, variant=self.vector.variant)

    def built(self, line: dict[str, Any]) -> Any:
        record = {key: line[key] for key in ("message", "code", "header", "fields") if key in line}
        vector = self.vector
        value = frame_from_record(self.schema, record, role=vector.from_role, variant=vector.variant)
        return build(self.schema, value, vars(self.module))


def vectors_of(path: Path, kind: type) -> tuple[Any, list[Any]]:
    file = read_vectors(path.read_bytes())
    module = importlib.import_module(f"wireproto.{file.protocol}")
    most = sys.maxsize if IS_SOAK else _LARGE >> 3 if kind is Unwritable else _LARGE
    return module, [vector for vector in file.vectors if isinstance(vector, kind) and size_of(vector) <= most]


def lines_of(vector: Any) -> list[dict[str, Any]]:
    lines = [expanded(line) for line in vector.frames]
    # An empty header is left out of files.
    return [{"header": {}} | {key: line[key] for key in line if key not in _NOT_RECORDED} for line in lines]


@pytest.mark.parametrize("path", FILES)
def test_valid_bytes_are_read_as_they_say(path: Path) -> None:
    module, vectors = vectors_of(path, Valid)
    assert vectors
    for vector in vectors:
        stand = Stand(module, vector)
        decoder = stand.decoder()
        found = [stand.line(frame) for frame in decoder.feed(octets(vector.bytes))]
        assert (found, decoder.pending) == (lines_of(vector), 0), vector.id


@pytest.mark.parametrize("path", FILES)
def test_chunks_do_not_matter_and_what_is_cut_asks_for_more(path: Path) -> None:
    module, vectors = vectors_of(path, Valid)
    for vector in vectors:
        data, lines = octets(vector.bytes), lines_of(vector)
        if len(data) > _SHORT:
            continue
        for chunks in (
            [data[i : i + 1] for i in range(len(data))],
            *([data[:i], data[i:]] for i in range(len(data))),
        ):
            stand = Stand(module, vector)
            decoder = stand.decoder()
            assert [
                stand.line(frame) for chunk in chunks for frame in decoder.feed(chunk)
            ] == lines, vector.id
        for size in range(1, len(data) if len(lines) == 1 else 0):
            decoder = Stand(module, vector).decoder()
            assert (list(decoder.feed(data[:size])), decoder.pending) == ([], size), vector.id


@pytest.mark.parametrize("path", FILES)
def test_invalid_bytes_are_refused_as_they_say(path: Path) -> None:
    module, vectors = vectors_of(path, Invalid)
    assert vectors
    for vector in vectors:
        decoder = Stand(module, vector).decoder()
        before, n_frames = decoder.fed, 0
        with pytest.raises(DecodeError) as caught:
            for _ in decoder.feed(octets(vector.bytes)):
                n_frames += 1
            decoder.finish()
        error, said = caught.value, vector.error
        found = (n_frames, error.code, error.rule, error.at - before, error.inner_at, error.recoverable)
        expected = (vector.frames_before, said.code, said.rule, said.at, said.inner_at, said.recoverable)
        assert found == expected, vector.id


@pytest.mark.parametrize("path", FILES)
def test_values_are_written_as_they_say(path: Path) -> None:
    module, vectors = vectors_of(path, Valid)
    for vector in vectors:
        stand = Stand(module, vector)
        stand.decoder()
        if vector.encodes != "exact" or len(vector.frames) != 1 or "part" in vector.frames[0]:
            continue
        frame = stand.built(lines_of(vector)[0])
        data = octets(vector.bytes)
        is_opening = not hasattr(frame, "message")
        written = frame.encode() if is_opening else stand.called(module.encode, frame)
        assert written == data, vector.id


@pytest.mark.parametrize("path", FILES)
def test_what_cannot_be_written_is_refused(path: Path) -> None:
    module, vectors = vectors_of(path, Unwritable)
    assert vectors
    for vector in vectors:
        stand = Stand(module, vector)
        stand.decoder()
        with pytest.raises(EncodeError) as caught:
            stand.called(module.encode, stand.built(lines_of(vector)[0]))
        assert caught.value.code == vector.error.code, vector.id


@pytest.mark.parametrize("path", FILES)
def test_other_serializations_say_the_same(path: Path) -> None:
    module, vectors = vectors_of(path, Valid)
    ways = {name: importlib.import_module(f"{module.__name__}.{name}") for name in ("protobuf", "msgpack")}
    carried = [vector for vector in vectors if vector.protobuf is not None and len(vector.frames) == 1]
    assert carried
    for vector in carried:
        stand = Stand(module, vector)
        stand.decoder()
        # Pieces are joined by native streams only.
        line = {key: part for key, part in lines_of(vector)[0].items() if key not in ("part", "joined")}
        msgpack.unpackb(octets(vector.msgpack or ""), raw=True, strict_map_key=False)
        for name, way in ways.items():
            data = getattr(vector, name)
            assert data is not None, vector.id
            assert stand.line(stand.called(way.decode, octets(data))) == line, (vector.id, name)


def test_a_field_called_tail_is_not_what_is_left_over() -> None:
    module = importlib.import_module("wireproto.pravega_documented")
    frame = module.Frame(module.SegmentRead("s", 1, True, False, b"x"))
    again = Stand(module, Valid(id="tail", bytes="")).built(
        frame_record(importlib.import_module(f"{module.__name__}._plan").PLAN, frame)
    )
    assert again == frame
    assert again.message.tail == b""
