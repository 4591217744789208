import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from io import IOBase
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.generate import writer
from wiregen.generate.writer import Output, WriteError, compare, recover, write

MANIFEST = ".wiregen-manifest.json"
OLD = {"python/a.py": "old a", "python/b/__init__.py": "same", "gone/deep/c.py": "old c", "d.toml": "old d"}
NEW = {"python/a.py": "new a", "python/b/__init__.py": "same", "python/e/f.py": "new f", "d.toml": "new d"}


def outputs(files: dict[str, str]) -> tuple[Output, ...]:
    return tuple(Output(path=PurePosixPath(path), content=text.encode()) for path, text in files.items())


def tree(folder: Path) -> dict[str, str]:
    """Every file and folder below, the manifest apart."""
    places = (place for place in folder.rglob("*") if place.name != MANIFEST)
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else "/" for p in places}


def paths(found: tuple[PurePosixPath, ...]) -> list[str]:
    return [str(path) for path in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tree that a former build wrote."""
    write(outputs(OLD), tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def trees(tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The old tree and the new one, each written into a new folder."""
    write(outputs(OLD), tmp_path / "just old")
    write(outputs(NEW), tmp_path / "just new")
    return tree(tmp_path / "just old"), tree(tmp_path / "just new")


def test_a_new_tree_holds_the_outputs_and_a_manifest(folder: Path) -> None:
    assert {path: text for path, text in tree(folder).items() if text != "/"} == OLD
    manifest = json.loads((folder / MANIFEST).read_text())
    assert set(manifest) == {"wiregen", "files"}
    assert sorted(manifest["files"]) == sorted(OLD)


def test_a_second_build_replaces_adds_and_deletes(
    folder: Path, trees: tuple[dict[str, str], dict[str, str]]
) -> None:
    written = write(outputs(NEW), folder)
    assert tree(folder) == trees[1]
    assert paths(written.changed) == [MANIFEST, "d.toml", "python/a.py", "python/e/f.py"]
    assert (paths(written.deleted), written.kept) == (["gone/deep/c.py"], ())


def test_unchanged_files_keep_their_times(folder: Path) -> None:
    same = folder / "python/b/__init__.py"
    os.utime(same, ns=(1, 1))
    write(outputs(NEW), folder)
    assert same.stat().st_mtime_ns == 1


def test_an_unchanged_build_touches_nothing(folder: Path) -> None:
    before = {place: place.stat().st_mtime_ns for place in (folder, *folder.rglob("*"))}
    assert write(outputs(OLD), folder).changed == ()
    assert {place: place.stat().st_mtime_ns for place in (folder, *folder.rglob("*"))} == before


def test_two_builds_are_equal_whatever_the_order(folder: Path, tmp_path: Path) -> None:
    write(tuple(reversed(outputs(OLD))), tmp_path / "again")
    assert (tmp_path / "again" / MANIFEST).read_bytes() == (folder / MANIFEST).read_bytes()


def test_a_changed_left_over_is_kept_and_told(folder: Path) -> None:
    (folder / "gone/deep/c.py").write_text("mine now")
    written = write(outputs(NEW), folder)
    assert (written.deleted, paths(written.kept)) == ((), ["gone/deep/c.py"])
    assert (folder / "gone/deep/c.py").read_text() == "mine now"


def test_a_partial_build_deletes_nothing_and_remembers_all(folder: Path) -> None:
    write(outputs({"new.py": "x"}), folder, partial=True)
    assert sorted(json.loads((folder / MANIFEST).read_text())["files"]) == sorted([*OLD, "new.py"])
    assert not compare(outputs({"new.py": "x"}), folder, partial=True)
    assert {path for path, text in tree(folder).items() if text != "/"} == {*OLD, "new.py"}


def test_compare_lists_stale_missing_and_extra(folder: Path) -> None:
    (folder / "python/stranger.py").write_text("")
    difference = compare(outputs(NEW), folder)
    assert paths(difference.stale) == [MANIFEST, "d.toml", "python/a.py"]
    assert paths(difference.missing) == ["python/e/f.py"]
    assert paths(difference.extra) == ["gone/deep/c.py", "python/stranger.py"]
    assert bool(difference)


def test_compare_looks_below_the_folders_of_generated_files_and_nowhere_else(folder: Path) -> None:
    for name in ("python/b/ghost/deep/g.py", "gone/ghost.py", "mine/own.py", "mine.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "python/link").symlink_to(folder / "mine", target_is_directory=True)
    (folder / "python/link.py").symlink_to(folder / "mine.txt")
    difference = compare(outputs(NEW), folder)
    # Generated files are never in gone/: other files there are the user's.
    assert paths(difference.extra) == ["gone/deep/c.py", "python/b/ghost/deep/g.py"]
    assert paths(difference.kept) == ["python/b/ghost/deep/g.py"]


def test_compare_tells_what_a_build_would_keep(folder: Path) -> None:
    (folder / "gone/deep/c.py").write_text("mine now")
    assert paths(compare(outputs(NEW), folder).kept) == ["gone/deep/c.py"]


def test_compare_tells_that_a_build_did_not_finish_though_all_files_are_as_wanted(folder: Path) -> None:
    (folder / ".wiregen-staging").mkdir()
    difference = compare(outputs(OLD), folder)
    assert difference and difference.is_unfinished
    assert compare(outputs(OLD), folder, partial=True).is_unfinished
    write(outputs(OLD), folder)
    assert not compare(outputs(OLD), folder)


def test_compare_is_false_after_a_build_whatever_caches_lie_about(folder: Path) -> None:
    (folder / "python/__pycache__").mkdir()
    (folder / "python/__pycache__/a.pyc").write_bytes(b"")
    for name in ("python/.mypy_cache/3.11/a.json", "python/x.egg-info/PKG-INFO"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("")
    (folder / "README.md").write_text("somebody's own, beside the tree")
    assert not compare(outputs(OLD), folder)


def test_compare_of_a_tree_that_is_not_there_lists_all_and_writes_nothing(tmp_path: Path) -> None:
    difference = compare(outputs(OLD), tmp_path / "none")
    assert paths(difference.missing) == [*sorted(OLD), MANIFEST]
    assert not (tmp_path / "none").exists()


# ---- interruptions ---------------------------------------------------------------------------------


class Killed(BaseException):
    """An exception that our code may not catch and survive: after it the process is gone."""


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, BaseException], list[str]]:
    """Make the nth call that changes the disk raise, before or after it is done by turns; earlier and later ones work."""

    def at(nth: int, error: BaseException) -> list[str]:
        calls: list[str] = []

        def counting(name: str, real: Callable[..., object]) -> Callable[..., object]:
            def call(*arguments: object, **named: object) -> object:
                calls.append(name)
                is_it = len(calls) == nth
                if is_it and nth % 2:
                    raise error
                result = real(*arguments, **named)
                if is_it:
                    if isinstance(result, IOBase):
                        result.close()
                    raise error
                return result

            return call

        monkeypatch.setattr(os, "replace", counting("replace", os.replace))
        monkeypatch.setattr(os, "link", counting("link", os.link))
        for name in ("unlink", "mkdir", "open"):
            monkeypatch.setattr(Path, name, counting(name, getattr(Path, name)))
        return calls

    return at


def n_steps(
    folder: Path, interrupt: Callable[[int, BaseException], list[str]], monkeypatch: pytest.MonkeyPatch
) -> int:
    copy = folder.with_name("counted")
    shutil.copytree(folder, copy)
    calls = interrupt(-1, Killed())
    write(outputs(NEW), copy)
    monkeypatch.undo()
    return len(calls)


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["disk full", "ctrl-c"])
def test_a_build_interrupted_anywhere_leaves_the_old_tree_or_the_new_one(
    error: BaseException,
    folder: Path,
    trees: tuple[dict[str, str], dict[str, str]],
    interrupt: Callable[[int, BaseException], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    total = n_steps(folder, interrupt, monkeypatch)
    n_old = 0
    for nth in range(1, total + 1):
        copy = folder.with_name(f"interrupted {nth}")
        shutil.copytree(folder, copy)
        interrupt(nth, error)
        with suppress(type(error)):  # not always raised: a link that fails becomes a copy
            write(outputs(NEW), copy)
        monkeypatch.undo()
        assert tree(copy) in trees, f"step {nth}"
        n_old += tree(copy) == trees[0]
        write(outputs(NEW), copy)
        assert tree(copy) == trees[1]
    assert n_old > 15


def test_a_build_killed_anywhere_is_rolled_back_by_the_next(
    folder: Path,
    trees: tuple[dict[str, str], dict[str, str]],
    interrupt: Callable[[int, BaseException], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    total = n_steps(folder, interrupt, monkeypatch)
    under_way = 0
    for nth in range(1, total + 1):
        copy = folder.with_name(f"killed {nth}")
        shutil.copytree(folder, copy)
        # A dead process rolls nothing back.
        monkeypatch.setattr("wiregen.generate.writer.journal.recover", lambda _: None)
        kill(interrupt, nth, copy)
        monkeypatch.undo()
        under_way += recover(copy)
        assert tree(copy) in trees, f"step {nth}"
    assert under_way > 4


def kill(interrupt: Callable[[int, BaseException], list[str]], nth: int, folder: Path) -> None:
    """Write the new tree and die at the nth step."""
    interrupt(nth, Killed())
    with pytest.raises(Killed):
        write(outputs(NEW), folder)


def test_a_roll_back_may_itself_be_killed(
    folder: Path,
    trees: tuple[dict[str, str], dict[str, str]],
    interrupt: Callable[[int, BaseException], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for nth in range(n_steps(folder, interrupt, monkeypatch), 0, -1):  # the last step that leaves a journal
        late = folder.with_name(f"killed late {nth}")
        shutil.copytree(folder, late)
        monkeypatch.setattr("wiregen.generate.writer.journal.recover", lambda _: None)
        kill(interrupt, nth, late)
        monkeypatch.undo()
        if (late / ".wiregen-staging/journal.json").is_file():
            break
    for nth in range(1, 8):
        copy = folder.with_name(f"killed twice {nth}")
        shutil.copytree(late, copy)
        interrupt(nth, Killed())
        try:
            recover(copy)
        except Killed:
            monkeypatch.undo()
            recover(copy)
        monkeypatch.undo()
        assert tree(copy) == trees[0], f"step {nth}"


def test_a_new_tree_interrupted_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write(outputs(OLD), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# ---- hostile paths, trees, manifests and journals ----------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "../out.py", "a/../../b", "/etc/passwd", "", "a:b", "con", "Aux.txt", "lpt1.py", "a.", "b ", "a\\b", "a\nb", "a\0b", "x" * 256, "\ud800",
        MANIFEST, ".wiregen-staging/journal.json", ".Wiregen-Staging/x",
    ],
)  # fmt: skip
def test_unsafe_paths_are_refused(folder: Path, path: str) -> None:
    before = tree(folder)
    with pytest.raises(WriteError):
        write(outputs({"fine.py": "x", path: "y"}), folder)
    with pytest.raises(WriteError):
        compare(outputs({path: "y"}), folder)
    assert tree(folder) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("a/Data.py", "a/data.py", id="file"),
        pytest.param("A/x.py", "a/y.py", id="folder"),
        pytest.param("straße.py", "STRASSE.py", id="folded to two letters"),
        pytest.param("e\u0301.py", "\u00e9.py", id="composed"),
        pytest.param("a", "a/b.py", id="file and folder"),
    ],
)
def test_paths_that_meet_are_refused(tmp_path: Path, first: str, second: str) -> None:
    with pytest.raises(WriteError):
        write(outputs({first: "x", second: "y"}), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_path_written_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="twice"):
        write((*outputs({"a": "x"}), *outputs({"a": "y"})), tmp_path / "out")


@pytest.mark.parametrize("link", ["python", "python/a.py", "."])
def test_nothing_is_written_through_a_symbolic_link(folder: Path, tmp_path: Path, link: str) -> None:
    place, outside = folder / link, tmp_path / "outside"
    shutil.move(place, outside)
    place.symlink_to(outside)
    before = outside.read_text() if outside.is_file() else tree(outside)
    with pytest.raises(WriteError):
        write(outputs(NEW), folder)
    assert (outside.read_text() if outside.is_file() else tree(outside)) == before


def test_a_file_nobody_built_is_not_overwritten(folder: Path) -> None:
    (folder / "python/e").mkdir()
    (folder / "python/e/f.py").write_text("written by hand")
    with pytest.raises(WriteError, match="not written by wiregen"):
        write(outputs(NEW), folder)
    assert (folder / "python/a.py").read_text() == "old a"


def forge(folder: Path, files: object) -> None:
    (folder / MANIFEST).write_text(json.dumps({"files": files}))


def test_a_forged_manifest_deletes_nothing_outside_nor_anything_with_another_hash(
    folder: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    hash_of_victim = hashlib.sha256(b"precious").hexdigest()
    (folder / "link").symlink_to(tmp_path)
    forge(
        folder,
        {
            "../victim": hash_of_victim,
            "link/victim": hash_of_victim,
            str(victim): hash_of_victim,
            "d.toml": "0",
        },
    )
    write(outputs({"other.py": "x"}), folder)
    assert victim.read_text() == "precious"
    assert (folder / "d.toml").read_text() == "old d"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": []}', '{"files": {"a": 1}}', "[" * 100_000, "\x00"]
)
def test_a_broken_manifest_counts_as_none(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    write(outputs(OLD), folder)
    assert not compare(outputs(OLD), folder)


@pytest.mark.parametrize(
    "journal", ['[{"path": "../victim", "was_there": false}]', "{", '["x"]', "[" * 100_000]
)
def test_a_forged_journal_is_refused(folder: Path, tmp_path: Path, journal: str) -> None:
    (tmp_path / "victim").write_text("precious")
    (folder / ".wiregen-staging").mkdir()
    (folder / ".wiregen-staging/journal.json").write_text(journal)
    with pytest.raises(WriteError):
        write(outputs(NEW), folder)
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_staging_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (folder / ".wiregen-staging").symlink_to(tmp_path / "precious")
    with pytest.raises(WriteError, match="symbolic link"):
        write(outputs(NEW), folder)
    assert (tmp_path / "precious").is_dir()


@given(st.text(max_size=12) | st.from_regex(r"[./\\a-c]{1,8}", fullmatch=True))
def test_no_path_that_passes_leaves_the_folder(path: str) -> None:
    try:
        writer.paths.check_paths([PurePosixPath(path)])
    except WriteError:
        return
    assert Path(os.path.normpath(Path("/root") / path)).is_relative_to("/root")
    assert Path("/root") / path != Path("/root")


def test_no_staging_is_left_behind(folder: Path) -> None:
    write(outputs(NEW), folder)
    assert [place.name for place in folder.parent.rglob("*") if "staging" in place.name] == []
