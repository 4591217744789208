"""The functions of the language, recognised by their parentheses, and the entries of contexts."""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Final, Literal, TypeGuard, cast

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver import expressions
from wiregen.language.resolver.keys import sort_of_key
from wiregen.language.resolver.layouts import sort_of_reference
from wiregen.language.resolver.scopes import STAND_IN, Scope, Typed, known_words
from wiregen.language.resolver.sorts import BOOLEAN, INTEGER, UNKNOWN, Sort, describe, is_number, item_of
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model

FUNCTIONS: Final[Mapping[str, tuple[int, str]]] = {
    "size": (1, "`size(x)`"),
    "count": (1, "`count(x)`"),
    "present": (1, "`present(x)`"),
    "code": (1, "`code(x)`"),
    "distinct": (1, "`distinct(list)`"),
    "min": (2, "`min(a, b)`"),
    "max": (2, "`max(a, b)`"),
    "push": (2, "`push(list, x)`"),
    "drop": (2, "`drop(list, n)`"),
    "remove": (2, "`remove(list, x)`"),
    "index": (2, "`index(list, x)`"),
    "rank": (2, "`rank(list, n)`"),
    "crc32": (1, "`crc32(first .. last)`"),
    "adler32": (1, "`adler32(first .. last)`"),
    "crc16": (1, "`crc16(first .. last)`"),
}
"""The functions, each with the number of its arguments (of `min` and `max`: the least) and its form."""
_PLACES: Final = ("index", "rank")
_CHECKSUMS: Final = ("crc32", "adler32", "crc16")


def resolve_call(work: Workspace, scope: Scope, node: syntax.Call, expected: Sort | None) -> Typed:
    """Return a call of a function with its arguments of the right sorts."""
    name = node.function
    if not isinstance(name, syntax.Name):
        work.error("WG2204", "only a function can be called", name.span, label="not a function")
        return STAND_IN
    if name.text not in FUNCTIONS:
        report_unknown(name, "function", FUNCTIONS, work.report)
        return STAND_IN
    arguments = _arguments(work, name, node)
    if arguments is None:
        return STAND_IN
    if name.text in _CHECKSUMS:
        return _checksum(work, scope, name, arguments[0])
    return _call(work, scope, cast(model.Function, name.text), arguments, expected)


def _arguments(work: Workspace, name: syntax.Name, node: syntax.Call) -> Sequence[syntax.Expression] | None:
    wanted, form = FUNCTIONS[name.text]
    if all(argument.name is None for argument in node.arguments):
        is_enough = (
            len(node.arguments) >= wanted if name.text in {"min", "max"} else len(node.arguments) == wanted
        )
        if is_enough:
            return [argument.value for argument in node.arguments]
    message = f"`{name.text}` has wrong arguments"
    work.error("WG2203", message, node.span, label=f"{len(node.arguments)} given", help_=f"write {form}")
    return None


def _call(
    work: Workspace,
    scope: Scope,
    function: model.Function,
    arguments: Sequence[syntax.Expression],
    expected: Sort | None,
) -> Typed:
    match function:
        case "size" | "present" | "code":
            return _of_field(work, scope, function, arguments[0])
        case "count" | "distinct":
            return _of_sequence(work, scope, function, arguments[0])
        case "min" | "max":
            found = [_number(work, scope, argument, function) for argument in arguments]
            return _typed(function, found, INTEGER)
        case "push" | "drop" | "remove" | "index" | "rank":
            return _of_list(work, scope, function, arguments, expected)


def _typed(function: model.Function, arguments: Sequence[model.Expression], sort: Sort) -> Typed:
    return Typed(expression=model.Call(function=function, arguments=tuple(arguments)), sort=sort)


def _number(
    work: Workspace, scope: Scope, node: syntax.Expression, function: model.Function
) -> model.Expression:
    typed = expressions.resolve_expression(work, scope, node)
    if not is_number(typed.sort):
        message = f"`{function}` takes integers, found {describe(typed.sort)}"
        work.error("WG2203", message, node.span, label=describe(typed.sort))
    return typed.expression


def _of_field(work: Workspace, scope: Scope, function: model.Function, node: syntax.Expression) -> Typed:
    sort = BOOLEAN if function == "present" else INTEGER
    if function == "size" and scope.where == "row" and _is_join(node, work):
        work.refer(node, work.names[node.text].name.span)
        return _typed(function, [model.JoinReference(name=node.text)], sort)
    typed = expressions.resolve_expression(work, scope, node)
    if typed is STAND_IN:
        return Typed(expression=typed.expression, sort=sort)
    reference = typed.expression
    is_field = isinstance(reference, model.FieldReference) and bool(reference.path or function == "code")
    if not is_field:
        message = f"`{function}` takes the name of a field"
        work.error("WG2203", message, node.span, label="not a field")
    elif function == "code" and typed.sort.kind not in {"message", "record", "union", "unknown"}:
        message = f"only a message or a union has a code, found {describe(typed.sort)}"
        work.error("WG2203", message, node.span, label=describe(typed.sort))
    return _typed(function, [typed.expression], sort)


