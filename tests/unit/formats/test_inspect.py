"""Trees and hexdumps by themselves: plans written by hand, exact rows, long values, secrets."""

import zlib
from typing import Any

import pytest

from wiregen.formats.inspect.hexdump import dump_fault, dump_frame
from wiregen.formats.inspect.secrets import may_hold_secret, secret_names
from wiregen.formats.inspect.tree_lines import Branch, lines
from wiregen.formats.inspect.trees import tree_of_fault, tree_of_frame
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import Node

from ..schema_notation import schema

U8, U16 = ("int", 1, False, "big"), ("int", 2, False, "big")
CODE = ("call", "code", (("field", ("body",), "own"),))
SIZE = ("call", "size", (("field", ("body",), "own"),))


def field(name: str, type_: Any, value: Any = None, *, condition: Any = None, is_secret: bool = False) -> Any:
    hidden = value is not None and value[0] == "derived"
    return (name, hidden, type_, value, condition, None, "", None, is_secret)


TEXT = ("text", "utf8", ("prefix", U8), True, "big")
BLOB = ("bytes", ("prefix", U16))
ENVELOPE = (
    "region",
    ("list", ("frame", "Frame", None, False), ("end",), 2),
    ("compressed", "zlib", ("end",)),
    False,
)

FRAME = (
    field("type", U8, ("derived", CODE, False)),
    field("length", U16, ("derived", SIZE, False)),
    field("body", ("region", ("message_match", ("field", ("type",), "own"), None, False),
                   ("size", ("field", ("length",), "own")), True)),
)  # fmt: skip

PLAN = schema({
    "name": "bay",
    "endian": "big",
    "roles": ("client", "server"),
    "limits": {"frame": 1 << 20, "inflated": 1 << 20, "count": None, "messages": 65536, "depth": 4, "open": 10},
    "enums": {"Kind": (U8, True, ((1, "ONE"),))},
    "codings": {},
    "unions": {"Value": (U8, ((((1, 1),), "Number", (field("value", U16),), True),), False)},
    "structs": {"Secret": (field("token", BLOB, is_secret=True),)},
    "messages": {
        "Note": (1, None, (field("kind", ("enum", "Kind", None, False)), field("text", TEXT), field("document", BLOB))),
        "Many": (2, None, (field("items", ("list", U8, ("prefix", U16), 1)),)),
        "Key": (3, None, (field("secret", ("struct", "Secret")), field("after", U8))),
        "Envelope": (4, None, (field("frames", ENVELOPE),)),
        "Choice": (5, None, (field("choice", ("union", "Value", None, False)), field("extra", U8, condition=("truth", False)))),
    },
    "codes": {role: {1: "Note", 2: "Many", 3: "Key", 4: "Envelope", 5: "Choice"} for role in ("client", "server")},
    "frames": {"Frame": (None, FRAME, "body")},
    "sends": {"client": "Frame", "server": "Frame"},
    "preambles": {},
    "opens": {},
    "contexts": {},
    "joins": {},
    "variants": {},
    "views": {"Note": {"document": "json"}},
})  # fmt: skip

HEAD = Branch(label="@0", text="a frame", style="bold")


def framed(code: int, body: bytes) -> bytes:
    return bytes((code,)) + len(body).to_bytes(2, "big") + body


def read(data: bytes) -> Node:
    return explain(PLAN, data, 0, len(data), Options("client"))


def tree(data: bytes) -> list[str]:
    return [line.plain for line in lines(tree_of_frame(read(data), HEAD, PLAN, secret_names(PLAN)))]


def dump(data: bytes, offset: int = 0) -> list[str]:
    return [row.plain for row in dump_frame(data, read(data), offset, secret_names(PLAN))]


def note(text: bytes, document: bytes = b"{}") -> bytes:
    size = len(document).to_bytes(2, "big")
    return framed(1, b"\x01" + bytes((len(text),)) + text + size + document)


def test_a_tree_aligns_what_stands_side_by_side() -> None:
    assert tree(note(b"hello", b'{"a": 1}')) == [
        "@0  a frame",
        "  type    1  Note, derived",
        "  length  17  derived",
        "  Note",
        "    kind      ONE (1)",
        '    text      "hello"',
        '    document  {"a": 1}',
    ]


