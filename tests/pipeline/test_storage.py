"""Traffic in an object store: the same files, rows and errors as on a disk."""

from __future__ import annotations

import importlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Thread
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from tests.pipeline.objects import BUCKET, Objects
from tests.pipeline.rows import table_rows
from tests.pipeline.streams import stream_of
from tests.pipeline.test_convert import reader_of, run_all

from wireproto import lumberjack as lj
from wirespark import remote_storage, requests_ahead, s3_files, storage
from wirespark.errors import WireSparkError
from wirespark.of_process import OfProcess
from wirespark.options import ReadOptions
from wirespark.planning import files_of, parts_of
from wirespark.reading import columns_of

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "examples" / "captures"
CODE = [str(ROOT / folder) for folder in ("generator", "pipeline", "generated/python")]
NAMES = [
    "a.bin", "b.bin", "week 1/c+d.bin", "week 1/e%20f.bin", "week 2/deep/g.bin", "week 2/h.txt", ".hidden/i.bin", "_j/k.bin",
    "week 1/.l.bin", "week 1/_m.bin", "[n]/o.bin", "n/p.bin",
]  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, objects: Objects) -> Path:
    """Return a folder that is in the store too, below `tree`."""
    folder = tmp_path_factory.mktemp("tree")
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
        objects.put(f"tree/{name}", name.encode())
    return folder


PATTERNS = ["", "/", "/a.bin", "/*.bin", "/week 1", "/week*", "/week */*.bin", "/*/deep", "/*/*", "/[n]", "/[n]/*", "/[m-n]/*.bin", "/.hidden", "/?.bin", "/week 1/e%20f.bin"]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_files_of_a_pattern_are_those_of_a_disk(tree: Path, objects: Objects, pattern: str) -> None:
    on_disk = {str(Path(path).relative_to(tree)) for path in files_of((f"{tree}{pattern}",))}
    root = f"{objects.root}tree"
    in_store = files_of((f"{root}{pattern}",))
    assert {path.removeprefix(f"{root}/") for path in in_store} == on_disk and on_disk
    for path in in_store:
        name = path.removeprefix(f"{root}/").encode()
        place = storage.storage_of(path)
        with place.open(path, 1) as file:
            assert file.read() == name[1:]
        assert place.state(path) == place.files(f"{root}{pattern}")[path]
        assert place.state(path).size == len(name)


class _WithMilliseconds(BaseHTTPRequestHandler):
    """A server of S3 whose listings have milliseconds, as those of MinIO and Ceph; its single answers cannot have them."""

    listed = b"<?xml version='1.0'?><ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated><Contents><Key>day/x</Key><LastModified>2025-12-01T10:00:00.456Z</LastModified><Size>3</Size></Contents></ListBucketResult>"

    def do_HEAD(self) -> None:
        is_there = self.path == "/b/day/x"
        self.send_response(200 if is_there else 404)
        self.send_header("Last-Modified", "Mon, 01 Dec 2025 10:00:00 GMT")
        self.send_header("Content-Length", "3" if is_there else "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.listed)))
        self.end_headers()
        self.wfile.write(self.listed)

    def log_message(self, *given: object) -> None:
        pass


def test_an_object_has_one_time_in_a_listing_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each conversion would take it for another one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _WithMilliseconds) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        # That of S3 alone is nearer than that of all services.
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "x")
        s3_files.s3_system.cache_clear()
        place = storage.storage_of("s3a://b/day")
        [(path, listed)] = place.files("s3a://b/day").items()
        alone = place.state(path)
        server.shutdown()
    s3_files.s3_system.cache_clear()
    assert listed == alone and listed.size == 3 and listed.modified % 1_000_000_000 == 0 < listed.modified


