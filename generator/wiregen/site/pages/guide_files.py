"""Where the texts of wiregen's own guide are."""

from pathlib import Path
from typing import Final

__all__ = ["GUIDE_PAGES", "guide_files", "handbook_folder"]

GUIDE_PAGES: Final = {
    "start": "guide/start.md",
    "projects": "guide/projects.md",
    "language": "guide/language.md",
    "behaviour": "guide/behaviour.md",
    "sessions": "sessions.md",
    "serializations": "serializations.md",
    "vectors": "vectors.md",
    "pipeline": "guide/pipeline.md",
    "proxy": "guide/proxy.md",
    "wireshark": "guide/wireshark.md",
    "kaitai": "guide/kaitai.md",
    "editors": "guide/editors.md",
    "plugins": "plugins.md",
    "recipes": "guide/recipes.md",
    "glossary": "glossary.md",
}
"""The file of each chapter by the name of its page, in the order of the guide."""


def handbook_folder() -> Path:
    """Return the folder of the guide's texts: in the package of a wheel, in `docs` of a checkout.

    Raises:
        FileNotFoundError: Neither folder exists; the installation is incomplete.
    """
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "handbook", here.parents[4] / "docs"):
        if (folder / "guide").is_dir():
            return folder
    raise FileNotFoundError("wiregen's guide is missing: install wiregen again")


def guide_files() -> dict[str, Path]:
    """Return the texts of the chapters by the names of their pages.

    Raises:
        FileNotFoundError: Neither folder exists; the installation is incomplete.
    """
    return {name: handbook_folder() / path for name, path in GUIDE_PAGES.items()}
