"""A Kafka broker on this computer: one node that is its own controller, in a folder of its own."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.pipeline.maven import class_path

from wirespark import provide_java

__all__ = ["served_topics"]

_SERVER = "org.apache.kafka:kafka_2.13:4.3.1"
_SMALL = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LONGEST = 120.0  # seconds
_SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""
"""Topics are made when they are first written to, with two partitions."""


@contextmanager
def served_topics(folder: Path) -> Iterator[str]:
    """Serve topics that are empty at first; return the broker's address."""
    broker, controller = _free_ports()
    settings = folder / "server.properties"
    settings.write_text(_SETTINGS.format(broker=broker, controller=controller, folder=folder))
    java = [provide_java(), *_SMALL, "-cp", class_path(_SERVER)]
    format_ = ["kafka.tools.StorageTool", "format", "--standalone", "--cluster-id", "wiregen", "--config"]
    subprocess.run([*java, *format_, str(settings)], check=True, capture_output=True, cwd=folder)
    with (folder / "log").open("wb") as log:
        command = [*java, "kafka.Kafka", str(settings)]
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        _wait(server, broker, folder / "log")
        yield f"127.0.0.1:{broker}"
    finally:
        server.kill()
        server.wait()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _LONGEST
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"the broker did not start: {log.read_text(errors='replace')[-2000:]}")