def test_an_unknown_number_of_an_enum_says_so() -> None:
    assert "    kind      unknown (7)" in tree(framed(1, b"\x07\x00\x00\x00"))


def test_left_over_bytes_show() -> None:
    assert tree(framed(2, b"\0\1\5" + b"zz"))[-1] == '    tail   x"7a7a"  left over'


def test_an_unknown_message_shows_its_code_and_bytes() -> None:
    assert tree(framed(9, b"ab"))[-1] == '  Unknown  code 9, x"6162"'


def test_a_variety_shows_its_name_and_an_absent_field_is_named() -> None:
    assert tree(framed(5, b"\x01\x00\x07"))[-4:] == [
        "  Choice",
        "    choice  Number (1)",
        "      value  7",
        "    extra   absent",
    ]


def test_frames_within_an_envelope_are_nested() -> None:
    inner = note(b"a")
    packed = zlib.compress(inner)
    shown = tree(framed(4, packed))
    assert shown[3:6] == [
        "  Envelope",
        f"    frames  1 item  zlib, {len(packed)} bytes of {len(inner)}",
        "      [0]  Note",
    ]
    assert '          text      "a"' in shown


def test_text_is_cut_with_its_length_and_quotes_are_escaped() -> None:
    shown = tree(note(b'say "' + b"x" * 200))
    assert f'    text      "say \\"{"x" * 67}…" (205 characters)' in shown


def test_bytes_that_are_no_json_are_hexadecimal() -> None:
    assert '    document  x"ff00"' in tree(note(b"", b"\xff\x00"))
    assert f'    document  x"{"ff" * 24}…" (300 bytes)' in tree(note(b"", b"\xff" * 300))


def test_a_long_list_is_cut_and_the_way_to_the_rest_is_named() -> None:
    shown = tree(framed(2, (1000).to_bytes(2, "big") + bytes(1000)))
    assert "    items  1,000 items" in shown
    assert shown[-2:] == ["      [63]  0", "      …     936 more; --format jsonl has them all"]


@pytest.mark.parametrize("char", ["\x1b", "\x00", "\r", "\n", "\u202e", "\u2066", "\u200b", "\x9b", "\ufeff"])
def test_no_character_that_acts_is_shown(char: str) -> None:
    data = note(f"a{char}[red]b".encode(), f'"{char}"'.encode())
    for row in (*tree(data), *dump(data)):
        assert char not in row
    assert any("[red]b" in row for row in tree(data))


def test_a_fault_shows_the_reason_and_what_was_read() -> None:
    data = note(b"hello")[:-4]
    with pytest.raises(DecodeError) as caught:
        read(data)
    partial = {
        "message": "Note",
        "header": {},
        "fields": {"kind": "ONE", "list": [1, {"a": None}], "on": True},
    }
    error = DecodeError("constraint", rule="no_hello", path="Note.text", at=5, inner_at=2, expected="a\x1b", found="b", partial=partial)  # fmt: skip
    assert caught.value.code == "truncated"
    assert [line.plain for line in lines(tree_of_fault(error, HEAD))] == [
        "@0  a frame",
        "  error  constraint in Note.text at 5, inner 2: expected a\\x1b, found b  no_hello",
        "  read so far",
        "    Note",
        '      kind  "ONE"',
        "      list  2 items",
        "        [0]  1",
        "        [1]",
        "          a  null",
        "      on    true",
    ]


# ---- hexdumps ----


def test_a_hexdump_names_each_field_where_it_begins() -> None:
    assert dump(note(b"0123456789abcdef"), 0x20) == [
        (
            "00000020  01 00 16 01 10 30 31 32 33 34 35 36 37 38 39 61  |.....0123456789a|"
            "  Frame.type, Frame.length, Note.kind, Note.text length, Note.text"
        ),
        (
            "00000030  62 63 64 65 66 00 02 7b 7d                       |bcdef..{}|"
            "  Note.document length, Note.document"
        ),
    ]


