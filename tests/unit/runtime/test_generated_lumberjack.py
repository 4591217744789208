"""The generated package of Lumberjack apart from bytes: bare messages, dicts, copies."""

import copy
import pickle
from pathlib import Path

import pytest

from wireproto import lumberjack as lj

STREAM = [
    lj.Frame(lj.Window(3), version=lj.Version.V1),
    lj.Frame(lj.Data(1, [lj.Pair("line", "hello"), lj.Pair("line", "again")]), version=lj.Version.V1),
    lj.Frame(lj.Compressed([lj.Frame(lj.Json(2, b'{"a": 1}')), lj.Frame(lj.Json(3, b"[]"))])),
]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_messages_are_those_of_the_frames(size: int) -> None:
    data = b"".join(frame.encode() for frame in STREAM)
    decoder = lj.Decoder("writer")
    found = [
        message for at in range(0, len(data), size) for message in decoder.messages(data[at : at + size])
    ]
    decoder.finish()
    assert found == [frame.message for frame in STREAM]


def test_messages_and_frames_of_one_decoder_go_on_from_each_other() -> None:
    data = b"".join(frame.encode() for frame in STREAM)
    decoder = lj.Decoder()
    assert next(decoder.messages(data)) == STREAM[0].message
    assert list(decoder.feed(b"")) == STREAM[1:]


def test_a_fault_among_messages_is_raised_behind_those_before_it() -> None:
    messages = lj.Decoder().messages(STREAM[0].encode() + b"3W")
    assert next(messages) == STREAM[0].message
    with pytest.raises(lj.DecodeError, match="invalid_enum at 6"):
        next(messages)


@pytest.mark.parametrize("frame", STREAM, ids=lambda frame: type(frame.message).__name__)
def test_a_message_goes_through_a_dict_a_pickle_and_a_copy(frame: lj.Frame) -> None:
    message = frame.message
    assert type(message).from_dict(message.to_dict()) == message
    assert pickle.loads(pickle.dumps(frame)) == frame
    assert copy.deepcopy(frame) == frame
    assert frame.replace() == frame
    assert message.replace() is not message


def test_views_read_a_field_once_more() -> None:
    data = STREAM[1].message
    assert isinstance(data, lj.Data)
    assert data.pairs_dict == {"line": "again"}
    assert lj.Json(1, b'{"a": [1]}').document_json == {"a": [1]}
    for text in (b"{", b"", b"NaN", b"[-Infinity]", b"\xff", b"[" * 100_000):
        with pytest.raises(lj.DecodeError, match="invalid_value") as caught:
            _ = lj.Json(1, text).document_json
        assert caught.value.rule == "bad_json"


def test_what_is_no_bytes_is_refused_as_such() -> None:
    for data in (5, 1 << 45, "x"):
        with pytest.raises(TypeError, match="bytes-like"):
            lj.decode(data)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="bytes-like"):
            lj.Decoder().feed(data)  # type: ignore[arg-type]


def test_a_role_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no role 'wrter', only writer and reader"):
        lj.Decoder("wrter")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no role"):
        lj.decode(STREAM[0].encode(), from_role="nobody")  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", [{"frame": -1}, {"count": "x"}, {"depth": True}])
def test_limits_that_bound_nothing_are_refused(limits: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"the limit {next(iter(limits))} is an integer"):
        lj.Limits(**limits)  # type: ignore[arg-type]


def test_a_value_inside_itself_is_an_encode_error_and_has_a_repr() -> None:
    ring = lj.Compressed([])
    ring.frames.append(lj.Frame(ring))
    assert "…" in repr(ring)
    with pytest.raises(lj.EncodeError):
        ring.encode()


def test_an_attribute_that_raises_is_an_encode_error() -> None:
    class EndUnknown:
        def __index__(self) -> int:
            raise RuntimeError("odd")

    with pytest.raises(lj.EncodeError):
        lj.Window(EndUnknown()).encode()  # type: ignore[arg-type]


def test_a_limit_says_what_it_is_measured_in() -> None:
    with pytest.raises(
        ValueError, match="the limit ack_wait is an integer of milliseconds from 0 on, not 0.5"
    ):
        lj.Limits(ack_wait=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the limit window is an integer from 0 on, not -1"):
        lj.Limits(window=-1)
    text = Path(lj.__file__).with_name("messages.py").read_text(encoding="utf-8")
    assert (
        '"""In milliseconds. The time that a writer waits' in text
        and '"""In bytes. The size of a whole frame' in text
    )
