"""The files of this installation of wiregen."""

import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["files_below", "own_folder", "templates_folder"]


def own_folder() -> Path:
    """Return the folder of wiregen's modules."""
    return Path(__file__).resolve().parents[1]


def templates_folder() -> Path:
    """Return the folder of wiregen's templates: in the package in a wheel, at the repository's root in a checkout.

    Raises:
        FileNotFoundError: Both folders are missing, so that the installation is incomplete.
    """
    here = own_folder()
    candidates = (here / "templates", here.parents[1] / "templates")
    for folder in candidates:
        if folder.is_dir():
            return folder
    places = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"the templates of wiregen are missing, expected {places}: reinstall wiregen")


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder by name, except compiled ones."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (Path(place, name) for name in sorted(files) if not name.endswith((".pyc", ".pyo")))
