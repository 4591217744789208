"""A long connection is read in slices by all shares of its capture, and its rows are those that one task reads."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

import pyarrow as pa
import pyarrow.compute as pc
from tests.interop import traffic
from tests.interop.traffic import LINKS, End
from tests.pipeline.damage import damaged
from tests.pipeline.streams import STREAMS, Stream, stream_of

from wiregen.formats.capture import Batch, IssueKind, SegmentRun
from wirespark import index_file, long_flows, packet_runs, record_runs
from wirespark.captures import Share, share_columns
from wirespark.cut_finding import cut_finder
from wirespark.decoders import has_context
from wirespark.options import Kernel, Wishes
from wirespark.table_rows import wide_table

N_SHARES = 7
KERNELS: tuple[Kernel, ...] = ("on", "off")
FREE = tuple(name for name in STREAMS if not has_context(Wishes(protocol=name).package))
"""The protocols whose frames do not change how later ones are read."""


def streams_of(protocol: str, chance: random.Random, size: int, *, is_damaged: bool) -> list[Stream]:
    """Return a stream of so many bytes for each role, as far as chance finds them."""
    found: dict[str, Stream] = {}
    for seed in range(12):
        stream = stream_of(protocol, chance.randrange(1000), 12)
        data = stream.data * (size // len(stream.data) + 1)
        found[stream.role] = replace(stream, data=damaged(data, chance) if is_damaged and seed % 2 else data)
    return list(found.values())


class Talks:
    """Connections to one server, whose packets are written by turns."""

    def __init__(self, chance: random.Random, protocol: str) -> None:
        self.chance = chance
        self.server = End(address="10.0.0.2", port=6000)
        self.sides = {role: side for side, role in enumerate(Wishes(protocol=protocol).package.schema.roles)}
        self.sent: list[list[traffic.Sent]] = []

    def add(
        self, streams: list[Stream], *, is_damaged: bool = False, n_times: int = 1, has_syn: bool = True
    ) -> None:
        """Add a connection that carries streams of both sides; the same ends open as many as given, one after the other.

        A damaged one lacks its first segment by chance, and its SYN comes again late.
        """
        chance, found = self.chance, list[traffic.Sent]()
        number = len(self.sent)
        for _ in range(n_times):
            end = End(address=f"10.0.1.{number}", port=50_000 + number)
            talk = traffic.Talk(chance, end, self.server, has_syn=has_syn)
            opening = list(talk.sent)
            bursts = [self._bursts(talk, stream) for stream in streams]
            for turn in zip_longest(*bursts):
                for stream, burst in zip(streams, turn, strict=True):
                    some = burst or []
                    if is_damaged and chance.random() < 0.05:
                        talk.sent += opening
                    if is_damaged and len(talk.sent) == len(opening) and chance.random() < 0.3:
                        some = some[1:]
                    damage = chance.choice(DAMAGES) if is_damaged and len(some) > 1 else _intact
                    talk.deliver(self.sides[stream.role], damage(chance, some))
            chance.choice([talk.finish, talk.reset])(chance.randrange(2))
            found += talk.sent
        self.sent.append(found)

    def _bursts(self, talk: traffic.Talk, stream: Stream) -> Iterator[list[traffic.Sent]]:
        start = 0
        while start < len(stream.data):
            sizes = [self.chance.randrange(1, 1400) for _ in range(8)]
            ends = [min(len(stream.data), start + sum(sizes[: n + 1])) for n in range(8)]
            begins = [start, *ends[:-1]]
            burst = talk.burst(
                self.sides[stream.role], [end - begin for begin, end in zip(begins, ends, strict=True)]
            )
            yield [
                replace(sent, data=stream.data[begin:end])
                for sent, begin, end in zip(burst, begins, ends, strict=True)
                if end > begin
            ]
            start = ends[-1]

    def write(self, path: Path) -> None:
        packets = [
            packet
            for turn in zip_longest(*self.sent)
            for sent in turn
            if sent is not None
            for packet in traffic.captured(sent, LINKS["ethernet"])
        ]
        path.write_bytes(traffic.pcap(packets))


def _intact(_chance: random.Random, segments: list[traffic.Sent]) -> list[traffic.Sent]:
    return segments


DAMAGES = [traffic.reordered, traffic.overlapping, traffic.repeated, traffic.lost, *[_intact] * 8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What the tasks of a capture read: the rows of all directions in order, the bytes of each task, and the issues."""

    rows: pa.Table
    sizes: list[int]
    issues: Counter[IssueKind]


