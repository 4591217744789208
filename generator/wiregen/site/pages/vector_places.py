"""The page of each vector: vectors are grouped by the declaration that they are about, and long groups are cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from wiregen.conformance.vectors.format import AnyVector, Invalid, Trace, Unwritable, Valid, size_of
from wiregen.generate.escaping import harmless
from wiregen.site.pages.page_paths import Linked

__all__ = ["MOST_BYTES", "MOST_STEPS", "MOST_TEXT", "VectorPage", "VectorPlaces", "declaration_of", "rule_of"]

MOST_BYTES: Final = 64
"""The most bytes of a vector that its page shows; the file has all."""
MOST_STEPS: Final = 12
MOST_TEXT: Final = 320
"""The most characters of a decoded frame."""
_MOST_WEIGHT: Final = 42_000
"""About how many bytes the vectors of one page have in HTML."""
_PLAIN: Final = re.compile(r"[a-z0-9-]+")
_CONVERSATIONS: Final = "-conversations"
_OTHER: Final = "-other"
"""No page of a declaration begins with a hyphen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPage:
    """A page of vectors. `number`: from 1, of the pages of its group."""

    name: str
    about: str
    number: int
    vectors: tuple[AnyVector, ...]

    @property
    def title(self) -> str:
        return self.about if self.number == 1 else f"{self.about} {self.number}"


class VectorPlaces:
    """The pages of the vectors of one protocol; `slugs`: the page names of its declarations."""

    def __init__(self, vectors: Iterable[AnyVector], slugs: Mapping[str, str]) -> None:
        self._slugs = slugs
        self._groups: dict[str, list[AnyVector]] = {name: [] for name in (*slugs, "")}
        self._traces: list[AnyVector] = []
        for vector in vectors:
            if isinstance(vector, Trace):
                self._traces.append(vector)
            else:
                name = declaration_of(vector)
                self._groups[name if name in slugs else ""].append(vector)

    @cached_property
    def pages(self) -> tuple[VectorPage, ...]:
        """Return the pages: of declarations in their order, of vectors about none of them, of conversations."""
        named = [
            (self._slugs.get(name, _OTHER), name or "Others", some) for name, some in self._groups.items()
        ]
        named.append((_CONVERSATIONS, "Conversations", self._traces))
        return tuple(page for slug, about, some in named for page in _cut(f"vectors-{slug}", about, some))

    def link(self, id_: str) -> Linked:
        """Return a vector's name, as a link to it."""
        return self._links[id_]

    @cached_property
    def _links(self) -> dict[str, Linked]:
        return {
            vector.id: Linked(
                text=harmless(vector.id), url=f"{page.name}.html#{anchor_of(vector.id, number)}"
            )
            for page in self.pages
            for number, vector in enumerate(page.vectors)
        }


def anchor_of(id_: str, number: int) -> str:
    """Return the id of a vector in its page, where it is the one of that number."""
    return f"vector-{id_}" if _PLAIN.fullmatch(id_) else f"vector_{number}"


def declaration_of(vector: Valid | Invalid | Unwritable) -> str:
    """Return the declaration that a vector is about: that of its first frame, or of the error; "" for none."""
    if isinstance(vector, Invalid):
        return re.split(r"[.\[]", vector.error.path)[0]
    return str(vector.frames[0].get("message")) if vector.frames else ""


def _cut(name: str, about: str, vectors: list[AnyVector]) -> Iterator[VectorPage]:
    chunks: list[list[AnyVector]] = []
    room = 0
    for vector in vectors:
        weight = _weight(vector)
        if not chunks or weight > room:
            chunks.append([])
            room = _MOST_WEIGHT
        chunks[-1].append(vector)
        room -= weight
    for number, chunk in enumerate(chunks, 1):
        suffix = f"-{number}" if number > 1 else ""
        yield VectorPage(name=f"{name}{suffix}", about=about, number=number, vectors=tuple(chunk))


def _weight(vector: AnyVector) -> int:
    """Return about how many bytes a vector has in HTML."""
    shown = 12 * min(size_of(vector), MOST_BYTES)
    match vector:
        case Valid():
            return 700 + shown + 70 * len(vector.spans) + MOST_TEXT
        case Trace():
            return 500 + 400 * min(len(vector.steps), MOST_STEPS)
        case Invalid():
            return 900 + shown
        case Unwritable():
            return 700 + MOST_TEXT


def rule_of(vector: AnyVector) -> str | None:
    """Return the rule that a vector shows to be broken."""
    match vector:
        case Trace(violation=rule):
            return rule
        case Invalid(error=error) | Unwritable(error=error):
            return error.rule
        case Valid():
            return None
