"""Lumberjack's generated code and the reference codec agree on every input: bytes, values, streams."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.built_schema import schema_of
from tests.lines import Lines
from tests.property import agreement, values
from tests.property.codecs import Codecs, Wishes, is_refusal

from wiregen.runtime.reference.tree import FrameValue, Record
from wireproto import lumberjack as lj

PLAN = schema_of("lumberjack")
CODECS = Codecs(module=lj, schema=PLAN)
FRAMES = values.frames(PLAN)
PLACES = st.lists(st.integers(0, 2**16), max_size=8)
LIMITS = {"frame": st.integers(0, 80), "inflated": st.integers(0, 60), "count": st.integers(0, 3)} | {
    "messages": st.integers(0, 6),
    "depth": st.integers(0, 2),
}
WISHES = st.builds(
    Wishes,
    from_role=st.sampled_from((None, "writer", "reader")),
    limits=st.fixed_dictionaries({}, optional=LIMITS).map(lambda limits: tuple(limits.items())),
    strict=st.booleans(),
)
NOISE = st.binary(max_size=40) | st.tuples(
    st.sampled_from(b"12"), st.sampled_from(b"ACDJW"), st.binary(max_size=40)
).map(lambda parts: bytes(parts[:2]) + parts[2])
ONE_OF_EACH = [
    lj.Data(1, [lj.Pair("line", "hello"), lj.Pair("", "")]),
    lj.Json(2, b'{"a": 1}'),
    lj.Ack(3),
    lj.Window(4),
    lj.Compressed([lj.Frame(lj.Json(5, b"{}"), version=lj.Version.V1)]),
]


def encoded(value: FrameValue) -> bytes:
    data = CODECS.reference_encode(value)
    assert isinstance(data, bytes)
    return data


# ---- what is right


@given(FRAMES)
def test_good_frames_are_written_and_read_alike(value: FrameValue) -> None:
    agreement.check_value(CODECS, value)


@given(FRAMES, WISHES)
def test_good_frames_meet_wishes_alike(value: FrameValue, wishes: Wishes) -> None:
    agreement.check_bytes(CODECS, encoded(value), wishes)


@given(st.lists(FRAMES, max_size=4), PLACES)
def test_a_stream_is_the_same_in_any_chunks(frames: list[FrameValue], places: list[int]) -> None:
    data = b"".join(map(encoded, frames))
    items = agreement.check_stream(CODECS, data, places, Wishes())
    assert [outcome for _, _, outcome in items] == [CODECS.line(frame) for frame in frames]


@given(FRAMES)
def test_frames_are_plain_values(value: FrameValue) -> None:
    made, again = CODECS.made(value), CODECS.made(value)
    assert made == again
    assert pickle.loads(pickle.dumps(made)) == made
    assert copy.deepcopy(made) == made
    assert made.replace() == made
    assert made.replace(version=made.version) == made
    assert made.message != object()
    with pytest.raises(TypeError):
        hash(made)


@pytest.mark.parametrize("message", ONE_OF_EACH, ids=lambda message: type(message).__name__)
def test_replace_changes_one_attribute_of_a_copy(message: Any) -> None:
    frame = lj.Frame(message)
    other_version = lj.Version.V1 if frame.version == lj.Version.V2 else lj.Version.V2
    assert frame.replace(version=other_version) == lj.Frame(message, version=other_version) != frame
    name = type(message).__match_args__[0]
    other = message.replace(**{name: None})
    assert getattr(other, name) is None
    assert (
        other != message == type(message)(*(getattr(message, each) for each in type(message).__match_args__))
    )


def test_unknown_changes_are_refused() -> None:
    with pytest.raises(TypeError):
        lj.Ack(1).replace(size=1)


# ---- what repr may cost and show


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(lj.Json(1, b"<secret>" * 2_000_000), id="long bytes"),
        pytest.param(lj.Data(1, [lj.Pair("<secret>" * 2_000_000, "v")]), id="long text"),
        pytest.param(lj.Data(1, [lj.Pair("k", "v")] * 2_000_000), id="many pairs"),
        pytest.param(
            lj.Compressed([lj.Frame(lj.Json(1, b"<secret>" * 100_000))] * 100_000), id="many frames"
        ),
    ],
)
def test_repr_is_short_and_quick(message: Any) -> None:
    """Whatever the size: few lines run, and nothing of it is copied."""
    frame = lj.Frame(message)
    repr(frame)
    tracemalloc.start()
    try:
        with Lines() as lines:
            text = repr(frame)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert lines.count < 1_000
    assert taken < 50_000
    assert text.count("<secret>") <= 3 * 64 // len("<secret>")
    assert len(text) < 1000


@given(st.text(min_size=65))
def test_repr_shows_at_most_64_characters_of_a_value(text: str) -> None:
    assert repr(text) not in repr(lj.Pair(text, ""))
    assert repr(text[:64]) in repr(lj.Pair(text, ""))


# ---- what is wrong


@given(NOISE, WISHES)
def test_any_bytes_are_refused_alike(data: bytes, wishes: Wishes) -> None:
    agreement.check_bytes(CODECS, data, wishes)


@given(st.data(), FRAMES, WISHES)
def test_damaged_frames_are_refused_alike(data: st.DataObject, value: FrameValue, wishes: Wishes) -> None:
    agreement.check_bytes(CODECS, data.draw(values.mutated(encoded(value))), wishes)


@given(st.data(), st.lists(FRAMES, min_size=1, max_size=3), PLACES, WISHES)
def test_damaged_streams_are_tiled_alike(
    data: st.DataObject, frames: list[FrameValue], places: list[int], wishes: Wishes
) -> None:
    stream = data.draw(values.mutated(b"".join(map(encoded, frames))))
    agreement.check_stream(CODECS, stream, places, wishes)


@given(st.data(), st.lists(FRAMES, min_size=1, max_size=3), WISHES)
def test_a_damaged_inside_is_refused_alike(
    data: st.DataObject, frames: list[FrameValue], wishes: Wishes
) -> None:
    import zlib

    inner = data.draw(values.mutated(b"".join(map(encoded, frames))))
    stream = zlib.compress(inner, 0)
    envelope = b"2C" + len(stream).to_bytes(4, "big") + stream
    agreement.check_bytes(CODECS, envelope, wishes)
    agreement.check_stream(CODECS, envelope + encoded(frames[0]), [], wishes)


@given(FRAMES)
def test_every_strict_prefix_asks_for_more(value: FrameValue) -> None:
    agreement.check_prefixes(CODECS, encoded(value), None)


@pytest.mark.parametrize("message", ONE_OF_EACH, ids=lambda message: type(message).__name__)
def test_raised_lengths_reach_into_no_other_frame(message: Any) -> None:
    data, other = message.encode(), lj.Window(10).encode()
    agreement.check_raised(CODECS, data, other)
    for mutant in agreement.raised(CODECS, data):
        assert is_refusal(CODECS.compiled(mutant + other, Wishes()))


@given(FRAMES, FRAMES)
def test_raised_lengths_are_noticed(value: FrameValue, other: FrameValue) -> None:
    agreement.check_raised(CODECS, encoded(value), encoded(other))


# ---- what cannot be written


@given(st.data(), FRAMES)
def test_any_value_is_written_alike_or_refused_alike(data: st.DataObject, value: FrameValue) -> None:
    made = CODECS.made(value)
    for _ in range(data.draw(st.integers(1, 2))):
        values.put(data.draw(st.sampled_from(list(values.spots(made)))), data.draw(values.BAD_VALUES))
    agreement.check_refusal(CODECS, made)


@given(values.BAD_VALUES)
def test_what_is_no_message_is_refused_alike(value: Any) -> None:
    assert is_refusal(agreement.check_refusal(CODECS, lj.Frame(value)))
    assert is_refusal(CODECS.compiled_encode(value))


@pytest.mark.parametrize(
    ("message", "code", "path"),
    [
        pytest.param(lj.Ack(2**32), "invalid_value", "Ack.sequence", id="beyond u32"),
        pytest.param(lj.Ack(-1), "invalid_value", "Ack.sequence", id="negative"),
        pytest.param(lj.Json(1, b"x" * (16 * 2**20 - 9)), "limit_exceeded", "Frame", id="long frame"),
        pytest.param(lj.Data(1, [lj.Pair("", "")] * 65537), "limit_exceeded", "Data.pairs", id="many pairs"),
        pytest.param(
            lj.Data(1, [lj.Pair("k", "\ud800")]), "invalid_text", "Data.pairs[0].value", id="surrogate"
        ),
        pytest.param(lj.Data(1, [lj.Pair("k", b"v")]), "invalid_value", "Data.pairs[0].value", id="bytes as text"),  # type: ignore[arg-type]
    ],
)
def test_the_wire_cannot_carry(message: Any, code: str, path: str) -> None:
    with pytest.raises(lj.EncodeError) as caught:
        message.encode()
    assert (caught.value.code, caught.value.path) == (code, path)
    assert agreement.check_refusal(CODECS, message) == {"error": "EncodeError", "code": code, "path": path}
    assert "xxxx" not in str(caught.value)


@pytest.mark.parametrize("version", [0, 1, 51, None, "2", 50.0], ids=repr)
def test_a_version_that_is_none_is_refused_alike(version: Any) -> None:
    outcome = agreement.check_refusal(CODECS, lj.Frame(lj.Ack(1), version=version))
    assert isinstance(outcome, dict)
    assert outcome["path"] == "Frame.version"


# ---- errors themselves


@given(NOISE)
def test_errors_survive_pickling_and_hold_no_payload(data: bytes) -> None:
    try:
        lj.decode(b"2J\0\0\0\1\xff" + data)
    except lj.DecodeError as error:
        again = pickle.loads(pickle.dumps(error))
        assert again == error
        assert str(again) == str(error)
        assert len(str(error)) < 200


def test_a_recoverable_error_leaves_the_decoder_behind_the_bad_frame() -> None:
    bad = bytes.fromhex("32430000000c7801010100feff3200330033")  # an envelope that ends inside a frame
    decoder = lj.Decoder("writer")
    found = decoder.feed(lj.Window(1).encode() + bad + lj.Window(2).encode())
    assert next(found).message == lj.Window(1)
    with pytest.raises(lj.DecodeError) as caught:
        next(found)
    assert (caught.value.code, caught.value.recoverable, caught.value.frame_offset) == (
        "partial_inner",
        True,
        6,
    )
    assert [frame.message for frame in decoder.feed(b"")] == [lj.Window(2)]
    decoder.finish()


def test_a_fatal_error_is_raised_again_by_every_later_call() -> None:
    decoder = lj.Decoder("writer")
    found = decoder.feed(lj.Window(1).encode() + b"3")
    assert next(found).message == lj.Window(1)
    for call in (lambda: next(found), lambda: list(decoder.feed(b"2")), decoder.finish, decoder.finish):
        with pytest.raises(lj.DecodeError) as caught:
            call()
        assert (caught.value.code, caught.value.rule, caught.value.at) == ("invalid_enum", "bad_version", 6)


def test_finish_calls_a_cut_frame_truncated() -> None:
    decoder = lj.Decoder("writer")
    assert list(decoder.feed(lj.Data(1, [lj.Pair("k", "v")]).encode()[:-1])) == []
    assert (decoder.offset, decoder.pending, decoder.needed) == (0, 19, 1)
    with pytest.raises(lj.DecodeError) as caught:
        decoder.finish()
    error = caught.value
    assert (error.code, error.path, error.at) == ("truncated", "Data.pairs[0].value", 19)
    assert error.partial == {
        "message": "Data",
        "header": {"version": "V1"},
        "fields": {"sequence": 1, "pairs": [{"key": "k"}]},
    }


def test_records_are_not_frames_of_the_generated_classes() -> None:
    assert is_refusal(CODECS.compiled_encode(Record("Nothing", {})))
