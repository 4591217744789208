"""Every capture gives the rows that `wiregen decode` gives as lines."""

from __future__ import annotations

import gzip
import json
import lzma
import random
import sys
from collections import Counter
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from tests.commands import called
from tests.pipeline.rows import check_row, rows_of, table_rows
from tests.pipeline.streams import stream_of
from tests.unit.tools.test_cli_capture import Wire

from wiregen.formats.capture import IssueKind, read_streams
from wireproto import lumberjack as lj
from wirespark import captures
from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions, Wishes
from wirespark.planning import parts_of
from wirespark.reading import columns_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "conformance" / "data" / "captures"
FILES = sorted(
    path
    for folder in (ROOT / "examples" / "captures", KEPT)
    for path in folder.rglob("*")
    if path.name.endswith((".pcap", ".pcap.gz", ".bin"))
)

WAY_OUT = "leave it out, or read it as a stream with `capture=false` (`--no-pcap`)"


def options(path: Path, **more: str) -> ReadOptions:
    protocol = "pravega" if "pravega" in str(path) or "write_read" in path.name else "lumberjack"
    role = {"c2s": "writer", "s2c": "reader"}.get(path.name.split(".")[1] if path.suffix == ".bin" else "")
    return ReadOptions.of(
        {
            "protocol": protocol,
            "path": str(path),
            "index": "false",
            **({"from": role} if role else {}),
            **more,
        }
    )


def lines_of(path: Path, wanted: ReadOptions) -> list[dict[str, Any]]:
    role = (
        ["--from", wanted.wishes.role]
        if wanted.wishes.role
        else ["--from", "writer"] if "writer.bin" in path.name else []
    )
    done = called("decode", wanted.wishes.protocol, str(path), *role, "--format", "jsonl", folder=ROOT)
    return [json.loads(line) for line in done.stdout_bytes.splitlines()]


def place(found: dict[str, Any]) -> tuple[Any, ...]:
    return found["flow"] or "", found["from"] or "", found["offset"]


def check_file(path: Path, wanted: ReadOptions) -> None:
    rows = [
        {**row, "flow": row["_flow"], "from": row["_from"], "offset": row["_offset"]}
        for columns in columns_of(parts_of(wanted), wanted.wishes, wanted)
        for row in table_rows(columns, wanted.wishes)
    ]
    lines = [{"flow": None, "from": None, **line} for line in lines_of(path, wanted)]
    assert len(rows) == len(lines) > 0
    for row, line in zip(sorted(rows, key=place), sorted(lines, key=place), strict=True):
        assert row["_flow"] == line["flow"]
        assert (row["_time"] is None) == ("time" not in line)
        assert row["_time"] is None or abs(row["_time"].timestamp() - line["time"]) < 2e-6
        check_row(row, line, wanted.wishes)


@pytest.mark.parametrize("path", [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in FILES])
def test_rows_are_the_lines_of_decode(path: Path) -> None:
    check_file(path, options(path))


def test_the_captures_of_many_clients_are_there() -> None:
    assert len(FILES) > 15


def test_shares_of_a_capture_are_the_whole(tmp_path: Path) -> None:
    """The flows of a capture are shared among tasks, each flow in one of them."""
    packed = ROOT / "examples" / "captures" / "pravega-write-read.pcap.gz"
    path = tmp_path / "pravega.pcap"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    assert len(parts_of(options(path, split="4000"))) > 2
    check_file(path, options(path, split="4000"))
    again = tmp_path / "pravega.xz"
    again.write_bytes(lzma.compress(path.read_bytes()))
    for each in (packed, again):
        assert len(parts_of(options(each, split="1KiB"))) == 1
    check_file(again, options(again))


@pytest.mark.parametrize("n_shares", [1, 2])
def test_a_capture_that_ends_within_its_header_has_no_rows(tmp_path: Path, n_shares: int) -> None:
    """So that it does not stop the conversion of the others in its folder."""
    path = tmp_path / "new.pcap"
    path.write_bytes(Wire(30_000, 12_345).open().client(b"a").pcap()[:23])
    counts = Counter[IssueKind]()
    share = captures.Share(path=str(path), n_shares=n_shares)
    assert not list(captures.share_columns(share, Wishes(protocol="lumberjack"), 1 << 20, counts))
    assert counts == {IssueKind.TRUNCATED_FILE: 1}


@pytest.mark.parametrize("n_shares", [1, 8])
def test_a_file_that_is_no_capture_is_named_with_a_way_out(tmp_path: Path, n_shares: int) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(b"2W" * 20)
    share = captures.Share(path=str(path), index=0, n_shares=n_shares)
    with pytest.raises(WireSparkError) as raised:
        list(captures.share_columns(share, Wishes(protocol="lumberjack"), 1 << 20))
    message, _, way_out = str(raised.value).partition(": ")
    assert message.startswith(f"{path} is not a capture (it begins with 32573257; expected pcap (d4c3b2a1,")
    assert way_out == WAY_OUT


