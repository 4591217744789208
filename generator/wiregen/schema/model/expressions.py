"""Expressions of the model: those of a schema, with the names of its numbers.

A number that was written by name is a `Number` too, so that code which only needs its value has one case.
"""

from __future__ import annotations

from wiregen.runtime.schema.expressions import (
    Call,
    Checksum,
    ContextReference,
    Expression,
    FieldReference,
    Item,
    JoinReference,
    LimitReference,
    ListOf,
    LiteralExpression,
    Negation,
    Null,
    Number,
    Octets,
    Operation,
    Position,
    Range,
    RoleReference,
    String,
    Truth,
    VariableReference,
)
from wiregen.runtime.schema.literals import FieldScope, Function, Operator

__all__ = [
    "Call", "Checksum", "ConstantReference", "ContextReference", "Expression", "FieldReference", "FieldScope", "Function", "Item", "JoinReference",
    "LimitReference", "ListOf", "LiteralExpression", "MemberReference", "Negation", "Null", "Number", "Octets", "Operation", "Operator", "Position", "Range", "RoleReference",
    "String", "Truth", "VariableReference",
]  # fmt: skip


class ConstantReference(Number):
    """A `const` of the file, and its value."""

    name: str


class MemberReference(Number):
    """A member of an enum, and its number."""

    enum: str
    member: str
