"""The resolver: each form of the language in the model, its refusals, and that no file breaks it."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiregen.language.diagnostics import Report, explanation, known_codes, render
from wiregen.language.parser import parse, parse_partial
from wiregen.language.resolver import Resolved, resolve
from wiregen.language.source import Source, Sources
from wiregen.schema import model
from wiregen.schema.json_form import as_json
from wiregen.schema.walk import every_field

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted((ROOT / "tests" / "cases" / "names").glob("*.wire"))
PROTOCOLS = sorted((ROOT / "idl").glob("*.wire"))
HEAD = 'protocol tide { source "Tide, version 2"  endian big  roles client, server }\n'
OWN_CODES = [code for code in known_codes() if "WG2000" < code < "WG2500"]
IN_SEVERAL_FILES = "WG2010"


def read(text: str, *, folder: Path | None = None) -> tuple[Resolved | None, Report, Sources]:
    path = (folder or Path()) / "tide.wire"
    source = Source(name=path.as_posix(), path=path, text=text)
    report, sources = Report(), Sources(source)
    file = parse(source, report)
    assert file is not None, render(report, sources)
    return resolve(file, sources, report, roots=(folder,) if folder else ()), report, sources


def model_of(text: str, *, head: str = HEAD) -> model.Protocol:
    resolved, report, sources = read(head + text)
    assert resolved is not None, render(report, sources)
    assert report.diagnostics == ()
    return resolved.protocol


def codes(text: str, *, head: str = HEAD) -> list[str]:
    resolved, report, _ = read(head + text)
    assert (resolved is None) == report.has_errors
    return [diagnostic.code for diagnostic in report.diagnostics]


def fields(text: str, *, head: str = HEAD) -> dict[str, model.Field]:
    """Return the fields of the first message, those of its blocks too."""
    return {
        field.path.rpartition(".")[2]: field for field in _flat(model_of(text, head=head).messages[0].fields)
    }


def _flat(row: Sequence[model.Field]) -> list[model.Field]:
    found: list[model.Field] = []
    for field in row:
        found.append(field)
        content = field.type.content if isinstance(field.type, model.Region) else field.type
        found.extend(_flat(content.fields) if isinstance(content, model.Block) else ())
    return found


def type_of(shape: str, *, head: str = HEAD, more: str = "") -> model.Type:
    return fields(f"message Open 1 {{ size : u8  given : {shape} }}\n{more}", head=head)["given"].type


def where_of(condition: str) -> model.Expression:
    field = fields(f"message Open 1 {{ size : u8  given : u8 where {condition} }}\n{MODE}")["given"]
    assert field.where is not None
    return field.where


MODE = "enum Mode : u8 { WHOLE = 1  DIVIDED = 2 }\nconst HALF = 2\nlimits { window = 10 }\n"
SIZE = model.FieldReference(path=("size",))
GIVEN = model.FieldReference(path=("given",))
U8 = model.Integer(size=1, is_signed=False, endian="big")
U32 = model.Integer(size=4, is_signed=False, endian="big")


# ---- cases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    source = Source(name=path.name, path=path, text=path.read_text(encoding="utf-8"))
    report, sources = Report(), Sources(source)
    file = parse(source, report)
    assert file is not None
    assert resolve(file, sources, report) is None
    assert render(report, sources, "full") == path.with_suffix(".diag").read_text(encoding="utf-8")


def test_every_code_has_a_case() -> None:
    texts = [path.with_suffix(".diag").read_text(encoding="utf-8") for path in CASES]
    assert {code for code in OWN_CODES if not any(code in text for text in texts)} == {IN_SEVERAL_FILES}


def test_every_code_has_a_page() -> None:
    folder = ROOT / "generator" / "wiregen" / "language" / "resolver"
    used = {
        code
        for path in folder.glob("*.py")
        for code in re.findall(r"WG\d{4}", path.read_text(encoding="utf-8"))
    }
    assert used == set(OWN_CODES)


@pytest.mark.parametrize("code", [code for code in OWN_CODES if code != IN_SEVERAL_FILES])
def test_the_wrong_example_of_a_page_is_wrong(code: str) -> None:
    page = explanation(code)
    assert page is not None
    example = page.split("```wire\n")[1].split("```")[0]
    assert set(codes(example, head="" if example.startswith("protocol") else HEAD)) == {code}


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_the_protocols_resolve(path: Path) -> None:
    source = Source(name=path.name, path=path, text=path.read_text(encoding="utf-8"))
    report, sources = Report(), Sources(source)
    file = parse(source, report)
    assert file is not None
    resolved = resolve(file, sources, report, roots=(path.parent,))
    assert render(report, sources, "concise") == render(Report(), sources, "concise")
    assert resolved is not None
    again = resolve(file, Sources(source), Report(), roots=(path.parent,))
    assert again is not None
    assert again.protocol == resolved.protocol
    assert list(again.origins.items()) == list(resolved.origins.items())


# ---- types ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param("u24", model.Integer(size=3, is_signed=False, endian="big"), id="odd-width"),
        pytest.param("i16le", model.Integer(size=2, is_signed=True, endian="little"), id="own-order"),
        pytest.param("u48le", model.Integer(size=6, is_signed=False, endian="little"), id="u48-little"),
        pytest.param("u48be", model.Integer(size=6, is_signed=False, endian="big"), id="u48-big"),
        pytest.param("i48le", model.Integer(size=6, is_signed=True, endian="little"), id="i48-little"),
        pytest.param("i48be", model.Integer(size=6, is_signed=True, endian="big"), id="i48-big"),
        pytest.param("f64", model.Float(format="f64", endian="big"), id="float"),
        pytest.param("bool lenient", model.Boolean(is_lenient=True), id="lenient-bool"),
        pytest.param("bit", model.Bits(bits=1, is_flag=True, order="msb"), id="flag"),
        pytest.param("u3", model.Bits(bits=3, is_flag=False, order="msb"), id="bits"),
        pytest.param("varint63", model.Varint(bits=63, is_zigzag=False, is_lenient=False), id="varint63"),
        pytest.param("zigzag lenient", model.Varint(bits=64, is_zigzag=True, is_lenient=True), id="zigzag"),
        pytest.param("uuid", model.Uuid(), id="uuid"),
        pytest.param("bytes[]", model.Bytes(length=model.ToEnd()), id="rest"),
        pytest.param("bytes[size]", model.Bytes(length=model.Computed(value=SIZE)), id="computed"),
        pytest.param(
            'utf8[until x"0d 0a"]',
            model.Text(
                encoding="utf8", length=model.Delimited(delimiter="0d0a"), is_lenient=False, endian="big"
            ),
            id="delimited",
        ),
        pytest.param(
            "mutf8[varint] lenient",
            model.Text(
                encoding="mutf8",
                length=model.Prefix(type=model.Varint(bits=64, is_zigzag=False, is_lenient=True)),
                is_lenient=True,
                endian="big",
            ),
            id="lenient-prefix",
        ),
        pytest.param("u8[u32]", model.List(item=U8, length=model.Prefix(type=U32)), id="list"),
        pytest.param(
            "bytes[u8][Length]",
            model.List(
                item=model.Bytes(length=model.Prefix(type=U8)),
                length=model.Prefix(type=model.CodingReference(name="Length")),
            ),
            id="measured-by-a-coding",
        ),
        pytest.param(
            "Wave[until height == 0]",
            model.List(
                item=model.StructReference(name="Wave"),
                length=model.Until(
                    condition=model.Operation(
                        operator="==",
                        left=model.FieldReference(path=("height",), scope="item"),
                        right=model.Number(value=0),
                    )
                ),
            ),
            id="until-a-field",
        ),
        pytest.param(
            "u8[until value > size]",
            model.List(
                item=U8,
                length=model.Until(
                    condition=model.Operation(
                        operator=">", left=model.FieldReference(path=(), scope="item"), right=SIZE
                    )
                ),
            ),
            id="until-the-item",
        ),
        pytest.param(
            "Mode only WHOLE lenient",
            model.EnumReference(name="Mode", only=("WHOLE",), is_lenient=True),
            id="only",
        ),
        pytest.param(
            "Mode[u8] only WHOLE, DIVIDED",
            model.List(
                item=model.EnumReference(name="Mode", only=("WHOLE", "DIVIDED")),
                length=model.Prefix(type=U8),
            ),
            id="only-in-a-list",
        ),
        pytest.param(
            "u8[] in size lenient",
            model.Region(
                content=model.List(item=U8, length=model.ToEnd()),
                carrier=model.InSize(size=SIZE),
                lenient=True,
            ),
            id="region",
        ),
        pytest.param(
            "utf8[] in u8",
            model.Region(
                content=model.Text(encoding="utf8", length=model.ToEnd(), is_lenient=False, endian="big"),
                carrier=model.Prefix(type=U8),
                lenient=False,
            ),
            id="prefixed-region",
        ),
        pytest.param(
            "Open[] in gzip[]",
            model.Region(
                content=model.List(item=model.MessageReference(name="Open"), length=model.ToEnd()),
                carrier=model.Compressed(algorithm="gzip", length=model.ToEnd()),
                lenient=False,
            ),
            id="compressed",
        ),
        pytest.param(
            "utf8[] in Piece[until not more]",
            model.Region(
                content=model.Text(encoding="utf8", length=model.ToEnd(), is_lenient=False, endian="big"),
                carrier=model.Chunks(
                    struct="Piece",
                    data="data",
                    until=model.Negation(
                        operator="not", operand=model.FieldReference(path=("more",), scope="item")
                    ),
                ),
                lenient=False,
            ),
            id="chunks",
        ),
        pytest.param(
            "match size only Open lenient",
            model.MessageMatch(subject=SIZE, only=("Open",), is_lenient=True),
            id="messages",
        ),
        pytest.param(
            "match size { 'A', HALF => u8  4 .. 7 => bool  _ => bytes[] }",
            model.Match(
                subject=SIZE,
                arms=(
                    model.Arm(
                        spans=(model.Span(low=65, high=65), model.Span(low=2, high=2)),
                        type=U8,
                    ),
                    model.Arm(
                        spans=(model.Span(low=4, high=7),),
                        type=model.Boolean(is_lenient=False),
                    ),
                    model.Arm(
                        spans=(),
                        type=model.Bytes(length=model.ToEnd()),
                    ),
                ),
            ),
            id="arms",
        ),
    ],
)
def test_a_shape_becomes_its_type(shape: str, expected: model.Type) -> None:
    more = MODE + (
        "struct Wave { height : u16 }\nstruct Piece { more : bool  data : bytes[u8] }\n"
        "coding Length : u8 { 0 .. 252  254 => u16  255 => null }\n"
    )
    assert type_of(shape, more=more) == expected


def test_arms_stand_where_their_numbers_say() -> None:
    text = (
        "message Open 1 { size : u8  given : match size { 0 => u8  _ => match size { 1 => u16  _ => u32 } } }"
    )
    resolved, _, _ = read(HEAD + text)
    assert resolved is not None
    given = "tide.Open.given"
    arms = {f"{given}.arms[0]", f"{given}.arms[1]", f"{given}.arms[1].arms[0]", f"{given}.arms[1].arms[1]"}
    assert arms <= set(resolved.origins)


def test_bits_take_the_order_of_the_protocol() -> None:
    head = HEAD.replace("endian big", "endian little  bits lsb")
    assert type_of("u3", head=head) == model.Bits(bits=3, is_flag=False, order="lsb")
    assert type_of("u32be", head=head) == U32


def test_bytes_alone_need_no_byte_order() -> None:
    head = HEAD.replace("endian big", "")
    assert codes("message Open 1 { size : u8  next : u16le  last : varint }", head=head) == []
    assert codes("message Open 1 { name : utf16[u8] }", head=head) == ["WG2101"]
    assert (
        codes("message Open 1 {}\nsession A { var x : u64 = 0  state a { any any => {} } }", head=head) == []
    )


def test_the_missing_order_is_said_once() -> None:
    assert codes("message Open 1 { a : u16  b : u32  c : f64 }", head=HEAD.replace("endian big", "")) == [
        "WG2101"
    ]


# ---- aliases ----------------------------------------------------------------------------------------


def test_an_alias_keeps_what_its_shape_says() -> None:
    text = """
        message Open 1 { size : u8  text : Text  key : Key[u8]  body : Body }
        type Text = utf8[u16] lenient
        type Key = Mode only WHOLE
        type Body = Text in zlib[u32]
        enum Mode : u8 { WHOLE = 1  DIVIDED = 2 }
    """
    found = fields(text)
    text_type = found["text"].type
    assert isinstance(text_type, model.Text) and text_type.is_lenient
    assert found["key"].type == model.List(
        item=model.EnumReference(name="Mode", only=("WHOLE",)), length=model.Prefix(type=U8)
    )
    body = found["body"].type
    assert isinstance(body, model.Region)
    assert body.content == text_type and not body.lenient


def test_the_condition_of_an_alias_joins_that_of_the_field() -> None:
    text = """
        message Open 1 { size : u8  given : Share where given > size }
        type Share = Percent where value != 50 or value == 1
        type Percent = u8 where value <= 100
    """
    field = fields(text)["given"]
    assert field.where_text == "value <= 100 and (value != 50 or value == 1) and given > size"
    assert isinstance(field.where, model.Operation)
    assert field.where.right == model.Operation(operator=">", left=GIVEN, right=SIZE)
    assert isinstance(field.where.left, model.Operation)
    assert field.where.left.left == model.Operation(operator="<=", left=GIVEN, right=model.Number(value=100))


def test_an_alias_sees_the_fields_of_its_user() -> None:
    given_type = type_of("Rest", more="type Rest = bytes[size]")
    assert given_type == model.Bytes(length=model.Computed(value=SIZE))
    assert codes("message Open 1 { size : u8  rest : Rest }\ntype Rest = bytes[sise]") == ["WG2001"]


def test_fields_of_a_block_in_an_alias_belong_to_the_user() -> None:
    found = fields(
        "message Open 1 { head : Head  rest : bytes[length] }\ntype Head = { kind : u8  length : u8 }"
    )
    assert found["length"].path == "tide.Open.length"


def test_the_text_of_a_condition_has_no_comments() -> None:
    field = fields("message Open 1 { size : u8 where size > 0 // never\n  and size < 9 }")["size"]
    assert field.where_text == "size > 0 and size < 9"


def test_each_condition_of_a_field_may_name_a_rule() -> None:
    text = """message Open 1 {
      keys : u8[u8] where count(keys) > 0 @rule(no_key) @since("2") where distinct(keys) @rule(key_twice)
        where count(keys) < 9
    }
    rule no_key "a"
    rule key_twice "b\""""
    protocol = model_of(text)
    (field,) = protocol.messages[0].fields
    assert (field.rule, protocol.about[field.path].notes.since) == ("no_key", "2")
    assert field.where_text == (
        model.Condition(text="count(keys) > 0", rule=None),
        model.Condition(text="distinct(keys)", rule="key_twice"),
        model.Condition(text="count(keys) < 9", rule=None),
    )


