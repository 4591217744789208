"""Protocols whose two sides send frames of their own, and those in which one side sends none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.once import mypy_cache
from tests.property import agreement
from tests.property.codecs import Wishes
from tests.property.schemas import built

from wiregen.formats.jsonl import LineEncoder, dumps, loads
from wiregen.formats.line_maker import LineMaker

TWO = """
protocol p { source "no document"  endian big  roles a, b }
frame Ask from a { type : u8 := code(body)  body : match type }
frame Say from b { type : u8 := code(body)  body : match type }
message Number 1 from a { x : u8 }
message Text 1 from b { text : utf8[u8] }
message Both 2 { n : u16 }
"""
ONE = """
protocol p { source "no document"  endian big  roles a, b }
frame Report from a { type : u8 := code(body)  body : match type }
message Value 1 from a { x : u8 }
"""
SHARED = TWO.replace("frame Ask from a", "frame Ask").replace(
    "frame Say from b { type : u8 := code(body)  body : match type }", ""
)
SESSION = "session Reports { state on { a Value => on } }"


def test_two_frames_of_one_code_each(tmp_path: Path) -> None:
    with built(TWO, tmp_path, "two_frames", ("native", "protobuf", "msgpack")) as codecs:
        p = codecs.module
        for role, frame, data in (
            ("a", p.Ask(p.Number(5)), "0105"),
            ("b", p.Say(p.Text("hi")), "01026869"),
            ("a", p.Ask(p.Both(3)), "020003"),
            ("b", p.Say(p.Both(3)), "020003"),
        ):
            octets = bytes.fromhex(data)
            assert p.encode(frame) == octets
            assert p.decode(octets, from_role=role) == frame
            assert list(p.Decoder(from_role=role).feed(octets * 2)) == [frame] * 2
            assert agreement.check_bytes(codecs, octets, Wishes(from_role=role)) == codecs.line(frame)
            agreement.check_prefixes(codecs, octets, role)
        assert p.Number(5).encode() == b"\1\5"
        assert p.Text.decode(p.Text("x").encode()) == p.Text("x")


def test_one_frame_whose_codes_two_roles_share(tmp_path: Path) -> None:
    with built(SHARED, tmp_path, "shared_codes") as codecs:
        p = codecs.module
        for role, frame, data in (("a", p.Ask(p.Number(5)), "0105"), ("b", p.Ask(p.Text("hi")), "01026869")):
            octets = bytes.fromhex(data)
            assert p.decode(octets, from_role=role) == frame
            assert list(p.Decoder(from_role=role).feed(octets * 2)) == [frame] * 2


@pytest.mark.parametrize("text", [TWO, ONE, SHARED], ids=["two", "one", "shared"])
def test_its_code_is_typed(text: str, tmp_path: Path) -> None:
    with built(text, tmp_path, "typed_frames"):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), "-p", "typed_frames.p"],
            cwd=tmp_path / "generated" / "python",
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout


def test_one_side_sends_all_frames(tmp_path: Path) -> None:
    with built(ONE + SESSION, tmp_path, "one_way", ("native", "protobuf", "msgpack")) as codecs:
        p = codecs.module
        sender, receiver = p.Connection("a"), p.Connection("b")
        data = sender.send(p.Value(3))
        assert data == b"\1\3"
        (received,) = receiver.receive(data)
        assert received.frame.message == p.Value(3)
        assert agreement.check_bytes(codecs, data, Wishes(from_role="a"))


def test_what_the_silent_side_sends_is_of_the_wrong_role(tmp_path: Path) -> None:
    with built(ONE + SESSION, tmp_path, "wrong_way") as codecs:
        p = codecs.module
        assert agreement.check_bytes(codecs, b"\1\3", Wishes(from_role="b")) == codecs.line(
            p.Report(p.Value(3))
        )
        with pytest.raises(p.SessionError, match="wrong_role"):
            p.Connection("b").send(p.Value(3))
        (violation,) = p.Connection("a").receive(b"\1\3")
        assert violation.name == "wrong_role"


def test_a_frame_that_lacks_its_message_is_written_from_its_line(tmp_path: Path) -> None:
    text = """
protocol p { source "no document"  endian big  roles a, b }
frame Frame { has : bit := present(rest)  _ : u7 == 0  rest : { type : u8 := code(body)  body : match type } if has }
message Value 1 { x : u8 }
"""
    with built(text, tmp_path, "no_message") as codecs:
        p = codecs.module
        for data, frame in ((b"\0", p.Frame(None)), (b"\x80\1\5", p.Frame(p.Value(5)))):
            assert p.decode(data) == frame
            assert p.encode(frame) == data
            line = LineMaker(codecs.schema).decoded(p.decode(data), data, offset=0)
            assert "raw" not in line
            assert LineEncoder(codecs.schema, is_canonical=True).encode(loads(dumps(line))) == data


def test_bytes_that_are_read_back_are_those_of_the_frame_of_their_sender(tmp_path: Path) -> None:
    """The length of `text` asks for `remaining`, so that the encoder reads its bytes back; the second side has its own frame."""
    text = """protocol p { source "s"  endian big  roles a, b }
limits { frame = 64 KiB }
frame Asked from a { code : u8 := code(body)  size : u16 := size(body)  body : match code in size }
frame Answered from b { size : u8 := size(body)  code : u8 := code(body)  body : match code in size }
message Ask 1 from a { n : u8 }
message Answer 1 from b { text : utf8[max(remaining - 1, 0)]  n : u8 }
"""
    with built(text, tmp_path, "read_back") as codecs:
        p = codecs.module
        data = p.Answer("abc", 7).encode()
        assert data.hex() == "040161626307"
        assert p.decode(data, from_role="b").message == p.Answer("abc", 7)
