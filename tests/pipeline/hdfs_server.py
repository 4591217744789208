"""HDFS on this computer: a name node and a data node, in a folder of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hdfs_native import Client, WriteOptions
from tests.pipeline.maven import class_path
from tests.pipeline.name_node_model import NameNodeModel

from wirespark import hdfs, provide_java

__all__ = ["HdfsFiles", "administer", "forget_clients", "modelled_hdfs", "served_hdfs", "settings"]

_SERVER = "org.apache.hadoop:hadoop-client-minicluster:3.5.0"
_SMALL = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_CLASSES = "org.apache.hadoop.hdfs"
_LONGEST = 120.0  # seconds
_VERSIONS = "_receipts/_versions/"


@dataclass(frozen=True, slots=True)
class HdfsFiles:
    """A name node, and the environment of those who read from it. `folder`: that of a server, with its settings."""

    root: str
    client: Client | NameNodeModel
    environment: Mapping[str, str]
    folder: Path = Path()
    stop_data_node: Callable[[], object] = lambda: None

    def names(self, folder: str) -> set[str]:
        """Return the names of the files below a folder, relative to it; the versions of the record as the record."""
        begin = f"/{folder}/"
        try:
            found = [each.path for each in self.client.list_status(begin[:-1], True) if not each.isdir]
        except FileNotFoundError:
            return set()
        names = (path.removeprefix(begin) for path in found)
        is_version = {name: name.removeprefix(_VERSIONS).isdecimal() for name in names}
        return {"_receipts/_target" if is_version[name] else name for name in is_version}

    def put(self, path: str, data: bytes) -> str:
        with self.client.create(f"/{path}", WriteOptions(overwrite=True)) as file:
            file.write(data)
        return f"{self.root}{path}"

    def remove(self, path: str) -> None:
        self.client.delete(f"/{path}")

    def put_folder(self, folder: Path, key: str) -> str:
        for path in folder.rglob("*"):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder)}", path.read_bytes())
        return f"{self.root}{key}"


@contextmanager
def served_hdfs(folder: Path) -> Iterator[HdfsFiles]:
    """Serve an empty file system, and let this process look for it anew."""
    port = _free_port()
    settings(
        folder,
        {
            "fs.defaultFS": f"hdfs://127.0.0.1:{port}",
            "dfs.namenode.name.dir": f"file://{folder}/names",
            "dfs.datanode.data.dir": f"file://{folder}/blocks",
            "dfs.replication": "1",
            "dfs.namenode.http-address": "127.0.0.1:0",
            **{f"dfs.datanode.{each}": "127.0.0.1:0" for each in ("address", "http.address", "ipc.address")},
        },
    )
    name_node = _command(folder, "server.namenode.NameNode")
    data_node = _command(folder, "server.datanode.DataNode")
    subprocess.run([*name_node, "-format"], check=True, capture_output=True, cwd=folder)
    with ExitStack() as stack:
        log = stack.enter_context((folder / "log").open("wb"))
        nodes = [stack.enter_context(_running(each, log.fileno(), folder)) for each in (name_node, data_node)]
        _wait(nodes, port, folder / "log")
        client = Client(f"hdfs://127.0.0.1:{port}")
        _wait_for_data_node(nodes, client, folder / "log")
        forget_clients()
        yield HdfsFiles(f"hdfs://127.0.0.1:{port}/", client, {**os.environ}, folder, nodes[1].kill)
    forget_clients()


@contextmanager
def modelled_hdfs() -> Iterator[HdfsFiles]:
    """Let this process, and no other one, find the model of a name node."""
    model = NameNodeModel()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hdfs, "_client", lambda place: model)
        yield HdfsFiles("hdfs://model/", model, os.environ)


def administer(files: HdfsFiles, *given: str) -> None:
    """Run a command of `hdfs dfsadmin`."""
    command = [*_command(files.folder, "tools.DFSAdmin"), *given]
    subprocess.run(command, check=True, capture_output=True, cwd=files.folder)


def _command(folder: Path, program: str) -> list[str]:
    return [provide_java(), *_SMALL, "-cp", f"{folder}:{class_path(_SERVER)}", f"{_CLASSES}.{program}"]


def settings(folder: Path, given: Mapping[str, str]) -> Path:
    """Write settings of Hadoop into a folder, which HADOOP_CONF_DIR may name."""
    folder.mkdir(exist_ok=True)
    lines = (
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in given.items()
    )
    text = "\n".join(("<configuration>", *lines, "</configuration>"))
    for name in ("core-site.xml", "hdfs-site.xml"):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def forget_clients() -> None:
    """Let this process look again for the settings, the user and the name nodes."""
    hdfs._client.cache_clear()


@contextmanager
def _running(command: list[str], log: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(nodes: list[subprocess.Popen[bytes]], port: int, log: Path) -> None:
    end = time.monotonic() + _LONGEST
    while time.monotonic() < end and all(node.poll() is None for node in nodes):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the name node did not start: {log.read_text(errors='replace')[-2000:]}")


def _wait_for_data_node(nodes: list[subprocess.Popen[bytes]], client: Client, log: Path) -> None:
    """Wait until a file can be written."""
    end = time.monotonic() + _LONGEST
    while time.monotonic() < end and all(node.poll() is None for node in nodes):
        try:
            with client.create("/probe", WriteOptions(overwrite=True)) as file:
                file.write(b"x")
        except (RuntimeError, OSError):
            time.sleep(0.1)
            continue
        client.delete("/probe")
        return
    raise AssertionError(f"the data node did not start: {log.read_text(errors='replace')[-2000:]}")
