"""Every construct of the language in protobuf and msgpack: values that the protocol allows come back as they were."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property import grown
from tests.property.schemas import built
from tests.property.test_every_construct import TEXT, Maker
from tests.property.test_serializations import code_of

from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.types import flat_fields
from wiregen.runtime.reference.objects import build
from wiregen.runtime.schema.protocol import Schema

HERE = Path(__file__).parent
CASES = HERE.parent / "cases" / "constructs"
ALL = ("native", "protobuf", "msgpack")


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any, Any]]:
    with built(TEXT, tmp_path_factory.mktemp("every"), "every_serial", ALL) as codecs:
        yield codecs.module, *serializations("every_serial")


def serializations(package: str) -> tuple[Any, Any]:
    return importlib.import_module(f"{package}.p.protobuf"), importlib.import_module(f"{package}.p.msgpack")


@pytest.mark.parametrize("seed", range(6))
def test_every_construct_goes_round(every: tuple[Any, Any, Any], seed: int) -> None:
    native, protobuf, msgpack = every
    maker, n_good = Maker(native, seed), 0
    for _ in range(150):
        frame = maker.frame()
        octets = code_of(native.encode, frame)
        if isinstance(octets, tuple):
            assert code_of(protobuf.encode, frame) == code_of(msgpack.encode, frame) == octets
            continue
        n_good += 1
        plain = native.decode(octets)  # what is absent has its default
        first = protobuf.decode(protobuf.encode(frame))
        second = msgpack.decode(msgpack.encode(first))
        assert first == second == plain
        assert native.encode(second) == octets
        assert msgpack.decode(msgpack.encode(first), limits=native.Limits(work=0)) == plain
    assert n_good > 50


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(CASES.glob("*.wire"))])
def test_a_construct_goes_round(path: Path, tmp_path: Path) -> None:
    name = f"serial_{path.stem}"
    with built(path.read_text(encoding="utf-8"), tmp_path, name, ALL) as codecs:
        native = codecs.module
        for role in grown.senders(codecs.schema):
            check_round(codecs.schema, native, serializations(name), role, random.Random(path.stem))


def check_round(
    plan: Schema, native: Any, others: tuple[Any, Any], role: str | None, dice: random.Random
) -> None:
    """Check that frames of a role that are made by chance come back as they were."""
    protobuf, msgpack = others
    told = {} if role is None else {"from_role": role}
    seen = 0
    for value, octets in grown.frames(plan, dice, 20, Options(role)):
        frame = build(plan, value, vars(native))
        plain = code_of(native.decode, octets, **told)
        if isinstance(plain, tuple):  # larger than a reader allows
            continue
        refusal = code_of(protobuf.encode, plain)
        if isinstance(refusal, tuple):  # a lone surrogate
            assert refusal[0] == "unrepresentable" and refusal == code_of(msgpack.encode, plain)
            continue
        if "nan" in repr(plain) or lacks_hidden(plan, plain):  # NaN is not equal to itself
            continue
        seen += 1
        first = protobuf.decode(protobuf.encode(plain), **told)
        second = msgpack.decode(msgpack.encode(first), **told)
        assert first == second == plain
        for module in others:  # as it was grown: what is absent may have no value
            octets_here = module.encode(frame)
            assert native.encode(module.decode(octets_here, **told)) == octets
            # not refused for the work: of many a construct only the reference codec can tell that it conforms
            assert module.decode(octets_here, limits=native.Limits(work=0), **told) == module.decode(
                octets_here, **told
            )
    assert seen > 5


def lacks_hidden(plan: Schema, frame: Any) -> bool:
    """Return whether a field without a value is absent at the end: only the native codec carries that."""
    absent = getattr(frame.message, "absent", 0)
    fields = plan.messages[type(frame.message).__name__].fields if absent else ()
    return any(field.is_hidden for field in list(flat_fields(fields))[-absent:])


def test_the_two_directions_have_frames_of_their_own(tmp_path: Path) -> None:
    text = (HERE / "both_directions.wire").read_text(encoding="utf-8")
    with built(text, tmp_path, "both_serial", ALL) as codecs:
        p = codecs.module
        for module in serializations("both_serial"):
            for role, frame in (
                ("a", p.Req(p.Setup(3, 1, True), key=2)),
                ("a", p.Req(p.Two(4, 9), key=2, extra=b"abcd")),
                ("a", p.Req(p.Data(2, b"abc"), key=1)),
                ("b", p.Resp(p.One(1, [p.Item([1, 2], [])]), key=2)),
                ("b", p.Resp(p.Fail("no"), key=9, status=2)),
            ):
                octets = module.encode(frame)
                assert module.decode(octets, from_role=role) == frame
                assert list(module.Decoder(role).feed(octets)) == [frame]
            with pytest.raises(p.EncodeError, match="unrepresentable"):
                module.encode(p.Hi(3, "me"))
            with pytest.raises(p.EncodeError, match=r"Two\.key2"):
                module.encode(p.Req(p.Two(10, 9), key=2, extra=bytes(10)))


CODES_OF_BOTH = """
protocol p { source "no document"  endian big  roles a, b }
frame F { type : u8 := code(body)  body : match type }
message Ask 1 from a { n : u8 }
message Say 1 from b { text : utf8[u8] }
message Both 2 { from : u8  type : u8 }
"""


def test_a_code_of_both_roles_is_told_by_the_role(tmp_path: Path) -> None:
    with built(CODES_OF_BOTH, tmp_path, "codes_serial", ALL) as codecs:
        p = codecs.module
        for module in serializations("codes_serial"):
            for role, message in (
                ("a", p.Ask(1)),
                ("b", p.Say("x")),
                ("b", p.Both(1, 2)),
                ("a", p.Both(1, 2)),
            ):
                octets = module.encode(message)
                assert module.decode_message(octets, from_role=role) == message
        for own in (p.Ask(1), p.Say("x"), p.Both(1, 2)):
            assert type(own).decode(own.encode()) == own
            assert type(own).from_dict(own.to_dict()) == own


ONE_MESSAGE = """
protocol p { source "no document"  endian big  roles a, b }
frame F { type : u8 := code(body)  size : u8 := size(body)  body : match type only Ask in size }
message Ask 1 { n : u8 }
"""


def test_a_frame_of_one_message_refuses_all_other_codes(tmp_path: Path) -> None:
    with built(ONE_MESSAGE, tmp_path, "one_serial", ALL) as codecs:
        p = codecs.module
        assert p.decode_message(b"\1\1\7") == p.Ask(7)
        with pytest.raises(p.DecodeError, match="expected only Ask"):
            p.decode(b"\x09\1\7")


ABSENT = """
protocol p { source "no document"  endian big  roles a, b }
coding Num : u8 { 0 .. 0xFC  0xFE => u16  0xFF => null }
frame F { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
message A 1 { kind : u8  some : u16 ?= 7  more : u8[Num] ?= []  text : utf8[Num] ?= "x" }
message B 2 { kind : u8  value : match kind { 0 => u64  1 => i8  2 => f64  4 => utf8[u8]  _ => bytes[u8] } }
"""


def test_absence_and_null_are_two_things(tmp_path: Path) -> None:
    with built(ABSENT, tmp_path, "absent_serial", ALL) as codecs:
        p = codecs.module
        for module in serializations("absent_serial"):
            for absent, values in (
                (0, (1, [2], None)),
                (0, (1, [], "")),
                (1, (2, [3], "x")),
                (3, (7, [], "x")),
            ):
                message = p.A(5, *values)
                message.absent = absent
                again = module.decode_message(module.encode(message))
                assert (again, again.absent) == (message, absent)
            for kind, value in (
                (0, 2**64 - 1),
                (1, -128),
                (2, 1.5),
                (4, "a"),
                (9, b""),
            ):
                assert module.decode_message(module.encode(p.B(kind, value))) == p.B(kind, value)
            for kind, value in ((0, -1), (1, 128), (4, b"a"), (9, "x"), (2, b"")):
                with pytest.raises(p.EncodeError):
                    module.encode(p.B(kind, value))


DEEP = """wire 1
protocol p { source "no document: a value in a value" endian big roles a, b }
limits { frame = 4 KiB }
frame F { type : u8 := code(body)  body : match type }
struct Row { kind : u8  value : match kind { 0 => u8  1 => f64  2 => Row[1][1]  3 => utf8[u8]  _ => bytes[u8] } }
message M 1 { row : Row }
"""


def test_what_protobuf_cannot_read_it_does_not_write(tmp_path: Path) -> None:
    """Google's parsers go 100 messages deep; `limits.depth` counts rows in rows, of which each is several messages."""
    with built(DEEP, tmp_path, "deep_serial", ALL) as codecs:
        protobuf, msgpack = serializations("deep_serial")
        n_carried = 0
        for depth in range(1, 32):
            octets = b"\x01" + b"\x02" * depth + b"\x00\x05"
            frame = codecs.module.decode(octets)
            assert msgpack.decode(msgpack.encode(frame)) == frame
            try:
                data = protobuf.encode(frame)
            except codecs.module.EncodeError as error:
                assert (error.code, error.expected) == ("unrepresentable", "at most 100 messages in messages")
                continue
            n_carried += 1
            assert protobuf.decode(data) == frame
        assert 20 < n_carried < 31


PLACED = """
protocol p { source "x" endian big roles a, b }
limits { frame = 1024 }
union Value : u8 @raw { Padded 1 { size : u8 := size(data)  _ : bytes[-offset % 4]  data : bytes[size] }  Placed 2 { data : bytes[offset % 4] } }
frame Frame { code : u8 := code(body)  body : match code }
message Holder 1 { value : Value }
"""


@pytest.mark.parametrize("name", ["protobuf", "msgpack"])
def test_a_raw_value_that_only_its_place_makes_right_is_not_carried(tmp_path: Path, name: str) -> None:
    with built(PLACED, tmp_path, f"placed_{name}", ALL) as codecs:
        native = codecs.module
        other = dict(zip(ALL[1:], serializations(f"placed_{name}"), strict=True))[name]
        padded = native.decode(bytes.fromhex("01 01 02 00 0a0b"))
        assert native.encode(other.decode(other.encode(padded))) == native.encode(padded)
        placed = native.decode(bytes.fromhex("01 02 0a0b"))
        with pytest.raises(native.EncodeError) as caught:
            other.encode(placed)
        error = caught.value
        assert (error.code, error.path) == ("unrepresentable", "Value.Placed.data")
        assert error.expected == "a value whose bytes do not depend on its place in the frame"
