"""The functions of a module that run for a view: they record their names, at the cost of one call each."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

from .mutants import compiled, function_of, functions_in

__all__ = ["touched"]

_NOTE: Final = "_note_of_tests"


@contextmanager
def touched(module: ModuleType) -> Iterator[set[str]]:
    """Yield a set to which the functions that mutants change add their names while they run."""
    assert module.__file__ is not None
    ran: set[str] = set()
    setattr(module, _NOTE, ran.add)
    originals = []
    for owner, function in functions_in(ast.parse(Path(module.__file__).read_text("utf-8"))):
        name = function.name if owner is None else f"{owner}.{function.name}"
        living = function_of(module, name)
        originals.append((living, living.__code__))
        living.__code__ = compiled(_noting(function, name), module.__file__)
    try:
        yield ran
    finally:
        for living, code in originals:
            living.__code__ = code
        delattr(module, _NOTE)


def _noting(function: ast.FunctionDef, name: str) -> ast.FunctionDef:
    """Return a copy of a function that first records its name."""
    noting = copy.deepcopy(function)
    call = ast.Call(func=ast.Name(id=_NOTE, ctx=ast.Load()), args=[ast.Constant(value=name)], keywords=[])
    noting.body.insert(0, ast.Expr(value=call))
    return noting
