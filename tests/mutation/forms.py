"""The effect of a change on a test."""

from __future__ import annotations

import ast

__all__ = ["holds_more", "is_in"]


def holds_more(test: ast.expr, node: ast.AST, changed: ast.AST) -> int:
    """Return 1 where a changed part makes a test hold more often or as often, -1 for less often, 0 where that is not known."""
    if test is node:
        return _by_operator(test, changed)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return -holds_more(operand, node, changed)
        case ast.BoolOp(values=values):
            return next((holds_more(part, node, changed) for part in values if is_in(node, part)), 0)
        case ast.Compare(left=left, ops=operators, comparators=[*_, last]):
            rises = all(isinstance(operator, ast.Lt | ast.LtE) for operator in operators)
            falls = all(isinstance(operator, ast.Gt | ast.GtE) for operator in operators)
            at = -1 if is_in(node, left) else 1 if is_in(node, last) else 0
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
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _grows(left if is_in(node, left) else right, node, changed)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _grows(left, node, changed) if is_in(node, left) else -_grows(right, node, changed)
        case ast.IfExp(body=one, orelse=other):
            return next((_grows(part, node, changed) for part in (one, other) if is_in(node, part)), 0)
        case _:
            return 0


def is_in(node: ast.AST, around: ast.AST) -> bool:
    return any(part is node for part in ast.walk(around))
