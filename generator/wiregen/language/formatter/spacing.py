"""The spaces and line ends between two tokens."""

from typing import Final

from .pieces import TokenPiece

__all__ = ["may_break", "space"]

_TIGHT_AFTER: Final = frozenset({"LPAREN", "LSQUARE", "DOT", "AT", "POWER"})
_TIGHT_BEFORE: Final = frozenset({"RPAREN", "RSQUARE", "COMMA", "DOT", "POWER"})
_OPENING: Final = frozenset({"LPAREN", "LSQUARE"})
_CLOSING: Final = frozenset({"RPAREN", "RSQUARE"})
_SUFFIXES: Final = frozenset({"arguments", "sized", "to_the_end", "terminated"})
"""Nodes whose bracket belongs to the name before it; the brackets of other nodes begin a value."""


def space(before: TokenPiece, after: TokenPiece) -> str:
    """Return the spaces between two neighbours, without those of an alignment."""
    if before.kind in _TIGHT_AFTER or after.kind in _TIGHT_BEFORE:
        return ""
    if after.kind in _OPENING and after.rule in _SUFFIXES:
        return ""
    if before.kind == "MINUS" and before.rule != "binary":
        return ""
    if before.kind == "LBRACE":
        return "" if after.kind == "RBRACE" else " "
    return "  " if after.starts and not after.entry.rule.endswith("_setting") else " "


def may_break(before: TokenPiece, after: TokenPiece) -> bool:
    """Return whether a line end that a person put between two neighbours is kept: inside brackets and between words."""
    if after.kind in ("LBRACE", "RBRACE"):
        return False
    return before.kind in _OPENING or after.kind in _CLOSING or bool(space(before, after))
