"""Fields that are read once more: `as json`, `as dict` and `as` a type, in generated code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.codecs import Codecs
from tests.property.schemas import built

TEXT = """\
wire 1
protocol p {
  source "no document: views"
  endian big
  roles a, b
}
frame Frame {
  type : u8 := code(body)
  length : u16 := size(body)
  body : match type in length
}
enum Kind : u8 { LOW = 1 }
struct Point { name : utf8[u8]  height : u8 }
union Value : u8 { Small 1 : u8 }
message All 1 {
  frames : bytes[u16] as Frame[] only Ping
  one : bytes[u8] as Point
  many : bytes[u8] as Point[]
  value : bytes[u8] as Value
  message : bytes[u8] as Ping
  kind : bytes[u8] as Kind
  numbers : bytes[u8] as u16[]
  text : bytes[u8] as utf8[]
  pairs : Point[u8] as dict
  json : bytes[u8] as json
  has : bool
  gone : bytes[u8] as Point if has
  maybe : Point[u8] as dict if has
  inner : { block : bytes[u8] as Point } in u8
}
message Ping 2 { number : u8 }
message Pong 3 {}
"""
POINT = b"\x01a\x05"


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("views"), "views") as found:
        yield found


def message(m: Any, **changed: Any) -> Any:
    """Return a message with views, as it comes off the wire."""
    values = {
        "frames": m.encode(m.Ping(7)) * 2,
        "one": POINT,
        "many": POINT * 2,
        "value": b"\x01\x09",
        "message": b"\x07",
        "kind": b"\x01",
        "numbers": b"\0\1\0\2",
        "text": "é".encode(),
        "pairs": [m.Point("x", 1), m.Point("x", 2)],
        "json": b'{"a": 1}',
        "has": False,
        "gone": None,
        "maybe": None,
        "block": POINT,
        **changed,
    }
    attributes = {name if hasattr(m.All, name) else f"{name}_": value for name, value in values.items()}
    return m.decode(m.encode(m.All(**attributes))).message


def test_a_view_reads_the_bytes_once_more(codecs: Codecs) -> None:
    m = codecs.module
    made = message(m)
    assert [frame.message for frame in made.frames_frames] == [m.Ping(7), m.Ping(7)]
    assert made.one_point == made.block_point == m.Point("a", 5)
    assert made.many_point == [m.Point("a", 5)] * 2
    assert made.value_value == m.Value.Small(9)
    assert made.message__ping == m.Ping(7)
    assert made.kind_kind is m.Kind.LOW
    assert made.numbers_items == [1, 2]
    assert made.text_text == "é"
    assert made.pairs_dict == {"x": 2}
    assert made.json_json == {"a": 1}


def test_a_view_of_what_is_absent_is_none(codecs: Codecs) -> None:
    made = message(codecs.module)
    assert made.gone_point is None
    assert made.maybe_dict is None


@pytest.mark.parametrize(
    ("field", "data", "code"),
    [
        pytest.param("one", b"\x05a", "truncated", id="cut"),
        pytest.param("one", POINT + b"x", "trailing_bytes", id="left over"),
        pytest.param("value", b"\x09\x09", "unknown_code", id="union"),
        pytest.param("frames", b"\x03\0\0", "constraint", id="only"),
    ],
)
def test_a_view_of_bytes_that_do_not_conform_is_an_error(
    codecs: Codecs, field: str, data: bytes, code: str
) -> None:
    made = message(codecs.module, **{field: data})
    view = {"one": "one_point", "value": "value_value", "frames": "frames_frames"}[field]
    with pytest.raises(codecs.module.DecodeError) as error:
        getattr(made, view)
    assert error.value.code == code
