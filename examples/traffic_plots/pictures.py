"""Bars and steps as SVG: text that is the same for the same figures, which a browser shows and a diff compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["bars", "steps"]

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 720, 300, 60, 44, 20, 50
_COLOURS = ("#3b6ea8", "#c8793a", "#5a9367", "#8a5a9c", "#777777")
_PLOT = (_WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM)


def bars(
    title: str, across: str, up: str, labels: Sequence[str], stacks: Mapping[str, Sequence[float]]
) -> str:
    """Return a picture of bars, one for each label; the parts of a bar lie upon each other."""
    most = max((sum(values) for values in zip(*stacks.values(), strict=True)), default=0) or 1
    width = _PLOT[0] / max(1, len(labels))
    shapes, bottoms = [], [0.0] * len(labels)
    for colour, (name, values) in zip(_COLOURS, stacks.items(), strict=False):
        for place, value in enumerate(values):
            height = value / most * _PLOT[1]
            y = _TOP + _PLOT[1] - bottoms[place] - height
            bottoms[place] += height
            x = _LEFT + place * width + width * 0.1
            shapes.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width * 0.8:.1f}" height="{height:.1f}" fill="{colour}">'
                f"<title>{escape(name)}: {value:g}</title></rect>"
            )
    every = max(1, len(labels) // 8)
    for place, label in enumerate(labels):
        if place % every == 0:
            shapes.append(_text(_LEFT + (place + 0.5) * width, _HEIGHT - 30, label, "middle"))
    return _picture(title, across, up, most, tuple(stacks), shapes)


def steps(title: str, across: str, up: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return a picture of lines that stay where they are until the next point."""
    points = [point for line in lines.values() for point in line]
    last = max((x for x, _ in points), default=0) or 1
    most = max((y for _, y in points), default=0) or 1
    shapes = []
    for colour, line in zip(_COLOURS, lines.values(), strict=False):
        path, before = [], 0.0
        for x, y in line:
            path.append(f"{_across(x, last)},{_up(before, most)} {_across(x, last)},{_up(y, most)}")
            before = y
        shapes.append(f'<polyline points="{" ".join(path)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for part in range(5):
        x = last * part / 4
        shapes.append(_text(float(_across(x, last)), _HEIGHT - 30, f"{x:.3g}", "middle"))
    return _picture(title, across, up, most, tuple(lines), shapes)


def _across(x: float, last: float) -> str:
    return f"{_LEFT + x / last * _PLOT[0]:.1f}"


def _up(y: float, most: float) -> str:
    return f"{_TOP + _PLOT[1] - y / most * _PLOT[1]:.1f}"


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _picture(
    title: str, across: str, up: str, most: float, names: tuple[str, ...], shapes: Sequence[str]
) -> str:
    base = _TOP + _PLOT[1]
    frame = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 18, title),
        *(
            _text(_LEFT + 130 * number, 36, f"■ {name}").replace("<text", f'<text fill="{colour}"')
            for number, (colour, name) in enumerate(zip(_COLOURS, names, strict=False))
        ),
        f'<path d="M{_LEFT} {_TOP}V{base}H{_WIDTH - _RIGHT}" fill="none" stroke="#444"/>',
        *(_text(_LEFT - 6, float(_up(most * n / 4, most)) + 4, f"{most * n / 4:g}", "end") for n in range(5)),
        _text(_LEFT + _PLOT[0] / 2, _HEIGHT - 10, across, "middle"),
        f'<text transform="translate(14 {_TOP + _PLOT[1] / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(up)}</text>',
    ]
    return "\n".join([*frame, *shapes, "</svg>", ""])
