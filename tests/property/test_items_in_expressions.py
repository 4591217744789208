"""Items of lists in expressions: an encoder compares them as a reader does, whatever class the values are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from tests.property import agreement
from tests.property.codecs import Codecs, Wishes, is_refusal
from tests.property.schemas import built
from tests.property.test_hostile_values import HOSTILE, SilentBytes, SilentInt, SilentText

TEXT = """
protocol p { source "a public document"  endian big  roles a, b }
frame Frame { type : u8 := code(body)  body : match type in u8 }
open enum Kind : u8 { ONE = 1 }
struct Measured { has : bool := present(x)  x : f32 if has }
struct Named { name : bytes[u8]  kind : Kind }
struct Chosen { kind : u8  value : match kind { 1 => u16  2 => bytes[u8] } }
message Measures 1 { items : Measured[u8] where distinct(items) }
message Names 2 { items : Named[u8] where distinct(items) }
message Numbers 3 { items : u8[u8] where distinct(items) and 3 not in items }
message Ids 4 { items : uuid[u8] where distinct(items) }
message Choices 5 { items : Chosen[u8] where distinct(items) }
message Words 6 { items : Word[u8] where distinct(items) }
struct Word { text : utf8[u8] }
"""


class SilentUuid(UUID):
    """Equal to nothing, and not hashable."""

    def __hash__(self) -> int:
        raise RuntimeError("no method of mine answers")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no method of mine answers")


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("items"), "items_in_expressions") as found:
        yield found


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "absent": (
        lambda p: p.Measures([p.Measured(None), p.Measured(1.5)]),
        lambda p: p.Measures([p.Measured(None), p.Measured(None)]),
    ),
    "bytearray": (
        lambda p: p.Names([p.Named(bytearray(b"a"), 1), p.Named(b"b", 1)]),
        lambda p: p.Names([p.Named(bytearray(b"a"), 1), p.Named(b"a", 1)]),
    ),
    "bytes": (
        lambda p: p.Names([p.Named(SilentBytes(b"a"), SilentInt(1)), p.Named(b"b", 1)]),
        lambda p: p.Names([p.Named(SilentBytes(b"a"), SilentInt(1)), p.Named(b"a", 1)]),
    ),
    "number": (lambda p: p.Numbers([SilentInt(1), 2]), lambda p: p.Numbers([SilentInt(1), 1])),
    "number in a list": (lambda p: p.Numbers([SilentInt(4)]), lambda p: p.Numbers([SilentInt(3)])),
    "uuid": (
        lambda p: p.Ids([SilentUuid(int=1), UUID(int=2)]),
        lambda p: p.Ids([SilentUuid(int=1), UUID(int=1)]),
    ),
    "choice": (
        lambda p: p.Choices([p.Chosen(2, memoryview(b"a")), p.Chosen(2, b"b")]),
        lambda p: p.Choices([p.Chosen(2, memoryview(b"a")), p.Chosen(2, b"a")]),
    ),
    "text": (
        lambda p: p.Words([p.Word(SilentText("a")), p.Word("b")]),
        lambda p: p.Words([p.Word(SilentText("a")), p.Word("a")]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_items_are_compared_by_their_bytes(codecs: Codecs, name: str) -> None:
    different, equal = CASES[name]
    data = agreement.check_refusal(codecs, codecs.module.Frame(different(codecs.module)))
    assert isinstance(data, bytes)
    assert not is_refusal(agreement.check_bytes(codecs, data, Wishes()))
    refused = agreement.check_refusal(codecs, codecs.module.Frame(equal(codecs.module)))
    assert isinstance(refused, dict)
    assert refused["code"] == "constraint"


@pytest.mark.parametrize("make", HOSTILE)
def test_any_item_is_written_or_refused(codecs: Codecs, make: Callable[[], Any]) -> None:
    p = codecs.module
    for message in (
        p.Measures([p.Measured(make()), p.Measured(1.5)]),
        p.Names([p.Named(make(), make()), p.Named(b"b", 1)]),
        p.Choices([p.Chosen(make(), b"a"), p.Chosen(2, make()), p.Chosen(1, make())]),
        p.Words([p.Word(make())]),
        *(each([make(), make()]) for each in (p.Measures, p.Names, p.Numbers, p.Ids, p.Choices, p.Words)),
    ):
        agreement.check_refusal(codecs, p.Frame(message))
