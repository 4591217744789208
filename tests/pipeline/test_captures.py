"""Every capture gives the rows that `wiregen decode` gives as lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from tests.commands import called
from tests.pipeline.rows import check_row, table_rows

from wirespark.options import ReadOptions
from wirespark.planning import parts_of
from wirespark.reading import located_columns

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "conformance" / "data" / "captures"
FILES = sorted(
    path
    for folder in (ROOT / "examples" / "captures", KEPT)
    for path in folder.rglob("*")
    if path.name.endswith((".pcap", ".pcap.gz", ".bin"))
)


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
        {**row, "flow": flow, "from": row["_from"], "offset": row["_offset"]}
        for part in parts_of(wanted)
        for columns, file, flow in located_columns(part, wanted.wishes, wanted)
        for row in table_rows(columns, wanted.wishes, file, flow)
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
