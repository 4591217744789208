"""Faults that no bytes and no value can show, where the form of the code proves it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from .facts import THRESHOLD, Facts
from .forms import holds_more, is_in
from .guards import of_guard, of_last, of_statement

__all__ = ["format_reason", "reason"]

_LARGE: Final = 1 << 24
_SHORT_PREFIXES: Final = "hH"
_SLOT: Final = re.compile(r"(\d*)([bBhHiIqQsxdf])")


def reason(function: ast.FunctionDef, node: ast.AST, changed: ast.AST, facts: Facts) -> str | None:
    """Return why this change of a node is not observable, or None without a proof."""
    parents = _parents(function, node)
    if any(_is_settled(parent, node) for parent in parents):
        return "where it is asked the two differ"
    if isinstance(node, ast.Expr):
        return of_statement(function, node, facts)
    if _is_behind_the_rest(function, parents, node):
        return "nothing is left over behind what takes all that is left"
    if isinstance(node, ast.Constant) and _is_leniency_unused(parents):
        return "the encoding has nothing that only the lenient write"
    for parent in (node, *parents):
        found = _around_it(function, parent, node, changed, facts)
        if found is not None:
            return found
    around = (node.test, *parents[:1]) if isinstance(node, ast.If) else (node, *parents[:1])
    compared = next((each for each in around if isinstance(each, ast.Compare)), None)
    return None if compared is None else _of_comparison(function, compared)


def _around_it(
    function: ast.FunctionDef, parent: ast.AST, node: ast.AST, changed: ast.AST, facts: Facts
) -> str | None:
    match parent:
        case ast.If(test=test, body=[ast.Raise(exc=ast.Name(id="_Bad"))]) if parent is node or is_in(
            node, test
        ):
            return of_guard(function, parent, node, changed, facts)
        case ast.If(test=test, body=[ast.Expr(value=ast.Call(func=ast.Name(id="_check_role")))]) if (
            parent is not node and is_in(node, test) and holds_more(test, node, changed) > 0
        ):
            return "roles that are right pass the check"
        case ast.Call(args=[*_, last]) if last is node and isinstance(node, ast.Constant):
            return of_last(function, parent, changed, facts)
        case ast.IfExp(test=test, body=body) if (
            is_in(node, body) and ast.unparse(test) == "state is None" and _makes_state(function)
        ):
            return "there is a state: it was made where none was given"
        case ast.IfExp(test=test, body=ast.Constant(value=int(bound)) as body) if (
            node is body
            and bound > THRESHOLD + 1
            and ast.unparse(test) == "state is None"
            and _makes_state_of_large(function)
        ):
            return "so large a frame has a state: it was made where none was given"
        case ast.IfExp(body=ast.Subscript(value=ast.Name(id="_LENGTHS"))) if isinstance(node, ast.Constant):
            return _of_table(node)
    return None


def _makes_state(function: ast.FunctionDef) -> bool:
    return ast.unparse(function.body[0]) == "if state is None:\n    state = _ReadState(_LIMITS)"


def _makes_state_of_large(function: ast.FunctionDef) -> bool:
    return ast.unparse(function.body[0]) == (
        f"if state is None and end - offset > {THRESHOLD}:\n    state = _ReadState(_LIMITS)"
    )


def _is_behind_the_rest(function: ast.FunctionDef, parents: list[ast.AST], node: ast.AST) -> bool:
    """Say whether something runs only where bytes are left over, in a body whose last field takes what is left."""
    return _takes_rest(function) and any(
        isinstance(each, ast.If)
        and node is not each.test
        and ast.unparse(each.test) == "position != body_end"
        for each in parents
    )


@cache
def _takes_rest(function: ast.FunctionDef) -> bool:
    text = ast.unparse(function)
    pattern = r"(n_\w+) = body_end - \(.+\)\n(?:.*\n)+?    start = .+\n    position = start \+ \1\n"
    return re.search(pattern, text) is not None


def _is_leniency_unused(parents: list[ast.AST]) -> bool:
    """Say whether something is the `lenient` of a text that is encoded as modified UTF-8: every text has one such form."""
    match parents:
        case [
            ast.keyword(arg="lenient"),
            ast.Call(func=ast.Name(id="_encode_text"), args=[_, ast.Constant(value="mutf8")]),
            *_,
        ]:
            return True
    return False


def _is_settled(parent: ast.AST, node: ast.AST) -> bool:
    """Say whether a node is `a > b` turned into `a >= b` under `a != b`."""
    match parent, node:
        case ast.If(test=ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right])), ast.Compare(
            left=one, ops=[ast.Gt()], comparators=[other]
        ):
            return [ast.unparse(part) for part in (left, right)] == [
                ast.unparse(part) for part in (one, other)
            ]
    return False


def _of_table(node: ast.Constant) -> str | None:
    return "the table and the packed number give the same bytes" if node.value == 256 else None


def _of_comparison(function: ast.FunctionDef, compared: ast.Compare) -> str | None:
    match compared:
        case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=int(bound))]):
            text = ast.unparse(left)
            if bound == THRESHOLD and text in ("end - offset", "len(data)"):
                return "so few bytes hold no more items than all lists of a frame may have, counted or not"
            if bound >= _LARGE and text == "len(data)" and _is_always_small(function):
                return "the prefixes of its texts cannot say so much"
    return None


def _is_always_small(function: ast.FunctionDef) -> bool:
    """Say whether a function joins nothing but numbers and texts of 16-bit lengths."""
    if any(isinstance(part, ast.For | ast.While) for part in ast.walk(function)):
        return False
    if any(isinstance(part, ast.Name) and part.id.startswith("_write_") for part in ast.walk(function)):
        return False  # what others write may be long
    counts = {
        part.id
        for part in ast.walk(function)
        if isinstance(part, ast.Name) and part.id.startswith("n_") and part.id != "n_absent"
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
        if isinstance(part, ast.Assign)
        and isinstance(part.value, ast.Attribute)
        and part.value.attr != "absent"
    ]
    return counts <= short and not joined and all(name in ast.unparse(function) for name in encoded[2:])


def _packed(call: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the letter and the expression of each packed number."""
    match call:
        case ast.Call(func=ast.Name(id=name), args=arguments) if name.startswith("_pack_"):
            yield from zip(_letters(name.removeprefix("_pack_")), arguments, strict=False)


