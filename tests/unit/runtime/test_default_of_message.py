"""A field of a frame whose default is another one with some messages: from Python, from JSON and in every serialization."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property.schemas import built

from wiregen.runtime.records.frames import frame_from_record
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.reference.writing.frames import write_frame, write_message

CASE = Path(__file__).resolve().parents[2] / "cases" / "constructs" / "default_of_message.wire"
FRAMES = {
    "Data": bytes.fromhex("01 0007 02 01 02 01 0001 05"),
    "Old": bytes.fromhex("01 0000 00 02 0001 05"),
    "New": bytes.fromhex("02 0007 00 03 0001 05"),
}
each_message = pytest.mark.parametrize("name", FRAMES)


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("defaults")
    with built(
        CASE.read_text(encoding="utf-8"), folder, "defaults_of", ("native", "protobuf", "msgpack")
    ) as found:
        yield found


@each_message
def test_a_message_is_encoded_with_its_defaults(codecs: Any, name: str) -> None:
    module, message = codecs.module, getattr(codecs.module, name)(5)
    assert message.encode() == module.encode(message) == module.Frame(message).encode() == FRAMES[name]
    assert module.decode(FRAMES[name]) == module.Frame(message)


@each_message
def test_what_is_given_stays(codecs: Any, name: str) -> None:
    module, message = codecs.module, getattr(codecs.module, name)(5)
    version = module.Version.V1 if name == "New" else module.Version.V2
    octets = bytes([version]) + FRAMES[name][1:]
    assert message.encode(version=version) == module.encode(message, version=version) == octets
    assert module.Frame(message, version=version).encode() == octets
    assert module.decode(octets).version is version


@each_message
def test_limits_and_the_reference_codec_have_the_same_defaults(codecs: Any, name: str) -> None:
    module, message = codecs.module, getattr(codecs.module, name)(5)
    assert message.encode(limits=module.Limits(frame=20)) == FRAMES[name]
    assert write_frame(codecs.schema, message) == FRAMES[name]
    assert write_message(codecs.schema, Record(name, {"x": 5}), header={}) == FRAMES[name]
    assert write_frame(codecs.schema, FrameValue("Frame", {}, Record(name, {"x": 5}))) == FRAMES[name]


@each_message
def test_json_without_header_has_the_defaults(codecs: Any, name: str) -> None:
    record = frame_from_record(codecs.schema, {"message": name, "fields": {"x": 5}})
    assert write_frame(codecs.schema, record) == FRAMES[name]


@each_message
@pytest.mark.parametrize("backend", ["protobuf", "msgpack"])
def test_serializations_have_the_same_defaults(codecs: Any, name: str, backend: str) -> None:
    other = importlib.import_module(f"defaults_of.p.{backend}")
    message = getattr(codecs.module, name)(5)
    assert codecs.module.encode(other.decode(other.encode(message))) == FRAMES[name]