def test_a_file_that_begins_as_pcapng_and_is_none(tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(bytes.fromhex("0a0d0d0a1c000000") + b"2W" * 20)
    own = options(path)
    with pytest.raises(WireSparkError) as raised:
        list(columns_of(parts_of(own), own.wishes, own))
    assert str(raised.value) == (
        f"{path} is not a pcapng file (expected byte-order magic 1a2b3c4d, found 32573257): {WAY_OUT}"
    )


def test_a_library_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "traffic.zst"
    path.write_bytes(bytes.fromhex("28b52ffd") + bytes(30))
    for name in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    own = options(path)
    with pytest.raises(WireSparkError) as raised:
        list(columns_of(parts_of(own), own.wishes, own))
    assert str(raised.value) == (
        f"{path} is not read, the capture is compressed with zstd: pip install 'wiregen[zstd]', "
        "or decompress it with `zstd -d`"
    )


def test_a_share_reassembles_its_own_flows_alone(tmp_path: Path) -> None:
    """All connections of two ends, both directions, are in one share; together the shares are everything."""
    path = tmp_path / "many.pcap"
    wires = [Wire(30_000 + number, 12_345).open().client(b"a").server(b"b").close() for number in range(20)]
    path.write_bytes(together([*wires, Wire(30_000, 12_345).open().client(b"c").close()]).pcap())
    shares = [list(captures.Share(path=str(path), index=index, n_shares=3).events()) for index in range(3)]
    names = [{event.flow.name.partition("#")[0] for event in events} for events in shares]
    assert all(names) and sum(map(len, names)) == 20 == len(set[str]().union(*names))
    assert sum(map(len, shares)) == len(list(captures.Share(path=str(path)).events()))


@pytest.mark.parametrize("kernel", ["on", "off"])
def test_many_short_connections_share_scans_and_batches(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their rows are those of their bytes: whole frames, wrong ones in some, the last one cut off in others."""
    if kernel == "on":
        pytest.importorskip("numba", reason="the kernels need numba")
    protocol, dice = "pravega_documented", random.Random(3)
    made = [stream_of(protocol, number, dice.randrange(20, 60)) for number in range(9)]
    sent: dict[tuple[str, str], bytes] = {}
    wires = []
    for number in range(60):
        stream, port = made[number % len(made)], 20_000 + number
        data = (stream.data, stream.data[:-3], stream.data[:90] + b"\xff\xff" + stream.data[90:])[number % 3]
        cuts = [0, *sorted(dice.sample(range(1, len(data)), 2)), len(data)]
        wire = Wire(port, 12_345).open()
        for begin, end in pairwise(cuts):
            getattr(wire, stream.role)(data[begin:end])
        wires.append(wire)
        sent[f"127.0.0.1:{port}-127.0.0.1:12345", stream.role] = data
    path = tmp_path / "many.pcap"
    path.write_bytes(together(wires).pcap())
    wanted = ReadOptions.of(
        {"protocol": protocol, "path": str(path), "index": "false", "kernel": kernel, "batch": "16KiB"}
    )
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    n_batches = n_scans = 0
    if kernel == "on":
        from wirespark.kernels.scanner import Scanner

        scan_windows = Scanner.scan_windows

        def counted(self: Scanner, *given: Any) -> int:
            nonlocal n_scans
            n_scans += 1
            return scan_windows(self, *given)

        monkeypatch.setattr(Scanner, "scan_windows", counted)
    for columns in columns_of(parts_of(wanted), wanted.wishes, wanted):
        n_batches += 1
        for row in table_rows(columns, wanted.wishes):
            found.setdefault((row["_flow"], row["_from"]), []).append(row)
    assert found.keys() == sent.keys() and n_batches < len(sent) / 2
    assert kernel == "off" or 0 < n_scans < len(sent)
    for (flow, role), data in sent.items():
        rows = sorted(found[flow, role], key=lambda row: row["_offset"])
        alone = rows_of(data, Wishes(protocol=protocol, role=role, kernel="off"), tmp_path)
        assert list(map(without_place, rows)) == list(map(without_place, alone))
        assert all(row["_time"] is not None for row in rows)


def test_roles_without_a_syn_are_found_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotated captures begin in the middle of connections, at ports that nobody declares, and an answer comes first."""
    wires = []
    for number in range(20):
        asked = lj.encode(lj.Window(2)) + b"".join(lj.encode(lj.Data(each, [])) for each in (1, 2))
        wire = Wire(40_000 + number, 50_000 + number)
        wires.append(
            wire.server(lj.encode(lj.Ack(number))).client(asked) if number % 2 else wire.client(asked)
        )
    path = tmp_path / "middle.pcap"
    path.write_bytes(together(wires).pcap())
    reads: list[str] = []

    def counted(source: str, **given: Any) -> Any:
        reads.append(source)
        return read_streams(source, **given)

    monkeypatch.setattr(captures, "read_streams", counted)
    wanted = ReadOptions.of({"protocol": "lumberjack", "path": str(path), "index": "false"})
    rows = [
        row
        for columns in columns_of(parts_of(wanted), wanted.wishes, wanted)
        for row in table_rows(columns, wanted.wishes)
    ]
    assert Counter((row["_from"], row["_message"]) for row in rows) == {
        ("writer", "Window"): 20,
        ("writer", "Data"): 40,
        ("reader", "Ack"): 10,
    }
    assert len(reads) == 2


def together(wires: list[Wire]) -> Wire:
    """Return the packets of all wires, by turns."""
    found = Wire()
    found._packets = [
        packet for turn in zip_longest(*(wire._packets for wire in wires)) for packet in turn if packet
    ]
    return found


def without_place(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("_file", "_flow", "_time")}


@pytest.mark.parametrize("split", ["64MiB", "1KiB"], ids=["whole", "in shares"])
def test_failfast_names_the_connection_and_the_sender(split: str) -> None:
    path = ROOT / "examples" / "captures" / "npm-w10-plain.pcap"
    given = {"protocol": "reactive_streams", "path": str(path), "split": split, "index": "false"}
    own = ReadOptions.of(given | {"mode": "FAILFAST"})
    place = r"in the frame at \d+ of .*npm-w10-plain\.pcap, sent by (client|server) in 127\.0\.0\.1:\d+-\S+"
    with pytest.raises(WireSparkError, match=place):
        list(columns_of(parts_of(own), own.wishes, own))
