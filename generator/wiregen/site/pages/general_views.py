"""Views of pages that do not belong to a single protocol: of two side by side, and of the guide."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.views import Shell

__all__ = ["DifferenceView", "DifferencesView", "GuideView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceView:
    """One property on both sides; "" on a side that does not have it."""

    what: str
    here: str
    there: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferencesView:
    """The page of two protocols side by side."""

    shell: Shell
    here: str
    there: Linked
    whole: tuple[DifferenceView, ...]
    declarations: tuple[tuple[Linked, tuple[DifferenceView, ...]], ...]
    same: tuple[Linked, ...]
    only_here: tuple[Linked, ...]
    only_there: tuple[Linked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideView:
    """A page of wiregen's own guide, as HTML and as Markdown."""

    shell: Shell
    title: str
    html: Markup
    md: str
