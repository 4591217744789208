"""Processes that write one tree: two at once, and some that are killed. The tree is always wholly of one of them."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

import pytest
from tests.conftest import PROFILE

from wiregen.generate.writer import Output, WriteError, recover, write
from wiregen.generate.writer.exclusive import exclusive

IS_SOAK: Final = PROFILE == "soak"
N_ROUNDS: Final = 200 if IS_SOAK else 20
N_KILLS: Final = 100 if IS_SOAK else 5
N_FILES: Final = 20
MANIFEST: Final = ".wiregen-manifest.json"
STRANGER: Final = "mine.txt"
PATIENCE: Final = 120.0
LOCK: Final = ".out.wiregen-lock"


def outputs_of(name: str) -> tuple[Output, ...]:
    """A tree whose files all say whose it is; half of the paths are in every tree."""
    shared = [f"shared/{number}.txt" for number in range(N_FILES)]
    own = [f"{name}/{number}.txt" for number in range(N_FILES)]
    return tuple(
        Output(path=PurePosixPath(path), content=f"{name} {path}".encode()) for path in (*shared, *own)
    )


def owner_of(folder: Path) -> str:
    """Return whose tree it is; fail where it is not wholly of one, or holds anything else than the stranger."""
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    names = set(json.loads(files.pop(MANIFEST))["files"])
    files.pop(STRANGER, None)
    (owner,) = {text.partition(" ")[0] for text in files.values()}
    wanted = {str(output.path): output.content.decode() for output in outputs_of(owner)}
    assert files == wanted
    assert names == set(wanted)
    return owner


# Writes a tree for each name that it reads; the loop of a process that will be killed reads none.
WRITER: Final = """
import sys, itertools
from pathlib import Path
from tests.unit.generate.test_writer_processes import outputs_of
from wiregen.generate.writer import write
folder, names = Path(sys.argv[1]), sys.argv[2:]
print("ready", flush=True)
for name in itertools.cycle(names) if names else (line.strip() for line in sys.stdin):
    write(outputs_of(name), folder)
    names or print("written", flush=True)
"""


def writer(folder: Path, *names: str) -> "subprocess.Popen[str]":
    """Start a process that writes trees, and wait until it can."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_two_processes_that_write_at_once_leave_the_tree_of_one(
    tmp_path: Path, evidence: Callable[..., None]
) -> None:
    folder = tmp_path / "out"
    processes = {name: writer(folder) for name in ("one", "two")}
    owners = []
    for number in range(N_ROUNDS):
        if number % 10 == 0 and folder.exists():  # a new tree, too
            folder.rename(tmp_path / f"former {number}")
        for name, process in processes.items():
            assert process.stdin is not None
            process.stdin.write(f"{name}\n")
        for process in processes.values():
            assert process.stdout is not None and process.stdout.readline() == "written\n"
        owners.append(owner_of(folder))
        beside = [place.name for place in tmp_path.iterdir() if not place.name.startswith("former")]
        assert beside == ["out"]
    for process in processes.values():
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert set(owners) <= set(processes)
    evidence("builds_at_once", count=N_ROUNDS, failures=0)


def test_killed_processes_leave_the_old_tree_or_the_new_one(
    tmp_path: Path, evidence: Callable[..., None]
) -> None:
    chance, folder, n_under_way = random.Random(31), tmp_path / "out", 0
    write(outputs_of("one"), folder)
    (folder / STRANGER).write_text("mine")
    for _ in range(N_KILLS):
        process = writer(folder, "one", "two")
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
        n_under_way += recover(folder)
        assert owner_of(folder) in ("one", "two")
        assert (folder / STRANGER).read_text() == "mine"
        assert {place.name for place in tmp_path.iterdir()} <= {"out", LOCK}
    write(outputs_of("two"), folder)  # the lock of a killed process holds nobody up
    assert [place.name for place in tmp_path.iterdir()] == ["out"]
    evidence("killed_builds", count=N_KILLS, failures=0, rolled_back=n_under_way)


def test_who_waits_is_told_for_whom(tmp_path: Path) -> None:
    folder, told = tmp_path / "out", threading.Event()
    heard: list[str] = []

    def hear(text: str) -> None:
        heard.append(text)
        told.set()

    waiting = threading.Thread(target=write, args=(outputs_of("one"), folder), kwargs={"at_wait": hear})
    with exclusive(folder):
        waiting.start()
        assert told.wait(PATIENCE)
        assert not folder.exists()
    waiting.join(PATIENCE)
    assert heard == [f"waiting for process {os.getpid()}, which is writing {folder}"]
    assert owner_of(folder) == "one"


def test_who_waits_too_long_is_told_which_process_writes(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    refused = pytest.raises(WriteError, match=f"process {os.getpid()} for more than 0 s")
    with exclusive(folder), refused, exclusive(folder, seconds=0):
        raise AssertionError("both write")
    with exclusive(folder, seconds=0):
        assert (tmp_path / LOCK).is_file()


def test_a_journal_of_a_build_under_way_is_not_taken_for_a_crash(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(outputs_of("one"), folder)
    waiting = threading.Thread(target=write, args=(outputs_of("two"), folder))
    with exclusive(folder):
        journal = folder / ".wiregen-staging/journal.json"
        journal.parent.mkdir()
        journal.write_text("[]")
        waiting.start()
        waiting.join(0.5)
        assert journal.is_file()
        assert waiting.is_alive()
    waiting.join(PATIENCE)
    assert owner_of(folder) == "two"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "hard link"])
def test_something_else_in_the_place_of_the_lock_is_left_alone(kind: str, tmp_path: Path) -> None:
    victim, place = tmp_path / "victim", tmp_path / LOCK
    victim.write_text("precious")
    make: dict[str, Callable[[], object]] = {
        "link": lambda: place.symlink_to(victim),
        "folder": place.mkdir,
        "pipe": lambda: os.mkfifo(place),
        "hard link": lambda: os.link(victim, place),
    }
    make[kind]()
    with pytest.raises(WriteError, match="in the way"):
        write(outputs_of("one"), tmp_path / "out")
    assert victim.read_text() == "precious"
    assert os.path.lexists(place)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"no number", b"9" * 5000, b"\x1b[31m"])
def test_the_text_of_a_shipped_lock_says_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / LOCK).write_bytes(content)
    write(outputs_of("one"), tmp_path / "out")
    assert [place.name for place in tmp_path.iterdir()] == ["out"]


def test_a_tree_is_locked_from_within_where_nothing_can_be_made_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real = tmp_path / "out", os.open
    write(outputs_of("one"), folder)

    def refusing(path: Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if Path(path).parent == tmp_path and flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)
    with exclusive(folder):
        assert (folder / ".wiregen-lock").is_file()
    write(outputs_of("two"), folder)
    assert owner_of(folder) == "two"
