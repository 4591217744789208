"""The classes of a schema's nodes, from the runtime that a package uses.

Each tree has its own classes with the same definitions. For type checkers, they are those of `wireproto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproto._runtime.schema import declarations, expressions, sessions, types
    from wireproto._runtime.schema.node import Node

__all__ = ["Nodes"]


class Nodes:
    """The classes by their names, `nodes_in`, and the functions on the blocks of a declaration."""

    if TYPE_CHECKING:

        @staticmethod
        def nodes_in(part: object) -> Iterator[Node]: ...
        @staticmethod
        def blocks(type_: types.Type) -> Iterator[tuple[declarations.Field, ...]]: ...
        @staticmethod
        def content(type_: types.Type) -> types.Type: ...
        @staticmethod
        def has_blocks(type_: types.Type) -> bool: ...
        @staticmethod
        def is_flat(type_: types.Type) -> bool: ...

    Bits: type[types.Bits]
    Block: type[types.Block]
    Boolean: type[types.Boolean]
    Bytes: type[types.Bytes]
    Call: type[expressions.Call]
    CodingReference: type[types.CodingReference]
    Computed: type[types.Computed]
    Constant: type[declarations.Constant]
    Derived: type[declarations.Derived]
    EnumReference: type[types.EnumReference]
    FieldReference: type[expressions.FieldReference]
    Float: type[types.Float]
    FrameReference: type[types.FrameReference]
    Go: type[sessions.Go]
    InSize: type[types.InSize]
    Integer: type[types.Integer]
    LimitReference: type[expressions.LimitReference]
    List: type[types.List]
    ListOf: type[expressions.ListOf]
    Match: type[types.Match]
    MessageMatch: type[types.MessageMatch]
    MessageReference: type[types.MessageReference]
    Negation: type[expressions.Negation]
    Number: type[expressions.Number]
    Operation: type[expressions.Operation]
    Prefix: type[types.Prefix]
    Range: type[expressions.Range]
    Region: type[types.Region]
    StructReference: type[types.StructReference]
    Text: type[types.Text]
    ToEnd: type[types.ToEnd]
    Trailing: type[declarations.Trailing]
    Truth: type[expressions.Truth]
    UnionReference: type[types.UnionReference]
    Until: type[types.Until]
    Uuid: type[types.Uuid]
    Varint: type[types.Varint]
    Violates: type[sessions.Violates]
