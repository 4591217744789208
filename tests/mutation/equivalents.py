"""Faults that no bytes and no value can show, where the form of the code proves it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["format_reason", "reason"]

_THRESHOLD: Final = 65536
_LARGE: Final = 1 << 24
_SHORT_PREFIXES: Final = "hH"
_SLOT: Final = re.compile(r"(\d*)([bBhHiIqQsxdf])")


def reason(function: ast.FunctionDef, node: ast.AST) -> str | None:
    """Return why no change of this node shows; None: nothing proves that."""
    parents = _parents(function, node)
    for parent in parents:
        match parent:
            case ast.Call(func=ast.Name(id="_encode_carefully"), args=[_, compression, *_]) if _is_in(
                node, compression
            ) and not _takes(function, "compression"):
                return "nothing of this message is compressed, however strongly"
            case ast.IfExp(body=ast.Subscript(value=ast.Name(id="_LENGTHS"))) if isinstance(
                node, ast.Constant
            ):
                return _of_table(node)
    compared = next((each for each in (node, *parents[:1]) if isinstance(each, ast.Compare)), None)
    return None if compared is None else _of_comparison(function, compared, node)


def _of_table(node: ast.Constant) -> str | None:
    return "the table and the packed number give the same bytes" if node.value == 256 else None


def _of_comparison(function: ast.FunctionDef, compared: ast.Compare, node: ast.AST) -> str | None:
    match compared:
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=int(bound))]):
            text = ast.unparse(left)
            if bound == _THRESHOLD and text in ("end - offset", "len(data)"):
                return "so few bytes hold no more items than all lists of a frame may have, counted or not"
            if bound == _THRESHOLD and text.startswith("n_") and _is_short(function, text):
                return "the count's own prefix can say less"
            if bound >= _LARGE and text == "len(data)" and _is_always_small(function):
                return "the prefixes of its texts cannot say so much"
    return None


def _is_short(function: ast.FunctionDef, count: str) -> bool:
    """Say whether a count is packed or unpacked as 16 bits."""
    text = ast.unparse(function)
    unpacked = re.search(rf"\({count},\) = _unpack_[{_SHORT_PREFIXES}]\(", text)
    packed = re.search(rf"_pack_[{_SHORT_PREFIXES}]\({count}\)", text)
    return bool(unpacked or packed)


def _is_always_small(function: ast.FunctionDef) -> bool:
    """Say whether a function joins nothing but numbers and texts of 16-bit lengths."""
    if any(isinstance(part, ast.For | ast.While) for part in ast.walk(function)):
        return False
    counts = {
        part.id for part in ast.walk(function) if isinstance(part, ast.Name) and part.id.startswith("n_")
    }
    short = {
        argument.id
        for call in ast.walk(function)
        for letter, argument in _packed(call)
        if isinstance(argument, ast.Name) and letter in _SHORT_PREFIXES
    }
    encoded = ("_encode_str", "_encode_text", "_pack_")
    joined = [
        part
        for part in ast.walk(function)
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Attribute)
    ]
    return counts <= short and not joined and all(name in ast.unparse(function) for name in encoded[2:])


def _packed(call: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each packed number's letter and what is packed."""
    match call:
        case ast.Call(func=ast.Name(id=name), args=arguments) if name.startswith("_pack_"):
            yield from zip(_letters(name.removeprefix("_pack_")), arguments, strict=False)


def _letters(form: str) -> list[str]:
    found: list[str] = []
    for count, letter in _SLOT.findall(form):
        if letter != "x":
            found += [letter] if letter == "s" else [letter] * int(count or 1)
    return found


def format_reason(tree: ast.Module, name: str, changed: str) -> str | None:
    """Return why another sign of one packed number does not show: whatever is packed there is below half its range."""
    if not name.startswith("_pack_"):
        return None
    before, after = _letters(name.removeprefix("_pack_")), _letters(changed[1:])
    places = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    calls = [
        part
        for part in ast.walk(tree)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == name
    ]
    if len(places) == 1 and calls and all(_is_low(call.args[places[0]], before[places[0]]) for call in calls):
        return "all that is packed there is far from the largest"
    return None


def _is_low(argument: ast.expr, letter: str) -> bool:
    match argument:
        case ast.Constant(value=int(number)):
            return 0 <= number < 128
        case ast.Name(id=name):
            return letter in "iIqQ" and (name.startswith("n_") or name.endswith("_size"))
        case _:
            return False


def _takes(function: ast.FunctionDef, name: str) -> bool:
    return any(argument.arg == name for argument in (*function.args.args, *function.args.kwonlyargs))


def _is_in(node: ast.AST, around: ast.AST) -> bool:
    return any(part is node for part in ast.walk(around))


def _parents(function: ast.FunctionDef, node: ast.AST) -> list[ast.AST]:
    """Return what stands around a node, the nearest first."""
    around = {id(child): part for part in ast.walk(function) for child in ast.iter_child_nodes(part)}
    found: list[ast.AST] = []
    while id(node) in around:
        node = around[id(node)]
        found.append(node)
    return found
