"""Conversations for the site, searched once and kept among the user's caches: a search takes seconds.

They are not kept in the project, where whoever gave us the project could have written them.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from wiregen.cli.talk import tell

if TYPE_CHECKING:
    from wiregen import model as m
    from wiregen.docs.conversations import Conversations

__all__ = ["conversations_of"]

_MOST_BYTES = 4 * 1024 * 1024


def conversations_of(protocol: "m.Protocol", *, is_searching: bool = True) -> "Conversations":
    """Return the conversations of a protocol; where they are not known and not to be searched, none."""
    from wiregen.docs.conversations import Conversations, find_conversations, key_of, written

    if not protocol.sessions:
        return Conversations()
    note = _note(key_of(protocol))
    kept = _kept(note)
    if kept is not None or not is_searching:
        return kept or Conversations()
    tell(f"{protocol.name}: searching conversations of its sessions; they are kept for the next time")
    found = find_conversations(protocol)
    _keep(note, written(found))
    return found


def _note(key: str) -> Path | None:
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    try:
        caches = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    except RuntimeError:  # the user has no home
        return None
    return caches / "wiregen" / f"{key}.conversations"


def _kept(note: Path | None) -> "Conversations | None":
    from wiregen.docs.conversations import read_conversations

    try:
        if note is None or note.stat().st_size > _MOST_BYTES:
            return None
        return read_conversations(note.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _keep(note: Path | None, text: str) -> None:
    """Keep what was found; where that cannot be written, the next time searches again."""
    if note is None:
        return
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        unfinished = note.with_suffix(f".{os.getpid()}")
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, note)
    except OSError:
        return
