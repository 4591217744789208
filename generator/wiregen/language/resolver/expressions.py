"""Expressions: every name resolved, every operand of a sort that its operator accepts."""

from typing import Final, assert_never

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver import functions
from wiregen.language.resolver.arithmetic import checked, fold, literal_of
from wiregen.language.resolver.attributes import code_of_variety, limit_named, member_named, part_named
from wiregen.language.resolver.names import what_is
from wiregen.language.resolver.scopes import (
    STAND_IN,
    Meaning,
    Scope,
    Typed,
    known_words,
    meanings,
    members_of,
    with_members,
)
from wiregen.language.resolver.sorts import (
    BOOLEAN,
    BYTES,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    UUID,
    WRONG,
    Sort,
    describe,
    enum_of,
    fits,
    is_number,
    is_ordered,
    is_value_of,
    item_of,
    list_of,
    way_out,
)
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.runtime.schema.node import nodes_in
from wiregen.schema import model

_UUID_SIZE: Final = 16
_PARTS_OF_LINES: Final = ("header", "fields")
"""The keys of a line of JSON that hold the fields of a frame and of its message."""
_COMPARISONS: Final = ("<", "<=", ">", ">=")


def resolve_expression(
    work: Workspace, scope: Scope, node: syntax.Expression, expected: Sort | None = None
) -> Typed:
    """Return the expression; `expected` resolves members of an enum by their bare names, and makes bytes a uuid."""
    match node:
        case syntax.Integer(value=value) | syntax.Character(value=value):
            return Typed(expression=checked(work, value, node.span), sort=INTEGER)
        case syntax.String(value=text):
            return Typed(expression=model.String(value=text), sort=TEXT)
        case syntax.Boolean(value=truth):
            return Typed(expression=model.Truth(value=truth), sort=BOOLEAN)
        case syntax.Null():
            return Typed(expression=model.Null(), sort=NULL)
        case syntax.Bytes():
            return _octets(work, node, expected)
        case syntax.Group(expression=inner):
            return resolve_expression(work, scope, inner, expected)
        case syntax.Unary():
            return _unary(work, scope, node)
        case syntax.Binary():
            return _binary(work, scope, node)
        case syntax.Listing():
            return _listing(work, scope, node, expected)
        case syntax.Range():
            message = "a range is not a value"
            work.error("WG2209", message, node.span, help_="write a range after `in` or in a list")
            return STAND_IN
        case _:
            return resolve_reference(work, scope, node, expected)


def resolve_reference(work: Workspace, scope: Scope, node: syntax.Ref, expected: Sort | None = None) -> Typed:
    """Return the value of a reference."""
    match node:
        case syntax.Name():
            return _name(work, scope, node, expected)
        case syntax.Attribute():
            return _attribute(work, scope, node)
        case syntax.Sized():
            return _entry(work, scope, node)
        case syntax.Call():
            return functions.resolve_call(work, scope, node, expected)
        case syntax.ToTheEnd() | syntax.Terminated():
            work.error("WG2007", "expected a value, found a type", node.span, label="a type")
            return STAND_IN
        case _:
            assert_never(node)


def require(
    work: Workspace, scope: Scope, node: syntax.Expression, wanted: Sort, what: str
) -> model.Expression:
    """Return an expression whose value must have a sort; `what` begins the message about one that has not."""
    typed = resolve_expression(work, scope, node, wanted)
    if not is_value_of(typed.sort, wanted):
        message = f"{what} must be {describe(wanted)}, found {describe(typed.sort)}"
        work.error("WG2202", message, node.span, label=describe(typed.sort), help_=way_out(typed.sort))
    return typed.expression


def require_literal(
    work: Workspace, scope: Scope, node: syntax.Expression, wanted: Sort, what: str
) -> model.Expression:
    """Return the literal with the value of an expression, which must be known before any bytes are read."""
    expression = require(work, scope, node, wanted, what)
    literal = literal_of(expression)
    has_field = any(isinstance(each, model.FieldReference) for each in nodes_in(expression))
    if literal is None and not has_field:  # a field is reported where it is named
        help_ = "write the value, or a constant"
        work.error(
            "WG2207", f"{what} must be known before reading", node.span, label="not a constant", help_=help_
        )
    return expression if literal is None else with_members(work, literal, wanted)


