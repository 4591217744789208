"""A condition of a type holds for each item of a list of that type: both codecs and all serializations name the item."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.property.schemas import built

from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.writing.frames import write_frame

TEXT = """wire 1
protocol p { source "no document: conditions of items" endian big roles a, b }
rule few "A number is less than 5."
type Small = u8 where value < 5 @rule(few)
type Row = Small[u8]
type Word = ascii[u8] where count(value) > 0
struct Pair { low : u8  high : u8 }
type Ordered = Pair where value.low <= value.high
union U : u8 { Some 1 : Small[u8] }
message M 1 { small : Small[2]  rest : Small[] }
message Rows 2 { rows : Row[u8] }
message Words 3 { words : Word[u8]  pairs : Ordered[u8] }
message Chosen 4 { k : u8  v : match k { 0 => Small[u8]  _ => u8 }  u : U[u8] }
frame Frame { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
"""


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    where = tmp_path_factory.mktemp("items")
    with built(TEXT, where, "of_items", ("native", "protobuf", "msgpack")) as codecs:
        yield codecs


@pytest.mark.parametrize(
    ("octets", "path", "offset", "rule", "found"),
    [
        pytest.param("01 0002 02 05", "M.small[1]", 4, "few", "5", id="counted"),
        pytest.param("01 0004 02 04 00 05", "M.rest[1]", 6, "few", "5", id="to-the-end"),
        pytest.param("02 0006 02 01 04 02 00 07", "Rows.rows[1][1]", 8, "few", "7", id="list-of-lists"),
        pytest.param("03 0004 02 01 61 00", "Words.words[1]", 6, None, "", id="text"),
        pytest.param("03 0004 00 01 02 01", "Words.pairs[0]", 5, None, "", id="struct"),
        pytest.param("04 0004 00 01 09 00", "Chosen.v[0]", 5, "few", "9", id="arm"),
        pytest.param(
            "04 0007 01 00 01 01 02 00 06", "Chosen.u[0].Some.value[1]", 9, "few", "6", id="variety"
        ),
    ],
)
def test_an_item_that_breaks_the_condition_is_refused_by_its_own_name(
    codecs: Any, octets: str, path: str, offset: int, rule: str | None, found: str
) -> None:
    data = bytes.fromhex(octets)
    for read in (codecs.module.decode, lambda data: explain(codecs.schema, data, 0, len(data), Options())):
        with pytest.raises((DecodeError, codecs.module.DecodeError)) as raised:
            read(data)
        error = raised.value
        assert (error.code, error.path, error.at, error.rule, error.found) == (
            "constraint",
            path,
            offset,
            rule,
            found,
        )


def refused(write: Any, frame: Any) -> tuple[str, str, str | None]:
    """Return why a frame is refused; each package has an EncodeError of its own."""
    with pytest.raises(Exception, match="constraint") as raised:
        write(frame)
    assert type(raised.value).__name__ == EncodeError.__name__
    error: Any = raised.value
    return error.code, error.path, error.rule


def test_an_item_that_breaks_the_condition_is_not_written_in_any_form(codecs: Any) -> None:
    module: ModuleType = codecs.module
    forms = [importlib.import_module(f"of_items.p.{name}") for name in ("protobuf", "msgpack")]
    writers = [
        module.encode,
        *(form.encode for form in forms),
        lambda frame: write_frame(codecs.schema, frame, Options()),
    ]
    cases = [
        (module.M(small=[1, 5], rest=[]), "M.small[1]", "few"),
        (module.Rows(rows=[[1], [4, 200]]), "Rows.rows[1][1]", "few"),
        (module.Words(words=[], pairs=[module.Pair(low=2, high=1)]), "Words.pairs[0]", None),
    ]
    for write in writers:
        for message, path, rule in cases:
            assert refused(write, module.Frame(message)) == ("constraint", path, rule)


def test_items_that_fulfil_the_condition_come_back_in_every_form(codecs: Any) -> None:
    module: ModuleType = codecs.module
    frame = module.Frame(module.M(small=[0, 4], rest=[3, 3, 3]))
    assert module.decode(module.encode(frame)) == frame
    for name in ("protobuf", "msgpack"):
        form = importlib.import_module(f"of_items.p.{name}")
        assert form.decode(form.encode(frame)) == frame
