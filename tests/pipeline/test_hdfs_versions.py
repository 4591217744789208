"""Writers of a text in HDFS that meet: each version is written once, in whatever order their calls reach the name node."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Semaphore, Thread
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
pytest.importorskip("hdfs_native", reason="the extra `spark-hdfs` is not installed")

from hypothesis import given
from hypothesis import strategies as st
from tests.pipeline.name_node_model import NameNodeModel

from wirespark.hdfs_versions import VersionedText

FOLDER = "/target/_versions"
N_CHANGES = 3
"""How often each writer adds its name to the text."""


class _Killed(BaseException):
    """The end of a writer, whose files stay."""


@dataclass
class _Writer:
    """A thread that makes each call of the client only when it is told to."""

    name: str
    model: NameNodeModel
    go: Semaphore = field(default_factory=lambda: Semaphore(0))
    is_waiting: Semaphore = field(default_factory=lambda: Semaphore(0))
    is_killed: bool = False
    is_done: bool = False
    told: list[str] = field(default_factory=list)

    def __getattr__(self, call: str) -> Callable[..., Any]:
        return lambda *given: self._made(getattr(self.model, call), *given)

    def create(self, path: str) -> Any:
        file = self._made(self.model.create, path)
        close = file.on_close
        file.on_close = lambda data: self._made(close, data)
        return file

    def _made(self, call: Callable[..., Any], *given: Any) -> Any:
        self.is_waiting.release()
        self.go.acquire()
        if self.is_killed:
            raise _Killed
        return call(*given)

    def work(self) -> None:
        try:
            changed(VersionedText(self, FOLDER), self.name, self.told)  # type: ignore[arg-type]
        except _Killed:
            pass
        finally:
            self.is_done = True
            self.is_waiting.release()


def changed(place: VersionedText, name: str, told: list[str]) -> None:
    """Add names to the list that is the text, and tell which are there for certain."""
    number = 0
    while number < N_CHANGES:
        found = place.text()
        names = json.loads(found.text) if found else []
        own = f"{name}{len(names)}"
        if place.write(json.dumps([*names, own]), found.version if found else None):
            told.append(own)
            number += 1


def in_order(writers: Iterable[_Writer], chosen: Iterator[int], kills: frozenset[int]) -> None:
    """Let writers make one call after another, in the order of some numbers; at some steps one is killed."""
    live = list(writers)
    with ThreadPoolExecutor(len(live)) as threads:
        ended = [threads.submit(writer.work) for writer in live]
        for writer in live:
            writer.is_waiting.acquire()
        step = 0
        while live:
            writer = live[next(chosen) % len(live)]
            writer.is_killed = step in kills
            writer.go.release()
            writer.is_waiting.acquire()
            live = [each for each in live if not each.is_done]
            step += 1
    for future in ended:
        future.result()


def check_chain(names: list[str], writers: Iterable[_Writer]) -> None:
    """Check that each change is there once, those of killed writers perhaps, and that none was made from an old version."""
    assert [int(name[1:]) for name in names] == list(range(len(names)))
    for writer in writers:
        own = [name for name in names if name[0] == writer.name]
        assert own[: len(writer.told)] == writer.told and len(own) <= len(writer.told) + writer.is_killed


@given(
    seed=st.integers(min_value=0),
    n_writers=st.integers(2, 4),
    kills=st.frozensets(st.integers(0, 60), max_size=2),
    steady=st.integers(1, 20),
)
def test_every_change_is_there_once(seed: int, n_writers: int, kills: frozenset[int], steady: int) -> None:
    """A writer makes several calls before another one is chosen: so some of them sleep through many versions."""
    dice = random.Random(seed)

    def chosen() -> Iterator[int]:
        while True:
            number = dice.randrange(12)
            for _ in range(dice.randint(1, steady)):
                yield number

    model = NameNodeModel()
    writers = [_Writer("abcd"[number], model) for number in range(n_writers)]
    in_order(writers, chosen(), kills)
    place = VersionedText(model, FOLDER)  # type: ignore[arg-type]
    found = place.text()
    names = json.loads(found.text) if found else []
    check_chain(names, writers)
    if found:  # the next version leaves nothing else, whatever the killed ones left
        assert place.write("[]", found.version)
        assert list(model.files) == [f"{FOLDER}/{len(names) + 1}"]


@pytest.mark.parametrize("n_before", range(4))
def test_a_writer_that_slept_cannot_write_a_number_that_is_free_again(n_before: int) -> None:
    """Its calls are: begin a file, close it, list, rename. Before one of them the others write three versions."""
    model = NameNodeModel()
    sleeper, others = _Writer("a", model), VersionedText(model, FOLDER)  # type: ignore[arg-type]
    own = VersionedText(sleeper, FOLDER)  # type: ignore[arg-type]
    assert others.write("[]", None)
    result: list[bool] = []
    thread = Thread(target=lambda: result.append(own.write("mine", "1")))
    thread.start()
    for _ in range(n_before):
        sleeper.is_waiting.acquire()
        sleeper.go.release()
    sleeper.is_waiting.acquire()
    assert all(others.write("theirs", version) for version in ("1", "2", "3"))
    assert f"{FOLDER}/2" not in model.files
    for _ in range(9):  # more calls than it makes
        sleeper.go.release()
    thread.join()
    found = others.text()
    assert result == [False] and found is not None and (found.text, found.version) == ("theirs", "4")
    assert list(model.files) == [f"{FOLDER}/4"]


@pytest.mark.parametrize("n_removed", range(1, 4))
def test_a_writer_that_wakes_during_the_removal_cannot_write_either(n_removed: int) -> None:
    """The writer of version 2 was killed before it removed anything; that of version 3 removes a temporary file and two versions."""
    model = NameNodeModel()
    sleeper, place = _Writer("a", model), VersionedText(model, FOLDER)  # type: ignore[arg-type]
    own = VersionedText(sleeper, FOLDER)  # type: ignore[arg-type]
    assert place.write("[]", None)
    result: list[bool] = []
    thread = Thread(target=lambda: result.append(own.write("mine", "1")))
    thread.start()
    for _ in range(3):
        sleeper.is_waiting.acquire()
        sleeper.go.release()
    sleeper.is_waiting.acquire()
    model.create(f"{FOLDER}/2").close()
    delete, removed = model.delete, list[str]()

    def deleted(path: str, recursive: bool = False) -> bool:
        is_done = delete(path)
        removed.append(path)
        if len(removed) == n_removed:
            model.delete = delete  # type: ignore[method-assign]
            sleeper.go.release()
            sleeper.go.release()  # for the removal of its own file
            thread.join()
            model.delete = deleted  # type: ignore[method-assign]
        return is_done

    model.delete = deleted  # type: ignore[method-assign]
    assert place.write("theirs", "2")
    assert result == [False] and len(removed) == 3 and list(model.files) == [f"{FOLDER}/3"]


def test_a_version_that_is_replaced_while_it_is_read_is_read_again() -> None:
    model = NameNodeModel()
    place = VersionedText(model, FOLDER)  # type: ignore[arg-type]
    place.write("old", None)
    read = model.read

    def replaced(path: str) -> Any:
        model.read = read  # type: ignore[method-assign]
        place.write("new", "1")
        return read(path)

    model.read = replaced  # type: ignore[method-assign]
    found = place.text()
    assert found is not None and (found.text, found.version) == ("new", "2")


def test_names_of_others_in_the_folder_are_no_versions() -> None:
    model = NameNodeModel()
    place = VersionedText(model, FOLDER)  # type: ignore[arg-type]
    model.create(f"{FOLDER}/notes.txt").close()
    assert place.text() is None and place.write("x", None)
