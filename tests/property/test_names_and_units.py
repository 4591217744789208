"""Names that a frame has for itself, and delimiters of text with units of two bytes: both codecs say the same of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.property.codecs import Wishes
from tests.property.schemas import built

JOINED = """wire 1
protocol p { source "x"  endian big  roles a, b }
limits { frame = 1 KiB }
frame F {
  size    : u16 := size(payload)
  part    : bool
  payload : { type : u8 := code(body)  body : match type } in size
}
join Piece : F.payload { part F.payload when part  last F.payload when not part }
message M 1 { x : u8 }
"""

WIDE = """wire 1
protocol p {{ source "x"  endian {endian}  roles a, b }}
limits {{ frame = 1 KiB }}
frame F {{ type : u8 := code(body)  body : match type }}
message M 1 {{ t : utf16[until x"0000"]  n : u8 }}
"""


CODELESS = """wire 1
protocol p { source "x"  endian big  roles a, b }
limits { frame = 1 KiB }
frame Q from b { type : u8 := code(body)  id : u8  body : match type }
frame F from a {
  id : u8
  ok : u8
  n  : u8 := size(body)
  body : match ok { 1 => match kinds[id]  _ => Fail } in n
  trailer : bytes[3] if code(body) == 7
}
context kinds : u8 per id from b { set Q.type  clear Fail }
message Ask 7 from b { op : u8 }
message M 7 from a { x : u8 }
message Fail from a { y : u8 }
"""


@pytest.mark.parametrize("data", [b"\1\1\0", b"\1\1\2ab", b"\1\0\1\5"])
def test_what_was_decoded_without_a_code_is_encoded_again(tmp_path: Path, data: bytes) -> None:
    with built(CODELESS, tmp_path, f"codeless_{data.hex()}") as codecs:
        frame = codecs.module.decode(data, from_role="a")
        assert frame.trailer is None
        assert frame.encode() == codecs.reference_encode(frame) == data
        frame.trailer = b"abc"
        with pytest.raises(codecs.module.EncodeError):
            frame.encode()


def test_a_header_field_named_part_stands_beside_what_the_frame_is_a_piece_of(tmp_path: Path) -> None:
    with built(JOINED, tmp_path, "joined_part") as codecs:
        p = codecs.module
        frame = p.F(p.M(7), part_=False)
        assert codecs.reference_encode(frame) == frame.encode() == bytes.fromhex("0002 00 0107")
        assert p.decode(frame.encode()) == frame
        first, last = p.Decoder("a").feed(bytes.fromhex("0001 01 01 0001 00 07"))
        assert (first.part_, last.part_, last.part.index, last.message) == (True, False, 1, p.M(7))


@pytest.mark.parametrize(
    ("endian", "text"), [("little", "q"), ("big", "q"), ("little", "Āq"), ("big", "Āq"), ("big", "Ā")]
)
def test_a_delimiter_of_wide_text_is_looked_for_by_units(tmp_path: Path, endian: str, text: str) -> None:
    with built(WIDE.format(endian=endian), tmp_path, f"wide_{endian}_{ord(text[0])}_{len(text)}") as codecs:
        frame = codecs.module.F(codecs.module.M(text, 9))
        data = b"\1" + text.encode(f"utf-16-{endian[0]}e") + b"\0\0\x09"
        assert frame.encode() == codecs.reference_encode(frame) == data
        assert codecs.module.decode(data, strict=True) == frame
        assert codecs.compiled(data, Wishes(strict=True)) == codecs.reference(data, Wishes(strict=True))


def test_wide_text_with_its_delimiter_inside_is_refused(tmp_path: Path) -> None:
    with built(WIDE.format(endian="big"), tmp_path, "wide_refused") as codecs:
        frame = codecs.module.F(codecs.module.M("a\0b", 9))
        with pytest.raises(codecs.module.EncodeError, match="delimiter"):
            frame.encode()
        refusal = codecs.reference_encode(frame)
        assert isinstance(refusal, dict)
        assert refusal["code"] == "unrepresentable"


RESERVED = """wire 1
protocol p { source "x"  endian big  roles a, b }
limits { frame = 1 KiB }
frame Decoder { size : u16 := size(payload)  part : bool = false  payload : { type : u8 := code(body)  body : match type } in size }
join Session : Decoder.payload { part Decoder.payload when part  last Decoder.payload when not part }
struct Limits { x : u8 }
union Context : u8 { None 1 : u8  Some 2 : Limits }
enum Enum : u8 { ONE = 1 }
message EncodeError 1 { limits : Limits  choice : Context  enum : Enum }
message Any 2 { data : bytes[] }
"""


def test_declarations_whose_classes_have_other_names_are_known_by_their_own(tmp_path: Path) -> None:
    with built(RESERVED, tmp_path, "reserved_names", ("native", "msgpack")) as codecs:
        p = codecs.module
        for message in (p.EncodeError_(p.Limits_(1), p.Context_.None_(2), 1), p.Any_(b"abc")):
            frame = p.Decoder_(message, part_=False)
            data = frame.encode()
            assert codecs.reference_encode(frame) == data
            assert p.decode(data) == frame
            assert type(message).from_dict(message.to_dict()) == message
            assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes())
        piece = p.Decoder_(p.Session_(b"ab"), part_=True)
        assert codecs.reference_encode(piece) == bytes.fromhex("0002 01 6162")


def test_an_underscore_behind_a_name_alone_makes_no_message(tmp_path: Path) -> None:
    with built(WIDE.format(endian="big"), tmp_path, "underscored") as codecs:
        for name, is_message in (("M", True), ("M_", False)):
            alike = type(name, (), {"t": "a", "n": 9})()
            assert isinstance(codecs.reference_encode(codecs.module.F(alike)), bytes) is is_message


NEEDS_A_HEADER = """wire 1
protocol p { source "x"  endian big  roles a, b }
frame F { id : u32  type : u8 := code(body)  body : match type }
message M 1 { x : u8 }
"""


def test_a_message_comes_back_from_its_dict_whatever_the_header_needs(tmp_path: Path) -> None:
    with built(NEEDS_A_HEADER, tmp_path, "needs_header") as codecs:
        assert codecs.module.M.from_dict({"x": 7}) == codecs.module.M(7)
        with pytest.raises(codecs.module.EncodeError, match=r"M\.x|M: "):
            codecs.module.M.from_dict({})


ARGUMENTS = "backlog handler host keep_going limits now on_error role strict timeout".split()
NAMED_AS_ARGUMENTS = """wire 1
protocol p {{ source "x"  endian big  roles a, b }}
limits {{ frame = 1 KiB }}
frame F {{ type : u8 := code(body)  body : match type in u8 }}
message M 1 {{ x : u8 }}
session S {{
{options}
  state s {{
    any M when x in [{names}] violates told
    any M => {{}}
  }}
}}
rule told "No number that an option is set to."
"""


def test_options_named_as_arguments_of_a_connection_stand_beside_them(tmp_path: Path) -> None:
    options = "\n".join(f"  option {name} : u8 = {number}" for number, name in enumerate(ARGUMENTS))
    text = NAMED_AS_ARGUMENTS.format(options=options, names=", ".join(ARGUMENTS))
    with built(text, tmp_path, "named_as_arguments") as codecs:
        p = codecs.module
        (violation,) = p.Connection("a").receive(p.encode(p.M(3)))
        assert violation.name == "told"
        named = {f"{name}_": 100 for name in ARGUMENTS}
        (event,) = p.Connection("a", strict=True, on_error="continue", **named).receive(p.encode(p.M(3)))
        assert event.frame.message == p.M(3)
        text = (Path(str(p.__file__)).parent / "aio.py").read_text(encoding="utf-8")
        compile(text, "aio.py", "exec")
