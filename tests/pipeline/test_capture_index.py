"""The index of a capture: one pass makes it, and the tasks of the capture read their own packets alone."""

from __future__ import annotations

import errno
import io
import operator
import os
import random
import stat
import struct
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from hypothesis import given
from hypothesis import strategies as st
from tests.interop import traffic
from tests.interop.traffic import LINKS, End

from wiregen.formats.capture import (
    Event,
    FlowBytes,
    Gap,
    IssueKind,
    Issues,
    assemble_batches,
)
from wirespark import capture_index, index_file, record_runs
from wirespark.captures import Share
from wirespark.errors import WireSparkError
from wirespark.packet_locating import LocatedPackets, locate_packets

SERVER = End(address="10.0.0.2", port=5044)
N_SHARES = 9


def intact(_chance: random.Random, segments: list[traffic.Sent]) -> list[traffic.Sent]:
    return segments


def write_capture(path: Path, chance: random.Random, n_flows: int) -> None:
    """Write the packets of connections by turns, in several link types, with segments lost or out of order."""
    talks = []
    for number in range(n_flows):
        talk = traffic.Talk(chance, End(address=f"10.0.1.{number}", port=50_000 + number), SERVER)
        for side in (0, 1, 0):
            damage = chance.choice([traffic.reordered, traffic.overlapping, traffic.lost, intact])
            talk.deliver(
                side, damage(chance, talk.burst(side, [chance.randrange(1, 1400) for _ in range(4)]))
            )
        talks.append(talk.sent)
    links = [LINKS["ethernet"], LINKS["raw"]]
    packets = [
        packet
        for turn in zip_longest(*talks)
        for sent in turn
        if sent is not None
        for packet in traffic.captured(sent, chance.choice(links))
    ]
    path.write_bytes((traffic.pcapng if chance.random() < 0.5 else traffic.pcap)(packets))


def shares_of(path: Path, n_shares: int = N_SHARES, **more: Any) -> list[Share]:
    return [Share(path=str(path), index=index, n_shares=n_shares, **more) for index in range(n_shares)]


def streams_of(events: Iterator[Event]) -> dict[tuple[str, bool], list[tuple[int, int | bytes]]]:
    """Return the pieces and gaps of each direction."""
    found: dict[tuple[str, bool], list[tuple[int, int | bytes]]] = {}
    for event in events:
        if isinstance(event, FlowBytes | Gap):
            own = found.setdefault((event.flow.name, event.from_opener), [])
            own.append((event.offset, event.data if isinstance(event, FlowBytes) else event.size))
    return found


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of indexes, which is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "wirespark" / "captures"


@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([1, 100, 1 << 16]))
def test_shares_have_the_streams_of_the_capture(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n_shares: int, page_size: int
) -> None:
    path = tmp_path_factory.mktemp("shares") / "traffic"
    write_capture(path, random.Random(seed), 5)
    whole = streams_of(Share(path=str(path)).events())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_file, "PAGE_SIZE", page_size)
        patch.setattr(record_runs, "_BATCH_SIZE", page_size)
        found: dict[Any, Any] = {}
        for share in shares_of(path, n_shares, is_index_kept=False):
            own = streams_of(share.events())
            assert own.keys().isdisjoint(found)
            found |= own
    assert found == whole


def test_packets_that_were_cut_are_cut_in_every_share(tmp_path: Path, cache: Path) -> None:
    """A packet is longer than its captured bytes: the rest is a gap."""
    path = tmp_path / "traffic"
    talk = traffic.Talk(random.Random(1), End(address="10.0.1.1", port=50_000), SERVER)
    talk.deliver(0, talk.burst(0, [1000] * 8))
    sent = [replace(each, cut=300 * (index % 4 == 3)) for index, each in enumerate(talk.sent)]
    path.write_bytes(
        traffic.pcap(packet for each in sent for packet in traffic.captured(each, LINKS["ethernet"]))
    )
    counts, whole_counts = Counter[IssueKind](), Counter[IssueKind]()
    whole = streams_of(Share(path=str(path)).events(whole_counts))
    shares = [streams_of(share.events(counts)) for share in shares_of(path)]
    assert [share for share in shares if share] == [whole]
    assert counts == whole_counts and counts[IssueKind.CUT_PACKET] > 0
    assert 300 in [piece for pieces in whole.values() for _, piece in pieces]


