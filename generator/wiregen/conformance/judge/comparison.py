"""Compare decoded lines by the rules of the contract, and name the first difference by its path.

Equal are:

- an integer and its decimal text;
- a line without an empty `header` and one with it;
- a line without the JSON view of a field (`document_json` next to `document`) and one with it.

The other members of a line, next to its message, are not compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Difference", "difference", "shown"]

_COMPARED: Final = ("message", "code", "header", "fields")
_IF_BOTH: Final = ("part", "joined")
_VIEW: Final = "_json"
_LONGEST_SHOWN: Final = 80
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first place where two values differ, and the text of both values there."""

    path: str
    expected: str
    found: str


def difference(expected: Sequence[object], found: Sequence[object]) -> Difference | None:
    """Return the first difference between lists of decoded lines, or None if they are equal."""
    for index, (one, other) in enumerate(zip(expected, found, strict=False)):
        differing = _between_lines(one, other, f"frames[{index}]")
        if differing is not None:
            return differing
    if len(expected) != len(found):
        return Difference(path="frames", expected=f"{len(expected)} frames", found=f"{len(found)} frames")
    return None


def shown(value: object) -> str:
    """Return a value as JSON, cut if it is long."""
    text = "nothing" if value is _MISSING else json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}… ({len(text)} characters)"


def _between_lines(expected: object, found: object, path: str) -> Difference | None:
    if not isinstance(found, Mapping) or not isinstance(expected, Mapping):
        return _between(expected, found, path)
    names = [*_COMPARED, *(name for name in _IF_BOTH if name in expected and name in found)]
    return _first(_between(_part(expected, name), _part(found, name), f"{path}.{name}") for name in names)


def _part(line: Mapping[str, object], name: str) -> object:
    return line.get(name, {} if name == "header" else _MISSING)


def _between(expected: object, found: object, path: str) -> Difference | None:
    match expected, found:
        case Mapping(), Mapping():
            return _between_objects(expected, found, path)
        case list() | tuple(), list() | tuple():
            return _between_lists(expected, found, path)
        case _ if _is_same(expected, found):
            return None
    return Difference(path=path, expected=shown(expected), found=shown(found))


def _between_objects(
    expected: Mapping[str, object], found: Mapping[str, object], path: str
) -> Difference | None:
    names = dict.fromkeys((*expected, *found))
    compared = (name for name in names if not _is_absent_view(name, expected, found))
    return _first(
        _between(_member(expected, name), _member(found, name), f"{path}.{name}") for name in compared
    )


def _member(object_: Mapping[str, object], name: str) -> object:
    empty = {} if name == "header" and "message" in object_ else _MISSING
    return object_.get(name, empty)


def _is_absent_view(name: str, expected: Mapping[str, object], found: Mapping[str, object]) -> bool:
    is_view = name.endswith(_VIEW) and name.removesuffix(_VIEW) in expected
    return is_view and not (name in expected and name in found)


def _between_lists(expected: Sequence[object], found: Sequence[object], path: str) -> Difference | None:
    differing = _first(
        _between(one, other, f"{path}[{index}]")
        for index, (one, other) in enumerate(zip(expected, found, strict=False))
    )
    if differing is None and len(expected) != len(found):
        return Difference(path=path, expected=f"{len(expected)} items", found=f"{len(found)} items")
    return differing


def _is_same(expected: object, found: object) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, str) != isinstance(found, str):
        return _is_number(expected, found) or _is_number(found, expected)
    return bool(expected == found)


def _is_number(text: object, number: object) -> bool:
    """Return whether a text is the decimal form of an integer."""
    return isinstance(text, str) and type(number) is int and text == str(number)


def _first(differences: Any) -> Difference | None:
    return next((each for each in differences if each is not None), None)