def _letters(form: str) -> list[str]:
    found: list[str] = []
    for count, letter in _SLOT.findall(form):
        if letter != "x":
            found += [letter] if letter == "s" else [letter] * int(count or 1)
    return found


def format_reason(
    uses: list[tuple[ast.FunctionDef, ast.Call]], name: str, changed: str, facts: Facts
) -> str | None:
    """Return why another sign of one number does not show: whatever is there is below half its range, or refused."""
    kind, _, form = name[1:].partition("_")
    before, after = _letters(form), _letters(changed[1:])
    places = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    if len(places) != 1 or not uses:
        return None
    place, letter = places[0], before[places[0]]
    if kind == "pack" and all(_is_low(call.args[place], letter, function, facts) for function, call in uses):
        return "all that is packed there is far from the largest"
    if kind == "pack" and letter.isupper() and all(_is_size(call.args[place]) for _, call in uses):
        return "a size that is too large for a sign the reference codec writes, and the same"
    if kind == "unpack" and all(_is_low_read(call, place, function, facts) for function, call in uses):
        return "whatever is half its range or more is no member of the enum"
    return None


def _is_low(argument: ast.expr, letter: str, function: ast.FunctionDef, facts: Facts) -> bool:
    match argument:
        case ast.Constant(value=int(number)):
            return 0 <= number < 128
        case ast.Compare():
            return True  # a truth
        case ast.Subscript(value=ast.Name(id=table)):
            return table in facts.small_tables
        case ast.Name() | ast.Attribute() if _is_truth(argument, function):
            return True
        case ast.Name(id=name):
            is_size = letter in "iIqQ" and (name.startswith("n_") or name.endswith("_size"))
            return is_size or _is_small_member(name, function, facts)
        case _:
            return False


def _is_truth(argument: ast.expr, function: ast.FunctionDef) -> bool:
    """Return whether everything but a Boolean is refused where this is packed."""
    name = ast.unparse(argument)
    return any(
        isinstance(part, ast.If)
        and isinstance(part.body[0], ast.Raise)
        and f"{name} is not True and {name} is not False" in ast.unparse(part.test)
        for part in ast.walk(function)
    )


def _is_size(argument: ast.expr) -> bool:
    """Say whether something is a size or a count, which is never negative."""
    return isinstance(argument, ast.Name) and (argument.id.startswith("n_") or argument.id.endswith("_size"))


def _is_low_read(call: ast.Call, place: int, function: ast.FunctionDef, facts: Facts) -> bool:
    for statement in ast.walk(function):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value) if value is call:
                name = names[place]
                return isinstance(name, ast.Name) and _is_small_member(name.id, function, facts)
    return False


def _is_small_member(name: str, function: ast.FunctionDef, facts: Facts) -> bool:
    """Return whether numbers without a member in an enum of small numbers are refused."""
    found = re.search(
        rf"(?:if|or) {name} not in (_\w+_BY_NUMBER)(?: or .+)?:\n +raise _Bad", ast.unparse(function)
    )
    return bool(found) and found[1] in facts.small_enums  # type: ignore[index]


def _parents(function: ast.FunctionDef, node: ast.AST) -> list[ast.AST]:
    """Return the nodes around a node, the nearest first."""
    around = _around(function)
    found: list[ast.AST] = []
    while node in around:
        node = around[node]
        found.append(node)
    return found


@cache
def _around(function: ast.FunctionDef) -> dict[ast.AST, ast.AST]:
    return {child: part for part in ast.walk(function) for child in ast.iter_child_nodes(part)}
