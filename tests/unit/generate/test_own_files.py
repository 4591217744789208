"""The files of this installation of wiregen."""

from pathlib import Path

import pytest

from wiregen.generate import own_files


def test_a_missing_folder_of_templates_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "generator" / "wiregen" / "generate" / "own_files.py"
    monkeypatch.setattr(own_files, "__file__", str(file))
    with pytest.raises(FileNotFoundError, match="reinstall wiregen"):
        own_files.templates_folder()


@pytest.mark.parametrize("place", ["generator/wiregen/templates", "templates"], ids=["wheel", "checkout"])
def test_templates_are_found_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    file = tmp_path / "generator" / "wiregen" / "generate" / "own_files.py"
    monkeypatch.setattr(own_files, "__file__", str(file))
    assert own_files.templates_folder() == tmp_path / place
