"""Journals that no build of ours left: only the writer's own folder changes, and a build gives the reason
for its stop.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pytest

from wiregen.generate.writer import Output, WriteError, recover, write

STAGING: Final = ".wiregen-staging"
MANIFEST: Final = ".wiregen-manifest.json"
OLD: Final = {"python/a.py": "old a", "d.toml": "old d"}
FORGED: Final = "forged"


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def outputs(files: dict[str, str]) -> tuple[Output, ...]:
    return tuple(Output(path=PurePosixPath(path), content=text.encode()) for path, text in files.items())


def state(folder: Path) -> dict[str, object]:
    """Everything below but the writer's own folder: kind, content, time of change."""
    found: dict[str, object] = {}
    for place in sorted(folder.rglob("*")):
        if STAGING in place.parts:
            continue
        status = place.lstat()
        content = beginning(place) if place.is_file() and not place.is_symlink() else None
        found[str(place.relative_to(folder))] = (status.st_mode, status.st_size, content, status.st_mtime_ns)
    return found


def beginning(place: Path) -> bytes:
    with place.open("rb") as file:
        return file.read(1000)


class Project:
    """An output folder of a former build, a user's file in it and one beside it, and a shipped journal."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "out"
        self.victim = root / "victim"
        self.victim.write_text("precious")
        write(outputs(OLD), self.folder)
        (self.folder / "mine.txt").write_text("mine")
        (self.folder / "empty/of/mine").mkdir(parents=True)
        for name in ("old", "new"):
            (self.folder / STAGING / name).mkdir(parents=True)

    @property
    def journal(self) -> Path:
        return self.folder / STAGING / "journal.json"

    def ship(self, *entries: object, saved: str | None = FORGED) -> None:
        """Ship a journal; each old content is `saved`."""
        self.journal.write_text(json.dumps(entries))
        for index in range(len(entries) if saved is not None else 0):
            (self.folder / STAGING / "old" / str(index)).write_text(str(saved))


def entry(path: object, old: object = None, new: object = None) -> dict[str, object]:
    return {"path": path, "old": old, "new": new}


def overwriting(path: str, found: str) -> Callable[[Project], None]:
    """A journal after which a file of known content should hold another one."""
    return lambda project: project.ship(entry(path, hash_of(FORGED), hash_of(found)))


def removing(path: str, found: str) -> Callable[[Project], None]:
    """A journal after which a file of known content should be gone."""
    return lambda project: project.ship(entry(path, None, hash_of(found)))


def text(content: str) -> Callable[[Project], None]:
    return lambda project: void(project.journal.write_text(content))


def void(_: object) -> None:
    return None


def huge(project: Project) -> None:
    with project.journal.open("wb") as file:
        file.truncate(1 << 40)


def old_format(project: Project) -> None:
    project.ship({"path": "mine.txt", "was_there": True}, {"path": "d.toml", "was_there": False})


def below_a_link(project: Project) -> None:
    (project.folder / "link").symlink_to(project.root)
    removing("link/victim", "precious")(project)


def linked_file(project: Project) -> None:
    (project.folder / "linked.py").symlink_to(project.victim)
    removing("linked.py", "precious")(project)


def linked_content(project: Project) -> None:
    """The old content of a path that the manifest names is a link out of the tree."""
    project.ship(entry("d.toml", hash_of("precious"), hash_of("old d")), saved=None)
    (project.folder / STAGING / "old/0").symlink_to(project.victim)


def hard_link(project: Project) -> None:
    project.ship(entry("fresh.py", hash_of("precious"), None), saved=None)
    os.link(project.victim, project.folder / STAGING / "old/0")


def folder_in_place(project: Project) -> None:
    (project.folder / "python/a.py").unlink()
    (project.folder / "python/a.py").mkdir()
    project.ship(entry("python/a.py", hash_of(FORGED), hash_of("old a")))


def pipe_in_place(project: Project) -> None:
    (project.folder / "d.toml").unlink()
    os.mkfifo(project.folder / "d.toml")
    project.ship(entry("d.toml", hash_of(FORGED), hash_of("old d")))


def sparse_in_place(project: Project) -> None:
    with (project.folder / "d.toml").open("wb") as file:
        file.truncate(1 << 40)
    project.ship(entry("d.toml", hash_of(FORGED), hash_of("old d")))


def pipe_as_content(project: Project) -> None:
    project.ship(entry("d.toml", hash_of(FORGED), hash_of("old d")), saved=None)
    os.mkfifo(project.folder / STAGING / "old/0")


def pipe_as_journal(project: Project) -> None:
    os.mkfifo(project.journal)


def folder_as_journal(project: Project) -> None:
    project.journal.mkdir()


def link_as_journal(project: Project) -> None:
    elsewhere = project.root / "journal"
    elsewhere.write_text(json.dumps([entry("mine.txt", None, hash_of("mine"))]))
    project.journal.symlink_to(elsewhere)


def device_as_journal(project: Project) -> None:
    project.journal.symlink_to("/dev/zero")


def file_as_staging(project: Project) -> None:
    shutil.rmtree(project.folder / STAGING)
    (project.folder / STAGING).write_text("mine")


def forged_manifest(project: Project) -> None:
    """A manifest of the journal's own that names a user's file with another hash than it has."""
    manifest = json.dumps({"files": {"mine.txt": hash_of("other")}})
    project.ship(
        entry(MANIFEST, hash_of("{}"), hash_of(manifest)),
        entry("mine.txt", None, hash_of("mine")),
        saved="{}",
    )
    (project.folder / STAGING / "new/0").write_text(manifest)
    (project.folder / MANIFEST).write_text(manifest)


def wrong_saved(project: Project) -> None:
    project.ship(entry("d.toml", hash_of("another"), hash_of("old d")))


def one_good_one_bad(project: Project) -> None:
    """The first entry could be undone, but is not, since the second cannot be verified."""
    project.ship(
        entry("fresh.py", None, hash_of("not there")),
        entry("d.toml", hash_of(FORGED), hash_of("old d")),
        entry("mine.txt", None, hash_of("mine")),
    )


HOSTILE: Final[dict[str, Callable[[Project], Any]]] = {
    "a user's file removed": removing("mine.txt", "mine"),
    "a user's file overwritten": overwriting("mine.txt", "mine"),
    "a file beside the folder": removing("../victim", "precious"),
    "a path that climbs below": removing("python/../../victim", "precious"),
    "an absolute path": lambda project: project.ship(entry(str(project.victim), None, hash_of("precious"))),
    "a path of Windows": removing("..\\victim", "precious"),
    "a stream of Windows": removing("mine.txt:stream", "mine"),
    "the writer's own folder": removing(f"{STAGING}/journal.json", ""),
    "the writer's own lock": removing(".wiregen-lock", ""),
    "another case": lambda project: project.ship(
        entry("d.toml", FORGED), entry("d.toml", hash_of("old d")), entry("D.toml", None, hash_of("old d"))
    ),
    "a path twice": lambda project: project.ship(
        entry("x.py", None, hash_of("x")), entry("x.py", None, hash_of("y"))
    ),
    "a NUL in a path": removing("mine.txt\0", "mine"),
    "a surrogate in a path": removing("\ud800", "mine"),
    "a long path": removing("x/" * 100_000, "mine"),
    "no path": removing("", "mine"),
    "a file that changed since": removing("d.toml", "something else"),
    "an old content of another hash": wrong_saved,
    "no old content": lambda project: project.ship(
        entry("d.toml", hash_of(FORGED), hash_of("old d")), saved=None
    ),
    "a link as old content": linked_content,
    "a hard link as old content": hard_link,
    "a pipe as old content": pipe_as_content,
    "below a link": below_a_link,
    "a link in place": linked_file,
    "a folder in place": folder_in_place,
    "a pipe in place": pipe_in_place,
    "a sparse file in place": sparse_in_place,
    "a manifest of its own": forged_manifest,
    "one entry of three is bad": one_good_one_bad,
    "entries of no change": lambda project: project.ship(entry("d.toml", None, None)),
    "the format of older versions": old_format,
    "a number for a path": lambda project: project.ship(entry(1, None, hash_of("mine"))),
    "a list for a hash": lambda project: project.ship(entry("mine.txt", None, [hash_of("mine")])),
    "a short hash": lambda project: project.ship(entry("mine.txt", None, hash_of("mine")[:32])),
    "a hash in capitals": lambda project: project.ship(entry("mine.txt", None, hash_of("mine").upper())),
    "a number for the list": text("1"),
    "a mapping for the list": text('{"path": "mine.txt"}'),
    "a huge number": text("9" * 100_000),
    "not a number": text("NaN"),
    "deep nesting": text("[" * 200_000),
    "not UTF-8": lambda project: project.journal.write_bytes(b"\xff\xfe\x00"),
    "an empty file": text(""),
    "a terabyte": huge,
    "a pipe as journal": pipe_as_journal,
    "a folder as journal": folder_as_journal,
    "a link as journal": link_as_journal,
    "a device as journal": device_as_journal,
    "a file as the writer's folder": file_as_staging,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_journal_changes_nothing(name: str, tmp_path: Path, evidence: Callable[..., None]) -> None:
    project = Project(tmp_path)
    HOSTILE[name](project)
    before = state(tmp_path)
    with pytest.raises(WriteError) as refused:
        write(outputs({**OLD, "d.toml": "new d"}), project.folder)
    assert len(str(refused.value)) < 1000
    after = state(tmp_path)
    touched = sum(before.get(place) != after.get(place) for place in before.keys() | after.keys())
    assert touched == 0
    evidence("hostile_journals", count=1, failures=0, touched=touched)


def test_a_journal_removes_no_empty_folder_that_no_manifest_leads_to(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.ship(entry("empty/of/mine/x.py", None, hash_of("never there")))
    before = state(tmp_path)
    assert recover(project.folder)
    before.pop("out")  # its time of change: the writer's own folder is gone
    assert {name: value for name, value in state(tmp_path).items() if name != "out"} == before


def test_what_a_build_of_ours_left_is_rolled_back(tmp_path: Path) -> None:
    """The counterpart: verification refuses nothing that a build leaves when it is killed."""
    project = Project(tmp_path)
    shutil.rmtree(project.folder / STAGING)
    before = {path: project.folder.joinpath(path).read_bytes() for path in (*OLD, MANIFEST)}
    reached: list[object] = []

    def kill(source: Path, target: Path) -> None:
        if len(reached) == 3:
            raise KeyboardInterrupt
        reached.append(target)
        replace(source, target)

    replace = os.replace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", kill)
        patch.setattr("wiregen.generate.writer.journal.recover", lambda folder: False)
        with pytest.raises(KeyboardInterrupt):
            write(outputs({"python/a.py": "new a", "e/f.py": "new f"}), project.folder)
    assert project.journal.is_file()
    assert (project.folder / "python/a.py").read_text() == "new a"
    assert recover(project.folder)
    assert {path: project.folder.joinpath(path).read_bytes() for path in before} == before
    assert not (project.folder / "e").exists()
