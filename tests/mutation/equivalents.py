"""Faults that no bytes and no value can show, where the form of the code proves it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

__all__ = ["format_reason", "holds_more", "reason"]

_THRESHOLD: Final = 65536
_LARGE: Final = 1 << 24
_SHORT_PREFIXES: Final = "hH"
_SLOT: Final = re.compile(r"(\d*)([bBhHiIqQsxdf])")


def reason(function: ast.FunctionDef, node: ast.AST, changed: ast.AST) -> str | None:
    """Return why this change of a node does not show; None: nothing proves that."""
    parents = _parents(function, node)
    if _is_writer(function) and _refuses_more(parents, node, changed):
        return "the careful codec writes what this one leaves to it, and the same"
    if any(_is_settled(parent, node) for parent in parents):
        return "where it is asked the two differ"
    if _is_early_guard(function, parents, node, changed):
        return "an early guard that lets more through: what is not there is noticed where it is read"
    if _is_behind_the_rest(function, parents, node):
        return "nothing is left over behind what takes all that is left"
    match node:
        case ast.If(test=ast.Compare(left=left, comparators=[ast.Constant(value=int(bound))])):
            if bound >= _LARGE and ast.unparse(left) == "len(data)" and _is_always_small(function):
                return "the prefixes of its texts cannot say so much"
        case ast.Constant(value=bool()) if _is_leniency_unused(parents):
            return "the encoding has nothing that only the lenient write"
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


def _is_writer(function: ast.FunctionDef) -> bool:
    return function.name == "encode" or function.name.startswith("_write_")


def _refuses_more(parents: list[ast.AST], node: ast.AST, changed: ast.AST) -> bool:
    """Say whether a test that makes fast code give up holds wherever it held, and perhaps elsewhere."""
    for parent in parents:
        match parent:
            case ast.If(test=test, body=[ast.Raise(exc=ast.Name(id="_Bad"))]) if _is_in(node, test):
                return holds_more(test, node, changed) > 0
    return False


def _is_early_guard(
    function: ast.FunctionDef, parents: list[ast.AST], node: ast.AST, changed: ast.AST
) -> bool:
    """Say whether a reader's `if count * size > end - position` before a loop over the items lets more through, or less only where the
    frame is too short for what follows the items."""
    for around in (node, *parents):
        match around:
            case ast.If(
                test=ast.Compare(
                    left=ast.BinOp(left=ast.Name(id=count), op=ast.Mult(), right=ast.Constant()),
                    ops=[ast.Gt()],
                    comparators=[ast.BinOp(op=ast.Sub())],
                ) as test
            ) if function.name.startswith("_read_"):
                is_item_by_item = f"for _ in range({count}):" in ast.unparse(function)
                is_settled = isinstance(changed, ast.Compare) and _is_followed(function, count)
                lets_more = around is node or holds_more(test, node, changed) < 0
                return is_item_by_item and (lets_more or node is test and is_settled)
    return False


def _is_behind_the_rest(function: ast.FunctionDef, parents: list[ast.AST], node: ast.AST) -> bool:
    """Say whether something runs only where bytes are left over, in a body whose last field takes what is left."""
    takes_rest = re.search(
        r"(n_\w+) = body_end - \(.+\)\n(?:.*\n)+?    start = .+\n    position = start \+ \1\n",
        ast.unparse(function),
    )
    return bool(takes_rest) and any(
        isinstance(each, ast.If)
        and node is not each.test
        and ast.unparse(each.test) == "position != body_end"
        for each in parents
    )


def _is_followed(function: ast.FunctionDef, count: str) -> bool:
    """Say whether something is always read behind the loop over so many items: then they never reach the end."""
    loops = [
        isinstance(each, ast.For) and f"range({count})" in ast.unparse(each.iter) for each in function.body
    ]
    behind = function.body[loops.index(True) + 1 :] if any(loops) else []
    return any(isinstance(each, ast.Assign) and "= _unpack_" in ast.unparse(each) for each in behind)


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


def holds_more(test: ast.expr, node: ast.AST, changed: ast.AST) -> int:
    """Return 1 where a changed part makes a test hold more often or as often, -1 for less often, 0 where that is not known."""
    if test is node:
        return _by_operator(test, changed)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return -holds_more(operand, node, changed)
        case ast.BoolOp(values=values):
            return next((holds_more(part, node, changed) for part in values if _is_in(node, part)), 0)
        case ast.Compare(left=left, ops=operators, comparators=[*_, last]):
            rises = all(isinstance(operator, ast.Lt | ast.LtE) for operator in operators)
            falls = all(isinstance(operator, ast.Gt | ast.GtE) for operator in operators)
            at = -1 if _is_in(node, left) else 1 if _is_in(node, last) else 0
            side = left if at < 0 else last
            return (rises - falls) * at * _grows(side, node, changed)
        case _:
            return 0


def _by_operator(before: ast.expr, after: ast.AST) -> int:
    match before, after:
        case (ast.BoolOp(op=ast.And()), ast.BoolOp(op=ast.Or())):
            return 1
        case (ast.BoolOp(op=ast.Or()), ast.BoolOp(op=ast.And())):
            return -1
        case (ast.Compare(ops=[ast.Lt()]), ast.Compare(ops=[ast.LtE()])) | (
            ast.Compare(ops=[ast.Gt()]),
            ast.Compare(ops=[ast.GtE()]),
        ):
            return 1
        case _:
            return 0


def _grows(expression: ast.expr, node: ast.AST, changed: ast.AST) -> int:
    """Return 1 where a changed number makes an expression larger, -1 for smaller, 0 where that is not known."""
    match expression:
        case ast.Constant(value=int(before)) if expression is node and isinstance(changed, ast.Constant):
            after = changed.value
            return (after > before) - (after < before) if isinstance(after, int) else 0
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _grows(left if _is_in(node, left) else right, node, changed)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _grows(left if _is_in(node, left) else right, node, changed)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _grows(left, node, changed) if _is_in(node, left) else -_grows(right, node, changed)
        case ast.IfExp(body=one, orelse=other):
            return next((_grows(part, node, changed) for part in (one, other) if _is_in(node, part)), 0)
        case _:
            return 0


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


def format_reason(calls: list[ast.Call], name: str, changed: str) -> str | None:
    """Return why another sign of one packed number does not show: whatever is packed there is below half its range."""
    if not name.startswith("_pack_"):
        return None
    before, after = _letters(name.removeprefix("_pack_")), _letters(changed[1:])
    places = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
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
    around = _around(function)
    found: list[ast.AST] = []
    while node in around:
        node = around[node]
        found.append(node)
    return found


@cache
def _around(function: ast.FunctionDef) -> dict[ast.AST, ast.AST]:
    return {child: part for part in ast.walk(function) for child in ast.iter_child_nodes(part)}