def test_a_child_of_a_fork_has_clients_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And keeps those of its parent, whose threads it could not end."""
    numbers = count(1)
    client_of = OfProcess(lambda place: next(numbers))
    assert [client_of("a"), client_of("b"), client_of("a")] == [1, 2, 1]
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    assert [client_of("a"), client_of("a")] == [3, 3]
    monkeypatch.undo()
    assert client_of("a") == 1


@pytest.mark.parametrize("path", [f"s3a://{BUCKET}/none", f"s3://{BUCKET}/none/*", "s3://no-such-bucket/x"])
def test_a_path_without_files_is_an_error_with_its_name(objects: Objects, path: str) -> None:
    with pytest.raises(WireSparkError, match="no file is named|cannot read") as caught:
        files_of((path,))
    assert path in str(caught.value) and "not-to-be-seen" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["s3", "s3n"])
def test_spellings_of_a_store_are_one(objects: Objects, tmp_path: Path, scheme: str) -> None:
    """A file is known under one of them, so that a conversion with another one skips it."""
    there = objects.put("spelled/x.writer.bin", lj.Window(1).encode())
    other = there.replace("s3a:", f"{scheme}:")
    folder = other.removesuffix("x.writer.bin")
    for path in (other, folder, f"{folder}*", f"{scheme}://{BUCKET}//spelled"):
        assert files_of((path, there)) == files_of((there,))
    target = tmp_path / "target"
    assert not any(run_all(reader_of(there, target, "lumberjack")))
    assert all(run_all(reader_of(folder, target, "lumberjack")))


@pytest.mark.parametrize(
    ("spelled", "known"),
    [
        ("gcs://bucket/a/x.pcap", "gs://bucket/a/x.pcap"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfs://box@account.dfs.core.windows.net/x"),
        ("hdfs://node:8020//a/./b//x", "hdfs://node:8020/a/b/x"),
        ("viewfs://mounts/a/x", "viewfs://mounts/a/x"),
        ("s3://bucket/a//x/", "s3a://bucket/a//x"),
    ],
)
def test_a_remote_file_is_known_in_one_spelling(spelled: str, known: str) -> None:
    assert storage.canonical(spelled) == storage.canonical(known) == known


def linked(folder: Path) -> Path:
    """Make a folder with two files, and links to it and to them."""
    (folder / "real").mkdir()
    for name in ("1.writer.bin", "2.writer.bin"):
        (folder / "real" / name).write_bytes(lj.Window(1).encode())
    (folder / "link").symlink_to("real")
    (folder / "beside").mkdir()
    return folder / "real"


def test_spellings_of_a_folder_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are known by their real paths: a conversion of the same folder skips them."""
    real, target = linked(tmp_path), tmp_path / "target"
    monkeypatch.chdir(real)
    expected = [str(real / name) for name in ("1.writer.bin", "2.writer.bin")]
    ways = (
        "real",
        "link",
        "link/",
        "beside/../link",
        "link/../real",
        "li*",
        "lin*/*.bin",
        "./link/./?.writer.bin",
    )
    for path in (*(f"{tmp_path}/{way}" for way in ways), ".", "*.bin", "../link", f"file://{tmp_path}/link"):
        assert list(files_of((path,))) == expected, path
    assert list(files_of(("1.writer.bin", f"{tmp_path}/link/1.writer.bin"))) == expected[:1]
    assert not any(run_all(reader_of(real, target, "lumberjack")))
    for path in ("link", "beside/../link"):
        assert all(run_all(reader_of(tmp_path / path, target, "lumberjack"))), path
    with pytest.raises(WireSparkError, match="is inside of the source"):
        reader_of(real, tmp_path / "link" / "tables", "lumberjack")


def test_a_file_and_links_to_it_are_read_once(tmp_path: Path) -> None:
    real = linked(tmp_path)
    (real / "latest.bin").symlink_to("2.writer.bin")
    (real / "newest").symlink_to(real / "latest.bin")
    (real / "own.server.bin").symlink_to("1.writer.bin")
    names = [str(real / "1.writer.bin"), str(real / "2.writer.bin")]
    for path in ("", "/*", "/*.bin"):
        assert list(files_of((f"{tmp_path}/link{path}",))) == names, path
    assert list(files_of((str(real / "latest.bin"),))) == [str(real / "latest.bin")]
    assert len(rows_in(str(real), protocol="lumberjack")) == 2


def test_a_file_that_is_not_named_is_known_by_its_first_link(tmp_path: Path) -> None:
    real = linked(tmp_path)
    (real / "1.writer.bin").rename(tmp_path / "beside" / "0f3a")
    for name in ("a.writer.bin", "b.writer.bin"):
        (real / name).symlink_to("../beside/0f3a")
    names = [str(real / name) for name in ("2.writer.bin", "a.writer.bin")]
    assert list(files_of((f"{tmp_path}/link",))) == names
    assert list(files_of((f"{tmp_path}/link/b.writer.bin",))) == [str(real / "b.writer.bin")]
    assert set(files_of((str(tmp_path),))) == {names[0], str(tmp_path / "beside" / "0f3a")}


def test_a_file_that_was_moved_and_left_a_link_is_known(tmp_path: Path) -> None:
    real, target = linked(tmp_path), tmp_path / "target"
    assert not any(run_all(reader_of(real, target, "lumberjack")))
    (real / "1.writer.bin").rename(tmp_path / "beside" / "archived.bin")
    (real / "1.writer.bin").symlink_to("../beside/archived.bin")
    assert all(run_all(reader_of(real, target, "lumberjack")))