def test_a_rule_of_a_later_condition_is_looked_up_and_named_once() -> None:
    wrong = "message Open 1 { size : u8 where size > 0 where size < 9 @rule(unknown) }"
    twice = 'message Open 1 { size : u8 where size > 0 where size < 9 @rule(a) @rule(a) }\nrule a "a"'
    assert (codes(wrong), codes(twice)) == (["WG2001"], ["WG2401"])


def test_a_checksum_in_an_alias() -> None:
    assert codes("type Sums = { a : u8  sum : u16 := crc16(a .. a) }\nmessage Open 1 { sums : Sums }") == []


def test_types_of_types_that_double_end_in_an_error() -> None:
    doubling = "".join(f"type T{i} = match size {{ 0 => T{i + 1}  _ => T{i + 1} }}\n" for i in range(18))
    text = f"message Open 1 {{ size : u8  given : T0 }}\n{doubling}type T18 = u8\n"
    assert set(codes(text)) == {"WG2009"}


def test_a_long_chain_of_types_ends_in_an_error() -> None:
    chain = "".join(f"type T{i} = T{i + 1}\n" for i in range(2000))
    assert set(codes(f"message Open 1 {{ given : T0 }}\n{chain}type T2000 = u8\n")) == {"WG2009"}


# ---- lenient ----------------------------------------------------------------------------------------


