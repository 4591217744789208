"""Tokens to lines: where lines end, how deep they are indented, and which token each line aligns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from .pieces import BlockElement, Comment, TokenPiece
from .spacing import may_break, space

__all__ = ["Line", "SpacedToken", "lines_of"]

_INDENT: Final = 2
_OPENING: Final = frozenset({"LPAREN", "LSQUARE"})
_CLOSING: Final = frozenset({"RPAREN", "RSQUARE"})
_TEXT_LINES: Final = frozenset({"remark", "rule_source", "source_setting"})
"""Entries whose further texts begin below the first one."""


_LOOSENESS: Final = {
    "OR": 1,
    "AND": 2,
    "NOT": 3,
    "IN": 3,
    "COMPARE": 3,
    "EQUAL": 3,
    "DOTS": 4,
    "PLUS": 5,
    "MINUS": 5,
    "TIMES": 6,
}
"""Operators, the loosest first: a line that begins with one continues a line that begins with a looser one, or with none."""


@dataclass(eq=False, slots=True, kw_only=True)
class SpacedToken:
    """A token with the spaces before it."""

    piece: TokenPiece
    spaces: int


@dataclass(eq=False, slots=True, kw_only=True)
class Line:
    """One line of tokens, or one comment, or nothing.

    Attributes:
        below: The first text of the entry, in the column of which the line begins instead of at `indent`.
        starts: The entry that the line begins, but for its docs.
    """

    indent: int = 0
    cells: list[SpacedToken] = field(default_factory=list)
    comment: str = ""
    below: SpacedToken | None = None
    starts: BlockElement | None = None


def lines_of(pieces: Sequence[TokenPiece], last: Sequence[Comment]) -> list[Line]:
    """Return the lines of a file, `last` being the comments after its last token."""
    layout = _Layout()
    before: TokenPiece | None = None
    for piece in pieces:
        layout.add(before, piece)
        before = piece
    layout.add_comments(last, indent=0, is_last=True)
    return layout.lines


@dataclass(slots=True)
class _Layout:
    lines: list[Line] = field(default_factory=list)
    _brackets: list[int] = field(default_factory=list)
    _operators: list[int] = field(default_factory=list)
    _texts: SpacedToken | None = None
    _begun: BlockElement | None = None

    def add(self, before: TokenPiece | None, piece: TokenPiece) -> None:
        """Add a token at the end of the last line, or on a line of its own."""
        indent = self._indent(piece)
        self.add_comments(piece.comments, indent=self._indent_of_comments(piece, indent))
        if before is None or _is_broken(before, piece):
            if piece.starts and piece.after_blank:
                self._add_blank()
            below = self._texts if piece.kind == "STRING" and piece.entry is self._begun else None
            self.lines.append(Line(indent=indent, below=below))
            self._operators = [each for each in self._operators if each < _looseness(piece)]
            if self._begun is piece.entry and not self._brackets:
                self._operators.append(_looseness(piece))
        line = self.lines[-1]
        spaces = len(space(before, piece)) if before is not None and line.cells else 0
        cell = SpacedToken(piece=piece, spaces=spaces)
        line.cells.append(cell)
        self._note(line, cell)

    def add_comments(self, comments: Sequence[Comment], *, indent: int, is_last: bool = False) -> None:
        """Add comments before a token, or after the last one."""
        for comment in comments:
            if comment.is_trailing:
                self.lines[-1].comment = comment.text
                continue
            if comment.after_blank:
                self._add_blank()
            self.lines.append(Line(indent=indent, comment=comment.text))

    def _add_blank(self) -> None:
        """Add a blank line, but none at the beginning of the file or of a block, and none after another."""
        if self.lines and not _opens(self.lines[-1]) and (self.lines[-1].cells or self.lines[-1].comment):
            self.lines.append(Line())

    def _indent(self, piece: TokenPiece) -> int:
        depth = piece.entry.block.depth * _INDENT
        if piece.starts or piece.kind in ("RBRACE", "LBRACE") or self._begun is not piece.entry:
            return depth
        if self._brackets:
            return self._brackets[-1] + (0 if piece.kind in _CLOSING else _INDENT)
        return depth + _INDENT * (1 + len([each for each in self._operators if each < _looseness(piece)]))

    @staticmethod
    def _indent_of_comments(piece: TokenPiece, indent: int) -> int:
        return indent + _INDENT if piece.kind == "RBRACE" else indent

    def _note(self, line: Line, cell: SpacedToken) -> None:
        """Note what the following tokens need to know of this one."""
        piece = cell.piece
        if piece.kind != "DOC" and piece.entry is not self._begun and piece.kind != "RBRACE":
            self._begun, self._texts = piece.entry, None
            line.starts = line.starts or (piece.entry if len(line.cells) == 1 else None)
        elif piece.kind == "RBRACE":
            self._begun = piece.entry
        if piece.kind == "STRING" and piece.entry.rule in _TEXT_LINES and self._texts is None:
            self._texts = cell
        if piece.kind in _OPENING:
            self._brackets.append(line.indent + (_INDENT if _is_head_of_example(line) else 0))
        elif piece.kind in _CLOSING:
            self._brackets.pop()


def _looseness(piece: TokenPiece) -> int:
    return _LOOSENESS.get(piece.kind, 0) if piece.rule == "binary" else 0


def _is_head_of_example(line: Line) -> bool:
    """Return whether the `=` of an example may follow below, which what is inside a bracket is told from by its depth."""
    return line.starts is not None and line.starts.rule == "example"


def _is_broken(before: TokenPiece, piece: TokenPiece) -> bool:
    """Return whether a token begins a line."""
    if piece.comments or before.kind == "DOC":
        return True
    if before.kind == "LBRACE" and piece.kind == "RBRACE":
        return False
    if piece.starts:
        return not piece.entry.block.is_inline
    if piece.kind == "RBRACE" and piece.block is not None:
        return not piece.block.is_inline
    return piece.after_break and may_break(before, piece)


def _opens(line: Line) -> bool:
    return bool(line.cells) and line.cells[-1].piece.kind == "LBRACE"