def require_truth(
    work: Workspace, scope: Scope, node: syntax.Expression | None, what: str
) -> model.Expression | None:
    """Return a condition as an expression, or None without one."""
    return None if node is None else require(work, scope, node, BOOLEAN, what)


def _octets(work: Workspace, node: syntax.Bytes, expected: Sort | None) -> Typed:
    octets = model.Octets(hex=node.value.hex())
    if expected != UUID:
        return Typed(expression=octets, sort=BYTES)
    if len(node.value) != _UUID_SIZE:
        message = f"a uuid has {_UUID_SIZE} bytes: found {len(node.value)}"
        work.error("WG2202", message, node.span, label="not 16 bytes")
    return Typed(expression=octets, sort=UUID)


def _unary(work: Workspace, scope: Scope, node: syntax.Unary) -> Typed:
    if node.operator == "not":
        operand = require(work, scope, node.operand, BOOLEAN, "the operand of `not`")
        return Typed(expression=model.Negation(operator="not", operand=operand), sort=BOOLEAN)
    operand = require(work, scope, node.operand, INTEGER, "the operand of `-`")
    if type(operand) is model.Number:  # not a constant: it keeps its name
        return Typed(expression=checked(work, -operand.value, node.span), sort=INTEGER)
    return Typed(expression=model.Negation(operator="-", operand=operand), sort=INTEGER)


def _binary(work: Workspace, scope: Scope, node: syntax.Binary) -> Typed:
    match node.operator:
        case "and" | "or":
            left = require(work, scope, node.left, BOOLEAN, f"the left side of `{node.operator}`")
            right = require(work, scope, node.right, BOOLEAN, f"the right side of `{node.operator}`")
            operation = model.Operation(operator=node.operator, left=left, right=right)
            return Typed(expression=operation, sort=BOOLEAN)
        case "in" | "not in":
            return _membership(work, scope, node)
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return _comparison(work, scope, node)
        case "+" | "-" | "*" | "/" | "%" | "**":
            return _arithmetic(work, scope, node)
        case _:
            assert_never(node.operator)


def _comparison(work: Workspace, scope: Scope, node: syntax.Binary) -> Typed:
    left, right = _sides(work, scope, node)
    is_fine = fits(left.sort, right.sort)
    if node.operator in _COMPARISONS:
        is_fine = is_fine and is_ordered(left.sort) and is_ordered(right.sort)
    if not is_fine:
        _report_operands(work, node, left.sort, right.sort)
    operation = model.Operation(operator=node.operator, left=left.expression, right=right.expression)
    return Typed(expression=operation, sort=BOOLEAN)


def _sides(work: Workspace, scope: Scope, node: syntax.Binary) -> tuple[Typed, Typed]:
    """Resolve first the side that determines the enum of a bare member on the other side."""
    if isinstance(node.left, syntax.Name) and (node.left.text[:1].isupper() or node.left.text in scope.roles):
        right = resolve_expression(work, scope, node.right)
        return resolve_expression(work, scope, node.left, right.sort), right
    left = resolve_expression(work, scope, node.left)
    return left, resolve_expression(work, scope, node.right, left.sort)


def _report_operands(work: Workspace, node: syntax.Binary, left: Sort, right: Sort) -> None:
    message = f"`{node.operator}` does not accept {describe(left)} and {describe(right)}"
    work.error("WG2201", message, node.operator_span, label="wrong types", help_=way_out(left, right))


def _membership(work: Workspace, scope: Scope, node: syntax.Binary) -> Typed:
    left = resolve_expression(work, scope, node.left)
    if isinstance(node.right, syntax.Range):
        right = Typed(expression=resolve_range(work, scope, node.right, left.sort), sort=list_of(INTEGER))
    else:
        right = resolve_expression(work, scope, node.right, list_of(left.sort))
    is_list = right.sort.kind in {"list", "unknown"}
    if not is_list or not fits(left.sort, item_of(right.sort)):
        _report_operands(work, node, left.sort, right.sort)
    operation = model.Operation(operator=node.operator, left=left.expression, right=right.expression)
    return Typed(expression=operation, sort=BOOLEAN)