def test_lenient_of_a_derived_field_is_that_of_its_value() -> None:
    found = fields("message Open 1 { size : i32 lenient := count(data)  data : bytes[] }")
    value = found["size"].value
    assert isinstance(value, model.Derived) and value.is_lenient
    strict = fields("message Open 1 { given : Flag := true }\ntype Flag = bool lenient")["given"].value
    assert isinstance(strict, model.Derived) and not strict.is_lenient


def test_lenient_concerns_every_part_of_the_shape() -> None:
    type_ = type_of("match size { 0 => utf8[u8]  _ => u8 } in u8 lenient")
    assert isinstance(type_, model.Region) and type_.lenient
    assert isinstance(type_.content, model.Match)
    text = type_.content.arms[0].type
    assert isinstance(text, model.Text) and text.is_lenient


# ---- expressions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        pytest.param(
            "given == 2**8 - 1",
            model.Operation(operator="==", left=GIVEN, right=model.Number(value=255)),
            id="folded",
        ),
        pytest.param(
            "given < HALF",
            model.Operation(operator="<", left=GIVEN, right=model.ConstantReference(name="HALF", value=2)),
            id="constant",
        ),
        pytest.param(
            "given == 'W'",
            model.Operation(operator="==", left=GIVEN, right=model.Number(value=87)),
            id="character",
        ),
        pytest.param(
            "given == Mode.WHOLE",
            model.Operation(
                operator="==", left=GIVEN, right=model.MemberReference(enum="Mode", member="WHOLE", value=1)
            ),
            id="member-of",
        ),
        pytest.param(
            "given <= limits.window",
            model.Operation(operator="<=", left=GIVEN, right=model.LimitReference(name="window")),
            id="limit",
        ),
        pytest.param(
            "given not in [0, 4 .. 7]",
            model.Operation(
                operator="not in",
                left=GIVEN,
                right=model.ListOf(
                    items=(
                        model.Number(value=0),
                        model.Range(low=model.Number(value=4), high=model.Number(value=7)),
                    )
                ),
            ),
            id="list",
        ),
        pytest.param(
            "given in -1 .. size",
            model.Operation(
                operator="in", left=GIVEN, right=model.Range(low=model.Number(value=-1), high=SIZE)
            ),
            id="range",
        ),
        pytest.param(
            "remaining == 0 or not present(size)",
            model.Operation(
                operator="or",
                left=model.Operation(
                    operator="==", left=model.Position(what="remaining"), right=model.Number(value=0)
                ),
                right=model.Negation(
                    operator="not", operand=model.Call(function="present", arguments=(SIZE,))
                ),
            ),
            id="functions",
        ),
    ],
)
def test_a_condition_becomes_an_expression(condition: str, expected: model.Expression) -> None:
    assert where_of(condition) == expected


