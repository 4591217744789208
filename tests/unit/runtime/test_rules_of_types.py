"""The rule that a type names goes with it: to fields of that type, items of lists, lengths, varieties."""

from __future__ import annotations

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema.lowering import lower

TEXT = """
protocol p { source "no document: rules of types" endian big roles a, b }
limits { frame = 64 @rule(too_large) }

type Text   = ascii[Length] @rule(bad_text)
type Other  = Text
type Length = i8 @rule(bad_length)
type Count  = i8 @rule(bad_count)
type Inside = u8[] in Chunk[until not more] @rule(bad_join)
enum Kind : u8 @rule(bad_kind) { ONE = 1 }
union Value : u8 @rule(bad_value) {
  Number 1 : u8
  Word   2 : bool @rule(bad_word)
  Rest   3 : bytes[] @rule(no_end)
}
struct Chunk { size : i8 := count(data) @rule(bad_size)  more : bool  data : bytes[size] }

frame Frame { type : u8 := code(body)  body : match type }
message Plain  1 { text : Text }
message Second 2 { text : Other }
message Own    3 { text : Text @rule(own) }
message Items  4 { texts : Text[Count] }
message Kinds  5 { kind : Kind }
message Values 6 { value : Value only Number, Word, Rest  last : u8 }
message Joined 7 { inside : Inside }
message Some   8 { values : Value[u8] where count(values) > 0 @rule(at_least_one) }
message Large  9 { data : bytes[u8] @rule(own) }

rule bad_text "1" rule bad_length "2" rule bad_count "3" rule bad_join "4" rule bad_kind "5" rule bad_value "6"
rule bad_word "7" rule no_end "8" rule bad_size "9" rule own "10" rule at_least_one "11" rule too_large "12"
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    path = tmp_path_factory.mktemp("rules") / "p.wire"
    path.write_text(TEXT, encoding="utf-8")
    report, sources = Report(), Sources()
    subject = load_protocol(path, sources, report, roots=(path.parent,))
    assert subject is not None, render(report, sources, colour=False)
    return lower(subject.protocol)


@pytest.mark.parametrize(
    ("octets", "code", "rule"),
    [
        pytest.param("01 01 ff", "invalid_text", "bad_text", id="field"),
        pytest.param("01 ff", "invalid_value", "bad_length", id="length"),
        pytest.param("02 01 ff", "invalid_text", "bad_text", id="type-of-type"),
        pytest.param("03 01 ff", "invalid_text", "own", id="field-before-type"),
        pytest.param("04 01 01 ff", "invalid_text", "bad_text", id="item"),
        pytest.param("04 ff", "invalid_value", "bad_count", id="count"),
        pytest.param("05 02", "invalid_enum", "bad_kind", id="enum"),
        pytest.param("06 09 00", "unknown_code", "bad_value", id="union"),
        pytest.param("06 02 02 00", "invalid_value", "bad_word", id="variety"),
        pytest.param("06 03 00", "unknown_code", "no_end", id="variety-without-end"),
        pytest.param("07 ff 00", "invalid_value", "bad_size", id="size-of-another-field"),
        pytest.param("08 00", "constraint", "at_least_one", id="where"),
        pytest.param("08 01 09", "unknown_code", "bad_value", id="union-before-list"),
        pytest.param("09 7f", "limit_exceeded", "too_large", id="limit-before-field"),
    ],
)
def test_an_error_carries_the_rule_of_the_innermost_that_names_one(
    plan: Schema, octets: str, code: str, rule: str
) -> None:
    data = bytes.fromhex(octets)
    with pytest.raises(DecodeError) as caught:
        explain(plan, data, 0, len(data), Options())
    assert (caught.value.code, caught.value.rule) == (code, rule)
