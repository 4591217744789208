"""Both codecs join alike: random pieces of several things at once, good and damaged, in any chunks."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property import values
from tests.property.codecs import Codecs, Item, Outcome, cut, described
from tests.property.schemas import built
from tests.property.test_serialization_constructs import ALL, serializations

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import part_record
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

TEXT = (Path(__file__).parent / "joins.wire").read_text(encoding="utf-8")
PLACES = st.lists(st.integers(0, 2**16), max_size=6)
SMALL = st.integers(0, 3)


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("joins"), "joins_wire", ALL) as found:
        yield found


def outcome(codecs: Codecs, item: Any) -> tuple[Outcome, Any]:
    if isinstance(item, DecodeError | codecs.module.DecodeError):
        return described(item), None
    frame = item.value if isinstance(item, Node) else item
    return codecs.line(frame), part_record(codecs.schema, frame)


def items(codecs: Codecs, decoder: Any, chunks: list[bytes]) -> list[tuple[int, int, Any]]:
    found: list[Item] = [item for chunk in chunks for item in decoder.items(chunk)]
    found += decoder.finish_items()
    return [(offset, size, outcome(codecs, item)) for offset, size, item in found]


def check_stream(codecs: Codecs, data: bytes, role: str, places: list[int]) -> list[tuple[int, int, Any]]:
    """Check that both decoders say the same of a stream, however it is cut, and know the same after it."""
    found = []
    for chunks in ([data], cut(data, places)):
        fast, reference = codecs.module.Context(), Context(codecs.schema)
        decoder = codecs.module.Decoder(role, context=fast, errors="yield")
        found.append(items(codecs, decoder, chunks))
        options = Options(role, context=reference)
        found.append(
            items(codecs, reference_decoder(codecs.schema, options, "yield", context=reference), chunks)
        )
        assert fast.snapshot() == reference.snapshot()
    assert found[0] == found[1] == found[2] == found[3]
    assert sum(size for _, size, _ in found[0]) == len(data)
    return found[0]


def calls(p: Any) -> st.SearchStrategy[bytes]:
    """Return frames of one direction: whole ones, pieces of good blocks and of bad ones."""
    go = st.builds(p.Go, st.integers(0, 99), st.binary(max_size=9))
    whole = st.builds(p.Call, go | st.builds(p.Stop, SMALL), SMALL, note=st.none() | st.just("n"))
    piece = st.tuples(st.integers(1, 2), SMALL, st.booleans(), st.binary(max_size=12))
    return whole.map(lambda frame: bytes(frame.encode())) | piece.map(
        lambda parts: bytes([parts[0], parts[1], parts[2], 0]) + len(parts[3]).to_bytes(2, "big") + parts[3]
    )


def answers(p: Any) -> st.SearchStrategy[bytes]:
    message = st.one_of(
        st.builds(p.Size, SMALL, st.integers(0, 3)),
        st.builds(p.Piece, SMALL, SMALL, st.booleans(), st.binary(max_size=60)),
        st.builds(p.Drop, SMALL, st.booleans()),
        st.builds(p.Cut, st.binary(max_size=4)),
        st.builds(p.End, st.binary(max_size=4)),
        st.sampled_from([bytes.fromhex("0002 01"), bytes.fromhex("00 02 01 02"), b"\1"]).map(p.Cut),
        st.sampled_from([bytes.fromhex("0102"), bytes.fromhex("02"), bytes.fromhex("0105")]).map(p.End),
    )
    return message.map(lambda each: bytes(each.encode()))


@given(data=st.data(), places=PLACES)
def test_calls_in_pieces_are_joined_alike(codecs: Codecs, data: st.DataObject, places: list[int]) -> None:
    stream = b"".join(data.draw(st.lists(calls(codecs.module), max_size=12)))
    check_stream(codecs, stream, "a", places)


@given(data=st.data(), places=PLACES)
def test_answers_in_pieces_are_joined_alike(codecs: Codecs, data: st.DataObject, places: list[int]) -> None:
    stream = b"".join(data.draw(st.lists(answers(codecs.module), max_size=16)))
    check_stream(codecs, stream, "b", places)


@given(data=st.data(), role=st.sampled_from("ab"), places=PLACES)
def test_damaged_pieces_are_refused_alike(
    codecs: Codecs, data: st.DataObject, role: str, places: list[int]
) -> None:
    frames = calls(codecs.module) if role == "a" else answers(codecs.module)
    stream = b"".join(data.draw(st.lists(frames, min_size=1, max_size=8)))
    check_stream(codecs, data.draw(values.mutated(stream)), role, places)


@given(data=st.binary(min_size=2, max_size=60), places=PLACES, note=st.none() | st.just("later"))
def test_a_block_that_is_cut_anywhere_is_the_same(
    codecs: Codecs, data: bytes, places: list[int], note: str | None
) -> None:
    p = codecs.module
    frame = p.Call(p.Go(7, data), 5, note=note)
    block = frame.encode()[6:]
    pieces = cut(block, places)
    frames = [
        bytes([1, 5, index < len(pieces) - 1, note is not None]) + len(piece).to_bytes(2, "big") + piece
        for index, piece in enumerate(pieces)
    ]
    found = list(p.Decoder("a").feed(b"".join(frames)))
    assert found[-1] == frame
    assert found[-1].encode() == frame.encode()
    assert [each.message for each in found[:-1]] == [p.CallPart(piece) for piece in pieces[:-1]]
    if len(pieces) > 1:
        assert found[-1].part.index == len(pieces) - 1


def test_a_context_is_set_by_what_is_joined(codecs: Codecs) -> None:
    p = codecs.module
    inner = p.Size(1, 2).encode()
    stream = p.Cut(inner[:2]).encode() + p.End(inner[2:]).encode() + bytes.fromhex("0003 06 01 abcd")
    decoder = p.Decoder("b")
    assert [frame.message for frame in decoder.feed(stream)][-1] == p.Sized(1, b"\xab\xcd")
    decoder.finish()


def test_a_field_that_only_the_whole_block_gives_is_none_beside_a_piece(tmp_path: Path) -> None:
    text = """wire 1