@pytest.mark.parametrize("is_index_kept", [True, False])
def test_shares_count_the_issues_of_the_capture(tmp_path: Path, cache: Path, is_index_kept: bool) -> None:
    """Those of the file, of packets without a usable segment, and of streams: each is counted by one share."""
    path = tmp_path / "traffic"
    write_capture(path, random.Random(2), 20)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 3])
    whole: Counter[IssueKind] = Counter()
    streams_of(Share(path=str(path)).events(whole))
    assert whole[IssueKind.TRUNCATED_FILE] == 1
    found: Counter[IssueKind] = Counter()
    for share in shares_of(path, is_index_kept=is_index_kept):
        streams_of(share.events(found))
    assert found == whole
    assert len(list(cache.glob("*.index"))) == is_index_kept


def test_a_scan_that_is_made_twice_counts_issues_once(tmp_path: Path) -> None:
    """As when the roles of connections are guessed while others are read."""
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 40)
    path.write_bytes(path.read_bytes()[:-10])
    share = Share(path=str(path), n_shares=N_SHARES, is_index_kept=False)
    with share.packets() as packets:
        first, second = packets.batches(), packets.batches()
        next(first)
        for batches in (second, first):
            deque(batches, 0)
        assert packets.issues()[IssueKind.TRUNCATED_FILE] == 1


