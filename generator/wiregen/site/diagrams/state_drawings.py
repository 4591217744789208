"""State diagrams as drawings: states in one column, transitions down at its right, transitions up at its left.

Invariant: a label does not touch a line. Each end of an arrow has a row of its own. Labels are in a column
next to the states, which only level lines between rows cross. Vertical lines run outside of that column, each
in its own lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from wiregen.site.diagrams import Arrow, Edge, StateDiagram
from wiregen.site.diagrams.edge_texts import edge_lines
from wiregen.site.diagrams.state_detours import Detour, Picture, without_detours

__all__ = ["CHARACTER", "Chart", "ChartBox", "ChartLabel", "ChartLink", "chart_of"]

CHARACTER: Final = 6.7
"""Width of a character of the labels' font, with a margin."""
LINE: Final = 14
_SEE_TABLE: Final = "see the table below"
_LANE: Final = 8
_GAP: Final = 18
_EDGE: Final = 12
_LOOP: Final = 12
_FEW_STATES: Final = 3
"""In a diagram of at most so many states, transitions of all states are drawn at each state."""
_ANY: Final = "any state"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartBox:
    """A state. `kind`: the style of its edge."""

    x: int
    y: int
    width: int
    height: int
    name: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLink:
    """A line with its head, as the end points of its straight parts."""

    points: tuple[tuple[int, int], ...]

    @property
    def path(self) -> str:
        first, *others = self.points
        return f"M{first[0]} {first[1]}" + "".join(f"L{x} {y}" for x, y in others)

    @property
    def head(self) -> str:
        """Return the path of the tip, at the end of the last straight part, which is level."""
        (before, _), (x, y) = self.points[-2:]
        back = x - 7 if before < x else x + 7
        return f"M{x} {y}L{back} {y - 4}v8Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLabel:
    """The lines of a text, the first one at `y`; `anchor`: which end of a line is at `x`."""

    x: int
    y: int
    anchor: str
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The drawing of a session; `detours`: the states that are one box of it."""

    width: int
    height: int
    title: str
    boxes: tuple[ChartBox, ...]
    links: tuple[ChartLink, ...]
    labels: tuple[ChartLabel, ...]
    start: tuple[int, int]
    detours: tuple[Detour, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """An arrow between two states, by their places in the column; `lines`: its label."""

    source: int
    target: int
    lines: tuple[str, ...]

    @property
    def is_loop(self) -> bool:
        return self.source == self.target

    @property
    def span(self) -> int:
        return abs(self.source - self.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Port:
    """The place where a link leaves or enters a state: `y` is below the state's upper edge."""

    link: _Link
    is_source: bool
    y: int


def chart_of(diagram: StateDiagram) -> Chart:
    """Return the drawing of a session."""
    picture = without_detours(_gathered(diagram))
    places = {name: number for number, name in enumerate(picture.names)}
    links = tuple(
        _Link(
            source=places[each.source],
            target=places[each.target],
            lines=edge_lines(each.edges) if each.edges else (_SEE_TABLE,),
        )
        for each in picture.arrows
    )
    return _Drawing(diagram, picture, links).chart()


def _gathered(diagram: StateDiagram) -> Picture:
    """Return the states to draw and the arrows between them.

    Transitions of all states are drawn once, unless there are few states.
    """
    names = tuple(node.name for node in diagram.nodes)
    if len(names) <= _FEW_STATES:
        return Picture(names=names, arrows=diagram.arrows)
    sources: dict[str, set[str]] = {}
    for edge in diagram.edges:
        sources.setdefault(edge.path, set()).add(edge.source)
    everywhere = {path for path, found in sources.items() if len(found) == len(names)}
    own = (edge for edge in diagram.edges if edge.path not in everywhere)
    common = dict.fromkeys(
        (edge.path, edge.target if edge.target != edge.source else "") for edge in diagram.edges
    )
    firsts: dict[str, Edge] = {edge.path: edge for edge in reversed(diagram.edges)}
    merged = [*own, *(_of_any(firsts[path], diagram, path) for path, _ in common if path in everywhere)]
    edges = tuple(dict.fromkeys(each for each in merged if each.violation is None))
    groups: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        groups.setdefault((edge.source, edge.target), []).append(edge)
    arrows = tuple(Arrow(source=a, target=b, edges=tuple(some)) for (a, b), some in groups.items())
    has_any = any(_ANY in (arrow.source, arrow.target) for arrow in arrows)
    return Picture(names=(*names, _ANY) if has_any else names, arrows=arrows)


