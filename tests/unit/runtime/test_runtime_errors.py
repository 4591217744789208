"""Errors of the runtime: their attributes, their texts, and how they travel."""

from __future__ import annotations

import copy
import pickle

import pytest

from wiregen.runtime import DecodeError, EncodeError, NeedMoreData
from wiregen.runtime.sessions.session_error import SessionError

DECODE = DecodeError(
    "truncated",
    rule="whole",
    path="Data.pairs[1].value",
    frame_offset=41,
    at=83,
    inner_at=7,
    expected="10 bytes",
    found="3 bytes",
    partial={"message": "Data"},
    recoverable=True,
    end=90,
)
ERRORS = [
    pytest.param(DECODE, id="decode"),
    pytest.param(NeedMoreData(7, path="Data.sequence", at=5), id="need-more"),
    pytest.param(
        EncodeError("invalid_value", path="Ack.sequence", expected="0 to 9", found="10"), id="encode"
    ),
    pytest.param(SessionError("window_overrun", local=False, detail="left 0"), id="session"),
    pytest.param(SessionError("window_overrun", local=False, frame_offset=7), id="session-frame"),
]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_travels(error: Exception) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(error, protocol))
        assert type(back) is type(error)
        assert (str(back), vars(back)) == (str(error), vars(error))
    assert vars(copy.copy(error)) == vars(error)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(
            DecodeError("truncated", path="Data.pairs[1].value", at=83, expected="10 bytes", found="3 bytes"),
            "Data.pairs[1].value: truncated at 83: expected 10 bytes, found 3 bytes",
            id="all",
        ),
        pytest.param(DecodeError("trailing_bytes", at=6), "trailing_bytes at 6", id="bare"),
        pytest.param(
            DecodeError("constraint", at=6, inner_at=2, expected="n > 0"),
            "constraint at 6 (inner 2): expected n > 0",
            id="inner",
        ),
        pytest.param(
            EncodeError("invalid_value", path="Ack", found="text"),
            "Ack: invalid_value: found text",
            id="encode",
        ),
        pytest.param(
            SessionError("window_overrun", local=True, detail="left 0"),
            "window_overrun (local): left 0",
            id="session",
        ),
        pytest.param(
            SessionError("window_overrun", local=False, detail="left 0", frame_offset=6),
            "window_overrun (remote, frame at 6): left 0",
            id="session-frame",
        ),
    ],
)
def test_texts(error: Exception, text: str) -> None:
    assert str(error) == text


def test_classes() -> None:
    assert issubclass(NeedMoreData, DecodeError) and issubclass(DecodeError, ValueError)
    assert issubclass(EncodeError, ValueError) and issubclass(SessionError, RuntimeError)
    assert NeedMoreData(3).code == "truncated"
    assert NeedMoreData(3).needed == 3


def test_a_copy_is_equal_and_another() -> None:
    again = DECODE.copy()
    assert again == DECODE and again is not DECODE and hash(again) == hash(DECODE)
    assert again != DecodeError("truncated", path="Data.pairs[1].value", at=83)
    assert again != NeedMoreData(1)


def test_moved_counts_in_the_stream() -> None:
    moved = DECODE.moved(100)
    assert (moved.frame_offset, moved.at, moved.inner_at, moved.end) == (141, 183, 7, 190)
    assert "at 183 (inner 7)" in str(moved)
    assert DECODE.at == 83


def test_settled_asks_for_nothing_more() -> None:
    cut = NeedMoreData(7, path="Data.sequence", at=5, expected="4 bytes")
    settled = cut.settled()
    assert type(settled) is DecodeError
    assert (str(settled), settled.path, settled.at) == (str(cut), "Data.sequence", 5)
    assert not hasattr(settled, "needed")
