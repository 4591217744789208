"""A frame of one role carries what that role sends: every codec refuses the other role's messages in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property.schemas import built
from tests.property.test_serialization_constructs import ALL, serializations

from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.writing.frames import write_frame

TEXT = """
protocol p { source "no document"  endian big  roles a, b @rule(wrong_side) }
rule wrong_side "each side has messages of its own" { source "x" }
message Ask 1 from a { n : u8 }
message Both 3 { n : u8 }
message Reply 2 from b { n : u8 }
message Late 1 from b { n : u8  m : u8 }
frame Asking from a { length : u8 := size(body)  stream : u8  type : u8 := code(body)  body : match type in length }
frame Answering from b { length : u8 := size(body)  type : u8 := code(body)  body : match type in length }
"""
REPLY_IN_ASKING = bytes((1, 7, 2, 9))
UNKNOWN_IN_ASKING = bytes((1, 7, 9, 9))


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("roles"), "frames_of_roles", ALL) as codecs:
        yield codecs


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("role", [None, "a"])
def test_no_decoder_takes_the_message_of_the_other_role(codecs: Any, role: str | None, strict: bool) -> None:
    p, data = codecs.module, REPLY_IN_ASKING
    options = Options(role, strict=strict)
    for read in (
        lambda: p.decode(data, from_role=role, strict=strict),
        lambda: p.decode_message(data, from_role=role, strict=strict),
        lambda: list(p.Decoder(role, strict=strict).feed(data)),
        lambda: list(p.Decoder(role, strict=strict).messages(data)),
        lambda: explain(codecs.schema, data, 0, len(data), options),
    ):
        with pytest.raises((p.DecodeError, DecodeError)) as raised:
            read()
        error = raised.value
        assert (error.code, error.rule, error.at) == ("unknown_code", "wrong_side", 2)
        assert (error.expected, error.found) == ("a message that a sends", "2 of Reply")


def test_a_code_that_nobody_has_is_skipped_as_ever(codecs: Any) -> None:
    p = codecs.module
    frame = p.decode(UNKNOWN_IN_ASKING)
    assert frame == p.Asking(p.Unknown(9, b"\t"), 7)
    assert p.encode(frame) == UNKNOWN_IN_ASKING


def test_a_code_of_both_roles_is_that_of_the_frame(codecs: Any) -> None:
    p = codecs.module
    for role, frame in (("a", p.Asking(p.Ask(4), 7)), ("b", p.Answering(p.Late(4, 5)))):
        for module in (p, *serializations("frames_of_roles")):
            assert module.decode(module.encode(frame), from_role=role) == frame


@pytest.mark.parametrize("role", [None, "a", "b"])
def test_no_encoder_puts_it_there(codecs: Any, role: str | None) -> None:
    p = codecs.module
    native, *others = p, *serializations("frames_of_roles")
    told = "a message that [ab] sends|a code that no message has"
    for frame in (
        p.Asking(p.Reply(1), 7),
        p.Answering(p.Ask(1)),
        p.Asking(p.Late(1, 2), 7),
        p.Asking(p.Unknown(2, b""), 7),
    ):
        for encode in (native.encode, type(frame).encode, *(other.encode for other in others)):
            with pytest.raises(p.EncodeError, match=told):
                encode(frame)
        with pytest.raises(EncodeError, match=f"{told}|expected a A"):
            write_frame(codecs.schema, frame, Options(role))


def test_encoders_put_there_what_belongs_there(codecs: Any) -> None:
    p = codecs.module
    for frame in (
        p.Asking(p.Both(1), 7),
        p.Answering(p.Both(1)),
        p.Answering(p.Reply(1)),
        p.Asking(p.Unknown(9, b""), 7),
    ):
        data = p.encode(frame)
        sender = "a" if type(frame) is p.Asking else "b"
        assert p.decode(data, from_role=sender) == frame
        assert write_frame(codecs.schema, frame, Options(sender)) == data


def test_the_error_of_the_encoder_names_both(codecs: Any) -> None:
    p = codecs.module
    with pytest.raises(p.EncodeError) as raised:
        p.encode(p.Asking(p.Reply(1), 7))
    error = raised.value
    assert (error.code, error.expected, error.found) == ("unknown_code", "a message that a sends", "Reply")


NAMED = """
protocol p { source "no document"  endian big  roles client, server }
frame Req from client { type : u8 := code(body)  body : match type }
frame Res from server { ok : bool  body : match ok { true => Good  false => Bad } }
message Get 1 from client { k : u8 }
message Good { v : u8 }
message Bad { w : u8 }
"""


def test_a_message_without_code_and_role_is_sent_in_the_frame_that_names_it(tmp_path: Path) -> None:
    with built(NAMED, tmp_path, "named_in_arms", ALL) as codecs:
        p = codecs.module
        assert p.encode(p.Get(k=1)) == b"\1\1"
        for message, ok, data in ((p.Good(v=3), True, b"\1\3"), (p.Bad(w=4), False, b"\0\4")):
            assert p.encode(message, ok=ok) == message.encode(ok=ok) == data
            frame = p.decode(data, from_role="server")
            assert frame == p.Res(message, ok=ok)
            for serial in serializations("named_in_arms"):
                assert serial.decode(serial.encode(message, ok=ok), from_role="server") == frame
