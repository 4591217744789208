"""The folder of results that wiregen computes once for a user: notes about builds, and compiled templates.

It is in the user's cache folder and not in the project, whose author could have written it.
"""

import os
from pathlib import Path

__all__ = ["caches_folder"]


def caches_folder() -> Path:
    """Return the folder, which may be missing.

    Raises:
        RuntimeError: The user does not have a home folder.
    """
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    caches = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    return caches / "wiregen"
