"""Renderings of reports, word for word."""

import json
import re
from pathlib import Path

import pytest

from wiregen.language.diagnostics import OUTPUT_FORMATS, Diagnostic, Label, Report, Span, render
from wiregen.language.source import Source, Sources

TIDE = "message A 1 from client {}\n\nmessage B 1 from client {}\n"


def span(start: int, end: int, source: str = "a.wire") -> Span:
    return Span(source=source, start=start, end=end)


def sources_of(**texts: str) -> Sources:
    return Sources(
        *(Source(name=f"{name}.wire", path=Path(f"{name}.wire"), text=text) for name, text in texts.items())
    )


def report_of(*diagnostics: Diagnostic) -> Report:
    report = Report()
    for diagnostic in diagnostics:
        report.add(diagnostic)
    return report


def check_full(text: str, place: Span, expected: str, *others: Label) -> None:
    """Hold the rows between the header and the summary to the expected text."""
    report = Report()
    report.error("WG1234", "message", place, label="label", others=others)
    rendered = render(report, sources_of(a=text, b="first\nsecond\n"))
    head, foot = "error[WG1234]: message\n", "\n1 error\n"
    assert rendered.startswith(head)
    assert rendered.endswith(foot)
    assert rendered[len(head) : -len(foot)] == expected.removeprefix("\n")


# --- full


def test_full_is_the_house_example() -> None:
    report = Report()
    report.error(
        "WG2004",
        "type code 1 is already used by `A`",
        span(36, 37),
        label="second use",
        others=[Label(span=span(8, 9), text="first used here")],
        help="give the message an unused code: 2 is free for messages of the client",
    )
    report.warning("WG2040", "unused", span(0, 7))
    report.warning("WG2041", "nothing sends it", None, help="add a role")
    assert render(report, sources_of(a=TIDE)) == """\
warning[WG2041]: nothing sends it
  = help: add a role

warning[WG2040]: unused
 --> a.wire:1:1
  |
1 | message A 1 from client {}
  | ^^^^^^^

error[WG2004]: type code 1 is already used by `A`
 --> a.wire:3:9
  |
3 | message B 1 from client {}
  |         ^ second use
1 | message A 1 from client {}
  |         - first used here
  = help: give the message an unused code: 2 is free for messages of the client

1 error, 2 warnings
"""


def test_empty_report_renders_to_nothing_or_an_empty_list() -> None:
    rendered = {output: render(Report(), Sources(), output) for output in OUTPUT_FORMATS}
    assert (rendered["full"], rendered["concise"], rendered["json"], rendered["github"]) == (
        "",
        "",
        "[]\n",
        "",
    )
    assert json.loads(rendered["sarif"])["runs"][0]["results"] == []


FULL_CASES = [
    pytest.param(
        "\tx : u8\n",
        span(1, 2),
        """
 --> a.wire:1:2
  |
1 |     x : u8
  |     ^ label
""",
        id="tab-before",
    ),
    pytest.param(
        "a\tb",
        span(1, 3),
        """
 --> a.wire:1:2
  |
1 | a    b
  |  ^^^^^ label
""",
        id="tab-inside",
    ),
    pytest.param(
        "漢字 x 漢 y",
        span(3, 6),
        """
 --> a.wire:1:4
  |
1 | 漢字 x 漢 y
  |      ^^^^ label
""",
        id="wide",
    ),
    pytest.param(
        "e\u0301 x",
        span(3, 4),
        """
 --> a.wire:1:4
  |
1 | e\u0301 x
  |   ^ label
""",
        id="combining",
    ),
    pytest.param(
        "a\x1b[2Jb\u202ec",
        span(6, 7),
        """
 --> a.wire:1:7
  |
1 | a\\x1b[2Jb\\u202ec
  |          ^^^^^^ label
""",
        id="terminal-and-bidi",
    ),
    pytest.param(
        "first\r\nsecond\r\n",
        span(7, 99),
        """
 --> a.wire:2:1
  |
2 | second
  | ^^^^^^ label
""",
        id="carriage-returns",
    ),
    pytest.param(
        "one {\n  two\n}\n",
        span(4, 13),
        """
 --> a.wire:1:5
  |
1 | one {
  |     ^ label
""",
        id="several-lines",
    ),
    pytest.param(
        "one\n",
        span(4, 4),
        """
 --> a.wire:2:1
  |
2 |
  | ^ label
""",
        id="end-of-file-after-line-end",
    ),
    pytest.param(
        "one",
        span(3, 3),
        """
 --> a.wire:1:4
  |
1 | one
  |    ^ label
""",
        id="end-of-file",
    ),
    pytest.param(
        "",
        span(0, 0),
        """
 --> a.wire:1:1
  |
1 |
  | ^ label
""",
        id="empty-file",
    ),
    pytest.param(
        "one\ntwo",
        span(-5, -9),
        """
 --> a.wire:1:1
  |
1 | one
  | ^ label
""",
        id="before-the-text",
    ),
    pytest.param(
        "one\ntwo",
        span(500, 20),
        """
 --> a.wire:2:4
  |
2 | two
  |    ^ label
""",
        id="behind-the-text",
    ),
    pytest.param(
        "one",
        span(0, 1, "gone.wire"),
        """
 --> gone.wire
  | label
""",
        id="source-not-at-hand",
    ),
    pytest.param(
        "x",
        span(0, 1, "\x1b]0;\n.wire"),
        """
 --> \\x1b]0;\\n.wire
  | label
""",
        id="hostile-file-name",
    ),
]


