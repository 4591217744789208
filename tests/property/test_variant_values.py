"""Values of layout variants are carried by the other serializations: wider integers, other messages of a frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.schemas import built
from tests.property.test_serialization_constructs import serializations

ALL = ("native", "protobuf", "msgpack")
TEXT = """
protocol p { source "no document"  endian big  roles a, b }
frame Frame { kind : u8  body : match kind { 0 => Narrow  _ => Pair } in u16 }
message Narrow { number : u8  signed : i8  wide : u32  items : u8[u8]  some : match number { 0 => u8  _ => utf8[u8] } }
message Pair { one : u8 ?= 3  two : u16 ?= 4 }
message Only { x : u8 }
variant wide {
  frame Frame { body_kind : u8 == 7  kind : u8  body : match kind { 0 => Narrow  1 => Only  _ => Pair } in u16 }
  message Narrow { number : varint  signed : u32  wide : i64  items : u64[u8]  some : match number { 0 => u64  _ => utf8[u8] } }
  message Pair { one : u32 ?= 3  two : u64le ?= 4 }
}
"""


@pytest.fixture(scope="module")
def p(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("wide"), "variant_values", ALL) as codecs:
        yield codecs.module


@pytest.mark.parametrize(
    ("name", "fields", "variant"),
    [
        pytest.param("Narrow", {"number": 0, "signed": -1, "wide": 2**32 - 1, "items": [1], "some": 4}, None),
        pytest.param(
            "Narrow", {"number": 2**60, "signed": 2**32 - 1, "wide": -1, "items": [], "some": "x"}, "wide"
        ),
        pytest.param(
            "Narrow", {"number": 0, "signed": 5, "wide": 1, "items": [2**63], "some": 2**63}, "wide"
        ),
        pytest.param("Only", {"x": 5}, "wide"),
        pytest.param("Pair", {"one": 2**30, "two": 2**60}, "wide"),
        pytest.param("Pair", {"one": 2**30, "absent": 1}, "wide"),
        pytest.param("Pair", {"one": 9, "absent": 1}, None),
    ],
)
def test_values_of_each_layout_are_carried(
    p: Any, name: str, fields: dict[str, Any], variant: str | None
) -> None:
    message = getattr(p, name)(**{field: value for field, value in fields.items() if field != "absent"})
    if "absent" in fields:
        message.absent = fields["absent"]
    frame = p.Frame(message, kind={"Narrow": 0, "Only": 1}.get(name, 2))
    data = p.encode(frame, variant=variant)
    assert p.decode(data, variant=variant) == frame
    for module in serializations("variant_values"):
        carried = module.decode(module.encode(frame, variant=variant), variant=variant)
        assert carried == frame
        assert p.encode(carried, variant=variant) == data