def test_members_are_found_by_the_expected_type() -> None:
    member = model.MemberReference(enum="Mode", member="DIVIDED", value=2)
    text = """
        message Open 1 {
          mode : Mode = DIVIDED where mode in [WHOLE, DIVIDED] and DIVIDED == mode
          next : u8 if mode == DIVIDED
          body : match mode { WHOLE => u8  DIVIDED => u16 }
        }
    """
    found = fields(text + MODE)
    assert found["mode"].value == model.Default(value=member)
    assert found["next"].condition == model.Operation(
        operator="==", left=model.FieldReference(path=("mode",)), right=member
    )
    assert isinstance(found["body"].type, model.Match)
    assert found["body"].type.arms[1].spans == (model.Span(low=2, high=2),)


def test_a_field_of_the_message_in_the_body() -> None:
    text = """
        frame Frame {
          type  : u8 := code(body)
          body  : match type
          block : bytes[body.length] if code(body) == 3
        }
        message Data 3 { length : u16 }
    """
    block = model_of(text).frames[0].fields[2]
    assert block.type == model.Bytes(
        length=model.Computed(value=model.FieldReference(path=("body", "length")))
    )


def test_a_checksum_names_its_fields() -> None:
    found = fields("message Open 1 { a : u8  b : u8  crc : u32 := crc32(a .. b) }")
    value = found["crc"].value
    assert isinstance(value, model.Derived)
    assert value.value == model.Checksum(algorithm="crc32", first="a", last="b")


def test_a_field_called_offset_is_meant_before_the_position() -> None:
    field = fields("message Open 1 { offset : i64 where offset >= 0  pad : bytes[-offset % 4] }")["offset"]
    assert field.where == model.Operation(
        operator=">=", left=model.FieldReference(path=("offset",)), right=model.Number(value=0)
    )


def test_padding_has_no_name_of_its_own() -> None:
    padding = model_of(
        "message Open 1 { size : u8  _ : u3 == 0  flag : bit  _ : bytes[-offset % 4] }"
    ).messages[0]
    assert [field.name for field in padding.fields] == ["size", "_", "flag", "_"]
    assert len({field.path for field in padding.fields}) == 4


