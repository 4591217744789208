"""The declaration of a `.wire` file that a stage was working on when it failed.

Stages pass the objects that they work on as arguments, so the frames of a traceback hold them: nodes of the
model, of the syntax tree, places of the reference codec, names of filters of Wireshark.

The innermost one that the file declares is named; values and payload never are.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any, Final

from wiregen.language.diagnostics import Span, locate
from wiregen.language.source import Sources
from wiregen.schema.naming import snake_case

__all__ = ["declared_at"]

_INDEX: Final = re.compile(r"\[[^\]]*\]")
_MOST_LOCALS: Final = 200
"""The most local variables that are examined in one frame."""
_MOST_ITEMS: Final = 64


def declared_at(error: BaseException) -> str:
    """Return `file:line, declaration` of the innermost declaration that was worked on, or "" if it is unknown."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]
    sources, origins = _sources(frames), _origins(frames)
    for frame in frames if sources else ():
        for value in _locals(frame):
            found = next(filter(None, (_span_of(value, each) for each in origins or ({},))), None)
            location = locate(found[1], sources) if found is not None else None
            if found is not None and location is not None:
                named = f", declaration `{found[0]}`" if found[0] else ""
                return f"{location.file}:{location.line}{named}"
    return ""


def _locals(frame: FrameType) -> Iterator[Any]:
    """Yield the objects in a frame's variables, the latest variables first, and the objects in short lists."""
    for value in list(frame.f_locals.values())[::-1][:_MOST_LOCALS]:
        yield value
        if type(value) in (tuple, list):
            yield from value[:_MOST_ITEMS][::-1]


def _is_ours(value: object) -> bool:
    return type(value).__module__.startswith("wiregen.")


def _sources(frames: list[FrameType]) -> Mapping[str, Any]:
    """Return the texts of the run, in which spans have lines."""
    return next(
        (value for frame in frames for value in _locals(frame) if isinstance(value, Sources)), Sources()
    )


def _origins(frames: list[FrameType]) -> list[Mapping[str, Span]]:
    """Return the places of declarations, by path, for each protocol in use, the innermost first."""
    found: list[Mapping[str, Span]] = []
    for value in (value for frame in frames for value in _locals(frame) if _is_ours(value)):
        origins = getattr(value, "origins", None)
        if isinstance(origins, Mapping) and origins and not any(each is origins for each in found):
            found.append(origins)
    return found


def _span_of(value: object, origins: Mapping[str, Span]) -> tuple[str, Span] | None:
    """Return the name and the place of a variable's value, if that is a node or a path in a file."""
    if isinstance(value, str):
        return _by_path(value, origins) if "." in value and len(value) < 300 else None
    if not _is_ours(value):
        return None
    span = getattr(value, "span", None)
    if isinstance(span, Span):
        name = getattr(getattr(value, "name", None), "text", "")
        return (name, span) if name else None
    path = getattr(value, "path", None)
    return _by_path(path, origins) if isinstance(path, str) else None


def _by_path(path: str, origins: Mapping[str, Span]) -> tuple[str, Span] | None:
    """Return the declaration of a path: of the model (`tide.Sounding.depth`), in a value (`Frame.Data.key`), a filter (`sounding.depth`)."""
    if path in origins:
        return path.partition(".")[2], origins[path]
    parts = _INDEX.sub("", path).split(".")
    protocol = next(iter(origins), "").partition(".")[0]
    ends = ((start, end) for end in range(len(parts), 0, -1) for start in range(end))
    for start, end in ends:
        name = ".".join(parts[start:end])
        if name[:1].isupper() and f"{protocol}.{name}" in origins:
            return name, origins[f"{protocol}.{name}"]
    return next(
        (
            (name, span)
            for name, span in ((each.partition(".")[2], span) for each, span in origins.items())
            if "." in name and [snake_case(name.partition(".")[0]), name.partition(".")[2]] == parts[:2]
        ),
        None,
    )