def test_the_tasks_of_a_capture_read_it_once_together(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass over it makes the index; after it, each packet is read by one of the tasks."""
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 40)
    passes: list[str] = []
    n_bytes = 0
    pread = os.pread

    def counted_pass(source: BinaryIO, **given: Any) -> Iterator[LocatedPackets]:
        passes.append(source.name)
        return locate_packets(source, **given)

    def counted(descriptor: int, size: int, offset: int) -> bytes:
        nonlocal n_bytes
        data = pread(descriptor, size, offset)
        n_bytes += len(data)
        return data

    monkeypatch.setattr(capture_index, "locate_packets", counted_pass)
    monkeypatch.setattr(os, "pread", counted)
    for share in shares_of(path):
        for _ in share.events():
            pass
    (index,) = cache.glob("*.index")
    assert passes == [str(path)]
    records = [found.records for found in locate_packets(str(path), issues=Issues())]
    n_packets = sum(map(len, records))
    assert 26 * n_packets < index.stat().st_size < 26 * n_packets + 100 * N_SHARES
    packets = sum(int(each["captured"].sum()) for each in records)
    assert packets < n_bytes < packets + index.stat().st_size + 64 * n_packets


@pytest.mark.parametrize("n_keys", [1, 5])
def test_an_index_is_the_same_however_many_keys_are_remembered(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, n_keys: int
) -> None:
    """A long connection is found although others come and go."""
    path = tmp_path / "traffic"
    chance = random.Random(1)
    long = traffic.Talk(chance, End(address="10.0.1.1", port=50_000), SERVER)
    long.deliver(0, long.burst(0, [1000] * 200))
    sent = []
    for number in range(100):
        talk = traffic.Talk(chance, End(address="10.0.2.1", port=50_000 + number), SERVER)
        talk.deliver(0, talk.burst(0, [100]))
        sent += [*talk.sent, *long.sent[2 * number : 2 * number + 2]]
    packets = [packet for each in sent for packet in traffic.captured(each, LINKS["ethernet"])]
    path.write_bytes(traffic.pcap(packets))
    monkeypatch.setattr("wirespark.packet_locating._WINDOW_SIZE", 4000)  # batches of a few packets
    assert max(len(found.records) for found in locate_packets(str(path), issues=Issues())) < 40
    (whole, long_ends), (few, few_long_ends) = _index_with(path, cache, None), _index_with(
        path, cache, n_keys
    )
    assert whole == few and len(long_ends) == 1 and long_ends == few_long_ends


def _index_with(path: Path, cache: Path, n_keys: int | None) -> tuple[bytes, tuple[bytes, ...]]:
    """Return a new index of a capture, and the ends of long connections in it. `n_keys`: how many keys it remembers."""
    with pytest.MonkeyPatch.context() as patch:
        if n_keys is not None:
            patch.setattr("wirespark.capture_shares._MOST_KNOWN", n_keys)
        with capture_index.share_packets(
            str(path), None, share=0, n_shares=N_SHARES, is_kept=True
        ) as packets:
            (index,) = cache.glob("*.index")
            found = index.read_bytes(), packets.long_ends
        index.unlink()
    return found


def test_packets_next_to_each_other_are_read_at_once(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "traffic"
    talk = traffic.Talk(random.Random(1), End(address="10.0.1.1", port=50_000), SERVER)
    talk.deliver(0, talk.burst(0, [100] * 50))
    packets = [packet for sent in talk.sent for packet in traffic.captured(sent, LINKS["ethernet"])]
    path.write_bytes(traffic.pcap(packets))
    sizes: list[int] = []
    pread = os.pread

    def counted(descriptor: int, size: int, offset: int) -> bytes:
        if os.path.sameopenfile(descriptor, capture.fileno()):
            sizes.append(size)
        return pread(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", counted)
    whole = streams_of(Share(path=str(path)).events())
    with open(path, "rb") as capture:
        found = [streams_of(share.events()) for share in shares_of(path, 2)]
    assert [each for each in found if each] == [whole]
    assert len(sizes) == 1


def test_an_index_is_of_one_state_of_a_capture(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    before = [streams_of(share.events()) for share in shares_of(path)]
    write_capture(path, random.Random(2), 6)
    after = [streams_of(share.events()) for share in shares_of(path)]
    assert before != after
    assert after == [streams_of(share.events()) for share in shares_of(path, is_index_kept=False)]
    assert len(list(cache.glob("*.index"))) == 2


def test_the_oldest_indexes_are_removed(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_index, "_MOST_KEPT", 3 * 4096)  # each takes a block of the disk
    for number in range(6):
        path = tmp_path / f"traffic{number}"
        write_capture(path, random.Random(number), 5)
        for share in shares_of(path):
            assert streams_of(share.events()) == streams_of(share.events())
    sizes = [each.stat().st_size for each in cache.glob("*.index")]
    assert len(sizes) == 3 and max(sizes) < 4096
    assert len(list(cache.iterdir())) == 2 * len(sizes)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    (tmp_path / "cache").write_bytes(b"")
    found = [streams_of(share.events()) for share in shares_of(path)]
    assert found == [streams_of(share.events()) for share in shares_of(path, is_index_kept=False)]


@pytest.mark.parametrize("size", [0, 7, 500], ids=["empty", "cut in the magic", "cut in a page"])
def test_a_damaged_index_is_made_again(tmp_path: Path, cache: Path, size: int) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    found = [streams_of(share.events()) for share in shares_of(path)]
    (index,) = cache.glob("*.index")
    whole = index.read_bytes()
    os.truncate(index, size)
    assert [streams_of(share.events()) for share in shares_of(path)] == found
    assert index.read_bytes() == whole


def last_page(index: bytes, n_shares: int) -> int:
    """Return the place of the last page of the last share that has packets."""
    lasts = struct.iter_unpack("<QI", index[-8 - 12 * (n_shares + 1) : -8])
    return max(int(place) for place, _ in list(lasts)[:n_shares])


def of_records(index: bytearray, place: int, offset: int) -> None:
    """Write another offset into the first record of a page, with a checksum that is right for one share."""
    before, size, checksum = struct.unpack_from("<QII", index, place)
    content = bytes(index[place + 16 : place + 16 + size])
    share = next(
        each
        for each in range(N_SHARES)
        if crc32(content, crc32(struct.pack("<QQ", each, before))) == checksum
    )
    struct.pack_into("<Q", index, place + 16, offset)
    changed = bytes(index[place + 16 : place + 16 + size])
    struct.pack_into("<I", index, place + 12, crc32(changed, crc32(struct.pack("<QQ", share, before))))


def of_last_pages(index: bytearray, place: int) -> None:
    """Write another place of the last page of all shares, with checksums that are right."""
    for share in range(N_SHARES + 1):
        checksum = crc32(b"", crc32(struct.pack("<QQ", share, place)))
        struct.pack_into("<QI", index, len(index) - 8 - 12 * (N_SHARES + 1 - share), place, checksum)


DAMAGES: dict[str, Callable[[bytearray, int], None]] = {
    "a circle": lambda index, page: struct.pack_into("<Q", index, page, page),
    "a page in the magic": lambda index, page: struct.pack_into("<Q", index, page, 3),
    "a size beyond the end": lambda index, page: struct.pack_into("<I", index, page + 8, 26 << 20),
    "a size of no whole record": lambda index, page: struct.pack_into("<I", index, page + 8, 27),
    "a size of zero": lambda index, page: struct.pack_into("<I", index, page + 8, 0),
    "a bit of a record": lambda index, page: operator.setitem(index, page + 20, index[page + 20] ^ 1),
    "an offset after the capture": lambda index, page: of_records(index, page, 1 << 40),
    "an offset that wraps": lambda index, page: of_records(index, page, (1 << 64) - 1),
    "a last page at the end": lambda index, _: of_last_pages(index, len(index) - 8 - 12 * (N_SHARES + 1) - 1),
    "a last page beyond the end": lambda index, _: of_last_pages(index, 1 << 62),
    "the last page of another share": lambda index, page: struct.pack_into(
        f"<{'QI' * (N_SHARES + 1)}", index, len(index) - 8 - 12 * (N_SHARES + 1), *[page, 0] * (N_SHARES + 1)
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_with_a_damaged_page_is_made_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytearray, int], None]
) -> None:
    """Pages are checked before the first packet is read, those in the middle too."""
    monkeypatch.setattr(index_file, "PAGE_SIZE", 100)
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    found = [streams_of(share.events()) for share in shares_of(path)]
    (index,) = cache.glob("*.index")
    whole = index.read_bytes()
    damaged = bytearray(whole)
    damage(damaged, last_page(whole, N_SHARES))
    assert damaged != whole
    index.write_bytes(damaged)
    assert [streams_of(share.events()) for share in shares_of(path)] == found
    assert index.read_bytes() == whole


@given(st.integers(0, 2**32))
def test_any_damage_is_found(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """The streams are those of the capture, whichever bytes of the index are wrong."""
    chance = random.Random(seed)
    folder = tmp_path_factory.mktemp("damage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setattr(index_file, "PAGE_SIZE", 100)
        write_capture(folder / "traffic", random.Random(1), 3)
        found = [streams_of(share.events()) for share in shares_of(folder / "traffic", 3)]
        (index,) = folder.glob("wirespark/captures/*.index")
        damaged = bytearray(index.read_bytes())
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(damaged))] ^= chance.randrange(1, 256)
        index.write_bytes(damaged[: chance.randrange(len(damaged) + 1)] if chance.random() < 0.3 else damaged)
        assert [streams_of(share.events()) for share in shares_of(folder / "traffic", 3)] == found


def failing(*_given: object, **_named: object) -> None:
    raise OSError(errno.ENOSPC, "no space")


@pytest.mark.parametrize("name", ["alone", "HiddenFile", "_write", "os.replace"])
def test_an_index_that_cannot_be_kept_fails_no_task(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Neither locks nor space nor names: the capture itself can still be read."""
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    monkeypatch.setattr(f"wirespark.capture_index.{name}", failing)
    found = [streams_of(share.events()) for share in shares_of(path)]
    assert found == [streams_of(share.events()) for share in shares_of(path, is_index_kept=False)]
    assert any(found)
    assert not list(cache.glob("*.index")) and not list(cache.glob(".*.tmp"))


def test_an_index_whose_time_cannot_be_set_is_used(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    found = [streams_of(share.events()) for share in shares_of(path)]
    monkeypatch.setattr(os, "utime", failing)
    monkeypatch.setattr(capture_index, "locate_packets", failing)
    assert [streams_of(share.events()) for share in shares_of(path)] == found


def test_a_link_in_the_place_of_an_index_is_not_followed(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    found = [streams_of(share.events()) for share in shares_of(path)]
    (index,) = cache.glob("*.index")
    os.replace(index, tmp_path / "elsewhere")
    index.symlink_to(tmp_path / "elsewhere")
    assert [streams_of(share.events()) for share in shares_of(path)] == found
    assert stat.S_ISREG(index.lstat().st_mode)


def test_old_indexes_are_removed_by_a_task_that_makes_none(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        write_capture(tmp_path / f"traffic{number}", random.Random(number), 5)
        list(shares_of(tmp_path / f"traffic{number}")[0].events())
    monkeypatch.setattr(capture_index, "_MOST_KEPT", 1)
    list(shares_of(tmp_path / "traffic0")[0].events())
    assert len(list(cache.glob("*.index"))) == 1


@pytest.mark.parametrize("is_kept", [True, False], ids=["with an index", "in one pass"])
def test_a_capture_that_is_replaced_meanwhile_is_read_as_it_was(
    tmp_path: Path, cache: Path, *, is_kept: bool
) -> None:
    """It is opened once, so that its index and its packets are those of one file."""
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    write_capture(tmp_path / "other", random.Random(2), 6)
    whole = streams_of(Share(path=str(path)).events())
    with capture_index.share_packets(str(path), None, share=0, n_shares=1, is_kept=is_kept) as share:
        os.replace(tmp_path / "other", path)
        assert streams_of(assemble_batches(share.batches(), port=None)) == whole
    assert streams_of(Share(path=str(path)).events()) != whole


@pytest.mark.parametrize("depth", [0, 1], ids=["its own", "the one above"])
def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, cache: Path, depth: int) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    cache.mkdir(parents=True)
    folder = (cache, cache.parent)[depth]
    folder.chmod(0o777)
    found = [streams_of(share.events()) for share in shares_of(path)]
    assert not list(cache.iterdir())
    folder.chmod(0o700)
    assert found == [streams_of(share.events()) for share in shares_of(path)]
    assert list(cache.glob("*.index"))


def test_what_a_killed_task_has_left_is_removed(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    cache.mkdir(parents=True)
    (cache / ".left.tmp").write_bytes(b"half an index")
    for share in shares_of(path):
        list(share.events())
    assert not list(cache.glob(".*.tmp"))


def test_a_capture_that_changes_while_its_index_is_made_is_an_error(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)

    def growing(source: BinaryIO, **given: Any) -> Iterator[LocatedPackets]:
        yield from locate_packets(source, **given)
        write_capture(path, random.Random(2), 6)

    monkeypatch.setattr(capture_index, "locate_packets", growing)
    with pytest.raises(WireSparkError, match="changed while it was read"):
        list(shares_of(path)[0].events())
    assert not list(cache.glob("*.index"))


def test_a_capture_that_becomes_shorter_meanwhile_is_an_error(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    packets = capture_index.share_packets(str(path), None, share=0, n_shares=1, is_kept=True)
    with packets as share:
        os.truncate(path, 30)
        with pytest.raises(WireSparkError, match="shorter"):
            list(share.batches())


def test_an_index_that_is_damaged_meanwhile_is_an_error(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "traffic"
    write_capture(path, random.Random(1), 5)
    with capture_index.share_packets(str(path), None, share=0, n_shares=1, is_kept=True) as share:
        (index,) = cache.glob("*.index")
        os.truncate(index, 30)
        with pytest.raises(WireSparkError, match="damaged while it was read"):
            list(share.batches())


@pytest.mark.parametrize("n_shares", [1, 500, 100_000])
def test_pages_that_wait_take_bounded_memory(n_shares: int) -> None:
    """Whatever the number of shares."""
    size = index_file.IndexPages(io.BytesIO(), n_shares).size
    assert 26 <= size <= 1 << 16 and size * n_shares <= 1 << 25