def test_a_uuid_is_given_as_bytes() -> None:
    found = fields(f'message Open 1 {{ id : uuid = x"{"00" * 16}" where id != x"{"01" * 16}" }}')
    assert found["id"].value == model.Default(value=model.Octets(hex="00" * 16))
    assert codes('message Open 1 { id : uuid where id != x"01" }') == ["WG2202"]


def test_constants_need_each_other_in_any_order() -> None:
    chain = "".join(f"const C{i} = C{i + 1} + 1\n" for i in range(2000))
    constants = model_of(f"{chain}const C2000 = -1\n").constants
    assert constants[0].value == 1999


# ---- declarations -----------------------------------------------------------------------------------


def test_limits_are_in_bytes_milliseconds_or_pieces() -> None:
    limits = model_of("limits { frame = 16 MiB  wait = 2 min  depth = 3  inflated = 5 }").limits
    assert [(limit.name, limit.value, limit.unit) for limit in limits] == [
        ("frame", 16 * 2**20, "bytes"),
        ("wait", 120_000, "ms"),
        ("depth", 3, "none"),
        ("inflated", 5, "bytes"),
    ]


def test_a_message_without_role_counts_for_both() -> None:
    assert codes("message A 1 from client {}\nmessage B 1 from server {}") == []
    assert codes("message A 1 from client {}\nmessage B 1 {}") == ["WG2004"]


def test_the_free_code_of_the_help_is_free() -> None:
    _, report, _ = read(
        'protocol tide { source "Tide"  roles client, server  reserved 2 .. 3 }\n'
        "message A 1 {}\nmessage B 4 {}\nmessage C 1 {}"
    )
    (diagnostic,) = report.diagnostics
    assert diagnostic.help == "give the message an unused code: 5 is free for messages of the client"


def test_a_frame_names_the_field_that_carries_its_message() -> None:
    text = """
        frame Request from client {
          size    : u8 := size(payload)
          payload : { kind : u8  inner : match kind { 1 => match api[kind]  _ => Failure } } in size
        }
        frame Response from server { length : u8  data : Failure in length }
        message Failure { reason : u8 }
        message Ask 1 from client {}
        context api : u8 per kind { set Request.kind }
    """
    assert [frame.message for frame in model_of(text).frames] == ["inner", "data"]


def test_a_union_with_its_lone_field() -> None:
    union = model_of(
        "union V : u8 { Null 0x29  Small 1, 4 .. 6 : u8 where value < 9  Wide 2 { a : u8 } }"
    ).unions[0]
    assert [variety.is_lone for variety in union.varieties] == [False, True, False]
    assert union.varieties[1].spans == (model.Span(low=1, high=1), model.Span(low=4, high=6))
    (value,) = union.varieties[1].fields
    assert (value.path, value.where_text) == ("tide.V.Small.value", "value < 9")
    assert value.where == model.Operation(
        operator="<", left=model.FieldReference(path=("value",)), right=model.Number(value=9)
    )


def test_a_variant_lays_the_same_declarations_otherwise() -> None:
    resolved, _, _ = read(HEAD + "message Ask 1 { a : u8 }\nvariant old { message Ask 1 { a : u16 } }")
    assert resolved is not None
    (variant,) = resolved.protocol.variants
    assert variant.messages[0].fields[0].path == "tide.old.Ask.a"
    assert "tide.old.Ask.a#type" in resolved.origins


def test_annotations_become_notes() -> None:
    text = """
        rule late "Too late" { source "Timing" }
        message Open 1 @source("a", "b") @source("c") @since("2") @tag(7) @raw @secret @deprecated("why") {
          size : u8 where size > 0 @rule(late) @assumed("x") @errata("y")
        }
    """
    protocol = model_of(text)
    message = protocol.messages[0]
    assert message.notes == model.Notes(
        sources=(("a", "b"), ("c",)), since="2", tag=7, raw=True, secret=True, deprecated="why"
    )
    assert protocol.about["tide.Open.size"].notes == model.Notes(
        inherited=(("a", "b"), ("c",)), rule="late", assumed="x", errata="y"
    )


def test_what_has_no_source_inherits_that_of_what_it_stands_in() -> None:
    text = """
        message Open 1 @source("opening") {
          size : u8
          rest : { kind : Kind @source("kinds")  body : { last : u8 } @source("the body") }
        }
        enum Kind : u8 @source("all kinds") { ONE = 1  TWO = 2 @source("the second") }
        union V : u8 @source("unions") { A 1 : u8  B 2 @source("b") { x : u8 } }
        variant old @source("the first version") { message Open 1 { rest : { kind : Kind  body : { last : u8 } }  size : u8 } }
    """
    protocol = model_of(text)
    assert {path: notes.places for path, notes in notes_of(protocol).items()} == {
        "Open.size": (("opening",),),
        "Open.rest": (("opening",),),
        "Open.kind": (("kinds",),),
        "Open.body": (("the body",),),
        "Open.last": (("the body",),),
        "old.Open.rest": (("the first version",),),
        "old.Open.kind": (("the first version",),),
        "old.Open.body": (("the first version",),),
        "old.Open.last": (("the first version",),),
        "old.Open.size": (("the first version",),),
        "V.A.value": (("unions",),),
        "V.B.x": (("b",),),
    }
    assert [member.notes.places for member in protocol.enums[0].members] == [
        (("all kinds",),),
        (("the second",),),
    ]
    assert protocol.enums[0].members[1].notes.inherited == ()


