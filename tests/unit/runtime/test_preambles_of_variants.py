"""A preamble that a variant lays otherwise: encoder, decoder and connection keep to the variant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property.codecs import Codecs
from tests.property.schemas import built

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain

CASE = Path(__file__).resolve().parents[2] / "cases" / "constructs" / "preamble_of_a_variant.wire"
LAID = {None: "4849 0201 07", "other": "0102 4849 07", "short": "4849 0201 07"}
MESSAGES = {None: "01 0002 0003", "other": "01 0002 0300", "short": "01 0001 03"}


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(CASE.read_text(encoding="utf-8"), tmp_path_factory.mktemp("variant"), "unit_variant") as made:
        yield made


@pytest.mark.parametrize("variant", LAID)
def test_a_variant_lays_its_preamble_in_every_codec(codecs: Codecs, variant: Any) -> None:
    p, data = codecs.module, bytes.fromhex(LAID[variant])
    hello = p.Hello(0x0102, 7)
    assert hello.encode(variant=variant) == p.encode(hello, variant=variant) == data
    found = explain(codecs.schema, data, 0, len(data), Options("a", variant=variant), is_preamble=True)
    assert found.value.fields == {"v": 0x0102, "minor": 7}
    items = list(p.Decoder("a", variant=variant).feed(data + bytes.fromhex(MESSAGES[variant])))
    assert [items[0], items[1].message] == [hello, p.A(3)]


def test_a_damaged_preamble_of_a_variant_is_a_decode_error(codecs: Codecs) -> None:
    p = codecs.module
    with pytest.raises(p.DecodeError) as raised:
        list(p.Decoder("a", variant="other").feed(bytes.fromhex("0102 4848 07")))
    assert (raised.value.code, raised.value.path, raised.value.at) == ("wrong_constant", "Hello.magic", 2)
    assert (raised.value.expected, raised.value.found) == ('x"4849"', 'x"4848"')