def _of_any(edge: Edge, diagram: StateDiagram, path: str) -> Edge:
    """Return a transition of all states as one edge of the box that represents them."""
    targets = {each.target for each in diagram.edges if each.path == path}
    return replace(edge, source=_ANY, target=next(iter(targets)) if len(targets) == 1 else _ANY)


# ---- places


class _Drawing:
    """Computes the coordinates of one diagram."""

    def __init__(self, diagram: StateDiagram, picture: Picture, links: tuple[_Link, ...]) -> None:
        self._diagram, self._detours, self._links = diagram, picture.detours, links
        names = self._names = picture.names
        down = [link for link in links if link.target >= link.source]
        up = [link for link in links if link.target < link.source]
        self._right = [_ports(_right_side(down, number)) for number in range(len(names))]
        self._left = [_ports(_left_side(up, number)) for number in range(len(names))]
        self._width = max(90, int(max(map(len, names)) * 7.8) + 28)
        self._tops: list[int] = []
        self._heights: list[int] = []
        top = 36
        for right, left in zip(self._right, self._left, strict=True):
            height = max(32, _depth(right) + 8, _depth(left) + 8)
            self._tops.append(top)
            self._heights.append(height)
            top += height + _GAP
        self._bottom = top
        self._lanes = {
            True: _lanes([(link, self._ends(link, is_right=True)) for link in down if not link.is_loop]),
            False: _lanes([(link, self._ends(link, is_right=False)) for link in up]),
        }

    def _ends(self, link: _Link, *, is_right: bool) -> tuple[int, int]:
        sides = self._right if is_right else self._left
        source = next(port for port in sides[link.source] if port.link is link and port.is_source)
        target = next(port for port in sides[link.target] if port.link is link and not port.is_source)
        return self._tops[link.source] + source.y, self._tops[link.target] + target.y

    def chart(self) -> Chart:
        left_labels = _label_width(link for link in self._links if link.target < link.source)
        right_labels = _label_width(link for link in self._links if link.target >= link.source)
        left = _EDGE + _n_lanes(self._lanes[False]) * _LANE + left_labels
        right = left + self._width
        inner, outer = left - left_labels, right + right_labels
        links, labels = [], []
        for link in self._links:
            if link.is_loop:
                each, label = self._loop(link, right)
            elif link.target > link.source:
                each, label = self._turned(link, right, outer, is_right=True)
            else:
                each, label = self._turned(link, left, inner, is_right=False)
            links.append(each)
            labels.append(label)
        return Chart(
            width=outer + _n_lanes(self._lanes[True]) * _LANE + _EDGE,
            height=self._bottom,
            title=f"States of {self._diagram.session}",
            boxes=tuple(self._boxes(left)),
            links=tuple(links),
            labels=tuple(label for label in labels if label.lines),
            start=(left + self._width // 2, 12),
            detours=self._detours,
        )

    def _turned(
        self, link: _Link, edge: int, lane_zone: int, *, is_right: bool
    ) -> tuple[ChartLink, ChartLabel]:
        """Return a line out of a state, along its lane, and into another state."""
        start, end = self._ends(link, is_right=is_right)
        out = _LANE * (self._lanes[is_right][link] + 1)
        lane = lane_zone + out if is_right else lane_zone - out
        points = ((edge, start), (lane, start), (lane, end), (edge, end))
        lines = tuple(
            (start - 5 - LINE * (len(link.lines) - 1 - at), text) for at, text in enumerate(link.lines)
        )
        x, anchor = (edge + 8, "start") if is_right else (edge - 8, "end")
        return ChartLink(points=points), ChartLabel(x=x, y=start, anchor=anchor, lines=lines)

    def _loop(self, link: _Link, edge: int) -> tuple[ChartLink, ChartLabel]:
        ports = [port for port in self._right[link.source] if port.link is link]
        top = self._tops[link.source]
        start, end = (top + port.y for port in ports)
        points = ((edge, start), (edge + 16, start), (edge + 16, end), (edge, end))
        middle = (start + end) // 2 + 4 - LINE * (len(link.lines) - 1) // 2
        lines = tuple((middle + LINE * at, text) for at, text in enumerate(link.lines))
        return ChartLink(points=points), ChartLabel(x=edge + 24, y=start, anchor="start", lines=lines)

    def _boxes(self, left: int) -> Iterator[ChartBox]:
        nodes = {node.name: node for node in self._diagram.nodes}
        for name, top, height in zip(self._names, self._tops, self._heights, strict=True):
            node = nodes.get(name)
            kind = "any" if node is None else "final" if node.is_final else "plain"
            title = node.doc if node is not None else "Transitions of every state" if name == _ANY else ""
            yield ChartBox(x=left, y=top, width=self._width, height=height, name=name, kind=kind, title=title)


def _right_side(links: list[_Link], number: int) -> list[tuple[_Link, bool]]:
    """Return the ends at the right of a state, from above, in an order in which their lines do not cross."""
    arriving = sorted((each for each in links if each.target == number and not each.is_loop), key=_span)
    loops = [each for each in links if each.source == number and each.is_loop]
    leaving = sorted(
        (each for each in links if each.source == number and not each.is_loop), key=_span, reverse=True
    )
    ends = [(each, False) for each in arriving]
    ends += [(each, is_source) for each in loops for is_source in (True, False)]
    return ends + [(each, True) for each in leaving]


def _left_side(links: list[_Link], number: int) -> list[tuple[_Link, bool]]:
    leaving = sorted((each for each in links if each.source == number), key=_span)
    arriving = sorted((each for each in links if each.target == number), key=_span, reverse=True)
    return [(each, True) for each in leaving] + [(each, False) for each in arriving]


def _span(link: _Link) -> int:
    return link.span


def _ports(ends: list[tuple[_Link, bool]]) -> list[_Port]:
    """Return a row for each end, with space above an end that has a label."""
    y, ports = 4, []
    for link, is_source in ends:
        if link.is_loop:
            y += _loop_half(link) - _LOOP // 2 + 2 if is_source else _LOOP
        else:
            y += LINE * len(link.lines) + 8 if is_source else LINE
        ports.append(_Port(link=link, is_source=is_source, y=y))
        y += _loop_half(link) - _LOOP // 2 if link.is_loop and not is_source else 0
    return ports


def _loop_half(link: _Link) -> int:
    """Return how far a loop and its label reach up, and down, from their middle."""
    return max(LINE * len(link.lines) // 2, _LOOP // 2) + 4


def _depth(ports: list[_Port]) -> int:
    return max((port.y + (_loop_half(port.link) if port.link.is_loop else 0) for port in ports), default=0)


def _lanes(links: list[tuple[_Link, tuple[int, int]]]) -> dict[_Link, int]:
    """Return the lane of each link: short links are inside; links of one lane do not overlap."""
    taken: list[list[tuple[int, int]]] = []
    found: dict[_Link, int] = {}
    for link, ends in sorted(links, key=lambda each: abs(each[1][0] - each[1][1])):
        low, high = min(ends), max(ends)
        lane = next(
            (n for n, some in enumerate(taken) if all(high < a - 4 or low > b + 4 for a, b in some)),
            len(taken),
        )
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        found[link] = lane
    return found


def _n_lanes(lanes: dict[_Link, int]) -> int:
    return max(lanes.values(), default=-1) + 1


def _label_width(links: Iterable[_Link]) -> int:
    longest = max((len(line) for link in links for line in link.lines), default=0)
    return int(longest * CHARACTER) + 34 if longest else _EDGE