protocol p { source "no document" endian big roles a, b }
frame Frame {
  length : u16 := size(payload)
  more : bool = false
  payload : { mark : u16  type : u5 := code(body)  level : u3  body : match type } in length
}
message A 1 { a : u8 }
join Whole : Frame.payload { part Frame.payload when more  last Frame.payload when not more }
"""
    with built(text, tmp_path, "beside_pieces") as codecs:
        module = codecs.module
        whole = module.A(7).encode(mark=258, level=2)
        pieces = [
            len(part).to_bytes(2, "big") + bytes([more]) + part
            for more, part in ((1, whole[3:4]), (0, whole[4:]))
        ]
        first, last = module.Decoder("a").feed(b"".join(pieces))
        assert (first.message, first.mark, first.level) == (module.Whole(whole[3:4]), None, None)
        assert (last.message, last.mark, last.level) == (module.A(7), 258, 2)
        assert first.encode() == pieces[0]
        with pytest.raises(module.EncodeError, match="Frame.mark: invalid_value: expected an integer"):
            module.Frame(module.A(7)).encode()


def joined_in(p: Any, n_pieces: int) -> dict[str, list[bytes]]:
    """Return native frames of `b` by the join whose only thing, in that many pieces, they carry."""
    inner, text = p.Back(p.Drop(1, False)).encode(), b"abcdefgh"
    cuts = [text[2 * index : 2 * index + 2] for index in range(n_pieces - 1)]
    pieces = [inner[index : index + 1] for index in range(n_pieces - 1)]
    return {
        "Text": [
            *(p.Piece(1, 2, False, data).encode() for data in cuts),
            p.Piece(1, 2, True, text[2 * len(cuts) :]).encode(),
        ],
        "Inner": [
            *(p.Cut(data).encode() for data in pieces),
            p.End(inner[len(pieces) :]).encode(),
        ],
    }


@pytest.mark.parametrize("name", ["Text", "Inner"])
@pytest.mark.parametrize("n_pieces", [1, 2, 4])
def test_pieces_that_are_messages_go_through_every_serialization(
    codecs: Codecs, n_pieces: int, name: str
) -> None:
    """They carry the message without the note of the native decoder, which finds it again in the native bytes."""
    p = codecs.module
    stream = b"".join(joined_in(p, n_pieces)[name])
    frames = list(p.Decoder("b", context=p.Context()).feed(stream))
    notes = [frame.part for frame in frames]
    assert [(note.join, note.index, note.last) for note in notes] == [
        (name, index, index == n_pieces - 1) for index in range(n_pieces)
    ]
    assert notes[-1].joined == (b"abcdefgh" if name == "Text" else p.Back(p.Drop(1, False)))
    for module in serializations("joins_wire"):
        carried = b"".join(module.encode(frame, from_role="b") for frame in frames)
        back = list(module.Decoder("b", context=p.Context()).feed(carried))
        assert back == frames
        assert [frame.part for frame in back] == [None] * n_pieces
        again = b"".join(p.encode(frame) for frame in back)
        assert again == stream
        assert [frame.part for frame in p.Decoder("b", context=p.Context()).feed(again)] == notes


@pytest.mark.parametrize("n_pieces", [1, 2, 3])
def test_of_a_block_in_pieces_its_whole_message_is_carried(codecs: Codecs, n_pieces: int) -> None:
    p = codecs.module
    whole = p.Call(p.Go(1, b"xyz"), 5, level=4).encode()
    head, block = whole[:4], whole[6:]
    cuts = [block[index : index + 1] for index in range(n_pieces - 1)]
    pieces = [bytes((*head[:2], 1, head[3], 0, 1)) + data for data in cuts]
    last = block[len(cuts) :]
    stream = b"".join((*pieces, head + len(last).to_bytes(2, "big") + last))
    *parts, frame = p.Decoder("a", context=p.Context()).feed(stream)
    assert len(parts) == n_pieces - 1
    for module in (p, *serializations("joins_wire")):
        for part in parts:
            if module is p:
                assert p.encode(part, from_role="a") in pieces
                continue
            with pytest.raises(p.EncodeError) as caught:
                module.encode(part, from_role="a")
            assert (caught.value.code, caught.value.path) == ("unrepresentable", "CallPart")
        back = module.decode(module.encode(frame, from_role="a"), from_role="a")
        assert back == frame == p.Call(p.Go(1, b"xyz"), 5, level=4)
        assert p.encode(back) == whole


def test_fragments_of_a_block_keep_what_is_derived_from_the_whole(codecs: Codecs) -> None:
    """The code and `big` stand before the block, and are derived from what is in it."""
    native = codecs.module
    connection = importlib.import_module("joins_wire.p.sessions").Connection("a")
    whole = native.Call(native.Go(1, bytes(20)), key=1, note="some words")
    data = connection.send(whole, split=9)
    fragments = list(native.Decoder("a", context=native.Context()).feed(data))
    assert [each.part is not None and each.part.last for each in fragments] == [False] * 3 + [True]
    assert [each.part.header["kind"] for each in fragments[:-1]] == [1] * 3
    assert fragments[-1] == whole
    assert data.startswith(b"".join(native.encode(each) for each in fragments[:-1]))
    with pytest.raises(native.EncodeError) as caught:
        native.encode(native.Call(native.CallPart(b"abc"), key=1, more=True))
    assert (caught.value.code, caught.value.path) == ("invalid_value", "Call.body")


def test_fragments_that_were_sent_leave_nothing_open(codecs: Codecs) -> None:
    native = codecs.module
    connection = importlib.import_module("joins_wire.p.sessions").Connection("a")
    for number in range(40):  # more than may be open, and more bytes than may be joined
        whole = native.Call(native.Go(1, bytes([number] * 20)), key=1, note="some words")
        data = connection.send(whole, split=9)
        assert list(native.Decoder("a", context=native.Context()).feed(data))[-1] == whole
