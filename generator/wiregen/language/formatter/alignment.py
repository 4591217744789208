"""Columns: the signs and words that are aligned in a block, and the comments at the ends of lines."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .lines import Line, SpacedToken
from .pieces import BraceRegion

__all__ = ["align", "text_of"]

_COMMENT_COLUMN: Final = 37
"""The column from 0 of comments at the ends of lines that are shorter."""
_SIGNS: Final = {
    "field": "COLON",
    "member": "ASSIGN",
    "limit": "ASSIGN",
    "update": "ASSIGN",
    "var": "COLON",
    "option": "COLON",
    "arm": "ARROW",
    "default_of": "ARROW",
}
"""Entry: the sign of which the first one is aligned."""
_WORDS: Final = {
    "source_setting": "settings",
    "endian_setting": "settings",
    "bits_setting": "settings",
    "roles_setting": "settings",
    "port_setting": "settings",
    "reserved_setting": "settings",
    "remark": "remarks",
    "about": "remarks",
    "set": "keys",
    "clear": "keys",
    "part": "keys",
    "last": "keys",
    "variety": "alternatives",
}
"""Entry: the name of its group; the token after its first one is aligned."""


@dataclass(frozen=True, slots=True)
class _Group:
    block: BraceRegion
    name: str


@dataclass(frozen=True, slots=True)
class _Member:
    line: Line
    cell: SpacedToken


def align(lines: Sequence[Line]) -> None:
    """Widen the spaces before the tokens of each column: first the names, then the values of variables after their types."""
    for column_of in (_first_column, _second_column):
        members: defaultdict[_Group, list[_Member]] = defaultdict(list)
        for line in lines:
            if line.starts is not None and line.starts.block.depth > 0:
                name, cell = column_of(line.starts.rule, line.cells)
                if cell is not None:
                    members[_Group(line.starts.block, name)].append(_Member(line, cell))
        for group in members.values():
            _widen(group)


def _first_column(rule: str, cells: Sequence[SpacedToken]) -> tuple[str, SpacedToken | None]:
    """Return the group of an entry, and its token that is aligned."""
    if rule in _WORDS:
        return _WORDS[rule], cells[1] if len(cells) > 1 else None
    if rule not in _SIGNS:
        return rule, None
    return rule, next((cell for cell in cells if cell.piece.kind == _SIGNS[rule]), None)


def _second_column(rule: str, cells: Sequence[SpacedToken]) -> tuple[str, SpacedToken | None]:
    if rule not in ("var", "option"):
        return rule, None
    return rule, next((cell for cell in cells if cell.piece.kind == "ASSIGN"), None)


def _widen(members: Sequence[_Member]) -> None:
    widths = [_width_before(member) for member in members]
    for member, width in zip(members, widths, strict=True):
        member.cell.spaces += max(widths) - width


def _width_before(member: _Member) -> int:
    """Return the width of the line before the token, without the indentation."""
    width = 0
    for each in member.line.cells:
        width += each.spaces
        if each is member.cell:
            break
        width += len(each.piece.text)
    return width


def text_of(lines: Sequence[Line]) -> str:
    """Return the text of all lines."""
    columns: dict[SpacedToken, int] = {}
    texts = []
    for line in lines:
        column = columns[line.below] if line.below is not None else line.indent
        text = " " * column if line.cells or line.comment else ""
        for cell in line.cells:
            text += " " * cell.spaces
            columns[cell] = len(text)
            text += cell.piece.text
        if line.comment and line.cells:
            last = len(text) - text.rfind("\n") - 1
            text += " " * max(1, _COMMENT_COLUMN - last)
        texts.append(text + line.comment)
    return "\n".join(texts) + "\n"
