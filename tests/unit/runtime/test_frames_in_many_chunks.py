"""Frames that several chunks bring: how often they are looked at and tried, counted rather than timed."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.runtime.codec.compiled import Bad, ReadState
from wiregen.runtime.stream.decoder import Decoder
from wiregen.runtime.stream.extent import Extent
from wiregen.runtime.stream.header import Header
from wiregen.runtime.stream.sender_extents import SenderExtents

from ..lumberjack_plan import PLAN
from .test_runtime_decoder import ACK, chunks, fast_decoder

LONG_JSON = b"2J\0\0\0\1\0\0\x0b\xb8" + b"x" * 3000
LONG_DATA = b"2D\0\0\0\1\0\0\0\x64" + 100 * (b"\0\0\0\3key" + b"\0\0\0\x05value")


def counted_reader() -> tuple[list[int], Any]:
    """Return how many bytes are there at each try of compiled code to come, and that code, which reads frames by their lengths."""
    tries: list[int] = []

    def read(buffer: bytes, offset: int, end: int, state: ReadState | None) -> tuple[bytes, int]:
        tries.append(end - offset)
        for frame in (LONG_JSON, LONG_DATA, ACK):
            if buffer.startswith(frame[:2], offset):
                stop = offset + len(frame)
                if stop > end:
                    raise Bad
                return buffer[offset:stop], stop
        raise Bad

    return tries, read


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the sizes given to measurements are added."""
    sizes: list[int] = []

    def counted(measure: Any) -> Any:
        def count(self: Any, data: bytes, start: int) -> Any:
            sizes.append(len(data) - start)
            return measure(self, data, start)

        return count

    for class_ in (Header, Extent):
        monkeypatch.setattr(class_, "measure", counted(class_.measure))
    return sizes


@pytest.mark.parametrize("size", [16, 100, 512, 1448])
def test_a_frame_whose_header_says_its_size_is_looked_at_once(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, read = counted_reader()
    decoder = Decoder(lambda: PLAN, read, from_role="writer")
    assert list(decoder.feed(LONG_JSON + ACK)) == [LONG_JSON, ACK]
    looks = looked_at(monkeypatch)
    tries.clear()
    found = [frame for chunk in chunks(LONG_JSON, size) for frame in decoder.feed(chunk)]
    assert found == [LONG_JSON]
    assert len(looks) <= 1 and len(tries) <= 2


@pytest.mark.parametrize("size", [16, 100, 512, 1448])
def test_a_frame_without_a_size_is_measured_once_a_chunk_and_seldom_tried(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, read = counted_reader()
    decoder = Decoder(lambda: PLAN, read, from_role="writer")
    assert list(decoder.feed(LONG_DATA)) == [LONG_DATA]
    looks = looked_at(monkeypatch)
    tries.clear()
    found = [frame for chunk in chunks(LONG_DATA, size) for frame in decoder.feed(chunk)]
    assert found == [LONG_DATA]
    assert len(looks) <= len(LONG_DATA) // size + 1
    assert sum(tries) <= 3 * len(LONG_DATA)


@pytest.mark.parametrize("size", [9, 10, 16, 100, 255, 256, 257, 1448])
def test_what_a_header_says_is_needed(size: int) -> None:
    decoder = fast_decoder()
    list(decoder.feed(ACK))
    for start in range(0, len(LONG_JSON) - size, size):
        assert list(decoder.feed(LONG_JSON[start : start + size])) == []
        there = start + size
        assert decoder.pending == there
        assert decoder.needed == (1 if there == 9 else len(LONG_JSON) - there)


def test_small_chunks_of_a_long_frame_take_no_more_memory_than_their_bytes() -> None:
    n_bytes = 1 << 20
    decoder = fast_decoder()
    list(decoder.feed(b"2J\0\0\0\1" + n_bytes.to_bytes(4, "big")))
    tracemalloc.start()
    for _ in range(n_bytes // 4):
        list(decoder.feed(bytes(bytearray(4))))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * n_bytes


@pytest.mark.parametrize("code", [b"2J", b"2X"])
def test_codes_that_a_peer_makes_up_are_not_kept(code: bytes) -> None:
    decoder = fast_decoder("yield")
    list(decoder.feed(ACK))
    frames = list(decoder.feed(ACK + code))
    assert frames[0] == ACK
    extents = decoder._extents
    assert isinstance(extents, SenderExtents) and len(extents._headers) <= 1


@given(st.lists(st.sampled_from([ACK, LONG_JSON, LONG_DATA]), max_size=6), st.data())
def test_long_frames_cut_anywhere_are_read_in_their_order(frames: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    _, read = counted_reader()
    decoder = Decoder(lambda: PLAN, read, from_role="writer")
    found: list[bytes] = []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[start:stop])
        assert (decoder.fed, decoder.offset) == (stop, sum(map(len, found)))
    decoder.finish()
    assert found == frames
