"""A tree as it is displayed: labels, short texts and notes, with unprintable characters escaped; and its lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from wiregen.language.terminal_text import display_width

__all__ = ["Branch", "lines"]

_INDENT: Final = "  "
_WIDEST_LABEL: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One line and the branches below it; `style` is that of the text, in rich's words."""

    label: str
    text: str = ""
    note: str = ""
    style: str = ""
    children: "tuple[Branch, ...]" = ()


def lines(branch: Branch, depth: int = 0, width: int = 0) -> Iterator[Text]:
    """Yield the lines of a branch, its label padded to `width` cells."""
    line = Text(_INDENT * depth)
    line.append(branch.label, "cyan")
    if branch.text or branch.note:
        line.append(" " * (max(0, width - display_width(branch.label)) + len(_INDENT)))
    line.append(branch.text, branch.style or None)
    if branch.note:
        line.append(_INDENT if branch.text else "")
        line.append(branch.note, "dim")
    line.rstrip()
    yield line
    inner_width = _label_width(branch.children)
    for child in branch.children:
        yield from lines(child, depth + 1, inner_width)


def _label_width(branches: tuple[Branch, ...]) -> int:
    """Return the width of the column of labels: the widest of those with a text or a note, very wide ones excluded."""
    widths = (display_width(branch.label) for branch in branches if branch.text or branch.note)
    return max((width for width in widths if width <= _WIDEST_LABEL), default=0)
