"""Descriptions of the limits of a generated package."""

from typing import Final

from wiregen.generate.views.python.text import declaration_doc, summary
from wiregen.schema import model as m

__all__ = ["limit_doc"]

_UNITS: Final = {"bytes": "In bytes.", "ms": "In milliseconds.", "none": ""}
_BUILT_IN: Final = {
    "frame": "In bytes. The size of a frame, and of any length in it.",
    "inflated": "In bytes. The size to which one compressed body inflates.",
    "count": "Items of one list.",
    "messages": "Items of all lists of a frame together.",
    "depth": "Levels of nesting of declarations that can contain themselves.",
    "open": "Keys of a context, incomplete messages of a join, or instances of a session, each at the same time.",
    "joined": "In bytes. The size of a reassembled message.",
    "work": "Values that are read to explain one error.",
}


def limit_doc(name: str, limit: m.Limit | None) -> str:
    """Return the documentation of a limit, beginning with its unit.

    A limit that every package has, and that the file does not describe, has a description of its own.
    """
    own = summary(declaration_doc(limit.doc, limit.notes)) if limit is not None else ""
    if limit is None or (not own and name in _BUILT_IN):
        return _BUILT_IN.get(name, "")
    return " ".join(filter(None, (_UNITS[limit.unit], own)))