def read(path: Path, wishes: Wishes, n_shares: int, **more: Any) -> Read:
    shares = [Share(path=str(path), index=index, n_shares=n_shares, **more) for index in range(n_shares)]
    return read_shares(shares, wishes)


def read_shares(shares: Iterable[Share], wishes: Wishes) -> Read:
    batches, sizes, issues = [], [], Counter[IssueKind]()
    for share in shares:
        found = [
            wide_table(columns, wishes.package) for columns in share_columns(share, wishes, 1 << 16, issues)
        ]
        sizes.append(sum(pc.sum(batch["_size"]).as_py() for batch in found))
        batches += found
    names = ("_flow", "_from", "_offset", "_size")
    rows = pa.Table.from_batches(batches).sort_by([(name, "ascending") for name in names])
    return Read(rows=rows.combine_chunks(), sizes=sizes, issues=issues)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what tasks keep, which is empty; compiled kernels are taken from the one of all tests."""
    for module in ("capture_index", "user_cache"):
        monkeypatch.setattr(f"wirespark.{module}.private_folder", Kept(tmp_path))
    return tmp_path


@dataclass(frozen=True, slots=True)
class Kept:
    """The folders of a cache, none as long as it is full."""

    place: Path

    def __call__(self, name: str) -> Path | None:
        if (self.place / "is full").exists():
            return None
        (self.place / name).mkdir(exist_ok=True)
        return self.place / name


def write(path: Path, protocol: str, seed: int, *, n_times: int = 1, has_syn: bool = True) -> None:
    """Write a long connection between short ones; all but those of seed 0 are damaged."""
    chance = random.Random(f"{protocol} {seed}")
    talks = Talks(chance, protocol)
    for _ in range(4):
        talks.add(streams_of(protocol, chance, 2_000, is_damaged=False))
    long = streams_of(protocol, chance, 200_000 // n_times, is_damaged=seed > 0)
    talks.add(long, is_damaged=seed > 0, n_times=n_times, has_syn=has_syn)
    talks.write(path)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("protocol", STREAMS)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_those_of_one_task(
    protocol: str, kernel: Kernel, seed: int, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the network did to the packets, whatever the bytes are, and however often the same ends connect."""
    n_runs = 0

    def counted(batch: Batch, is_wanted: Callable[[bytes], bool] | None) -> list[SegmentRun] | None:
        nonlocal n_runs
        found = packet_runs.runs_of(batch, is_wanted)
        n_runs += bool(found)
        return found

    monkeypatch.setattr(long_flows, "runs_of", counted)
    monkeypatch.setattr(record_runs, "_BATCH_SIZE", 1 << 13)
    path = tmp_path / "traffic.pcap"
    write(path, protocol, seed, n_times=seed + 1)
    wishes = Wishes(protocol=protocol, kernel=kernel)
    whole, found = read(path, wishes, 1), read(path, wishes, N_SHARES)
    assert found.rows.equals(whole.rows) and found.issues == whole.issues
    assert len(list(cache.glob("cuts/*.json"))) == (protocol in FREE) and (n_runs > 10) == (protocol in FREE)


@pytest.mark.parametrize("protocol", FREE)
def test_each_task_has_its_part(protocol: str, tmp_path: Path) -> None:
    path = tmp_path / "traffic.pcap"
    write(path, protocol, 0)
    found = read(path, Wishes(protocol=protocol), N_SHARES)
    uncut = read(path, Wishes(protocol=protocol), N_SHARES, is_index_kept=False)
    mean = sum(found.sizes) / N_SHARES
    assert max(uncut.sizes) > 4 * mean > 2 * max(found.sizes) and found.rows.equals(uncut.rows)