def _is_join(node: syntax.Expression, work: Workspace) -> TypeGuard[syntax.Name]:
    return isinstance(node, syntax.Name) and work.named(node.text, syntax.Join) is not None


def _of_sequence(work: Workspace, scope: Scope, function: model.Function, node: syntax.Expression) -> Typed:
    typed = expressions.resolve_expression(work, scope, node)
    allowed = {"list", "unknown"} if function == "distinct" else {"list", "bytes", "text", "unknown"}
    if typed.sort.kind not in allowed:
        wanted = "a list" if function == "distinct" else "a list, bytes or a text"
        message = f"`{function}` takes {wanted}, found {describe(typed.sort)}"
        work.error("WG2203", message, node.span, label=describe(typed.sort))
    return _typed(function, [typed.expression], BOOLEAN if function == "distinct" else INTEGER)


def _of_list(
    work: Workspace,
    scope: Scope,
    function: model.Function,
    arguments: Sequence[syntax.Expression],
    expected: Sort | None,
) -> Typed:
    is_list_wanted = expected is not None and expected.kind == "list" and function not in _PLACES
    first = expressions.resolve_expression(work, scope, arguments[0], expected if is_list_wanted else None)
    if first.sort.kind not in {"list", "unknown"}:
        message = f"the first argument of `{function}` is a list, found {describe(first.sort)}"
        work.error("WG2203", message, arguments[0].span, label=describe(first.sort))
        return STAND_IN
    if function == "rank" and first.sort.kind == "list" and not is_number(item_of(first.sort)):
        message = f"`rank` takes a list of integers, found {describe(first.sort)}"
        work.error("WG2203", message, arguments[0].span, label=describe(first.sort))
        return STAND_IN
    wanted = INTEGER if function in {"drop", "rank"} else item_of(first.sort)
    second = expressions.require(work, scope, arguments[1], wanted, f"the second argument of `{function}`")
    return _typed(function, [first.expression, second], INTEGER if function in _PLACES else first.sort)


def _checksum(work: Workspace, scope: Scope, name: syntax.Name, node: syntax.Expression) -> Typed:
    if not isinstance(node, syntax.Range):
        node = syntax.Range(low=node, high=node, span=node.span)
    ends = [_end_of_checksum(work, scope, name, end) for end in (node.low, node.high)]
    if ends[0] is None or ends[1] is None:
        return Typed(expression=model.Null(), sort=INTEGER)
    first, last = scope.own.get(ends[0]), scope.own.get(ends[1])
    if first is not None and last is not None and first.start > last.start:
        message = f"`{ends[0]}` comes after `{ends[1]}`"
        work.error("WG2203", message, node.span, help_="write the earlier field first")
    algorithm = cast(Literal["crc32", "adler32", "crc16"], name.text)
    return Typed(expression=model.Checksum(algorithm=algorithm, first=ends[0], last=ends[1]), sort=INTEGER)


def _end_of_checksum(work: Workspace, scope: Scope, name: syntax.Name, node: syntax.Expression) -> str | None:
    if not isinstance(node, syntax.Name):
        work.error("WG2203", f"`{name.text}` takes the names of two fields", node.span, label="not a field")
        return None
    if node.text not in scope.own and scope.where != "alias":
        report_unknown(node, "field", known_words(work, scope, None), work.report)
        return None
    if node.text in scope.own:
        work.refer(node, *scope.own[node.text].places)
    return node.text


def resolve_entry(
    work: Workspace,
    scope: Scope,
    context: syntax.Context,
    keys: Sequence[syntax.Expression],
    span: Span,
) -> Typed:
    """Return the entry of a context under these keys, one index for each."""
    name = context.name.text
    sorts = (sort_of_key(work, context, key) for key in context.keys)
    found = [
        expressions.require(work, scope, key, sort, f"the key of `{name}`")
        for key, sort in zip(keys, chain(sorts, repeat(UNKNOWN)), strict=False)
    ]
    if len(found) != len(context.keys):
        form = name + "".join(f"[{key.text}]" for key in context.keys)
        message = (
            f"the number of keys of context `{name}` is {len(context.keys)}, but {len(found)} were given"
        )
        work.error("WG2210", message, span, label=f"{len(found)} given", help_=f"write `{form}`")
    reference = model.ContextReference(context=name, keys=tuple(found))
    return Typed(expression=reference, sort=sort_of_reference(work, context.type))