def resolve_range(work: Workspace, scope: Scope, node: syntax.Range, expected: Sort | None) -> model.Range:
    """Return `low .. high`, both numbers; a range whose ends are known must not be empty."""
    wanted = expected if expected is not None and expected.kind == "enum" else INTEGER
    low = require(work, scope, node.low, wanted, "the low end of a range")
    high = require(work, scope, node.high, wanted, "the high end of a range")
    ends = fold(low), fold(high)
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        work.error(
            "WG2111", f"the range {ends[0]} .. {ends[1]} is empty", node.span, help_="write the low end first"
        )
    return model.Range(low=low, high=high)


def _listing(work: Workspace, scope: Scope, node: syntax.Listing, expected: Sort | None) -> Typed:
    wanted = item_of(expected) if expected is not None else None
    items: list[model.Expression] = []
    item_sort = UNKNOWN
    for each in node.items:
        item = _list_item(work, scope, each, wanted if item_sort.kind == "unknown" else item_sort)
        if not fits(item.sort, item_sort):
            message = (
                f"the items of a list have one type: found {describe(item.sort)} after {describe(item_sort)}"
            )
            work.error("WG2201", message, each.span, label=describe(item.sort))
        elif item_sort.kind in {"unknown", "null"}:
            item_sort = item.sort
        items.append(item.expression)
    return Typed(expression=model.ListOf(items=tuple(items)), sort=list_of(item_sort))


def _list_item(work: Workspace, scope: Scope, node: syntax.Expression, expected: Sort | None) -> Typed:
    if isinstance(node, syntax.Range):
        is_enum = expected is not None and expected.kind == "enum"
        sort = expected if is_enum and expected is not None else INTEGER
        return Typed(expression=resolve_range(work, scope, node, sort), sort=sort)
    return resolve_expression(work, scope, node, expected)


def _arithmetic(work: Workspace, scope: Scope, node: syntax.Binary) -> Typed:
    left, right = resolve_expression(work, scope, node.left), resolve_expression(work, scope, node.right)
    if not (is_number(left.sort) and is_number(right.sort)):
        _report_operands(work, node, left.sort, right.sort)
        return STAND_IN
    operation = model.Operation(operator=node.operator, left=left.expression, right=right.expression)
    return Typed(expression=_folded(work, node, operation), sort=INTEGER)


def _folded(work: Workspace, node: syntax.Binary, operation: model.Operation) -> model.Expression:
    """Return the number of an operation on two numbers, so that `2**24 - 1` is one; else the operation."""
    base, exponent = operation.left, fold(operation.right)
    if operation.operator == "**" and (exponent is None or not 0 <= exponent <= 64):
        message = "an exponent is a number from 0 to 64"
        work.error("WG2206", message, node.right.span, label="this exponent")
        return STAND_IN.expression
    if operation.operator in {"/", "%"} and exponent == 0:
        work.error("WG2206", "division by zero", node.right.span, label="zero")
        return STAND_IN.expression
    number = fold(operation)
    if number is None:
        return operation
    value = checked(work, number, node.span)
    are_literal = type(base) is type(operation.right) is model.Number  # not constants: they keep their names
    return value if are_literal else operation


def _name(work: Workspace, scope: Scope, node: syntax.Name, expected: Sort | None) -> Typed:
    found = meanings(work, scope, node.text, expected)
    if not found:
        return _report_meaningless(work, scope, node, expected)
    if len(found) > 1:
        what = " and ".join(meaning.what for meaning in found)
        message = f"`{node.text}` is ambiguous: {what}"
        work.error("WG2008", message, node.span, label="ambiguous", help_="rename one of them")
    elif found[0].is_ahead:
        _report_ahead(work, scope, node)
    for meaning in found:
        work.refer_to_any(node, meaning.places)
    return _first(found)


def _first(found: tuple[Meaning, ...]) -> Typed:
    return found[0].typed if len(found) == 1 else STAND_IN


