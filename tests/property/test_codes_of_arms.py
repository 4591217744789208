"""Fields derived from a code, where it is not that code by which the value was chosen: both codecs compare them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.property.codecs import Codecs, Wishes
from tests.property.schemas import built
from tests.property.test_serialization_constructs import serializations

ALL = ("native", "protobuf", "msgpack")
BY_ARMS = """
protocol p { source "no document"  endian big  roles a, b }
frame F {
  kind : u8
  type : u8 := code(body) if kind != 9
  body : match kind { 0 => match type  9 => Bare  _ => match type { 1 .. 2 => One  7 => match type  _ => Other } } in u16
}
message One 1 { x : u8 }
message Other 4 { x : u8 }
message Seven 7 { x : u8 }
message Bare { x : u8 }
"""
OF_UNIONS = """
protocol p { source "no document"  endian big  roles a, b }
frame F { type : u8 := code(body)  body : match type in u8 }
message A 1 { kind : u8 := code(value)  value : Value }
message B 2 { kind : u8 := code(inner)  inner : A  tail : u8 }
union Value : u8 { Small 1 { x : u8 }  Wide 2 .. 3 { x : u16 } }
"""


@pytest.fixture(scope="module")
def by_arms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(BY_ARMS, tmp_path_factory.mktemp("arms"), "codes_by_arms", ALL) as codecs:
        yield codecs


@pytest.fixture(scope="module")
def of_unions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(OF_UNIONS, tmp_path_factory.mktemp("unions"), "codes_of_unions", ALL) as codecs:
        yield codecs


@pytest.mark.parametrize(
    ("protocol", "octets"),
    [
        pytest.param("by_arms", "00 01 0001 05", id="by code"),
        pytest.param("by_arms", "01 01 0001 05", id="by an arm that takes its code"),
        pytest.param("by_arms", "01 04 0001 05", id="by the rest of the arms"),
        pytest.param("by_arms", "01 07 0001 05", id="by code, in an arm of an arm"),
        pytest.param("by_arms", "09 0001 05", id="without a code, where none is written"),
        pytest.param("of_unions", "01 03 01 01 05", id="of a variety"),
        pytest.param("of_unions", "01 04 03 03 0005", id="of a variety with several codes"),
        pytest.param("of_unions", "02 05 01 01 01 05 06", id="of a message in a message"),
    ],
)
def test_a_code_that_agrees_is_read_and_written_by_all(
    protocol: str, octets: str, request: pytest.FixtureRequest
) -> None:
    data = bytes.fromhex(octets)
    codecs: Codecs = request.getfixturevalue(protocol)
    assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes())
    frame = codecs.module.decode(data)
    assert codecs.compiled_encode(frame) == codecs.reference_encode(frame) == data
    for module in serializations(f"codes_{protocol}"):
        assert module.decode(module.encode(frame)) == frame


@pytest.mark.parametrize(
    ("protocol", "octets", "path"),
    [
        pytest.param("by_arms", "01 02 0001 05", "F.type", id="of an arm that takes several"),
        pytest.param("by_arms", "01 09 0001 05", "F.type", id="of the rest of the arms"),
        pytest.param("of_unions", "01 03 02 01 05", "A.kind", id="of a variety"),
        pytest.param("of_unions", "01 04 02 03 0005", "A.kind", id="of a variety with several codes"),
        pytest.param("of_unions", "02 05 02 01 01 05 06", "B.kind", id="of a message in a message"),
    ],
)
def test_a_code_that_differs_is_refused_by_both(
    protocol: str, octets: str, path: str, request: pytest.FixtureRequest
) -> None:
    data = bytes.fromhex(octets)
    codecs: Codecs = request.getfixturevalue(protocol)
    outcome = codecs.reference(data, Wishes())
    assert isinstance(outcome, dict)
    assert (outcome["code"], outcome["path"]) == ("constraint", path)
    assert codecs.compiled(data, Wishes()) == outcome
    chunks = [data[place : place + 1] for place in range(len(data))]
    assert codecs.compiled_items(chunks, Wishes()) == codecs.reference_items(chunks, Wishes())


OF_THE_OTHER_ROLE = """
protocol p { source "no document"  endian big  roles a, b }
frame Ask from a { type : u8 := code(body)  body : match type in u8 }
frame Tell from b { kind : u8  type : u8 := code(body)  body : match kind { 0 => match type  _ => Question } in u8 }
message Question 1 from a { x : u8 }
message Answer 2 from b { x : u8 }
"""


def test_the_code_of_a_message_that_the_other_role_sends_is_compared_where_an_arm_names_it(
    tmp_path: Path,
) -> None:
    with built(OF_THE_OTHER_ROLE, tmp_path, "codes_of_the_other_role", ALL) as codecs:
        told = Wishes(from_role="b")
        for octets in ("00 02 01 05", "07 01 01 05"):
            data = bytes.fromhex(octets)
            frame = codecs.module.decode(data, from_role="b")
            assert codecs.compiled(data, told) == codecs.reference(data, told)
            assert codecs.compiled_encode(frame) == codecs.reference_encode(frame) == data
        wrong = bytes.fromhex("07 02 01 05")
        outcome = codecs.reference(wrong, told)
        assert isinstance(outcome, dict)
        assert (outcome["code"], outcome["path"]) == ("constraint", "Tell.type")
        assert codecs.compiled(wrong, told) == outcome


IN_AN_OPTIONAL_BLOCK = """
protocol p { source "no document"  endian big  roles a, b }
frame F {
  kind : u8
  more : bit := present(rest)
  _ : u7 == 0
  rest : { type : u16 := code(body)  body : match kind { 0 => match type  _ => One } } if more
}
message One 1 { x : u8 }
message Two 2 { x : u8 }
"""


def test_a_code_is_compared_in_a_block_that_may_be_absent(tmp_path: Path) -> None:
    with built(IN_AN_OPTIONAL_BLOCK, tmp_path, "codes_in_an_optional_block", ALL) as codecs:
        for octets in ("00 80 0002 05", "01 80 0001 05", "07 00"):
            data = bytes.fromhex(octets)
            frame = codecs.module.decode(data)
            assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes())
            assert codecs.compiled_encode(frame) == codecs.reference_encode(frame) == data
        wrong = bytes.fromhex("01 80 0002 05")
        outcome = codecs.reference(wrong, Wishes())
        assert isinstance(outcome, dict)
        assert (outcome["code"], outcome["path"]) == ("constraint", "F.type")
        assert codecs.compiled(wrong, Wishes()) == outcome