@pytest.mark.parametrize(("text", "place", "expected"), FULL_CASES)
def test_full_shows_one_place(text: str, place: Span, expected: str) -> None:
    check_full(text, place, expected)


def test_full_numbers_are_aligned_on_the_widest() -> None:
    check_full(
        "\n" * 9 + "ten\n",
        span(9, 12),
        """
  --> a.wire:10:1
   |
10 | ten
   | ^^^ label
 1 |
   | - above
""",
        Label(span=span(0, 0), text="above"),
    )


def test_full_shows_other_files_with_their_own_address() -> None:
    check_full(
        "here\n",
        span(0, 4),
        """
 --> a.wire:1:1
  |
1 | here
  | ^^^^ label
 --> b.wire:2:1
  |
2 | second
  | ------ there
1 | first
  | - and there
 --> a.wire:1:2
  |
1 | here
  |  --
""",
        Label(span=span(6, 12, "b.wire"), text="there"),
        Label(span=span(0, 1, "b.wire"), text="and there"),
        Label(span=span(1, 3), text=""),
    )


def test_full_repeats_no_line_for_a_second_mark_on_it() -> None:
    check_full(
        "a = a\n",
        span(4, 5),
        """
 --> a.wire:1:5
  |
1 | a = a
  |     ^ label
  | - first
""",
        Label(span=span(0, 1), text="first"),
    )


def test_full_cuts_a_long_line_around_the_mark() -> None:
    text = "x" * 500 + "HERE" + "y" * 500
    check_full(
        text,
        span(500, 504),
        f"""
 --> a.wire:1:501
  |
1 | ...{"x" * 60}HERE{"y" * 46}...
  | {" " * 63}^^^^ label
""",
    )


def test_full_cuts_a_mark_that_is_longer_than_the_line_shown() -> None:
    check_full(
        "x" * 5_000_000,
        span(0, 5_000_000),
        f"""
 --> a.wire:1:1
  |
1 | {"x" * 110}...
  | {"^" * 110} label
""",
    )


def test_full_cuts_by_cells_where_characters_are_wide_or_escaped() -> None:
    text = "\u202e" * 200 + "漢" * 200
    row = render(report_of(Diagnostic(code="WG1", message="m", span=span(200, 201))), sources_of(a=text))
    line, marks = row.splitlines()[3:5]
    assert line == "1 | ..." + "\\u202e" * 10 + "漢" * 25 + "..."
    assert marks == "  | " + " " * 63 + "^^"


def test_full_cuts_and_escapes_messages() -> None:
    report = Report()
    report.error("WG1000", "no `\n\x1b[31m`" + "x" * 1000, None, help="see\rthere")
    head, help_ = render(report, Sources()).splitlines()[:2]
    assert head.startswith("error[WG1000]: no `\\n\\x1b[31m`xxx")
    assert head.endswith("xxx...")
    assert len(head) < 450
    assert help_ == "  = help: see\\rthere"


def test_colour_only_adds_our_own_sequences() -> None:
    report = Report()
    report.error(
        "WG1000", "m\x1b[5m", span(0, 1), label="l", others=[Label(span=span(0, 1), text="o")], help="h"
    )
    sources = sources_of(a="x\x1b[6m")
    coloured, plain = render(report, sources, colour=True), render(report, sources)
    assert coloured.startswith("\x1b[1;31merror[WG1000]\x1b[0m\x1b[1m: m\\x1b[5m\x1b[0m\n")
    assert re.sub(r"\x1b\[[0-9;]+m", "", coloured) == plain
    assert "\x1b[5m" not in coloured
    assert "\x1b" not in plain


# --- concise


def fault(**changes: object) -> Diagnostic:
    fields = {
        "code": "WG2004",
        "message": "50% of a:b, c\r\nd",
        "span": span(36, 37),
        "label": "second",
        "others": (Label(span=span(8, 9), text="first"),),
        "help": "fix it",
    }
    return Diagnostic(**(fields | changes))  # type: ignore[arg-type]


def test_concise_has_one_line_for_each_finding() -> None:
    report = report_of(fault(), fault(span=None, severity="note"), fault(span=span(0, 0, "gone.wire")))
    assert render(report, sources_of(a=TIDE), "concise") == (
        "note[WG2004] 50% of a:b, c\\r\\nd\n"
        "a.wire:3:9: error[WG2004] 50% of a:b, c\\r\\nd\n"
        "gone.wire: error[WG2004] 50% of a:b, c\\r\\nd\n"
    )
