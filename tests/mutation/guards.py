"""Guards of which one does what another does, or what the reference codec does: changes that nobody can notice."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from .facts import THRESHOLD, Facts
from .forms import holds_more, is_in

__all__ = ["of_guard", "of_last", "of_statement"]

_EARLY = re.compile(r"(n_\w+) \* \d+ > \w+ - position")


def of_guard(
    function: ast.FunctionDef, guard: ast.If, node: ast.AST, changed: ast.AST, facts: Facts
) -> str | None:
    """Return why a change in a test that gives up (or never giving up: the node is the guard) does not show."""
    text = ast.unparse(guard.test)
    more = -1 if node is guard else holds_more(guard.test, node, changed)
    is_writer = function.name == "encode" or function.name.startswith("_write_")
    if more > 0 and (is_writer or facts.falls_back):
        return "the reference codec does what this one leaves to it, and the same"
    early = _EARLY.fullmatch(text)
    is_harmless = more < 0 or (more == 0 and facts.falls_back)  # the reference codec reads what it refuses
    if early and _is_early(function, early[1], guard, node, changed, lets_more=is_harmless):
        return "an early guard: what is not there is noticed where it is read, or by the position behind it"
    if re.fullmatch(rf"n_\w+ > {THRESHOLD}", text) and (
        facts.counts_large or _is_short(function, text.split()[0])
    ):
        return "more items have so many bytes that they are counted, or their count's own prefix can say less"
    if more < 0 and _is_dead(function, guard):
        return "what is so large went another way before"
    negative = re.fullmatch(r"(?:(n_\w+) is not None and )?(n_\w+) < 0", text)
    if node is guard and negative and f"_Struct(f'>{{{negative[2]}}}" in ast.unparse(function):
        return "no number is packed or unpacked fewer than no times"
    if _is_flag_refused(function, guard, node):
        return "whatever is not False is refused beside it"
    if node is guard and _is_said_again(function, guard, facts):
        return "another guard behind it says the same"
    return None


def _is_flag_refused(function: ast.FunctionDef, guard: ast.If, node: ast.AST) -> bool:
    """Return whether a value is compared with True, and refused next to it if it is true."""
    names = [
        ast.unparse(part.left)
        for part in ast.walk(guard.test)
        if isinstance(part, ast.Compare) and part.comparators == [node] and ast.unparse(node) == "True"
    ]
    block = next((block for block in _blocks(function) if guard in block), [])
    refused = [part.test for part in block if isinstance(part, ast.If) and _gives_up(part)]
    return any(ast.unparse(part) in names for test in refused for part in _disjuncts(test))


def _is_early(
    function: ast.FunctionDef, count: str, guard: ast.If, node: ast.AST, changed: ast.AST, *, lets_more: bool
) -> bool:
    """Return whether a guard before items that are read one by one accepts more, or less only where the
    frame is too short for the elements after the items.
    """
    text = ast.unparse(function)
    if f"for _ in range({count}):" not in text and f"_Struct(f'>{{{count}}}" not in text:
        return False
    is_settled = node is guard.test and isinstance(changed, ast.Compare) and _is_followed(function, count)
    return lets_more or is_settled or "+ position" in ast.unparse(changed)


def _is_followed(function: ast.FunctionDef, count: str) -> bool:
    """Return whether bytes are always read after the loop over so many items, so that the items never reach the end."""
    loops = [
        isinstance(each, ast.For) and f"range({count})" in ast.unparse(each.iter) for each in function.body
    ]
    behind = function.body[loops.index(True) + 1 :] if any(loops) else []
    return any(isinstance(each, ast.Assign) and "= _unpack_" in ast.unparse(each) for each in behind)


def _is_short(function: ast.FunctionDef, count: str) -> bool:
    """Say whether a count is packed or unpacked as 16 bits."""
    text = ast.unparse(function)
    unpacked = re.search(rf"\(?{count},\)? = _unpack_[hH]\(", text)
    packed = re.search(rf"_pack_[hH]\({count}\)", text)
    return bool(unpacked or packed)


def _is_dead(function: ast.FunctionDef, guard: ast.If) -> bool:
    """Return whether a guard of the largest size is after a return for smaller ones."""
    for block in _blocks(function):
        for place, statement in enumerate(block):
            if statement is guard and place:
                match block[place - 1], guard.test:
                    case (
                        ast.If(
                            test=ast.Compare(
                                left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=int(low))]
                            ),
                            body=[ast.Return()],
                        ),
                        ast.Compare(left=again, ops=[ast.Gt()], comparators=[ast.Constant(value=int(high))]),
                    ):
                        return ast.unparse(left) == ast.unparse(again) and low < high
    return False


def _is_said_again(function: ast.FunctionDef, guard: ast.If, facts: Facts) -> bool:
    text = ast.unparse(guard.test)
    behind = [
        part.test
        for part in function.body
        if isinstance(part, ast.If) and part.lineno > guard.lineno and _gives_up(part)
    ]
    parts = {ast.unparse(part) for test in behind for part in _disjuncts(test)}
    if text == "payload_end > end":
        return {"position != payload_end", "position > end"} <= parts
    if text != "position > end":
        return False
    is_inside = facts.ends_are_judged and "payload_end" not in ast.unparse(function)
    moved = any(
        isinstance(part, ast.Name) and part.id == "position" and isinstance(part.ctx, ast.Store)
        for statement in function.body
        if statement.lineno > guard.lineno
        for part in ast.walk(statement)
    )
    return is_inside or (text in parts and not moved)


def _disjuncts(test: ast.expr) -> Sequence[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]


def _gives_up(statement: ast.If) -> bool:
    return [ast.unparse(part) for part in statement.body] == ["raise _Bad"]


# ---- standing last


def of_last(function: ast.FunctionDef, call: ast.Call, changed: ast.AST, facts: Facts) -> str | None:
    """Return why it is not observable whether a value is told that it is last."""
    match call.func:
        case ast.Subscript(value=ast.Name(id=table)):
            pass
        case ast.Name(id=name) if name in facts.passed_on:
            table = facts.passed_on[name]
        case _:
            return None
    endless = facts.endless.get(table)
    if endless is None:
        return None
    is_writer = table.endswith("_WRITERS")
    if not endless:
        return "nothing that may stand here asks whether it stands last"
    if isinstance(changed, ast.Constant) and changed.value is False and (is_writer or facts.falls_back):
        return "the reference codec does what this one leaves to it, and the same"
    rest = _behind(function, call)
    only = _only_behind(function, call)
    if only is not None:
        asked = {name for class_ in facts.only[only] for name in facts.by_class.get(class_, ())}
        return None if asked & endless else "what reaches to the end is refused behind it"
    if not is_writer and any(
        re.search(r"_unpack_\w+\(buffer, position|_READERS\[buffer\[position\]\]", ast.unparse(each))
        for each in rest
    ):
        return "more is read behind it, where then nothing is"
    return None


def _only_behind(function: ast.FunctionDef, call: ast.Call) -> str | None:
    """Return the set of classes allowed where a call reads or writes, if the class is tested after it."""
    what = {ast.unparse(call.args[0])} | {
        ast.unparse(target)
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign) and statement.value is call
        for target in (
            statement.targets[0].elts if isinstance(statement.targets[0], ast.Tuple) else statement.targets
        )
    }
    for statement in ast.walk(function):
        if isinstance(statement, ast.If) and statement.lineno > call.lineno and _gives_up(statement):
            for part in _disjuncts(statement.test):
                found = re.fullmatch(r"type\(([\w.]+)\) not in (_ONLY_\d+)", ast.unparse(part))
                if found and found[1] in what:
                    return found[2]
    return None


def _behind(function: ast.FunctionDef, node: ast.AST) -> list[ast.stmt]:
    """Return the statements after that of a node, in its block."""
    found: list[ast.stmt] = []
    for block in _blocks(function):
        for place, statement in enumerate(block):
            if is_in(node, statement):
                found = list(block[place + 1 :])
    return found


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """Return every block, the outer ones first."""
    found = []
    for part in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(part, name, None)
            if isinstance(block, list):
                found.append(block)
    return found


# ---- statements


def of_statement(function: ast.FunctionDef, node: ast.AST, facts: Facts) -> str | None:
    """Return why it does not show that a call is left out."""
    is_writer = function.name == "encode" or function.name.startswith("_write_")
    if re.match(r"state\.leave\(", ast.unparse(node)) and (is_writer or facts.falls_back):
        return "it seems deeper than it is: the reference codec does what is left to it, and the same"
    return None
