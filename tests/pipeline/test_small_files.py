"""Small files that one task reads share columns, and their rows are those of each file alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, BinaryIO

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from tests.pipeline.damage import damaged
from tests.pipeline.rows import rows_of, table_rows
from tests.pipeline.streams import STREAMS, stream_of

from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions, Wishes
from wirespark.planning import parts_of
from wirespark.reading import columns_of
from wirespark.storage import _Disk

N_FILES = 24


@pytest.fixture(params=STREAMS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def contents_of(protocol: str) -> dict[str, tuple[str, bytes]]:
    """Return the role and the bytes of files by name: whole streams, damaged and cut ones, and an empty one."""
    dice = random.Random(protocol)
    found = {"empty.bin": (stream_of(protocol, 0).role, b"")}
    for number in range(N_FILES):
        stream = stream_of(protocol, number % 6, 8)
        data = stream.data
        if number % 4 == 1:
            data = damaged(data, dice)
        elif number % 4 == 2:
            data = data[: dice.randrange(len(data))]
        found[f"{N_FILES - number}.{stream.role}.bin"] = (stream.role, data)
    return found


def read_together(
    folder: Path, protocol: str, kernel: str, batch: str, mode: str = "PERMISSIVE"
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of all files of a folder that one task reads, and in how many columns they came."""
    given = {"protocol": protocol, "path": str(folder), "capture": "false", "kernel": kernel, "mode": mode}
    options = ReadOptions.of(given | {"batch": batch})
    found = list(columns_of(parts_of(options), options.wishes, options))
    return [row for columns in found for row in table_rows(columns, options.wishes)], len(found)


@pytest.mark.parametrize("kernel", ["on", "off"])
def test_files_that_share_columns_have_the_rows_of_each_alone(
    protocol: str, kernel: str, tmp_path: Path
) -> None:
    contents, folder = contents_of(protocol), tmp_path / "files"
    folder.mkdir()
    for name, (_, data) in contents.items():
        (folder / name).write_bytes(data)
    rows, n_columns = read_together(folder, protocol, kernel, "1MiB")
    roles = {role for role, data in contents.values() if data}
    assert n_columns <= len(roles) and any(row["_error"] for row in rows)
    for name, (role, data) in contents.items():
        wishes = Wishes(protocol=protocol, role=role, kernel="off")
        alone = rows_of(data, wishes, tmp_path)
        own = [row for row in rows if row["_file"] == str(folder / name)]
        assert sum(row["_size"] for row in own) == len(data)
        assert own == [{**row, "_file": str(folder / name)} for row in alone]
    in_batches, n_batches = read_together(folder, protocol, kernel, "4KiB")
    assert n_batches > n_columns
    assert sorted(in_batches, key=place) == sorted(rows, key=place)


def test_a_small_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In other storages that is a request for its size and one for its bytes. One that has grown since is opened again."""
    whole = stream_of("pravega_documented", 1, 8)
    path = tmp_path / f"a.{whole.role}.bin"
    path.write_bytes(whole.data)
    paths: list[str] = []
    open_ = _Disk.open

    def counted(disk: _Disk, path: str, start: int = 0) -> BinaryIO:
        paths.append(path)
        return open_(disk, path, start)

    monkeypatch.setattr(_Disk, "open", counted)
    options = ReadOptions.of({"protocol": "pravega_documented", "path": str(path), "batch": "64KiB"})
    parts = parts_of(options)
    assert not paths
    [columns] = columns_of(parts, options.wishes, options)
    assert columns.rows.num_rows == len(whole.ends) and paths == [str(path)]
    n_times = (64 << 10) // len(whole.data) + 1
    path.write_bytes(whole.data * n_times)
    n_rows = sum(columns.rows.num_rows for columns in columns_of(parts, options.wishes, options))
    assert n_rows == n_times * len(whole.ends) and len(paths) > 2


def place(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["_file"], row["_offset"], row["_size"]


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "FAILFAST"])
def test_the_mode_holds_for_files_that_share_columns(mode: str, tmp_path: Path) -> None:
    whole = stream_of("pravega_documented", 1, 8)
    for name in "abc":
        (tmp_path / f"{name}.{whole.role}.bin").write_bytes(whole.data + b"\xff\xff" * (name == "b"))
    if mode == "DROPMALFORMED":
        rows, _ = read_together(tmp_path, "pravega_documented", "auto", "1MiB", mode)
        assert len(rows) == 3 * len(whole.ends) and not any(row["_error"] for row in rows)
        return
    with pytest.raises(WireSparkError, match=rf"in the frame at {len(whole.data)} of .*b\.{whole.role}\.bin"):
        read_together(tmp_path, "pravega_documented", "auto", "1MiB", mode)