def test_each_byte_has_the_colour_of_its_field() -> None:
    data = framed(2, b"\0\1\5")
    (row,) = dump_frame(data, read(data), 0)
    colours = {str(span.style): row.plain[span.start : span.end] for span in row.spans}
    assert len(colours) == 4
    assert "Many.items[0]" in {row.plain[span.start : span.end] for span in row.spans}


def test_the_middle_of_a_long_field_is_left_out() -> None:
    shown = dump(note(b"", bytes(1000)))
    assert len(shown) == 13
    assert shown[9] == "          … 816 more bytes of Note.document"
    assert shown[10].startswith("000003c0  ") and shown[-1].startswith("000003e0  ")


def test_an_envelope_is_dumped_as_it_came_and_inflated() -> None:
    inner = framed(2, b"\0\1\5")
    shown = dump(framed(4, zlib.compress(framed(4, zlib.compress(inner)))))
    titles = [row.strip() for row in shown if row.endswith("bytes:")]
    assert [title.partition(",")[0] for title in titles] == ["Envelope.frames", "[0].Envelope.frames"] or len(
        titles
    ) == 2
    assert any(f"{inner.hex(' ')} " in row for row in shown)


def test_the_byte_at_fault_is_marked() -> None:
    error = DecodeError("constraint", path="Note.text", at=105)
    assert [row.plain for row in dump_fault(b"0123456789", error, 100)] == [
        "00000064  30 31 32 33 34 35 36 37 38 39                    |0123456789|",
        " " * 25 + "^^ Note.text constraint",
    ]


def test_the_first_missing_byte_is_marked_behind_the_last() -> None:
    error = DecodeError("truncated", path="Note.text", at=16)
    assert [row.plain for row in dump_fault(bytes(16), error, 0)] == [
        "00000000  " + "00 " * 16 + " |" + "." * 16 + "|",
        "00000010",
        " " * 10 + "^^ Note.text truncated",
    ]


def test_nothing_is_a_dump_too() -> None:
    error = DecodeError("truncated", path="Frame", at=0)
    assert [row.plain for row in dump_fault(b"", error, 0)] == ["00000000", " " * 10 + "^^ Frame truncated"]


# ---- secrets ----


def test_a_secret_is_hidden_with_everything_below_it() -> None:
    data = framed(3, b"\0\4s3cr" + b"\x07")
    shown = "\n".join((*tree(data), *dump(data)))
    assert "s3cr" not in shown and "73 33" not in shown and "73336372" not in shown
    assert "      token  ··  secret" in tree(data)
    assert dump(data) == [
        (
            "00000000  03 00 07 ·· ·· ·· ·· ·· ·· 07                    |...······.|"
            "  Frame.type, Frame.length, Key.secret.token length, Key.secret.token, Key.after"
        ),
    ]


def test_an_envelope_with_a_secret_in_it_is_hidden_whole() -> None:
    data = framed(4, zlib.compress(framed(3, b"\0\4s3cr" + b"\x07"), 0))
    shown = dump(data)
    assert "73 33 63 72" not in "\n".join(shown)
    assert not any("inflated" in row for row in shown)


def test_a_secret_of_a_partial_message_is_hidden() -> None:
    partial = {"message": "Key", "header": {}, "fields": {"secret": {"token": "73336372"}}}
    error = DecodeError("truncated", path="Key.after", at=9, partial=partial)
    shown = "\n".join(line.plain for line in lines(tree_of_fault(error, HEAD, secret_names(PLAN))))
    assert "73336372" not in shown and "token  ··  secret" in shown


def test_the_bytes_of_a_faulty_message_are_hidden_where_they_can_hold_a_secret() -> None:
    assert may_hold_secret(PLAN, "Key") and may_hold_secret(PLAN, "Envelope") and may_hold_secret(PLAN, None)
    assert not may_hold_secret(PLAN, "Note") and not may_hold_secret(PLAN, "Choice")
    error = DecodeError("truncated", path="Key.secret", at=2)
    rows = [row.plain for row in dump_fault(b"s3", error, 0, is_secret=True)]
    assert rows == [
        "00000000  ·· ··                                            |··|",
        " " * 16 + "^^ Key.secret truncated",
    ]