def notes_of(protocol: model.Protocol) -> dict[str, model.Notes]:
    """Return the notes of all fields by their paths."""
    messages = (*protocol.messages, *(each for variant in protocol.variants for each in variant.messages))
    rows = [message.fields for message in messages]
    rows += [variety.fields for union in protocol.unions for variety in union.varieties]
    paths = [field.path for row in rows for field in every_field(row)]
    return {path.partition(".")[2]: protocol.about[path].notes for path in paths}


def test_a_ledger_entry_is_about_things_that_are_there() -> None:
    text = """
        message Open 1 { size : u8 }
        enum Mode : u8 { WHOLE = 1 }
        ledger tail "The tail" {
          document "is silent"  peers "differ"  decision "kept"  reason "safe"  about Open.size, Mode.WHOLE
        }
    """
    (entry,) = model_of(text).ledgers
    assert (entry.id, entry.about, entry.path) == ("tail", ("Open.size", "Mode.WHOLE"), "tide.ledgers.tail")


# ---- behaviour --------------------------------------------------------------------------------------

TALK = """
    frame Frame { version : u8 = 1  type : u8 := code(body)  body : match type }
    message Open 1 from client { id : u8  size : u8 }
    message Data 2 from client { id : u8  data : bytes[u8] }
    message Done 3 from server { id : u8  left : u8 }
    join Whole : bytes per id { part Data.data when version == 1  last Data.data when version == 2  clear Done }
    context sizes : u8 per id from client { set Open.size when version > 0  clear Done }
"""


def session_of(text: str, name: str = "Talk") -> model.Session:
    sessions = model_of(TALK + text).sessions
    return next(session for session in sessions if session.name == name)


def test_states_opened_several_times_are_one() -> None:
    session = session_of("""
        session Talk per sender, id {
          state any { any Done => ended }
          state free, open { client Open => open }
          /// Over.
          state ended { any any violates too_late lenient }
          state free { client Data => {} }
        }
    """)
    assert (session.keys, session.per_sender) == (("id",), True)
    assert [(state.name, state.doc) for state in session.states] == [
        ("free", ""),
        ("open", ""),
        ("ended", "Over."),
    ]
    assert [(row.states, row.role, row.targets) for row in session.rows] == [
        (None, None, ("Done",)),
        (("free", "open"), "client", ("Open",)),
        (("ended",), None, None),
        (("free",), "client", ("Data",)),
    ]
    assert [row.path for row in session.rows][3] == "tide.Talk.rows[3]"
    assert session.rows[2].effect == model.Violates(name="too_late", is_lenient=True)
    assert session.rows[3].effect == model.Go(state=None, updates=())


def test_rows_see_messages_frames_and_variables() -> None:
    session = session_of("""
        session Talk {
          roles asker, answerer
          var credit : u64 = 0
          option strict_size : bool = true
          state open {
            asker Open, Data when size > credit and version == 1 and sender == asker and strict_size violates too_large
            asker Data when sizes[id] < size(Whole) => { credit = count(data) }
            after 5 => open
          }
        }
    """)
    condition = str(session.rows[0].when)
    assert "FieldReference(path=('size',), scope='own'" in condition
    assert "FieldReference(path=('version',), scope='frame'" in condition
    assert "RoleReference(name='asker'" in condition
    assert [(variable.name, variable.is_option) for variable in session.variables] == [
        ("credit", False),
        ("strict_size", True),
    ]
    assert session.rows[1].when == model.Operation(
        operator="<",
        left=model.ContextReference(context="sizes", keys=(model.FieldReference(path=("id",)),)),
        right=model.Call(function="size", arguments=(model.JoinReference(name="Whole"),)),
    )
    (timer,) = session.timers
    assert (timer.path, timer.after) == ("tide.Talk.timers[0]", model.Number(value=5))


def test_one_slip_is_one_error() -> None:
    assert codes("message Open 1 { mode : Mood = WHOLE  next : u8 if mode == WHOLE }\n" + MODE) == ["WG2001"]
    assert codes("message Open 1 { mode : Mode  next : u8 if moed == WHOLE }\n" + MODE) == ["WG2001"]
    assert codes("frame Frame { body : Bdoy }") == ["WG2001"]
    assert codes(TALK + "session Talk { state a { client Opne when size > 0 => {} } }") == ["WG2001"]
    assert codes(TALK + "session Talk { var x : u9 = 0  state a { any any when x > 0 => { x = 1 } } }") == [
        "WG2001"
    ]


def test_an_option_is_not_for_rows_to_set() -> None:
    text = "session Talk { option wide : bool = true  state a { any any => { wide = false } } }"
    assert codes(TALK + text) == ["WG2007"]


def test_a_field_must_be_there_with_some_target() -> None:
    row = "session Talk {{ state open {{ client {targets} when {name} > 0 => {{}} }} }}"
    assert codes(TALK + row.format(targets="Open, Data", name="size")) == []
    assert codes(TALK + row.format(targets="Data", name="size")) == ["WG2001"]
    assert codes(TALK + row.format(targets="any", name="left")) == []
    assert codes(TALK + row.format(targets="Whole", name="version")) == []


