"""Breaking changes: each written change of a protocol has its codes and its effect, and harmless ones have none."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from wiregen.generate.backends import Subject
from wiregen.generate.frontend import check_source
from wiregen.language.breaking import (
    LEVELS,
    Change,
    Level,
    compare,
    compare_numbers,
    level_of,
    report_changes,
)
from wiregen.language.diagnostics import Report, known_codes, render
from wiregen.language.source import Source, Sources

CASES = Path(__file__).resolve().parents[2] / "cases" / "breaking"
BASE = (CASES / "base.wire").read_text(encoding="utf-8")
CODES = {
    "wire": "WG8001 WG8002 WG8003 WG8004 WG8005 WG8006 WG8007 WG8008 WG8009 WG8010 WG8011",
    "api": "WG8101 WG8102 WG8103",
    "session": "WG8201 WG8202 WG8203 WG8204 WG8205",
    "defaults": "WG8301 WG8302 WG8303",
}


def cases(name: str) -> list[dict[str, list[str]]]:
    table = tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))
    found: list[dict[str, list[str]]] = table["case"]
    return found


CHANGES, HARMLESS = cases("changes"), cases("harmless")


def checked(text: str) -> Subject:
    report, sources = Report(), Sources()
    source = Source(name="tide.wire", path=Path("tide.wire"), text=text)
    sources.add(source)
    subject = check_source(source, sources, report, ())
    assert subject is not None, render(report, sources)
    return subject


@cache
def base() -> Subject:
    return checked(BASE)


def edited(texts: Sequence[str], text: str = BASE) -> str:
    """Return a text with each one of the texts, by turns, replaced by the other."""
    for one, other in zip(texts[::2], texts[1::2], strict=True):
        assert one in text, one
        text = text.replace(one, other)
    return text


def changes(texts: Sequence[str]) -> tuple[Change, ...]:
    return compare(base().protocol, checked(edited(texts)).protocol)


@pytest.mark.parametrize("case", [pytest.param(each, id=str(each["name"])) for each in CHANGES])
def test_a_change_has_its_codes_and_effect(case: dict[str, list[str]]) -> None:
    found = changes(case["replace"])
    assert [each.code for each in found] == case["codes"], found
    assert str(case.get("effect", found[0].effect)) in [each.effect for each in found]


@pytest.mark.parametrize("case", [pytest.param(each, id=str(each["name"])) for each in HARMLESS])
def test_a_harmless_change_has_no_finding(case: dict[str, list[str]]) -> None:
    text = edited(case["replace"])
    assert text != BASE
    assert compare(base().protocol, checked(text).protocol) == ()


FIELDS = """wire 1
protocol tide { endian big  roles client, server }
frame Frame { type : u8 := code(body)  body : match type }
message Height 1 { %s }
"""


def changes_of_fields(old: str, new: str) -> list[tuple[str, str]]:
    found = compare(checked(FIELDS % old).protocol, checked(FIELDS % new).protocol)
    return [(f"{each.code} {each.message}", each.effect) for each in found]


NEW = "WG8002 field `Height.x` (u16) is new"
REMOVED = "WG8002 field `Height.x` (u16) is removed"


@pytest.mark.parametrize(
    ("old", "new", "message", "effect"),
    [
        pytest.param(
            "a : u8  _ : bytes[2]  b : u8",
            "a : u8  x : u16  b : u8",
            f"{NEW}, its bytes were padding before",
            "old writers send zeros at offset 1 of `Height`, and old readers skip the value",
            id="padding becomes a field",
        ),
        pytest.param(
            "a : u8  x : u16  b : u8",
            "a : u8  _ : bytes[2]  b : u8",
            f"{REMOVED}, its bytes are padding now",
            "new writers send zeros at offset 1 of `Height`, and new readers skip the value",
            id="a field becomes padding",
        ),
        pytest.param(
            "a : u8  _ : bytes[4]",
            "a : u8  _ : u16  x : u16",
            f"{NEW}, its bytes were padding before",
            "old writers send zeros at offset 3 of `Height`, and old readers skip the value",
            id="a part of padding",
        ),
        pytest.param(
            "a : utf8[u8]  _ : bytes[2]",
            "a : utf8[u8]  x : u16",
            f"{NEW}, its bytes were padding before",
            "old writers send zeros there, and old readers skip the value",
            id="without a fixed place",
        ),
        pytest.param(
            '_ : bytes[2] == x"0102"  b : u8',
            "x : u16  b : u8",
            f"{NEW}, its bytes were a constant before",
            "old readers refuse other values at offset 0 of `Height`",
            id="a constant becomes a field",
        ),
        pytest.param(
            "a : u3  _ : u5 == 0  b : u8",
            "a : u3  flag : bit  _ : u4 == 0  b : u8",
            "WG8002 field `Height.flag` (bit) is new, its bytes were a constant before",
            "old readers refuse other values at offset 0 of `Height`",
            id="bits",
        ),
    ],
)
def test_a_field_in_the_place_of_padding_moves_nothing(old: str, new: str, message: str, effect: str) -> None:
    assert changes_of_fields(old, new) == [(message, effect)]


def test_a_field_in_the_place_of_another_one_moves_nothing() -> None:
    effect = "the bytes at offset 1 of `Height` are decoded differently"
    found = changes_of_fields("a : u8  x : u16  b : u8", "a : u8  y : i16  b : u8")
    assert found == [(REMOVED, effect), ("WG8002 field `Height.y` (i16) is new", effect)]


def test_a_field_longer_than_the_padding_before_moves_the_next_ones() -> None:
    found = changes_of_fields("a : u8  _ : bytes[2]  b : u8", "a : u8  x : u32  b : u8")
    assert [effect for _, effect in found] == [
        "every field after offset 1 of `Height` moves by -2",
        "every field from offset 1 of `Height` on moves by 4",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a : u8  _ : bytes[2]  b : u8", "a : u8  _ : u16  b : u8"),
        ("a : u7  _ : bit == false", "a : u7  _ : bit"),
        ('_ : bytes[2] == x"0000"  b : u8', "_ : bytes[2]  b : u8"),
        ("a : u8 where a <= 2", "a : u8 where a < 3"),
        ("a : i8 where a > -2 and a < 5", "a : i8 where -1 <= a and 4 >= a"),
        ("a : u3 where a >= 2  _ : u5", "a : u3 where a > 1  _ : u5"),
    ],
)
def test_texts_that_mean_the_same_bytes_have_no_finding(old: str, new: str) -> None:
    assert changes_of_fields(old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("a : u8 where a <= 2", "a : u8 where a < 2"), ("a : f32 where a <= 2", "a : f32 where a < 3")],
)
def test_other_bounds_are_found(old: str, new: str) -> None:
    (found,) = changes_of_fields(old, new)
    assert found[0].startswith("WG8005 ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("_ : u8", "_ : u8 where before > 3", id="a condition"),
        pytest.param("_ : u8 where before > 3", "_ : u8 where before > 5", id="another condition"),
        pytest.param("_ : u8", "_ : bool", id="a type with fewer values"),
        pytest.param("_ : bytes[2]", "_ : utf8[2]", id="text"),
        pytest.param("_ : u8 where before > 3  _ : u8", "_ : bytes[2]", id="a condition on a part"),
    ],
)
def test_padding_that_readers_check_is_compared(old: str, new: str) -> None:
    texts = [f"before : u8\n  {each}\n  last : u8" for each in (old, new)]
    assert changes_of_fields(*texts)


def test_equal_conditions_of_other_types_are_no_change() -> None:
    found = changes_of_fields("a : u32 where a <= 2", "a : f32 where a <= 2")
    assert not any("`where`" in message for message, _ in found)


@pytest.mark.parametrize(
    ("old", "new", "message", "effect"),
    [
        (
            "_ : u8 == 7",
            "_ : u8",
            "is padding, it was the constant `7`",
            "new writers send zeros, which old readers refuse",
        ),
        (
            "_ : u8",
            "_ : u8 == 0",
            "is the constant `0`, it was padding",
            "new readers refuse other values, which old ones skip",
        ),
    ],
)
def test_padding_is_never_set_by_hand(old: str, new: str, message: str, effect: str) -> None:
    assert changes_of_fields(old, new) == [(f"WG8004 field `Height._` {message}", effect)]


def test_there_are_enough_cases_and_each_code_has_a_level_and_a_case() -> None:
    assert len(CHANGES) >= 40 and len(HARMLESS) >= 40
    named = {code: level for level, codes in CODES.items() for code in codes.split()}
    assert {code: level_of(code) for code in named} == named
    assert list(CODES) == list(LEVELS)
    assert sorted(named) == [code for code in known_codes() if code.startswith("WG8")]
    raised = {code for case in CHANGES for code in case["codes"]}
    assert sorted(named.keys() - raised) == ["WG8011", "WG8205"]  # tests of their own, below


def test_a_session_is_removed_or_new_or_has_instances() -> None:
    without = BASE[: BASE.index("session Talk")]
    found = compare(base().protocol, checked(without).protocol)
    assert [each.code for each in found] == ["WG8205"]
    found = compare(checked(without).protocol, base().protocol)
    assert [each.code for each in found] == ["WG8205"]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ({"A.x": 1, "A.y": 2}, []),
        ({"A.x": 1, "A.y": 2, "A.z": 3}, []),
        ({"A.x": 1}, []),
        ({"A.x": 2, "A.y": 1}, ["the number of `A.x`", "the number of `A.y`"]),
        ({"A.x": 1, "A.z": 2}, ["the number 2 of `A`"]),
        ({"A.x": 1, "A.y": 2, "B.z": 2}, []),
    ],
)
def test_numbers_of_protobuf_stay(new: dict[str, int], expected: list[str]) -> None:
    found = tuple(compare_numbers({"A.x": 1, "A.y": 2}, new, "tide"))
    assert [each.code for each in found] == ["WG8011"] * len(expected)
    assert all(each.message.startswith(text) for each, text in zip(found, expected, strict=True))


def test_a_change_is_an_error_of_the_chosen_levels_at_its_declaration() -> None:
    text = edited(("metres : Metres", "metres : u32", "unit   : u8 = 7", "unit   : u8 = 8"))
    new = checked(text)
    found = compare(base().protocol, new.protocol)
    expected: dict[Level, list[str]] = {"wire": ["error", "note"], "defaults": ["note", "error"]}
    for level, severities in expected.items():
        report = Report()
        report_changes(found, new.origins, report, levels=(level,), proof=lambda change: "proven")
        assert [each.severity for each in report.diagnostics] == severities
        places = [text[each.span.start : each.span.end] for each in report.diagnostics if each.span]
        assert places == ["metres", "unit"]
        assert [each.help for each in report.diagnostics] == ["proven", None]
