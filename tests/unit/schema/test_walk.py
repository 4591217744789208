"""Walks over the model, constants of expressions, and groups of a graph."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.schema.graph import components
from wiregen.schema.model import (
    Bits,
    Block,
    Bytes,
    Chunks,
    Coding,
    ConstantReference,
    Expression,
    Field,
    FieldReference,
    Integer,
    LimitReference,
    List,
    MemberReference,
    Negation,
    Notes,
    Number,
    Operation,
    Operator,
    Prefix,
    Region,
    Span,
    StructReference,
    Truth,
    Type,
    UnionReference,
    Varint,
    Width,
)
from wiregen.schema.values import coding_span, number_of, span_of, truth_of
from wiregen.schema.walk import every_field, nested_expressions, nested_types, open_types, references

U8 = Integer(size=1, is_signed=False, endian="big")
I16 = Integer(size=2, is_signed=True, endian="big")


def number(value: int) -> Number:
    return Number(value=value)


def pair(operator: Operator, left: Expression, right: Expression) -> Operation:
    return Operation(operator=operator, left=left, right=right)


def field(name: str, type_: Type) -> Field:
    return Field(
        path=f"p.{name}",
        name=name,
        is_hidden=False,
        type=type_,
        value=None,
        condition=None,
        where=None,
        where_text="",
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (number(7), 7),
        (ConstantReference(name="A", value=3), 3),
        (MemberReference(enum="E", member="A", value=4), 4),
        (Negation(operator="-", operand=number(2)), -2),
        (pair("/", number(-7), number(2)), -4),
        (pair("%", number(-7), number(4)), 1),
        (pair("**", number(2), number(63)), 2**63),
        (pair("**", number(2), number(10**9)), None),
        (pair("/", number(1), number(0)), None),
        (pair("*", number(2**100), number(2**100)), None),
        (pair("+", number(1), LimitReference(name="frame")), None),
        (Truth(value=True), None),
    ],
)
def test_number_of(expression: Expression, expected: int | None) -> None:
    assert number_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Truth(value=True), True),
        (Negation(operator="not", operand=Truth(value=True)), False),
        (pair("<", number(1), number(2)), True),
        (pair("==", number(1), FieldReference(path=("x",))), None),
        (pair("and", FieldReference(path=("x",)), Truth(value=False)), False),
        (pair("or", FieldReference(path=("x",)), Truth(value=True)), True),
        (pair("or", FieldReference(path=("x",)), Truth(value=False)), None),
        (pair("and", Truth(value=True), Truth(value=True)), True),
    ],
)
def test_truth_of(expression: Expression, expected: bool | None) -> None:
    assert truth_of(expression) is expected


@pytest.mark.parametrize(
    ("type_", "low", "high"),
    [
        (U8, 0, 255),
        (I16, -(2**15), 2**15 - 1),
        (Varint(bits=63, is_zigzag=False, is_lenient=False), 0, 2**63 - 1),
        (Varint(bits=64, is_zigzag=True, is_lenient=False), -(2**63), 2**63 - 1),
        (Bits(bits=3, is_flag=False, order="msb"), 0, 7),
    ],
)
def test_span_of(type_: Integer | Varint | Bits, low: int, high: int) -> None:
    assert span_of(type_) == Span(low=low, high=high)


def test_the_span_of_a_coding_leaves_null_out() -> None:
    widths = (
        Width(low=0, high=9, wide=None, is_null=False),
        Width(low=10, high=10, wide=I16, is_null=False),
        Width(low=255, high=255, wide=None, is_null=True),
    )
    coding = Coding(path="p.C", name="C", doc="", type=U8, widths=widths, notes=Notes())
    assert coding_span(coding) == Span(low=-(2**15), high=2**15 - 1)


def test_types_come_outer_before_inner_and_an_object_once() -> None:
    data = Bytes(length=Prefix(type=U8))
    outer = Block(fields=(field("a", data), field("b", data)))
    assert list(nested_types(outer)) == [outer, data, U8]


def test_open_types_do_not_enter_a_region() -> None:
    region = Region(content=I16, carrier=Prefix(type=U8), lenient=False)
    listed = List(item=region, length=Prefix(type=U8))
    assert I16 not in list(open_types(listed))
    assert I16 in list(nested_types(listed))


def test_the_struct_of_a_chunk_is_a_reference() -> None:
    carrier = Chunks(struct="Chunk", data="data", until=Truth(value=True))
    found = references(Region(content=UnionReference(name="V"), carrier=carrier, lenient=False))
    assert list(found) == [StructReference(name="Chunk"), UnionReference(name="V")]


def test_fields_of_blocks_come_behind_their_block() -> None:
    block = Region(
        content=Block(fields=(field("b", U8), field("c", U8))), carrier=Prefix(type=U8), lenient=False
    )
    fields = (field("a", U8), field("block", block), field("d", U8))
    assert [each.name for each in every_field(fields)] == ["a", "block", "b", "c", "d"]


def test_operands_come_behind_their_operation() -> None:
    left, right = number(1), FieldReference(path=("x",))
    both = pair("+", left, right)
    assert list(nested_expressions(both)) == [both, left, right]


@given(edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24))
def test_a_component_is_what_reaches_each_other_and_comes_after_what_it_leads_to(
    edges: list[tuple[int, int]],
) -> None:
    following = {node: [right for left, right in edges if left == node] for node in range(8)}
    reached = {node: _reached(node, following) for node in range(8)}
    groups = list(components(range(8), following.__getitem__))
    assert sorted(node for group in groups for node in group) == list(range(8))
    for position, group in enumerate(groups):
        assert all(other in reached[node] for node in group for other in group)
        later = {node for group in groups[position + 1 :] for node in group}
        assert not any(reached[node] & later for node in group)


def _reached(start: int, following: dict[int, list[int]]) -> set[int]:
    seen, waiting = {start}, [start]
    while waiting:
        for other in following[waiting.pop()]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def test_a_path_of_any_length_is_walked() -> None:
    n = 20_000
    groups = list(components([0], lambda node: (node + 1,) if node + 1 < n else ()))
    assert (len(groups), groups[0]) == (n, (n - 1,))
