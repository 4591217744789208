"""Detours in drawings of states: states that one state leads to and that lead back to it, as those of requests that wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from wiregen.site.diagrams import Arrow
from wiregen.site.diagrams.edge_texts import arrow_text

__all__ = ["Detour", "Picture", "without_detours"]

_MANY: Final = 6
"""From so many detours of one state on, they are one box and a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detour:
    """A state that one state leads to and that leads back: the transitions into it, and out of it."""

    state: str
    entered: str
    left: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The states and arrows that are drawn, and the detours that are one of these states."""

    names: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    detours: tuple[Detour, ...] = ()


def without_detours(picture: Picture) -> Picture:
    """Return a picture in which the detours of one state are one box, if there are many."""
    names, arrows = picture.names, picture.arrows
    by_hub: dict[str, list[str]] = {}
    for name in names[1:]:  # the first one is where a session begins
        before = {arrow.source for arrow in arrows if arrow.target == name}
        after = {arrow.target for arrow in arrows if arrow.source == name}
        if len(before) == 1 and before == after != {name}:
            by_hub.setdefault(before.pop(), []).append(name)
    hub, inside = max(by_hub.items(), key=lambda each: len(each[1]), default=("", []))
    if len(inside) < _MANY:
        return picture
    group = f"{len(inside)} states"
    into = {arrow.target: arrow_text(arrow) for arrow in arrows if arrow.source == hub}
    back = {arrow.source: arrow_text(arrow) for arrow in arrows if arrow.target == hub}
    kept = tuple(arrow for arrow in arrows if not {arrow.source, arrow.target} & {*inside})
    ways = tuple(Arrow(source=a, target=b, edges=()) for a, b in ((hub, group), (group, hub)))
    return Picture(
        names=tuple(dict.fromkeys(group if name in inside else name for name in names)),
        arrows=(*kept, *ways),
        detours=tuple(Detour(state=name, entered=into[name], left=back[name]) for name in inside),
    )