def test_lists_of_a_session() -> None:
    session = session_of("""
        session Talk {
          var open : u32[] = []
          state a {
            client Open when id in open and open[0] == id => { open = push(drop(open, 1), id) }
            client Data when index(open, id) < count(open) => { open = [] }
          }
        }
    """)
    assert session.variables[0].is_list
    assert isinstance(session.rows[0].effect, model.Go)
    (update,) = session.rows[0].effect.updates
    assert isinstance(update.value, model.Call) and update.value.function == "push"


# ---- examples ---------------------------------------------------------------------------------------

VALUES = """
    frame Frame { version : u8 = 1  type : u8 := code(body)  body : match type }
    message Put 1 { id : u8  value : Value  more : Value[u8] = []  tail : Frame[] in u8 if id > 0 }
    union Value : u8 { Null 0  Small 1 : i8  Pair 2 { left : Value  right : Value }  Other 3 .. 9 : bytes[u8] }
"""


def test_constructors_stand_for_their_fields() -> None:
    text = (
        'example "e" Frame(body = Put(1, Pair(Small(-1), right = Null()), tail = [Put(2, Null())])) = x"00"'
    )
    (example,) = model_of(VALUES + text).examples
    value = example.value
    assert value is not None and (value.what, value.name) == ("frame", "Frame")
    (body,) = value.fields
    assert body.name == "body" and isinstance(body.value, model.Construct)
    assert [argument.name for argument in body.value.fields] == ["id", "value", "tail"]
    pair = body.value.fields[1].value
    assert pair == model.Construct(
        what="variety",
        name="Pair",
        union="Value",
        fields=(
            model.Argument(
                name="left",
                value=model.Construct(
                    what="variety",
                    name="Small",
                    union="Value",
                    fields=(model.Argument(name="value", value=model.Number(value=-1)),),
                ),
            ),
            model.Argument(
                name="right", value=model.Construct(what="variety", name="Null", union="Value", fields=())
            ),
        ),
    )


def test_forms_of_an_example() -> None:
    text = """
        example "both" Put(1, Null()) = x"00 01"
        example "read" x"0a" = [Put(1, Null()), Put(2, Other(x"01", code = 4))]
        example "wrong" x"" violates truncated
    """
    both, read_, wrong = model_of(VALUES + text).examples
    assert (both.form, both.hex, both.scene) == ("both", "0001", ())
    assert (read_.form, len(read_.scene), read_.path) == ("read", 1, "tide.examples[1]")
    assert (wrong.form, wrong.value, wrong.violation, wrong.hex) == ("violates", None, "truncated", "")


def test_an_example_of_a_variant_uses_its_layout() -> None:
    text = """
        message Ask 1 { a : u8  b : u8 }
        variant old { message Ask 1 { b : u8  a : u8 }  example "old" Ask(1, 2) = x"0102" }
    """
    (example,) = model_of(text).examples
    assert example.variant == "old" and example.value is not None
    assert [argument.name for argument in example.value.fields] == ["b", "a"]


# ---- imports ----------------------------------------------------------------------------------------

OTHER = """protocol sea { source "Sea"  endian little  roles client, server }
const DEEP = 7
type Depth = u16 where value < DEEP
struct Wave { height : Depth  kind : Kind }
enum Kind : u8 { CALM = 1 }
message Unused 1 {}
message Event 2 { data : bytes[u8] }
message Block 3 { data : bytes[] as Frame[] only Event }
frame Frame { type : u8 := code(body)  body : match type }
"""


def test_an_import_brings_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "sea.wire").write_text(OTHER, encoding="utf-8")
    resolved, report, _ = read(
        HEAD + "import sea : Wave, Block\nmessage Open 4 { wave : Wave }", folder=tmp_path
    )
    assert resolved is not None and report.diagnostics == ()
    protocol = resolved.protocol
    assert protocol.order == ("DEEP", "Wave", "Kind", "Event", "Block", "Frame", "Open")
    assert protocol.structs[0].fields[0].path == "tide.Wave.height"
    assert protocol.structs[0].fields[0].type == model.Integer(size=2, is_signed=False, endian="big")
    assert resolved.origins["tide.Wave"].source == (tmp_path / "sea.wire").as_posix()


def test_an_import_brings_the_rules_that_it_names_but_not_those_with_a_text_here(tmp_path: Path) -> None:
    rules = 'rule low "It is low."\nrule calm "It is calm."\nrule other "Nobody asks."\n'
    text = OTHER.replace("height : Depth", "height : Depth @rule(low)").replace(
        "[u8] }", "[u8] @rule(calm) }"
    )
    assert "@rule(calm)" in text
    (tmp_path / "sea.wire").write_text(text + rules, encoding="utf-8")
    own = 'rule calm "Calm, as we see it."\n'
    resolved, report, _ = read(HEAD + own + "import sea : Wave, Event\n", folder=tmp_path)
    assert resolved is not None and report.diagnostics == ()
    found = {rule.name: rule.text for rule in resolved.protocol.rules}
    assert found == {"low": "It is low.", "calm": "Calm, as we see it."}


def test_faults_of_an_imported_declaration_are_shown_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "sea.wire").write_text(OTHER.replace("Kind }", "Kidn }"), encoding="utf-8")
    resolved, report, _ = read(HEAD + "import sea : Wave\nimport sea : Waev", folder=tmp_path)
    assert resolved is None
    assert [
        (found.code, Path(found.span.source).name) for found in report.diagnostics if found.span is not None
    ] == [("WG2001", "sea.wire"), ("WG2001", "tide.wire")]


