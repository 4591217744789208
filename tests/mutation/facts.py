"""Facts about each function that the text of its module proves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["THRESHOLD", "Facts", "facts_of"]

THRESHOLD: Final = 65536
_SMALL: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts about a module.

    Attributes:
        falls_back: The reference codec reads frames that compiled code refuses, and its frame is the result.
        counts_large: Frames of more bytes than a list may have items are always read and written with budgets.
        ends_are_judged: Readers of frames compare where the body ended with where it must.
        endless: Functions of tables, by table, that test whether their value is the last one.
        passed_on: The tables of functions that only call one of a table's.
        by_class: The functions of tables by the class that they read or write.
        small_enums: Tables of members that are all below half a byte's range.
        small_tables: Tables of other numbers that all are.
    """

    falls_back: bool
    counts_large: bool
    ends_are_judged: bool
    endless: dict[str, frozenset[str]]
    passed_on: dict[str, str]
    by_class: dict[str, frozenset[str]]
    only: dict[str, frozenset[str]]
    small_enums: frozenset[str]
    small_tables: frozenset[str]


def facts_of(tree: ast.Module) -> Facts:
    """Return the facts that the text of a generated module proves."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    texts = {name: ast.unparse(function) for name, function in functions.items()}
    framing = [text for text in texts.values() if "frame.message = " in text and "frame = _new(" in text]
    asking = {name for name, function in functions.items() if _asks_whether_last(function)}
    tables = dict(_tables(tree))
    return Facts(
        falls_back="decode_by_reference" in texts.get("_fault", ""),
        counts_large=bool(framing) and all(f"end - offset > {THRESHOLD}" in text for text in framing),
        ends_are_judged=bool(framing) and all("if position != payload_end:" in text for text in framing),
        endless={name: frozenset(asking & set(names)) for name, names in tables.items()},
        passed_on=dict(_passed_on(functions)),
        by_class=_by_class(functions),
        only=dict(_only(tree)),
        small_enums=frozenset(_small_enums(tree)),
        small_tables=frozenset(_small_tables(tree)),
    )


def _asks_whether_last(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "is_last" for node in ast.walk(function))


def _tables(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Yield each table of functions."""
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(values=values)) | ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Dict(values=values)
            ):
                yield name, [value.id for value in values if isinstance(value, ast.Name)]


def _passed_on(functions: dict[str, ast.FunctionDef]) -> Iterator[tuple[str, str]]:
    """Yield the functions that only call one of a table's, and tell it what they were told about standing last."""
    for name, function in functions.items():
        match function.body:
            case [
                ast.Return(
                    value=ast.Call(
                        func=ast.Subscript(value=ast.Name(id=table)), args=[*_, ast.Name(id="is_last")]
                    )
                )
            ]:
                yield name, table


def _by_class(functions: dict[str, ast.FunctionDef]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for name, function in functions.items():
        first = function.args.args[:1]
        told = ast.unparse(function.returns) if function.returns is not None else ""
        read = re.fullmatch(r"tuple\[([\w.]+), int\]", told)
        written = ast.unparse(first[0].annotation) if first and first[0].annotation is not None else ""
        class_ = read[1] if read else written
        found[class_] = found.get(class_, frozenset()) | {name}
    return found


def _only(tree: ast.Module) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield by name each set of the classes that are allowed in a place."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="frozenset"), args=[ast.Tuple(elts=parts)]),
            ):
                yield name, frozenset(map(ast.unparse, parts))


def _small_enums(tree: ast.Module) -> Iterator[str]:
    """Yield the tables `_X_BY_NUMBER` of enums whose members are small."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any("_IntEnum" in ast.unparse(base) for base in node.bases):
            numbers = [
                part.value.value
                for part in node.body
                if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)
            ]
            if all(isinstance(number, int) and 0 <= number < _SMALL for number in numbers):
                snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name).upper()
                yield f"_{snake}_BY_NUMBER"


def _small_tables(tree: ast.Module) -> Iterator[str]:
    """Yield the tables of which each value is a small number."""
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(values=values)):
                numbers = [value.value for value in values if isinstance(value, ast.Constant)]
                is_small = all(isinstance(number, int) and 0 <= number < _SMALL for number in numbers)
                if is_small and values and len(numbers) == len(values):
                    yield name
