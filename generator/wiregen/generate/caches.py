"""The folder of results that wiregen computes once for a user: notes about builds, compiled templates, packages.

It is in the user's cache folder and not in the project, whose author could have written it.
"""

import os
import stat
from pathlib import Path

__all__ = ["caches_folder", "folder_of_code"]


def caches_folder() -> Path:
    """Return the folder, which may be missing.

    Raises:
        RuntimeError: The user does not have a home folder.
    """
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    caches = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    return caches / "wiregen"


def folder_of_code(name: str) -> Path | None:
    """Return a folder below it, made if it is missing, or None if others than this user can write in it: its files are run."""
    try:
        folder = caches_folder() / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_ours(folder) else None
    except (OSError, RuntimeError):
        return None


def _is_ours(folder: Path) -> bool:
    if os.name == "nt":
        return True  # a folder of the user's profile is the user's alone
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
