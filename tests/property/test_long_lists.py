"""An error after many valid items is found without reading all of them by the reference codec, and is the
same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.lines import work
from tests.property.codecs import Codecs, Wishes, described
from tests.property.schemas import built

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain

TEXT = """\
wire 1
protocol p {
  source "no document: long lists"
  endian big
  roles a, b
}
limits { messages = 100000 }
frame Frame {
  type : u8 := code(body)
  length : u32 := size(body)
  body : match type in length
}
struct Item { number : u16le  flag : bool  name : utf8[u8]  wide : utf16[u8]  data : bytes[i16]  id : uuid  _ : u8 }
struct Short { flag : bool lenient  name : utf8[u8] lenient }
message Counted 1 { items : Item[u32]  end_mark : u8 }
message Rest 2 { items : Item[] }
message Lenient 3 { items : Short[u32]  end_mark : u8 }
message Asked 4 { listed : Short[u32] where distinct(listed) }
struct Row { key : u8  cells : Cell[u16]  end_mark : u8 where end_mark != 9 }
struct Cell { kind : u8 where kind != 9  note : utf8[u8] }
message Table 5 { head : Cell[u16]  rows : Row[u32]  foot : Cell[u16]  end_mark : u8 where end_mark == 1 }
struct Chosen { key : u8  picked : u8[u16]  dots : u8[u16] }
message Judged 6 { chosen : Chosen[u16] where distinct(chosen)  end_mark : u8 where end_mark == 1 }
struct Words { words : u8[u16] where distinct(words)  ends : bool }
message Inner 7 { groups : Words[u16]  run : Words[until ends]  end_mark : u8 where end_mark == 1 }
"""
ITEM = b"\x01\0\x01\x01n\x01\0w\0\x02dd" + bytes(17)
SHORT = b"\x02\x01\xff"
N_ITEMS = 1000
BAD_ITEMS = {
    "a flag": ITEM[:2] + b"\x02" + ITEM[3:],
    "a text": ITEM[:4] + b"\xff" + ITEM[5:],
    "a negative length": ITEM[:8] + b"\xff\xff" + ITEM[10:],
    "a length beyond the region": ITEM[:8] + b"\x7f\xff" + ITEM[10:],
    "cut": ITEM[:-1],
}


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("long"), "long_lists") as found:
        yield found


def frame(code: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return bytes([code]) + len(body).to_bytes(4, "big") + body


def counted(code: int, items: list[bytes], after: bytes = b"\x07") -> bytes:
    return frame(code, len(items).to_bytes(4, "big"), *items, after)


def reference(codecs: Codecs, data: bytes, strict: bool = False) -> dict[str, Any]:
    """Return the fault as the reference codec alone finds it."""
    with pytest.raises(DecodeError) as error:
        explain(codecs.schema, data, 0, len(data), Options(strict=strict))
    return described(error.value)


@pytest.mark.parametrize("bad", BAD_ITEMS.values(), ids=BAD_ITEMS)
@pytest.mark.parametrize("place", [0, 255, 256, 257, N_ITEMS])
@pytest.mark.parametrize("make", [lambda items: counted(1, items), lambda items: frame(2, *items)])
def test_the_fault_is_the_same(
    codecs: Codecs, bad: bytes, place: int, make: Callable[[list[bytes]], bytes]
) -> None:
    data = make([ITEM] * place + [bad])
    outcome = codecs.compiled(data, Wishes())
    assert outcome == reference(codecs, data)
    items = codecs.compiled_items([data], Wishes())
    assert [item for _, _, item in items] == [outcome]


def test_what_is_tolerated_is_gone_past_unless_strict(codecs: Codecs) -> None:
    data = counted(3, [SHORT] * N_ITEMS, b"")
    for strict in (False, True):
        outcome = codecs.compiled(data, Wishes(strict=strict))
        assert outcome == reference(codecs, data, strict)


def test_a_list_that_a_condition_asks_for_is_read(codecs: Codecs) -> None:
    data = counted(4, [b"\x01\x01" + bytes([index % 100 + 20]) for index in range(N_ITEMS)], b"")
    outcome = codecs.compiled(data, Wishes())
    assert isinstance(outcome, dict)
    assert outcome["code"] == "constraint"
    assert outcome == reference(codecs, data)


def test_what_is_shown_has_no_gap(codecs: Codecs) -> None:
    data = counted(1, [ITEM] * N_ITEMS + [BAD_ITEMS["a flag"]])
    outcome = codecs.compiled(data, Wishes())
    assert isinstance(outcome, dict)
    shown = outcome["partial"]["fields"]["items"]
    assert shown == [shown[0]] * 256
    assert outcome == reference(codecs, data)


def cells(n: int, kind: int = 1) -> bytes:
    return n.to_bytes(2, "big") + bytes([kind, 1, 110]) * n


def row(n: int, kind: int = 1, mark: int = 1) -> bytes:
    return b"\x05" + cells(n, kind) + bytes([mark])


SIZES = {
    "short ones": [3] * 300,
    "three": [300] * 3,
    "a square": [40] * 40,
    "empty ones": [0] * 1500,
    "a long one at the end": [2] * 255 + [300],
    "all that are shown": [1023],
    "one more": [1022, 5],
    "long and short": [300, 3, 300, 3],
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("place", ["a mark", "a cell", "the foot", "the end"])
def test_lists_in_lists_show_the_same(codecs: Codecs, sizes: list[int], place: str) -> None:
    """However many items come before the fault, and however deep."""
    rows = [row(n) for n in sizes]
    if place in ("a mark", "a cell"):
        rows.append(row(2, mark=9) if place == "a mark" else row(2, kind=9))
    foot = cells(2, 9) if place == "the foot" else cells(300)
    data = frame(5, cells(4), len(rows).to_bytes(4, "big"), *rows, foot, b"\x02")
    outcome = codecs.compiled(data, Wishes())
    assert isinstance(outcome, dict)
    assert outcome["code"] == "constraint"
    assert outcome == reference(codecs, data)


@pytest.mark.parametrize("n", [2, 300, 2000])
@pytest.mark.parametrize("is_same", [False, True])
def test_lists_within_what_a_condition_asks_for_are_kept(codecs: Codecs, n: int, is_same: bool) -> None:
    """Two items that differ only after the part that an error shows are not the same."""
    first, second = bytes(n), bytes(n - 1) + bytes([not is_same])
    chosen = [b"\1" + n.to_bytes(2, "big") + data + bytes(2) for data in (first, second)]
    data = frame(6, len(chosen).to_bytes(2, "big"), *chosen, b"\x02")
    outcome = codecs.compiled(data, Wishes())
    assert isinstance(outcome, dict)
    assert outcome["path"] == ("Judged.chosen" if is_same else "Judged.end_mark")
    assert outcome == reference(codecs, data)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("is_same", [False, True])
def test_what_items_that_are_not_shown_ask_for_is_kept(codecs: Codecs, n: int, is_same: bool) -> None:
    words = b"\x01\x00" + bytes(range(256)) + b"\0"
    last = b"\x00\x02\x01" + bytes([2 - is_same]) + b"\1"
    data = frame(7, n.to_bytes(2, "big"), *[words] * n, *[words] * n, last, b"\x02")
    outcome = codecs.compiled(data, Wishes())
    assert isinstance(outcome, dict)
    assert outcome["path"] == (f"Inner.run[{n}].words" if is_same else "Inner.end_mark")
    assert outcome == reference(codecs, data)


def test_a_good_item_costs_little(codecs: Codecs) -> None:
    """The reference reading of all items beside the search for the fault."""
    data = counted(1, [ITEM] * 800 + [BAD_ITEMS["a flag"]])
    codecs.compiled(data, Wishes())  # what is loaded and made once
    quick = work(lambda: codecs.compiled(data, Wishes()))
    assert quick < work(lambda: reference(codecs, data)) / 2
