"""Small faults put into the generated functions that decode and encode, one at a time, and taken out again.

A mutant is a changed function compiled next to the original. `Planting` swaps the code of the living
function object, so that every table and method that holds the function sees the fault, and restores it
afterwards. Packed formats are names of the module: those are rebound.
"""

from __future__ import annotations
import __future__

import ast
import copy
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from .equivalents import format_reason, reason
from .facts import Facts, facts_of

__all__ = ["Mutant", "Planting", "compiled", "function_of", "functions_in", "mutants"]

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_ORDERS: Final = {">": "<", "<": ">"}
_SIGNS: Final = {letter: letter.swapcase() for letter in "bBhHiIqQ"}
_LEFT_ALONE: Final = ("_fault", "_load_plan", "_encode_by_reference", "_state_to_read", "_state_to_write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault. `id` names it by function and text, so that it stays the same where other lines move."""

    id: str
    function: str
    line: int
    make: Callable[[], CodeType] | None = None
    rebound: tuple[str, Any] | None = None
    readers: tuple[str, ...] = ()
    """The functions that use the name which `rebound` changes."""
    equivalent: str | None = None
    """Why it is not observable, or None if it may be."""


@cache
def mutants(module: ModuleType) -> tuple[Mutant, ...]:
    """Return every fault of this module's functions, in order of the text."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    facts = facts_of(tree)
    found = [*_in_functions(tree, module.__file__, facts), *_in_formats(tree, facts)]
    repeated: Counter[str] = Counter()
    numbered = []
    for mutant in found:
        repeated[mutant.id] += 1
        count = repeated[mutant.id]
        numbered.append(mutant if count == 1 else replace(mutant, id=f"{mutant.id} ({count})"))
    return tuple(numbered)


class Planting:
    """Has the module run with the fault for a while, as often as wanted."""

    def __init__(self, module: ModuleType, mutant: Mutant) -> None:
        if mutant.rebound is not None:
            name, value = mutant.rebound
            self._put, self._original, self._changed = (
                partial(_put_name, vars(module), name),
                vars(module)[name],
                value,
            )
        else:
            assert mutant.make is not None
            function = function_of(module, mutant.function)
            self._put, self._original, self._changed = (
                partial(_put_code, function),
                function.__code__,
                mutant.make(),
            )

    def __enter__(self) -> None:
        self._put(self._changed)

    def __exit__(self, *_: object) -> None:
        self._put(self._original)


def _put_name(namespace: dict[str, Any], name: str, value: Any) -> None:
    namespace[name] = value


def _put_code(function: FunctionType, code: CodeType) -> None:
    function.__code__ = code


def function_of(module: ModuleType, name: str) -> FunctionType:
    """Return the living function of that name, of a class too."""
    found: Any = module
    for part in name.split("."):
        found = vars(found)[part]
    assert isinstance(found, FunctionType), name
    return found


def _in_functions(tree: ast.Module, file: str, facts: Facts) -> Iterator[Mutant]:
    for owner, function in functions_in(tree):
        name = function.name if owner is None else f"{owner}.{function.name}"
        for place, node in enumerate(_nodes(function)):
            for label, change in _changes(node):
                changed = copy.deepcopy(node)
                change(changed)
                why = reason(function, node, changed, facts)
                line = getattr(node, "lineno", function.lineno)
                make = partial(_changed, function, place, change, file)
                yield Mutant(id=f"{name}: {label}", function=name, line=line, make=make, equivalent=why)


def functions_in(tree: ast.Module) -> Iterator[tuple[str | None, ast.FunctionDef]]:
    """Yield the functions that decode or encode, each with its class."""
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name not in _LEFT_ALONE
            and not node.name.startswith("__")
        ):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == "encode":
                    yield node.name, member


def _nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what runs when the function is called, in an order that a copy shares."""
    for statement in function.body:
        if not isinstance(statement, ast.AnnAssign):
            yield from ast.walk(statement)
        elif statement.value is not None:
            yield from ast.walk(statement.value)


def _nth(function: ast.FunctionDef, place: int) -> Any:
    return next(islice(_nodes(function), place, None))


def _changed(function: ast.FunctionDef, place: int, change: Callable[[Any], None], file: str) -> CodeType:
    """Return the code of the function with one node of it changed."""
    changed = copy.deepcopy(function)
    change(_nth(changed, place))
    return compiled(changed, file)


def compiled(function: ast.FunctionDef, file: str) -> CodeType:
    """Return the code of a function, to be put into the living one."""
    function.decorator_list = []
    module = ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))
    whole = compile(module, file, "exec", dont_inherit=True, flags=__future__.annotations.compiler_flag)
    return next(
        constant
        for constant in whole.co_consts
        if isinstance(constant, CodeType) and constant.co_name == function.name
    )


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Yield what can be done to this node: how it reads, and the deed."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            other = _COMPARISONS[type(operator)]
            yield _said(node, lambda twin: _set(twin, ops=[other()]))
        case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC:
            another = _ARITHMETIC[type(operator)]
            yield _said(node, lambda twin: _set(twin, op=another()))
        case ast.BoolOp(op=operator):
            joined = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield _said(node, lambda twin: _set(twin, op=joined))
        case ast.Constant(value=bool() as truth):
            yield _said(node, lambda twin: _set(twin, value=not truth))
        case ast.Constant(value=int() as number):
            yield _said(node, lambda twin: _set(twin, value=number + 1))
            if number > 0:
                yield _said(node, lambda twin: _set(twin, value=number - 1))
        case ast.If(body=[ast.Raise()], orelse=[]):
            text = ast.unparse(node.test)
            yield f"never {text}", lambda twin: _set(twin, test=ast.Constant(value=False))
        case ast.Expr(value=ast.Call()):
            yield f"without {ast.unparse(node)}", lambda twin: _set(twin, value=ast.Constant(value=None))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"{ast.unparse(node)} -> {ast.unparse(operand)}", lambda twin: _set(
                twin, op=ast.UAdd(), operand=_truth(twin)
            )


