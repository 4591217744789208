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
from tests.property.test_serialization_constructs import ALL, serializations

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


COMPARED = """
protocol p { source "a public document"  endian big  roles a, b }
limits { frame = 1 KiB }
frame Frame { type : u8 := code(body)  body : match type in u8 }
union U : u8 { One 1 : u8  Two 2 : u16  Nil 3  Many 4 : U[u8] }
struct S { u : U  n : u8 }
message Distinct 1 { items : U[u8] where distinct(items) }
message DistinctStructs 2 { items : S[u8] where distinct(items) }
message Lists 3 { a : U[u8]  b : U[u8] where a == b }
message Unions 4 { a : U  b : U where a == b }
message Structs 5 { a : S  b : S where a == b }
message StructLists 6 { a : S[u8]  b : S[u8] where a == b }
message In 7 { a : U[u8]  b : U where b in a }
message StructIn 8 { a : S[u8]  b : S where b in a }
message Index 9 { a : U[u8]  b : U where index(a, b) < count(a) }
message Items 10 { a : U[u8] where a[0] == a[1] }
message Until 11 { a : S  items : S[until value == a] }
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(COMPARED, tmp_path_factory.mktemp("compared"), "compared_items", ALL) as found:
        yield found


PAIRS: dict[str, tuple[Callable[[Any, Any, Any], Any], bool]] = {
    "distinct": (lambda p, x, y: p.Distinct([x, y]), False),
    "distinct structs": (lambda p, x, y: p.DistinctStructs([p.S(x, 1), p.S(y, 1)]), False),
    "lists": (lambda p, x, y: p.Lists([x], [y]), True),
    "unions": (lambda p, x, y: p.Unions(x, y), True),
    "structs": (lambda p, x, y: p.Structs(p.S(x, 1), p.S(y, 1)), True),
    "lists of structs": (lambda p, x, y: p.StructLists([p.S(x, 1)], [p.S(y, 1)]), True),
    "in": (lambda p, x, y: p.In([x], y), True),
    "a struct in": (lambda p, x, y: p.StructIn([p.S(x, 1)], p.S(y, 1)), True),
    "index": (lambda p, x, y: p.Index([x], y), True),
    "items": (lambda p, x, y: p.Items([x, y]), True),
    "until": (lambda p, x, y: p.Until(p.S(x, 1), [p.S(y, 1)]), True),
}
N_ALTERNATIVES = 7


def alternatives(p: Any) -> list[Any]:
    u = p.U
    return [u.One(1), u.One(2), u.Two(1), u.Nil(), u.Many([]), u.Many([u.One(1)]), u.Many([u.One(2)])]


def octets_of(u: Any) -> bytes:
    match type(u).__name__:
        case "Many":
            return bytes((4, len(u.value), *b"".join(octets_of(each) for each in u.value)))
        case "Nil":
            return b"\3"
        case name:
            return bytes((1, u.value)) if name == "One" else bytes((2, *u.value.to_bytes(2, "big")))


@pytest.mark.parametrize("name", PAIRS)
def test_alternatives_are_compared_by_writers_as_by_readers(compared: Codecs, name: str) -> None:
    """With their fields by `==`, `in` and `index`; by their codes by `distinct`, for which they are keys."""
    p, (make, is_equality) = compared.module, PAIRS[name]
    for first in range(N_ALTERNATIVES):
        for second in range(N_ALTERNATIVES):
            x, y = alternatives(p)[first], alternatives(p)[second]
            is_right = first == second if is_equality else type(x) is not type(y)
            frame = p.Frame(make(p, x, y))
            written = agreement.check_refusal(compared, frame)
            assert is_refusal(written) is not is_right, (x, y)
            for module in serializations("compared_items"):
                if is_right:
                    assert module.decode(module.encode(frame)) == frame
                else:
                    with pytest.raises(p.EncodeError):
                        module.encode(frame)
            data = frame_of(name, x, y)
            read = agreement.check_bytes(compared, data, Wishes())
            assert is_refusal(read) is not is_right, (x, y)
            assert not is_right or written == data


def frame_of(name: str, x: Any, y: Any) -> bytes:
    """Return the bytes of the frame of a pair, whether its condition holds or not."""
    first, second = octets_of(x), octets_of(y)
    one, two = first + b"\1", second + b"\1"
    body = {
        "distinct": b"\2" + first + second,
        "distinct structs": b"\2" + one + two,
        "lists": b"\1" + first + b"\1" + second,
        "unions": first + second,
        "structs": one + two,
        "lists of structs": b"\1" + one + b"\1" + two,
        "in": b"\1" + first + second,
        "a struct in": b"\1" + one + two,
        "index": b"\1" + first + second,
        "items": b"\2" + first + second,
        "until": one + two,
    }[name]
    return bytes((1 + list(PAIRS).index(name), len(body))) + body