@pytest.mark.parametrize("protocol", FREE)
def test_kernels_cut_where_the_objects_cut(protocol: str) -> None:
    """Shares may be read on computers of which some have no kernels."""
    chance = random.Random(protocol)
    for is_damaged in (False, True, True):
        for stream in streams_of(protocol, chance, 150_000, is_damaged=is_damaged):
            ways = (Wishes(protocol=protocol, kernel="on"), Wishes(protocol=protocol, kernel="off"))
            for size in (40_000, 7):  # 7 is less than a frame
                scanned, walked = (
                    [cut for cut, _ in cut_finder(wishes, stream.role, size).feed(stream.data)]
                    for wishes in ways
                )
                assert scanned == walked[: len(scanned)] and len(walked) - len(scanned) < 2 and scanned


def test_shares_agree_whether_or_not_they_can_keep_something(tmp_path: Path, cache: Path) -> None:
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega")
    write(path, "pravega", 1)
    whole = read(path, wishes, 1)

    def by_turns() -> Iterator[Share]:
        for index in range(N_SHARES):
            (cache / "is full").unlink(missing_ok=True)
            if index % 2:
                (cache / "is full").touch()
            yield Share(path=str(path), index=index, n_shares=N_SHARES)

    found = read_shares(by_turns(), wishes)
    assert found.rows.equals(whole.rows) and found.issues == whole.issues


def test_passes_of_a_task_that_can_keep_nothing_do_not_disturb_each_other(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a SYN and a known port, the roles are found by a pass of their own."""
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega")
    write(path, "pravega", 0, has_syn=False)
    whole = read(path, wishes, 1)
    (cache / "is full").touch()
    monkeypatch.setattr(index_file, "PAGE_SIZE", 100)
    assert read(path, wishes, 4).rows.equals(whole.rows)


def test_a_capture_that_grows_is_read_as_it_was_planned(tmp_path: Path) -> None:
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega")
    write(path, "pravega", 0)
    whole, size = read(path, wishes, 1), path.stat().st_size

    def growing() -> Iterator[Share]:
        for index in range(4):
            yield Share(path=str(path), index=index, n_shares=4, size=size)
            with path.open("ab") as file:
                file.write(path.read_bytes()[24:])

    assert read_shares(growing(), wishes).rows.equals(whole.rows)


def test_ends_that_connect_again_and_again_are_not_cut(tmp_path: Path, cache: Path) -> None:
    """Otherwise each connection would be a slice, for which a task looks through the index."""
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega", kernel="off")
    write(path, "pravega", 0, n_times=40)
    whole, found = read(path, wishes, 1), read(path, wishes, 4)
    assert found.rows.equals(whole.rows) and max(found.sizes) > sum(found.sizes) / 2
    (kept,) = cache.glob("cuts/*.json")
    assert json.loads(kept.read_text()) == {"ends": [], "slices": [], "issues": {}}


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_index_of_a_long_connection_is_made_again(
    seed: int, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever share finds it: each reads the pages of the one that the connection is in."""
    monkeypatch.setattr(index_file, "PAGE_SIZE", 1000)
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega")
    write(path, "pravega", 0)
    first = read(path, wishes, 4)
    (index,) = cache.glob("captures/*.index")
    content = bytearray(index.read_bytes())
    content[random.Random(seed).randrange(len(content))] ^= 1
    index.write_bytes(content)
    assert read(path, wishes, 4).rows.equals(first.rows)


@pytest.mark.parametrize("text", ["", "{", "{}", '{"ends": [], "slices": [{}], "issues": {}}', '{"ends": 1}'])
def test_slices_that_are_damaged_are_found_again(text: str, tmp_path: Path, cache: Path) -> None:
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega")
    write(path, "pravega", 0)
    first = read(path, wishes, N_SHARES)
    (kept,) = cache.glob("cuts/*.json")
    before = kept.read_text()
    kept.write_text(text)
    assert read(path, wishes, N_SHARES).rows.equals(first.rows) and kept.read_text() == before


def test_the_streams_of_a_long_connection_are_put_together_once_to_be_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, wishes = tmp_path / "traffic.pcap", Wishes(protocol="pravega")
    write(path, "pravega", 0)
    n_times = 0
    found = long_flows._found

    def counted(*given: Any) -> long_flows.LongFlows:
        nonlocal n_times
        n_times += 1
        return found(*given)

    monkeypatch.setattr(long_flows, "_found", counted)
    read(path, wishes, N_SHARES)
    read(path, wishes, N_SHARES)
    assert n_times == 1
