"""A value in a few words: shortened if it is long, with its length, and without characters that control a terminal."""

from typing import Final
from uuid import UUID

from wiregen.language.terminal_text import visible

__all__ = ["HIDDEN", "bytes_text", "json_text", "plural", "quoted", "scalar_text"]

HIDDEN: Final = "··"
_MAX_CHARACTERS: Final = 72
_MAX_BYTES: Final = 24
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})


def scalar_text(value: object) -> str:
    """Return the text of a value that is neither a record nor a list."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case bytes():
            return bytes_text(value)
        case int() | float() | UUID():
            return str(value)
        case _:
            return visible(str(value))


def quoted(value: str) -> str:
    """Return a text in quotes."""
    shown = visible(value[:_MAX_CHARACTERS].translate(_ESCAPED))
    return (
        f'"{shown}"' if len(value) <= _MAX_CHARACTERS else f'"{shown}…" ({plural(len(value), "character")})'
    )


def bytes_text(value: bytes) -> str:
    """Return bytes in hexadecimal."""
    if len(value) <= _MAX_BYTES:
        return f'x"{value.hex()}"'
    return f'x"{value[:_MAX_BYTES].hex()}…" ({plural(len(value), "byte")})'


def json_text(value: bytes) -> str:
    """Return bytes that should be JSON as text, or in hexadecimal if they are empty or not UTF-8."""
    if not value:
        return bytes_text(value)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return bytes_text(value)
    shown = visible(text[:_MAX_CHARACTERS])
    return shown if len(text) <= _MAX_CHARACTERS else f"{shown}… ({plural(len(value), 'byte')})"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural if needed."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
