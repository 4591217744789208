"""The data of the pages of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.views import Shell

__all__ = [
    "ChipView",
    "CoverageView",
    "StepView",
    "TestedView",
    "VectorView",
    "VectorsIndexView",
    "VectorsPageView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipView:
    """Bytes of a vector with the name of the part that they are. `hue`: 0 to 5; -1: where the error is."""

    text: str
    name: str
    hue: int

    @property
    def look(self) -> str:
        return "wrong" if self.hue < 0 else f"h{self.hue}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """Bytes that a role sends; `found`: the message, the moves and violations of sessions."""

    who: str
    hex: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorView:
    """A vector. `terms`: the options of the reader; `says`: the result, as text.

    `play`: the fragment of the playground's link, "" where the bytes are too long for one.
    """

    link: Linked
    anchor: str
    kind: str
    role: str
    terms: tuple[str, ...]
    before: tuple[StepView, ...]
    size: int
    chips: tuple[ChipView, ...]
    n_hidden: int
    says: str
    code: Linked | None
    place: str
    rule: Linked | None
    steps: tuple[StepView, ...]
    n_steps_left: int
    covers: str
    play: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsPageView:
    """A page of vectors about one declaration."""

    shell: Shell
    about: Linked
    vectors: tuple[VectorView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageView:
    """How many vectors there are of a declaration; `fields`: how many of its fields have bytes in some of them."""

    about: Linked
    valid: int
    invalid: int
    unwritable: int
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedView:
    """A rule, or the code of an error, and the vectors that show it; `first`: None where there is none."""

    what: Linked
    count: int
    first: Linked | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsIndexView:
    """The coverage of a protocol by its vectors, and the pages that show them."""

    shell: Shell
    count: int
    coverage: tuple[CoverageView, ...]
    conversations: tuple[Linked, ...]
    rules: tuple[TestedView, ...]
    codes: tuple[TestedView, ...]