@contextmanager
def without_rights() -> Iterator[None]:
    """Do something as a user that rights apply to."""
    user = os.geteuid()
    if not user:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("", "/locked"),
        ("/locked", "/locked"),
        ("/locked/b", None),
        ("/locked/*.pcap", None),
        ("/*", "/locked"),
    ],
)
def test_what_may_not_be_read_is_an_error_with_its_name(path: str, named: str | None) -> None:
    """A folder that is left out would be traffic that is lost."""
    with TemporaryDirectory() as root:
        folder = Path(os.path.realpath(root))
        folder.chmod(0o755)
        for name in ("a", "locked/b", "lost+found/c"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(b"")
        for name in ("locked", "lost+found"):
            (folder / name).chmod(0)
        try:
            with pytest.raises(WireSparkError) as raised, without_rights():
                files_of((f"{folder}{path}",))
            with without_rights():
                assert list(files_of((f"{folder}/a*",))) == [f"{folder}/a"]
        finally:
            for name in ("locked", "lost+found"):
                (folder / name).chmod(0o755)
        message, _, way_out = str(raised.value).partition(": ")
        assert message == f"'{folder}{path if named is None else named}' may not be read"
        assert way_out == "get the right to read it, or give a pattern that leaves it out"


def test_a_scheme_without_a_storage_is_an_error() -> None:
    with pytest.raises(WireSparkError, match="its scheme is one of s3"):
        files_of(("ftp://host/x",))


def test_a_password_in_a_path_is_refused_and_not_repeated() -> None:
    with pytest.raises(WireSparkError, match="in the environment") as caught:
        files_of(("s3a://reader:secret@bucket/x",))
    assert "secret" not in str(caught.value)


def rows_in(path: str, **more: str) -> list[dict[str, Any]]:
    """Return the rows of a path, without the file's name."""
    options = ReadOptions.of({"path": path, "index": "false", **more})
    rows = [
        row
        for columns in columns_of(parts_of(options), options.wishes, options)
        for row in table_rows(columns, options.wishes)
    ]
    return [{name: value for name, value in row.items() if name != "_file"} for row in rows]


@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("split", ["16KiB", "1GiB"])
def test_rows_of_a_stream_are_those_of_a_disk(
    tmp_path: Path, objects: Objects, kernel: str, split: str
) -> None:
    """In several parts too, which are read from their offsets on."""
    if kernel == "on":
        pytest.importorskip("numba", reason="the kernels need numba")
    stream = stream_of("pravega_documented", 3, 1000)
    data = stream.data[:-2] + b"\xff" * 3 + stream.data
    path = tmp_path / f"x.{stream.role}.bin"
    path.write_bytes(data)
    there = objects.put(f"streams/x.{stream.role}.bin", data)
    given = {"protocol": "pravega_documented", "kernel": kernel, "split": split}
    rows = rows_in(there, **given)
    assert rows == rows_in(str(path), **given)
    assert sum(row["_size"] for row in rows) == len(data)
    n_parts = len(parts_of(ReadOptions.of({"path": there, "index": "false", **given})))
    assert (n_parts > 2) == (split == "16KiB")


@pytest.mark.parametrize("name", ["npm-w10-plain.pcap", "pravega-write-read.pcap.gz"])
def test_rows_of_a_capture_are_those_of_a_disk(objects: Objects, name: str) -> None:
    """A capture in a store is one task, whatever its size."""
    there = objects.put(f"pcaps/{name}", (CAPTURES / name).read_bytes())
    given = {"protocol": "pravega" if "pravega" in name else "lumberjack", "split": "1KiB"}
    rows = rows_in(there, **given)
    assert rows == rows_in(str(CAPTURES / name), **(given | {"split": "1GiB"}))
    assert rows and len(parts_of(ReadOptions.of({"path": there, **given}))) == 1


def test_an_object_that_vanishes_is_an_error_and_not_the_end_of_a_capture(objects: Objects) -> None:
    """A reader of captures takes an OSError for the end of a damaged file: rows would be missing."""
    data = (CAPTURES / "npm-w10-plain.pcap").read_bytes()
    there = objects.put("pcaps/leaving", data + bytes(9 << 20))
    with storage.storage_of(there).open(there) as file:
        assert file.read(len(data)) == data
        objects.client.delete_object(Bucket=BUCKET, Key="pcaps/leaving")
        with pytest.raises(WireSparkError, match="cannot read .*leaving"):
            file.read()


def test_small_reads_share_requests(objects: Objects, caplog: pytest.LogCaptureFixture) -> None:
    """A request costs as much as megabytes do; the bytes before the offset are not asked for."""
    there = objects.put("requests", bytes(20 << 20))
    caplog.set_level(logging.INFO, logger="werkzeug")
    with storage.storage_of(there).open(there, 11 << 20) as file:
        caplog.clear()
        assert sum(map(len, iter(lambda: file.read(1 << 16), b""))) == 9 << 20
    assert sum("GET /captures/requests" in record.getMessage() for record in caplog.records) == 3


def put_streams(objects: Objects, key: str, folder: Path) -> str:
    """Write as many small streams as a task asks for at the same time, to the store and to a folder."""
    folder.mkdir()
    for number in range(16):
        stream = stream_of("lumberjack", number, 3)
        name = f"{number:02}.{stream.role}.bin"
        (folder / name).write_bytes(stream.data)
        objects.put(f"{key}/{name}", stream.data)
    return f"{objects.root}{key}"


@pytest.mark.parametrize("what", ["open", "state"])
def test_small_objects_are_asked_for_at_the_same_time(
    objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """No request is answered before all are made."""
    there = put_streams(objects, f"at once {what}", tmp_path / "there")
    all_made, ask = Barrier(16, timeout=60), getattr(remote_storage.RemoteStorage, what)

    def asked(storage: remote_storage.RemoteStorage, *given: Any) -> Any:
        all_made.wait()
        return ask(storage, *given)

    names = sorted(files_of((there,)))
    monkeypatch.setattr(remote_storage.RemoteStorage, what, asked)
    if what == "state":
        assert list(requests_ahead.states_of([*names, *names])) == names
        return
    given = {"protocol": "lumberjack"}
    assert rows_in(there, **given) == rows_in(str(tmp_path / "there"), **given)


def test_one_of_many_objects_that_vanishes_is_an_error(objects: Objects, tmp_path: Path) -> None:
    there = put_streams(objects, "vanishing", tmp_path / "there")
    options = ReadOptions.of({"path": there, "protocol": "lumberjack", "index": "false"})
    parts = parts_of(options)
    objects.remove(parts[11].path.removeprefix(objects.root))
    with pytest.raises(FileNotFoundError):
        list(columns_of(parts, options.wishes, options))


def test_a_stream_follows_objects(objects: Objects) -> None:
    """Each new one is read once, captures too."""
    streaming = pytest.importorskip("wirespark.streaming", reason="the extra `spark` is not installed")
    source = importlib.import_module("wirespark.source").WireSource
    objects.put("followed/1.writer.bin", lj.Window(1).encode())
    given = {"path": f"{objects.root}followed", "protocol": "lumberjack"}
    reader = streaming.FollowReader(ReadOptions.of(given), source(given).schema())

    def rows(start: dict[str, Any], end: dict[str, Any]) -> list[tuple[int, int | None]]:
        parts = reader.partitions(start, end)
        found = [row for part in parts for table in reader.read(part) for row in table.to_pylist()]
        return [(row["_offset"], (row["Window"] or {}).get("size")) for row in found]

    offsets = [reader.initialOffset()]
    offsets.append(reader.latestOffset(offsets[-1], reader.getDefaultReadLimit()))
    objects.put("followed/2.writer.bin", lj.Window(2).encode())
    capture = (CAPTURES / "npm-w10-plain.pcap").read_bytes()
    objects.put("followed/3.pcap", capture)
    offsets.append(reader.latestOffset(offsets[-1], reader.getDefaultReadLimit()))
    assert rows(*offsets[:2]) == [(0, 1)]
    assert (0, 2) in rows(*offsets[1:]) and len(rows(*offsets[1:])) == 13
    assert reader.latestOffset(offsets[-1], reader.getDefaultReadLimit()) == offsets[-1]


PROGRAM = """
import json, sys
import wirespark
from pyspark.sql import functions as F

source, target = sys.argv[1:]
config = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
spark = wirespark.session("storage", master="local[2]", config=config)
table = spark.read.format("wire").option("protocol", "lumberjack").load(source)
counts = {row["_message"]: row["count"] for row in table.groupBy("_message").count().collect()}
names = sorted(row[0] for row in table.select("_file").distinct().collect())
runs = [wirespark.convert(spark, source, target, protocol="lumberjack") for _ in range(2)]
converted = spark.read.parquet(f"{target}/_frames").count()
found = {"counts": counts, "files": names, "rows": converted, "resumed": [run.resumed for run in runs], "parts": runs[0].parts}
print(json.dumps(found))
spark.stop()
"""


def test_spark_reads_and_converts_objects(tmp_path: Path, objects: Objects) -> None:
    """A second conversion knows the objects again; credentials are in none of the files that it writes."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    for number in range(3):
        objects.put(f"night/{number}.pcap", (CAPTURES / "npm-w10-plain.pcap").read_bytes())
    source, target = f"{objects.root}night", tmp_path / "tables"
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, source, str(target)],
        env={**objects.environment, "PYTHONPATH": os.pathsep.join(CODE)}, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["files"] == [f"{source}/{number}.pcap" for number in range(3)]
    assert (
        sum(found["counts"].values())
        == found["rows"]
        == 3 * len(rows_in(f"{source}/0.pcap", protocol="lumberjack"))
    )
    assert found["parts"] == 3 and found["resumed"] == [0, 3]
    written = [path.read_bytes() for path in target.rglob("*") if path.is_file()]
    assert written and not any(b"not-to-be-seen" in data for data in written)