def _report_ahead(work: Workspace, scope: Scope, node: syntax.Name) -> None:
    if scope.where == "fixed":
        message = f"the value of an absent or omitted field cannot depend on `{node.text}`"
        work.error(
            "WG2207", message, node.span, label="a field", help_="write `:=` to derive a field from others"
        )
        return
    message = f"`{node.text}` is read later than this expression needs it"
    help_ = "use earlier fields; only a derived value (`:=`) may use later ones"
    work.error("WG2205", message, node.span, label="comes later", help_=help_)


def _report_meaningless(work: Workspace, scope: Scope, node: syntax.Name, expected: Sort | None) -> Typed:
    declared = work.names.get(node.text)
    if expected == WRONG and node.text[:1].isupper():
        return STAND_IN  # the other operand was reported
    if declared is not None:
        message = f"expected a value, but `{node.text}` is {what_is(declared)}"
        work.error("WG2007", message, node.span, label=what_is(declared))
        return STAND_IN
    if work.report.is_full:
        return STAND_IN
    is_member = expected is not None and expected.kind == "enum" and node.text[:1].isupper()
    what = "field, variable or constant" if scope.where == "row" else "field or constant"
    report_unknown(
        node,
        "member" if is_member else what,
        known_words(work, scope, expected),
        work.report,
        inside=expected.name if expected is not None and is_member else None,
        help_=_owner_of_member(work, node.text),
    )
    return STAND_IN


def _owner_of_member(work: Workspace, word: str) -> str | None:
    for name in work.words_of(syntax.Enum):
        if word in members_of(work, enum_of(name)):
            return f"it is a member of `{name}`: write `{name}.{word}`"
    return None


def _attribute(work: Workspace, scope: Scope, node: syntax.Attribute) -> Typed:
    if isinstance(node.base, syntax.Name):
        if node.base.text == "limits" and "limits" not in scope.own:
            return limit_named(work, node.name)
        declared = work.names.get(node.base.text)
        if isinstance(declared, syntax.Enum | syntax.Union):
            work.refer(node.base, declared.name.span)
        if isinstance(declared, syntax.Enum):
            return member_named(work, declared, node.name)
        if isinstance(declared, syntax.Union):
            return code_of_variety(work, declared, node.name)
        if _is_part_of_line(work, scope, node.base.text, node.name.text):
            help_ = f"write `{node.name.text}`: fields of headers and of messages have no prefix"
            report_unknown(node.base, "field, variable or constant", (), work.report, help_=help_)
            return STAND_IN
    base = resolve_reference(work, scope, node.base)
    return part_named(work, base, node, is_question=scope.is_question)


def _is_part_of_line(work: Workspace, scope: Scope, part: str, name: str) -> bool:
    """Return whether a question names a field as in a line of JSON: behind the part of the line that has it."""
    if not scope.is_question or part not in _PARTS_OF_LINES or meanings(work, scope, part, None):
        return False
    return name in scope.own or name in scope.frame


def _entry(work: Workspace, scope: Scope, node: syntax.Sized) -> Typed:
    keys: list[syntax.Expression] = [node.length]
    base = node.base
    while isinstance(base, syntax.Sized):
        keys.insert(0, base.length)
        base = base.base
    context = work.names.get(base.text) if isinstance(base, syntax.Name) else None
    if isinstance(context, syntax.Context) and isinstance(base, syntax.Name):
        work.refer(base, context.name.span)
        return functions.resolve_entry(work, scope, context, keys, node.span)
    return _item(work, scope, node)


def _item(work: Workspace, scope: Scope, node: syntax.Sized) -> Typed:
    base = resolve_reference(work, scope, node.base)
    index = require(work, scope, node.length, INTEGER, "an index")
    if base.sort.kind not in {"list", "bytes", "unknown"}:
        _report_not_indexed(work, base.sort, node.base.span)
        return STAND_IN
    sort = INTEGER if base.sort.kind == "bytes" else item_of(base.sort)
    return Typed(expression=model.Item(list=base.expression, index=index), sort=sort)


def _report_not_indexed(work: Workspace, sort: Sort, span: Span) -> None:
    message = f"only a list, bytes or a context can have an index, but this is {describe(sort)}"
    work.error("WG2201", message, span, label=describe(sort))
