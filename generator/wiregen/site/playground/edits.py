"""Fields of a decoded line as editable text: the text of a value, and the value of a text.

Invariant: the text of a value is read as the same value. Leaving a field unchanged leaves its bytes
unchanged.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from wiregen.formats.jsonl import Line, LineError, loads
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Boolean, EnumReference
from wiregen.site.playground.pasted_text import bytes_of

__all__ = ["changed", "choices_of", "text_of"]

_SHOWN_BYTES: Final = re.compile(r'x"([^"]*)"')
_QUOTED: Final = re.compile(r'".*"|\{.*\}', re.DOTALL)
_MOST_DIGITS: Final = 9
_MOST_CHOICES: Final = 200


def text_of(line: Mapping[str, object], path: str) -> str | None:
    """Return the value at an error's path, `Data.pairs[1].value`, as editable text, or None where there is none.

    A text is left as it is where an input field can hold it, else it is quoted as JSON. Bytes are hexadecimal
    digits.
    """
    try:
        places = [_place(line.get(key), path) for key in ("fields", "header")]
    except LineError:
        return None
    holder, last = next((place for place in places if place[0] is not None), (None, None))
    if holder is None or isinstance(holder[last], list | dict):
        return None
    value = holder[last]
    is_plain = isinstance(value, str) and value.isprintable() and not _QUOTED.fullmatch(value)
    return value if is_plain else json.dumps(value)


def choices_of(schema: Schema, node: Node) -> dict[str, object]:
    """Return the values of a field with few values, as editable texts; empty for other fields.

    `is_open`: other values are allowed too.
    """
    match node.type:
        case Boolean():
            return {"choices": ["false", "true"]}
        case EnumReference(name, only):
            members = [each.name for each in schema.enums[name].members if only is None or each.name in only]
            is_open = schema.enums[name].is_open and only is None or len(members) > _MOST_CHOICES
            return {"choices": members[:_MOST_CHOICES]} | ({"is_open": True} if is_open else {})
        case _:
            return {}


def changed(line: dict[str, object], tree: Node, path: str, text: str) -> Line:
    """Return a line, whose frame is `tree`, with the value of a text at a path.

    Raises:
        LineError: There is no such field, or the text is not a value for it.
        TextError: The field is bytes, and the text is not.
    """
    made = copy.deepcopy(line)
    is_bytes = any(node.path == path and isinstance(node.value, bytes) for node in tree.walk())
    for key in ("fields", "header"):
        holder, last = _place(made.get(key), path)
        if holder is not None:
            old = holder[last]
            holder[last] = _digits(text) if is_bytes and isinstance(old, str) else _value(old, text)
            return made
    raise LineError(f"there is nothing to change at {path[:64]}")


def _place(root: Any, path: str) -> tuple[Any, Any]:
    """Return the container of the value at a path, and its key; (None, None) where there is no such value."""
    steps = list(_steps(path.partition(".")[2]))
    for step in steps[:-1]:
        if not _has(root, step):
            return None, None
        root = root[step]
    return (root, steps[-1]) if steps and _has(root, steps[-1]) else (None, None)


def _has(place: object, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(place, list) and step < len(place)
    return isinstance(place, dict) and step in place


def _steps(path: str) -> Iterator[str | int]:
    for part in path.split("."):
        name, *numbers = part.replace("]", "").split("[")
        if name:
            yield name
        for number in numbers:
            if not number.isascii() or not number.isdigit() or len(number) > _MOST_DIGITS:
                raise LineError("no place in a message")
            yield int(number)


def _digits(text: str) -> str:
    shown = _SHOWN_BYTES.fullmatch(text.strip())
    return bytes_of(text if shown is None else shown[1], "hex").hex()


def _value(old: object, text: str) -> Any:
    """Return a text as a value of the same kind as the old one."""
    if isinstance(old, str) and not _QUOTED.fullmatch(text):
        return text
    try:
        return loads(f'{{"value": {text}}}')["value"]
    except LineError:
        if isinstance(old, int | float):
            raise LineError(f"`{text[:32]}` is not a number") from None
        return text