def _truth(node: ast.UnaryOp) -> ast.expr:
    return ast.Call(func=ast.Name(id="bool", ctx=ast.Load()), args=[node.operand], keywords=[])


def _set(node: ast.AST, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(node, name, value)


def _said(node: ast.AST, change: Callable[[Any], None]) -> tuple[str, Callable[[Any], None]]:
    changed = copy.deepcopy(node)
    change(changed)
    return f"{ast.unparse(node)} -> {ast.unparse(changed)}", change


def _in_formats(tree: ast.Module, facts: Facts) -> Iterator[Mutant]:
    """Yield packed formats with the other byte order, and with another sign for each of their numbers."""
    users, calls = _users(tree), _calls(tree)
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Attribute(
                    value=ast.Call(func=ast.Name(id="_Struct"), args=[ast.Constant(value=str() as text)]),
                    attr=method,
                ),
            ):
                readers = tuple(sorted(users[name]))
                for changed in _formats(text):
                    yield Mutant(
                        id=f"{name}: {text} -> {changed}",
                        function=name,
                        line=node.lineno,
                        rebound=(name, getattr(struct.Struct(changed), method)),
                        readers=readers,
                        equivalent=format_reason(calls[name], name, changed, facts),
                    )


def _formats(text: str) -> Iterator[str]:
    order, letters = text[0], text[1:]
    if any(letter not in "bBxs" and not letter.isdigit() for letter in letters):
        yield _ORDERS[order] + letters
    for place, letter in enumerate(letters):
        if letter in _SIGNS:
            yield order + letters[:place] + _SIGNS[letter] + letters[place + 1 :]


def _users(tree: ast.Module) -> Mapping[str, set[str]]:
    """Return by name the functions that use it."""
    found: dict[str, set[str]] = defaultdict(set)
    for owner, function in functions_in(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                found[node.id].add(function.name if owner is None else f"{owner}.{function.name}")
    return found


def _calls(tree: ast.Module) -> Mapping[str, list[tuple[ast.FunctionDef, ast.Call]]]:
    """Return by name where it is called."""
    found: dict[str, list[tuple[ast.FunctionDef, ast.Call]]] = defaultdict(list)
    for _, function in functions_in(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found[node.func.id].append((function, node))
    return found
