"""Expressions of a schema as Lua source text.

Operations are functions of the dissector's own, which keep numbers exact and raise what Lua would coerce.
"""

from __future__ import annotations

from typing import Final, assert_never

from wiregen.generate.steps.step import UnsupportedError
from wiregen.schema import model as m

__all__ = ["lua_expression", "lua_function", "lua_number", "lua_string"]

_EXACT: Final = 2**53
_OPERATIONS: Final = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "**": "pow", "==": "eq", "<": "lt", "<=": "le",
}  # fmt: skip
_MIRRORED: Final = {">": "lt", ">=": "le"}
_SCOPES: Final = {"own": "own", "frame": "of_frame", "item": "item"}
_ABOUT: Final = {"size": "size_in", "count": "count_in", "present": "present_in", "code": "code_in"}


def lua_string(data: str | bytes) -> str:
    """Return a text (as UTF-8) or bytes as a Lua string of printable ASCII."""
    octets = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return '"' + "".join(_character(octet) for octet in octets) + '"'


def _character(octet: int) -> str:
    sign = chr(octet)
    if sign in '"\\':
        return "\\" + sign
    return sign if " " <= sign <= "~" else f"\\{octet:03d}"


def lua_number(value: int) -> str:
    """Return an integer: a number if Lua holds it exactly, else its decimal digits."""
    return str(value) if abs(value) <= _EXACT else f'big("{value}")'


def lua_function(expression: m.Expression) -> str:
    """Return an expression as a Lua function of its scope.

    Raises:
        UnsupportedError: Only a session can calculate it.
    """
    return f"function(s) return {lua_expression(expression)} end"


def lua_expression(expression: m.Expression) -> str:
    """Return the text of an expression whose names are those of the scope `s`.

    Raises:
        UnsupportedError: Only a session can calculate it.
    """
    match expression:
        case m.Number(value=value):
            return lua_number(value)
        case m.Truth(value=truth):
            return "true" if truth else "false"
        case m.String(value=text):
            return lua_string(text)
        case m.Octets(hex=digits):
            return lua_string(bytes.fromhex(digits))
        case m.Null():
            return "nil"
        case m.FieldReference(path=path, scope=scope):
            return _of_path(_SCOPES[scope], path)
        case m.LimitReference(name=name):
            return f"(LIMITS[{lua_string(name)}] or undefined())"
        case m.ContextReference(context=context, keys=keys):
            return f"remembered({', '.join(['s', lua_string(context), *map(lua_expression, keys)])})"
        case m.Position(what=what):
            return f"{what}(s)"
        case m.Negation(operator="not", operand=operand):
            return f"(not truth({lua_expression(operand)}))"
        case m.Negation(operand=operand):
            return f"sub(0, {lua_expression(operand)})"
        case m.Operation():
            return _operation(expression)
        case m.Range(low=low, high=high):
            return f"range({lua_expression(low)}, {lua_expression(high)})"
        case m.ListOf(items=items):
            return f"list({', '.join(map(lua_expression, items))})"
        case m.Item(list=items, index=index):
            return f"at({lua_expression(items)}, {lua_expression(index)})"
        case m.Call():
            return _call(expression)
        case m.Checksum(algorithm=algorithm, first=first, last=last):
            return f"checksum(s, {lua_string(algorithm)}, {lua_string(first)}, {lua_string(last)})"
        case m.RoleReference(name="sender"):
            return "sender(s)"
        case m.RoleReference(name=name):
            return lua_string(name)
        case m.VariableReference() | m.JoinReference():
            raise UnsupportedError("", f"an expression of the kind {type(expression).__name__}")
        case _:
            assert_never(expression)


def _of_path(function: str, path: tuple[str, ...]) -> str:
    return f"{function}({', '.join(['s', *map(lua_string, path)])})"


def _operation(operation: m.Operation) -> str:
    left, right = lua_expression(operation.left), lua_expression(operation.right)
    match operation.operator:
        case "and" | "or" as word:
            return f"(truth({left}) {word} truth({right}))"
        case "!=":
            return f"(not eq({left}, {right}))"
        case "in":
            return f"held({left}, {right})"
        case "not in":
            return f"(not held({left}, {right}))"
        case ">" | ">=" as sign:
            return f"{_MIRRORED[sign]}({right}, {left})"
        case sign:
            return f"{_OPERATIONS[sign]}({left}, {right})"


def _call(call: m.Call) -> str:
    first = call.arguments[0]
    if call.function in _ABOUT and isinstance(first, m.FieldReference):
        node = (
            _of_path("item_node", first.path)
            if first.scope == "item"
            else f"node_of(s, {{{', '.join(map(lua_string, first.path))}}})"
        )
        return f"{_ABOUT[call.function]}({node})"
    arguments = [lua_expression(argument) for argument in call.arguments]
    match call.function:
        case "min":
            return f"extreme({', '.join(['-1', *arguments])})"
        case "max":
            return f"extreme({', '.join(['1', *arguments])})"
        case "distinct" | "count":
            return f"{call.function}({arguments[0]})"
        case name:
            raise UnsupportedError("", f"the function `{name}`")