def test_what_an_import_brings_cannot_be_declared_again(tmp_path: Path) -> None:
    (tmp_path / "sea.wire").write_text(OTHER, encoding="utf-8")
    _, report, _ = read(HEAD + "import sea : Wave\nenum Kind : u8 {}", folder=tmp_path)
    (diagnostic,) = report.diagnostics
    assert diagnostic.code == "WG2002"
    assert [Path(other.span.source).name for other in diagnostic.others] == ["sea.wire"]


def test_imports_that_go_round_are_reported(tmp_path: Path) -> None:
    (tmp_path / "sea.wire").write_text(OTHER + "import tide : Open\n", encoding="utf-8")
    (tmp_path / "tide.wire").write_text(HEAD + "import sea : Wave\nmessage Open 1 {}", encoding="utf-8")
    _, report, _ = read((tmp_path / "tide.wire").read_text(encoding="utf-8"), folder=tmp_path)
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["WG1009"]


def test_a_chain_of_imports_has_an_end(tmp_path: Path) -> None:
    names = [f"sea{number}" for number in range(40)]
    for name, following in pairwise(names):
        text = HEAD.replace("tide", name) + f"import {following} : Wave\n"
        (tmp_path / f"{name}.wire").write_text(text, encoding="utf-8")
    _, report, _ = read(HEAD + "import sea0 : Wave\n", folder=tmp_path)
    assert IN_SEVERAL_FILES in {diagnostic.code for diagnostic in report.diagnostics}


# ---- origins ----------------------------------------------------------------------------------------


def test_parts_of_a_field_have_their_places() -> None:
    text = HEAD + "message Open 9 { a : u8  b : bytes[a][u16] = [] if a > 1 where count(b) < 2 }"
    resolved, _, _ = read(text)
    assert resolved is not None
    places = {path: text[span.start : span.end] for path, span in resolved.origins.items()}
    assert places["tide.Open#code"] == "9"
    assert places["tide.Open.b#name"] == "b"
    assert places["tide.Open.b#type"] == "bytes[a][u16]"
    assert places["tide.Open.b#length"] == "u16"
    assert places["tide.Open.b#if"] == "a > 1"
    assert places["tide.Open.b#where"] == "count(b) < 2"
    assert places["tide.Open.b#value"].endswith("[]")
    assert places["tide#endian"] == "endian big"


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_every_path_of_a_model_has_a_place(path: Path) -> None:
    source = Source(name=path.name, path=path, text=path.read_text(encoding="utf-8"))
    report, sources = Report(), Sources(source)
    file = parse(source, report)
    assert file is not None
    resolved = resolve(file, sources, report, roots=(path.parent,))
    assert resolved is not None
    assert set(_paths(as_json(resolved.protocol))) <= resolved.origins.keys()


def _paths(value: object) -> list[str]:
    """Return the paths of all nodes; that of a reference to a field is a list of names, and no path of a node."""
    if isinstance(value, dict):
        own = value.get("path")
        below = [path for each in value.values() for path in _paths(each)]
        return [own, *below] if isinstance(own, str) else below
    return [path for each in value for path in _paths(each)] if isinstance(value, list) else []


# ---- no file breaks it ------------------------------------------------------------------------------

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|x"[^"]*"|//[^\n]*|[A-Za-z_]\w*|\d\w*|\s+|[:=<>!?]=|\*\*|=>|\.\.|.', re.DOTALL
)
TEXTS = [path.read_text(encoding="utf-8") for path in PROTOCOLS]
WORDS = sorted({token for text in TEXTS for token in TOKEN.findall(text) if not token.isspace()})


def mutated(text: str, random: Random, n_changes: int) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(n_changes):
        place = random.randrange(len(tokens))
        match random.randrange(4):
            case 0:
                tokens[place] = random.choice(WORDS)
            case 1:
                del tokens[place : place + random.randrange(1, 9)]
            case 2:
                tokens.insert(place, f" {random.choice(WORDS)} ")
            case _:
                alike = [
                    word
                    for word in random.sample(WORDS, 40)
                    if word[0].isupper() == tokens[place][0].isupper()
                ]
                tokens[place] = random.choice(alike or WORDS)
    return "".join(tokens)


@settings(max_examples=1000 if settings.get_current_profile_name() == "soak" else 40)
@given(text=st.sampled_from(TEXTS), random=st.randoms(use_true_random=False), n_changes=st.integers(1, 8))
def test_a_mutated_protocol_is_resolved_or_reported(text: str, random: Random, n_changes: int) -> None:
    path = ROOT / "idl" / "mutant.wire"
    source = Source(name=path.as_posix(), path=path, text=mutated(text, random, n_changes))
    file = parse_partial(source, Report())
    if file is None:
        return
    report = Report()
    resolved = resolve(file, Sources(source), report, roots=(path.parent,))
    assert (resolved is None) == report.has_errors


def test_a_field_without_a_text_has_that_of_the_nearest_alias() -> None:
    text = (
        "/// Chosen by the client.\ntype Id = u8\n/// A name.\ntype Name = utf8[u8]\ntype Key = Name\n"
        "message M 1 {\n  id : Id\n  key : Key\n  /// Its own.\n  other : Id\n  many : Id[u8]\n  plain : u8\n}\n"
    )
    about = model_of(text).about
    expected = {"id": "Chosen by the client.", "key": "A name.", "other": "Its own.", "many": "", "plain": ""}
    assert {name: about[f"tide.M.{name}"].doc for name in expected} == expected
