"""Samples for readers: values are like the name of their field, fit their type and conditions, and are always the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest
from tests.unit.docs_sites import chapter_of

from wiregen.conformance.samples import ReadableChoices, SampleBasis, grow
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.schema.lowering import lower
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.declarations import message_page

TEXT = """wire 1
protocol p { source "no document" endian big roles client, server }
limits { frame = 4 KiB }
frame F { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
coding Small : u32 { 0 .. 250 }
struct Pair { key : utf8[u8]  value : bytes[u8] }
message Names 1 {
  host : ascii[u8]  server_port : u16  writer_id : uuid  created_at : u64  created : u32  segment_name : utf16[u16]
  flavour : utf8[u8]  noise : bytes[u8]  latitude : f32  versions : u8[u8]
}
message Sizes 2 { name_size : u8  name : utf8[name_size]  host : ascii[4]  path : utf8[] }
message Lists 3 { pairs : Pair[u8]  hosts : ascii[u8][u8] where distinct(hosts) }
message Conditions 4 { port : u16 where port < 1024  user : utf8[u8] where user == "root"  note : ascii[u8] where size(note) < 9 }
message Numbers 5 { port : u8  year : i8  id : varint  offset : Small  count : u2  total : u6 }
"""


@pytest.fixture(scope="module")
def basis(tmp_path_factory: pytest.TempPathFactory) -> SampleBasis:
    path = tmp_path_factory.mktemp("readable") / "p.wire"
    path.write_text(TEXT, encoding="utf-8")
    return SampleBasis(schema=lower(chapter_of(path).protocol))


def fields(basis: SampleBasis, code: int) -> Mapping[str, object]:
    """Return the fields of the sample of a message, which an encoder accepts."""
    sample = grow(basis, ReadableChoices(by_site={"F.type": code}), role="client")
    write_frame(basis.schema, sample.value, Options("client"))
    assert isinstance(sample.value.message, Record)
    return sample.value.message.fields


def test_values_are_like_the_names_of_their_fields(basis: SampleBasis) -> None:
    assert fields(basis, 1) == {
        "host": "node-1.example",
        "server_port": 9090,
        "writer_id": UUID("3f2504e0-4f89-41d3-9a0c-0305e82c339f"),
        "created_at": 1_715_938_200_000,
        "created": 1_715_938_200,
        "segment_name": "orders/0",
        "flavour": "flavour 1",
        "noise": b"@(\x14",
        "latitude": 47.375,
        "versions": [1, 2],
    }


def test_a_size_is_that_of_the_text(basis: SampleBasis) -> None:
    assert fields(basis, 2) == {"name_size": 6, "name": "orders", "host": "node", "path": "/var/log/app.log"}


def test_items_differ(basis: SampleBasis) -> None:
    pairs, hosts = fields(basis, 3).values()
    assert [pair.fields for pair in pairs] == [  # type: ignore[attr-defined]
        {"key": "order-1042", "value": b"paid"},
        {"key": "order-1043", "value": b"shipped"},
    ]
    assert hosts == ["node-1.example", "node-2.example"]


def test_conditions_hold(basis: SampleBasis) -> None:
    port, user, note = fields(basis, 4).values()
    assert (port, user) == (443, "root")
    assert isinstance(note, str) and len(note) < 9


def test_numbers_fit_their_types(basis: SampleBasis) -> None:
    assert fields(basis, 5) == {"port": 14, "year": 24, "id": 7, "offset": 34, "count": 3, "total": 3}


@cache
def _shown(path: Path) -> str:
    book = Book(chapter_of(path))
    return "\n".join(
        f"{piece.path} {piece.value}"
        for message in book.protocol.messages
        if (sample := message_page(book, message).sample) is not None
        for piece in sample.anatomy.pieces
    )


def test_pages_show_such_values(tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(TEXT, encoding="utf-8")
    assert 'Names.host "node-1.example"' in _shown(path)
