"""The nodes of a schema: values with names, and nothing that could be taken for a tuple."""

from __future__ import annotations

import ast
import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wiregen.runtime.schema import notation
from wiregen.runtime.schema.declarations import Derived, Field, is_code
from wiregen.runtime.schema.expressions import Call, FieldReference, Number, Position, Truth
from wiregen.runtime.schema.node import Node, fields_of, nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Integer, List, Prefix, Span, ToEnd, Uuid
from wiregen.schema.copies import replace

GENERATOR = Path(__file__).resolve().parents[3] / "generator" / "wiregen"
READERS = ("schema", "generate/steps", "runtime", "conformance", "formats/inspect")
KINDS = frozenset(
    "int float bool bits varint uuid enum coding bytes text list struct union message message_match match block region prefix computed "
    "end delimited until compressed chunks number truth octets null field limit context variable join role position negation operation "
    "range call checksum item default derived constant trailing go violates".split()
)
BYTE = Integer(1, False, "big")


def test_a_node_is_equal_to_nodes_of_its_own_class_only() -> None:
    assert Integer(1, is_signed=False, endian="big") == BYTE
    assert hash(BYTE) == hash(Integer(1, False, "big"))
    assert len({Number(1), Truth(True), Span(1, 1), Number(1)}) == 3
    assert len({Uuid(), Uuid(), ToEnd()}) == 2


@pytest.mark.parametrize(
    "use",
    [
        lambda node: node[0],
        lambda node: node[1:],
        len,
        list,
        lambda node: "big" in node,
        lambda node: node + (1,),
        lambda node: node < Uuid(),
        lambda node: [*node],
    ],
)
def test_a_node_has_no_positions(use: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError):
        use(BYTE)


def test_a_node_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        BYTE.size = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        BYTE.width = 2  # type: ignore[attr-defined]
    assert replace(BYTE, size=2) == Integer(2, False, "big")


def test_what_a_node_is_made_of_is_checked() -> None:
    for make in (lambda: Span(1, 2, 3), lambda: Span(1, middle=2), lambda: replace(BYTE, width=1)):  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="has the fields"):
            make()
    with pytest.raises(TypeError, match="lacks its field 'high'"):
        Span(1)  # type: ignore[call-arg]


def test_a_node_shows_its_names_and_survives_a_copy() -> None:
    node = List(BYTE, Prefix(BYTE), 1)
    assert repr(Span(0, 9)) == "Span(low=0, high=9)"
    assert fields_of(node) == ("item", "length", "smallest_item", "rule", "where")
    assert pickle.loads(pickle.dumps(node)) == copy.deepcopy(node) == node
    assert list(nodes_in({"a": (node,)})) == [node, BYTE, Prefix(BYTE), BYTE]
    assert Position("offset") and ToEnd()  # true, though a node may have no fields


def test_a_field_is_a_code_by_what_it_is_derived_from() -> None:
    field = Field("type", True, BYTE, None, None, None, "", None, False)
    body = FieldReference(("body",))
    assert is_code(replace(field, value=Derived(Call("code", (body,)), False)))
    assert not is_code(replace(field, value=Derived(Call("size", (body,)), False)))
    assert not is_code(field)


def test_every_class_of_a_node_has_a_name_of_its_own() -> None:
    classes = set(_subclasses(Node)) - {Schema}
    named = [each for each in classes if each.__module__.startswith("wiregen.runtime.schema")]
    assert len({each.__name__ for each in named}) == len(named) > 60
    assert {each.__name__ for each in named} <= set(notation.CLASSES) | {
        "PreambleReference", "Data", "DelimiterBytes", "TrailingBytes", "Skipped", "UnknownMessage", "CompressedBody", "JoinedBody",
    }  # fmt: skip


def _subclasses(cls: type[Node]) -> Iterator[type[Node]]:
    below: list[type[Node]] = type.__subclasses__(cls)
    for each in below:
        yield each
        yield from _subclasses(each)


def test_no_kind_is_told_by_the_first_item_of_something() -> None:
    """`type_[0] == "list"`, and `case ("list", item, *_)`: the forms that nodes and their classes have replaced."""
    found = []
    paths = [path for name in READERS for path in sorted((GENERATOR / name).rglob("*.py"))]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if _compares_a_kind(node):
                found.append(f"{path.relative_to(GENERATOR)}:{node.lineno}")  # type: ignore[attr-defined]
    assert found == [] and len(paths) > 150


def _compares_a_kind(node: ast.AST) -> bool:
    match node:
        case ast.Compare(
            left=ast.Subscript(value=ast.Name() | ast.Attribute(), slice=ast.Constant(value=int())),
            comparators=[right],
        ):
            texts = right.elts if isinstance(right, ast.Tuple) else [right]
            return any(isinstance(text, ast.Constant) and text.value in KINDS for text in texts)
        case ast.MatchSequence(patterns=[ast.MatchValue(value=ast.Constant(value=kind)), _, *_]):
            return kind in KINDS
        case _:
            return False
