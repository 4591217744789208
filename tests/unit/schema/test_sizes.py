"""Sizes of types, fields and declarations: exact or on the safe side, whatever refers to whatever."""

import pytest

from wiregen.schema.copies import replace
from wiregen.schema.model import (
    Arm,
    Bits,
    Block,
    Boolean,
    Bytes,
    Chunks,
    Coding,
    CodingReference,
    Compressed,
    Computed,
    Delimited,
    Enum,
    EnumReference,
    Expression,
    Field,
    FieldReference,
    Float,
    InSize,
    Integer,
    List,
    Match,
    MessageMatch,
    Notes,
    Null,
    Number,
    Position,
    Prefix,
    Protocol,
    Region,
    Span,
    Struct,
    StructReference,
    Text,
    ToEnd,
    Trailing,
    Truth,
    Type,
    Union,
    UnionReference,
    Until,
    Uuid,
    Variant,
    Variety,
    Varint,
    Width,
)
from wiregen.schema.sizes import Laid, Sizes, fixed_size, largest, smallest

U8 = Integer(size=1, is_signed=False, endian="big")
U16 = Integer(size=2, is_signed=False, endian="big")
I32 = Integer(size=4, is_signed=True, endian="big")
U64 = Integer(size=8, is_signed=False, endian="big")
VARINT = Varint(bits=64, is_zigzag=False, is_lenient=False)
HERE = FieldReference(path=("x",))


def field(type_: Type, *, condition: Expression | None = None, is_trailing: bool = False) -> Field:
    value = Trailing(value=Null()) if is_trailing else None
    return Field(
        path="p.x",
        name="x",
        is_hidden=False,
        type=type_,
        value=value,
        condition=condition,
        where=None,
        where_text="",
    )


def struct(name: str, *types: Type) -> Struct:
    return Struct(path=f"p.{name}", name=name, doc="", fields=tuple(field(t) for t in types), notes=Notes())


def union(name: str, **varieties: Type) -> Union:
    made = tuple(
        Variety(
            path=f"p.{name}.{key}",
            name=key,
            doc="",
            spans=(Span(low=i, high=i),),
            fields=(field(type_),),
            is_lone=True,
            notes=Notes(),
        )
        for i, (key, type_) in enumerate(varieties.items())
    )
    return Union(path=f"p.{name}", name=name, doc="", type=U8, varieties=made, is_raw=False, notes=Notes())


def to(name: str) -> StructReference:
    return StructReference(name=name)


def times(n: int) -> Computed:
    return Computed(value=Number(value=n))


CODING = Coding(
    path="p.C",
    name="C",
    doc="",
    type=U8,
    widths=(
        Width(low=0, high=0xFC, wide=None, is_null=False),
        Width(low=0xFD, high=0xFD, wide=I32, is_null=False),
        Width(low=0xFF, high=0xFF, wide=None, is_null=True),
    ),
    notes=Notes(),
)
ENUM = Enum(path="p.E", name="E", doc="", type=U16, is_open=False, members=(), reserved=(), notes=Notes())
EMPTY = Protocol(
    path="p",
    name="p",
    doc="",
    sources=(),
    endian="big",
    bits="msb",
    roles=("a", "b"),
    role_rule=None,
    on_error="close",
    ports=(),
    reserved=(),
    constants=(),
    limits=(),
    aliases=(),
    enums=(ENUM,),
    structs=(),
    messages=(),
    frames=(),
    preambles=(),
    unions=(),
    codings=(CODING,),
    variants=(),
    contexts=(),
    joins=(),
    sessions=(),
    rules=(),
    ledgers=(),
    examples=(),
    conversations=(),
    order=(),
    notes=Notes(),
    about={},
)


