"""Compiled templates are kept for the next process; whatever is in their place, a build writes the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wiregen.generate.emitter import Emitter

NAME = "hello.txt.jinja"


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / NAME).write_text("hello {{ view }}\n", encoding="utf-8")
    return folder


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    monkeypatch.setenv("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", str(tmp_path / "caches"))
    return lambda: [each for each in (tmp_path / "caches").rglob("*") if each.is_file()]


def test_a_compiled_template_is_kept_and_used(templates: Path, kept: Callable[[], list[Path]]) -> None:
    assert Emitter(templates).text(NAME, "you") == "hello you\n"
    (file,) = kept()
    before = file.stat().st_ino
    assert Emitter(templates).text(NAME, "others") == "hello others\n"
    assert [each.stat().st_ino for each in kept()] == [before]  # it was not written again


def test_another_text_is_compiled_again(templates: Path, kept: Callable[[], list[Path]]) -> None:
    Emitter(templates).text(NAME, "you")
    (templates / NAME).write_text("goodbye {{ view }}\n", encoding="utf-8")
    assert Emitter(templates).text(NAME, "you") == "goodbye you\n"
    assert len(kept()) == 1


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-9], lambda data: b"\xff" * len(data)]
)
@pytest.mark.parametrize("head", [0, 8, 24])
def test_a_damaged_file_is_replaced(
    templates: Path, kept: Callable[[], list[Path]], damage: Callable[[bytes], bytes], head: int
) -> None:
    Emitter(templates).text(NAME, "you")
    (file,) = kept()
    whole = file.read_bytes()
    file.write_bytes(whole[:head] + damage(whole[head:]))
    assert Emitter(templates).text(NAME, "you") == "hello you\n"
    assert file.read_bytes() == whole


def test_a_build_needs_no_folder_for_them(
    templates: Path, tmp_path: Path, kept: Callable[[], list[Path]]
) -> None:
    (tmp_path / "caches").write_text("a file where the folder would be", encoding="utf-8")
    assert Emitter(templates).text(NAME, "you") == "hello you\n"
    assert kept() == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.parametrize("is_link", [False, True])
def test_a_folder_that_others_can_write_is_not_used(
    templates: Path, tmp_path: Path, kept: Callable[[], list[Path]], is_link: bool
) -> None:
    Emitter(templates).text(NAME, "you")
    (file,) = kept()
    if is_link:
        moved = tmp_path / "caches" / "elsewhere"
        file.parent.rename(moved)
        file.parent.symlink_to(moved, target_is_directory=True)
    else:
        file.parent.chmod(0o777)
    (each,) = kept()[:1]
    each.unlink()
    assert Emitter(templates).text(NAME, "you") == "hello you\n"
    assert kept() == []
