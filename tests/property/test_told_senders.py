"""An encoder that is told who sends refuses what a decoder that is told the same would take for another message, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.schemas import built
from tests.property.test_serialization_constructs import serializations

from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame

ALL = ("native", "protobuf", "msgpack")
MESSAGES = """
message Ask 1 from a { x : u8 }
message Answer 1 from b { y : u16 }
message Note 2 from a { y : u16 }
message Both 3 { y : u16 }
message Set 9 from a { id : u8  value : u8 }
message Clear 7 from a { id : u8 }
message Sized 8 { id : u8  data : bytes[lengths[id]] }
context lengths : u8 per id from a { set Set.value  clear Clear }
"""
HEAD = 'protocol p { source "no document"  endian big  roles a, b }\n'
ONE = HEAD + "frame F { type : u8 := code(body) body : match type in u16 }" + MESSAGES
TWO = (
    HEAD
    + "frame F from a { type : u8 := code(body) body : match type in u16 }\n"
    + "frame G from b { type : u8 := code(body) body : match type in u8 }"
    + MESSAGES
)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(ONE, tmp_path_factory.mktemp("one"), "senders_one", ALL) as codecs:
        yield codecs


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TWO, tmp_path_factory.mktemp("two"), "senders_two", ALL) as codecs:
        yield codecs


@pytest.mark.parametrize(
    ("frames", "name", "number", "role"),
    [
        pytest.param("one", "Ask", 1, "b", id="a code that is the role's own"),
        pytest.param("one", "Answer", 2, "a", id="the other way"),
        pytest.param("two", "Ask", 1, "b", id="a frame of the other role"),
        pytest.param("two", "Note", 1, "b", id="a code that the role does not have"),
    ],
)
def test_what_would_be_read_as_another_message_is_refused(
    frames: str, name: str, number: int, role: str, request: pytest.FixtureRequest
) -> None:
    codecs = request.getfixturevalue(frames)
    p = codecs.module
    frame = (p.F if name != "Answer" or frames == "one" else p.G)(getattr(p, name)(number))
    with pytest.raises(EncodeError) as expected:
        write_frame(codecs.schema, frame, Options(role))
    for module in (p, *serializations(f"senders_{frames}")):
        with pytest.raises(p.EncodeError) as raised:
            module.encode(frame, from_role=role)
        assert (raised.value.code, raised.value.path) == (expected.value.code, expected.value.path)


def test_what_is_read_as_it_was_is_written_whoever_sends_it(one: Any) -> None:
    """Who may send a message is the session's affair."""
    p = one.module
    for message in (p.Note(5), p.Both(6)):
        for role in (None, "a", "b"):
            data = p.encode(message, from_role=role)
            assert p.decode(data, from_role=role).message == message
            assert write_frame(one.schema, message, Options(role)) == data
            for module in serializations("senders_one"):
                carried = module.encode(message, from_role=role)
                assert module.decode(carried, from_role=role).message == message