@pytest.mark.parametrize(
    ("laid", "low", "high"),
    [
        pytest.param(I32, 4, 4, id="integer"),
        pytest.param(Float(format="f64", endian="big"), 8, 8, id="float"),
        pytest.param(Boolean(is_lenient=True), 1, 1, id="bool"),
        pytest.param(Uuid(), 16, 16, id="uuid"),
        pytest.param(Bits(bits=3, is_flag=False, order="msb"), 0, 1, id="bits alone"),
        pytest.param(VARINT, 1, 10, id="varint"),
        pytest.param(Varint(bits=63, is_zigzag=False, is_lenient=False), 1, 9, id="varint63"),
        pytest.param(Varint(bits=63, is_zigzag=False, is_lenient=True), 1, 10, id="varint63 lenient"),
        pytest.param(Bytes(length=Prefix(type=U16)), 2, 65537, id="prefixed bytes"),
        pytest.param(Bytes(length=Prefix(type=CodingReference("C"))), 1, 5 + 2**31 - 1, id="coded length"),
        pytest.param(Bytes(length=times(5)), 5, 5, id="counted bytes"),
        pytest.param(Bytes(length=times(-5)), 0, 0, id="a negative count"),
        pytest.param(Bytes(length=Computed(value=HERE)), 0, None, id="bytes by a field"),
        pytest.param(Bytes(length=ToEnd()), 0, None, id="the rest"),
        pytest.param(
            Text(encoding="utf8", length=Delimited(delimiter="0d0a"), is_lenient=False, endian="big"),
            2,
            None,
            id="until",
        ),
        pytest.param(
            Text(encoding="utf16", length=Prefix(type=U8), is_lenient=False, endian="big"),
            1,
            511,
            id="utf16 units",
        ),
        pytest.param(List(item=U16, length=Prefix(type=U8)), 1, 511, id="list"),
        pytest.param(List(item=U16, length=Until(condition=Truth(value=True))), 2, None, id="until holds"),
        pytest.param(List(item=Bytes(length=ToEnd()), length=times(0)), 0, 0, id="no items"),
        pytest.param(EnumReference("E"), 2, 2, id="enum"),
        pytest.param(CodingReference("C"), 1, 5, id="coding"),
        pytest.param(to("Nowhere"), 0, None, id="unknown name"),
        pytest.param(MessageMatch(subject=HERE), 0, None, id="message match"),
        pytest.param(
            Match(
                subject=HERE,
                arms=(Arm(spans=(), type=U16), Arm(spans=(), type=I32)),
            ),
            2,
            4,
            id="match",
        ),
        pytest.param(Block(fields=(field(U8), field(U16))), 3, 3, id="block"),
        pytest.param(Region(content=U16, carrier=InSize(size=HERE), lenient=False), 2, 2, id="in size"),
        pytest.param(
            Region(content=U16, carrier=InSize(size=HERE), lenient=True), 2, None, id="lenient region"
        ),
        pytest.param(
            Region(content=U16, carrier=InSize(size=Number(value=9)), lenient=True),
            9,
            9,
            id="in a constant size",
        ),
        pytest.param(Region(content=U16, carrier=Prefix(type=U8), lenient=False), 3, 3, id="in prefix"),
        pytest.param(
            Region(
                content=U64,
                carrier=Compressed(algorithm="zlib", length=Prefix(type=U8)),
                lenient=False,
            ),
            1,
            256,
            id="compressed",
        ),
        pytest.param((field(U8), field(U16, condition=Truth(value=True))), 1, 3, id="optional"),
        pytest.param((field(U8), field(U16, is_trailing=True)), 1, 3, id="trailing"),
        pytest.param(
            (
                field(Bits(bits=3, is_flag=False, order="msb")),
                field(Bits(bits=5, is_flag=False, order="msb")),
            ),
            1,
            1,
            id="bit run",
        ),
        pytest.param((), 0, 0, id="no fields"),
        pytest.param(ENUM, 2, 2, id="enum declaration"),
    ],
)
def test_sizes(laid: Laid, low: int, high: int | None) -> None:
    assert smallest(laid, EMPTY) == low
    assert largest(laid, EMPTY) == high
    assert fixed_size(laid, EMPTY) == (low if low == high else None)


def test_chunks_cost_one_header_and_the_content() -> None:
    protocol = replace(EMPTY, structs=(struct("Chunk", U8, Bytes(length=Computed(value=HERE))),))
    carrier = Chunks(struct="Chunk", data="x", until=Truth(value=True))
    assert smallest(Region(content=U64, carrier=carrier, lenient=False), protocol) == 9


def test_a_union_is_its_code_and_one_variety() -> None:
    protocol = replace(EMPTY, unions=(union("V", Small=U8, Large=U64),))
    assert (smallest(UnionReference("V"), protocol), largest(UnionReference("V"), protocol)) == (2, 9)
    assert fixed_size(UnionReference("V", only=("Large",)), protocol) == 9
    assert fixed_size(protocol.unions[0].varieties[0], protocol) == 1


def test_recursion_through_a_choice_ends() -> None:
    value = union("V", Many=List(item=UnionReference("V"), length=Prefix(type=U16)), Nested=to("S"), One=U64)
    sizes = Sizes(replace(EMPTY, unions=(value,), structs=(struct("S", UnionReference("V")),)))
    assert sizes.smallest(to("S")) == 3
    assert sizes.largest(to("S")) is None
    assert not sizes.is_endless(to("S"))


def test_recursion_without_a_choice_is_endless() -> None:
    sizes = Sizes(replace(EMPTY, structs=(struct("A", U8, to("B")), struct("B", to("A")))))
    assert sizes.is_endless(to("A"))
    assert not sizes.is_endless(List(item=to("A"), length=Prefix(type=U8)))
    assert sizes.is_endless(List(item=to("A"), length=Until(condition=Truth(value=True))))


def test_long_chains_and_wide_doublings_are_measured_at_once() -> None:
    n = 3000
    chain = tuple(struct(f"S{i}", to(f"S{i + 1}"), to(f"S{i + 1}")) for i in range(n))
    sizes = Sizes(replace(EMPTY, structs=(*chain, struct(f"S{n}", U8))))
    assert sizes.fixed(to("S2990")) == 2**10
    assert sizes.largest(to("S0")) is None


def test_a_chain_back_to_its_start_is_measured() -> None:
    n = 300
    chain = tuple(struct(f"S{i}", U8, to(f"S{i + 1}")) for i in range(n))
    last = Struct(
        path="p.Z",
        name=f"S{n}",
        doc="",
        fields=(field(to("S0"), condition=Truth(value=True)),),
        notes=Notes(),
    )
    assert Sizes(replace(EMPTY, structs=(*chain, last))).smallest(to("S0")) == n


def test_a_type_that_is_used_twice_at_every_level_is_measured_once() -> None:
    type_: Type = U8
    for _ in range(60):
        type_ = Block(fields=(field(type_), field(type_)))
    assert fixed_size(type_, EMPTY) == 2**60


def test_a_variant_lays_its_own_declarations() -> None:
    other = Variant(
        path="p.v",
        name="v",
        doc="",
        frames=(),
        structs=(struct("S", U64),),
        messages=(),
        preambles=(),
        notes=Notes(),
    )
    protocol = replace(EMPTY, structs=(struct("S", U8),), variants=(other,))
    assert Sizes(protocol).fixed(to("S")) == 1
    assert Sizes(protocol, other).fixed(to("S")) == 8


def test_a_position_is_no_constant() -> None:
    assert fixed_size(Bytes(length=Computed(value=Position(what="offset"))), EMPTY) is None
