"""Reports, suggestions, the display of hostile text, and the pages of the codes."""

import pytest

from wiregen.language.diagnostics import (
    Diagnostic,
    Report,
    Severity,
    Span,
    did_you_mean,
    display_width,
    explanation,
    known_codes,
    suggest,
    summary,
    title,
    visible,
)
from wiregen.language.diagnostics.report import MAX_OF_A_SEVERITY


def span(start: int, end: int, source: str = "a.wire") -> Span:
    return Span(source=source, start=start, end=end)


# --- the report


def test_report_sorts_by_source_place_and_code_and_drops_exact_duplicates() -> None:
    report = Report()
    report.error("WG3002", "later", span(5, 6))
    report.warning("WG2001", "other file", span(0, 1, "b.wire"))
    report.error("WG3001", "later", span(5, 6))
    report.error("WG3002", "later", span(5, 6))
    report.note("WG5002", "nowhere", None)
    report.error("WG2001", "first", span(1, 2))
    found = [(diagnostic.code, diagnostic.message) for diagnostic in report.diagnostics]
    assert found == [
        ("WG5002", "nowhere"),
        ("WG2001", "first"),
        ("WG3001", "later"),
        ("WG3002", "later"),
        ("WG2001", "other file"),
    ]


@pytest.mark.parametrize(("severity", "stops"), [("error", True), ("warning", False), ("note", False)])
def test_only_errors_stop_a_build(severity: Severity, stops: bool) -> None:
    report = Report()
    report.add(Diagnostic(code="WG1000", message="m", span=None, severity=severity))
    assert report.has_errors is stops
    assert report.diagnostics[0].severity == severity


def test_a_warning_about_the_place_of_an_error_is_not_shown() -> None:
    """Whether it would still hold, is known once the error is gone."""
    report = Report()
    report.warning("WG3050", "at the place of an error", span(5, 6))
    report.note("WG3061", "a note there", span(5, 6))
    report.warning("WG3050", "longer", span(5, 7))
    report.warning("WG3050", "of another file", span(5, 6, "b.wire"))
    report.warning("WG5002", "nowhere", None)
    report.error("WG3084", "here", span(5, 6))
    report.error("WG5003", "nowhere", None)
    shown = [diagnostic.message for diagnostic in report.diagnostics]
    assert shown == ["nowhere", "nowhere", "longer", "a note there", "here", "of another file"]


def test_merge_takes_findings_errors_and_dropped_count() -> None:
    report, other = Report(), Report()
    for number in range(MAX_OF_A_SEVERITY + 2):
        other.error("WG1000", "m", span(number, number))
    report.warning("WG1000", "w", None)
    report.merge(other)
    assert report.has_errors
    assert len(report.diagnostics) == MAX_OF_A_SEVERITY + 1
    assert report.n_dropped == 2


def test_report_keeps_a_bounded_number_of_each_severity() -> None:
    report = Report()
    for number in range(MAX_OF_A_SEVERITY + 5):
        report.warning("WG1000", "m", span(number, number))
    assert not report.is_full
    report.error("WG1000", "still kept", None)
    assert report.diagnostics[0].message == "still kept"
    assert summary(report) == f"1 error, {MAX_OF_A_SEVERITY} warnings; 5 more not shown"


def test_report_is_full_once_no_error_is_kept() -> None:
    report = Report()
    for number in range(MAX_OF_A_SEVERITY):
        assert not report.is_full
        report.error("WG1000", "m", span(number, number))
    assert report.is_full


# --- did you mean


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        pytest.param("mesage", ["message", "massage"], "message", id="one-letter-missing"),
        pytest.param(
            "SegmentRead", ["segment_reed", "segment_read"], "segment_read", id="case-and-underscores"
        ),
        pytest.param("DATA", ["DATE", "data"], "data", id="case-first"),
        pytest.param("u9", ["bool", "u8"], "u8", id="short-word"),
        pytest.param("stirng", ["string", "strung"], "string", id="neighbours-swapped"),
        pytest.param("abd", ["abz", "abc"], "abc", id="tie-goes-to-the-first-in-order"),
        pytest.param("tide", ["size"], None, id="two-of-four-letters-is-far"),
        pytest.param("x", ["y"], None, id="one-letter-is-near-to-nothing"),
        pytest.param("Frame", ["Pair", "Version"], None, id="nothing-near"),
        pytest.param("Frame", ["Frame"], None, id="never-itself"),
        pytest.param("", ["a"], None, id="empty"),
        pytest.param("a" * 49, ["a" * 48], None, id="too-long-to-compare"),
        pytest.param("___", ["_____"], "_____", id="underscores-only"),
    ],
)
def test_suggest(word: str, candidates: list[str], expected: str | None) -> None:
    assert suggest(word, candidates) == expected
    assert suggest(word, reversed(candidates)) == expected


def test_did_you_mean_is_a_help_line_or_nothing() -> None:
    assert did_you_mean("frme", ["frame"]) == "did you mean `frame`?"
    assert did_you_mean("frme", ["union"]) is None


# --- what is shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 漢", "plain é 漢"),
        ("\t\r\n", "\\t\\r\\n"),
        ("\x7f\x9b\xa0\xad", "\\x7f\\x9b\\xa0\\xad"),
        ("\u200b\u2066\ufeff\udc80", "\\u200b\\u2066\\ufeff\\udc80"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_visible_escapes_what_acts_or_hides(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("漢", 2), ("ｗ", 2), ("e\u0301", 1), ("é", 1)])
def test_display_width_counts_cells(text: str, width: int) -> None:
    assert display_width(text) == width


# --- pages


def test_every_page_has_its_title_an_example_and_a_way_out() -> None:
    assert {f"WG100{n}" for n in range(1, 10)} <= set(known_codes())
    for code in known_codes():
        page = explanation(code)
        assert page is not None
        assert page.startswith(f"# {code}: ")
        assert title(code)
        kinds = ("text",) if code.startswith("WG8") else ("wire", "toml")  # one file cannot show a change
        assert any(f"\n```{kind}\n" in page for kind in kinds)
        assert page.count("```") % 2 == 0


def test_pages_are_found_in_any_case_of_the_code() -> None:
    assert explanation("wg1003") == explanation("WG1003") is not None


@pytest.mark.parametrize(
    "code",
    ["WG9999", "", "../pages/WG1001", "WG1001.md", "gap.md", "../pages/gap", "/etc/passwd", "WG1001\0"],
)
def test_no_page_comes_from_a_path(code: str) -> None:
    assert explanation(code) is None
    assert title(code) is None
