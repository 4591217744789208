"""Renderings for programs: every field of JSON, the escapes of GitHub's annotations, SARIF's rules and places."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from wiregen.language.diagnostics import Diagnostic, Label, Report, Span, explanation, render
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


def test_json_gives_every_field() -> None:
    (found,) = json.loads(render(report_of(fault()), sources_of(a=TIDE), "json"))
    place = {"file": "a.wire", "line": 3, "column": 9, "end_line": 3, "end_column": 10, "offset": 36}
    other = {"file": "a.wire", "line": 1, "column": 9, "end_line": 1, "end_column": 10, "offset": 8}
    assert found == {
        "code": "WG2004",
        "severity": "error",
        "message": "50% of a:b, c\r\nd",
        **place,
        "label": "second",
        "others": [{**other, "text": "first"}],
        "help": "fix it",
    }
    assert list(found) == ["code", "severity", "message", *place, "label", "others", "help"]


@pytest.mark.parametrize(("place", "file"), [(None, None), (span(3, 4, "gone.wire"), "gone.wire")])
def test_json_says_null_for_what_is_not_known(place: Span | None, file: str | None) -> None:
    (found,) = json.loads(render(report_of(fault(span=place, others=(), help=None)), Sources(), "json"))
    assert found["file"] == file
    assert [found[key] for key in ("line", "column", "end_line", "end_column", "offset", "help")] == [
        None
    ] * 6


@pytest.mark.parametrize(
    ("diagnostic", "expected"),
    [
        pytest.param(
            fault(),
            "::error file=a.wire,line=3,endLine=3,col=9,endColumn=10,title=WG2004"
            "::50%25 of a:b, c%0D%0Ad (second)%0Aa.wire:1:9: first%0Ahelp: fix it\n",
            id="escapes",
        ),
        pytest.param(
            fault(
                message="m", span=span(0, 1, "50%:a,\nb"), label="", others=(), help=None, severity="warning"
            ),
            "::warning file=50%25%3Aa%2C%0Ab,title=WG2004::m\n",
            id="property-escapes",
        ),
        pytest.param(
            fault(message="::stop\x1b\u2028", span=None, label="", others=(), help=None, severity="note"),
            "::notice title=WG2004::::stop\\x1b\\u2028\n",
            id="no-place",
        ),
        pytest.param(
            fault(message="m", span=span(0, 30), label="", others=(), help=None),
            "::error file=a.wire,line=1,endLine=3,title=WG2004::m\n",
            id="several-lines-have-no-columns",
        ),
    ],
)
def test_github_annotation(diagnostic: Diagnostic, expected: str) -> None:
    assert render(report_of(diagnostic), sources_of(a=TIDE), "github") == expected


def test_sarif_names_version_rules_and_places() -> None:
    log = json.loads(render(report_of(fault(code="WG1003"), fault(code="ZZ1")), sources_of(a=TIDE), "sarif"))
    (run,) = log["runs"]
    assert (log["version"], run["columnKind"]) == ("2.1.0", "unicodeCodePoints")
    first, second = run["tool"]["driver"]["rules"]
    assert first["shortDescription"] == {"text": "the source is not UTF-8"}
    assert first["help"]["markdown"] == explanation("WG1003")
    assert second == {"id": "ZZ1"}
    result = run["results"][0]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("WG1003", 0, "error")
    assert result["message"]["text"] == "50% of a:b, c\r\nd (second)\nhelp: fix it"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "a.wire"},
                "region": {
                    "startLine": 3,
                    "startColumn": 9,
                    "endLine": 3,
                    "endColumn": 10,
                    "charOffset": 36,
                    "charLength": 1,
                },
            }
        }
    ]
    assert result["relatedLocations"][0]["message"] == {"text": "first"}


def test_sarif_messages_make_no_placeholders_and_no_links() -> None:
    report = report_of(fault(message="{0} [here](https://example.org)", label="", help=None))
    text = json.loads(render(report, Sources(), "sarif"))["runs"][0]["results"][0]["message"]["text"]
    assert text == "{{0}} [here] (https://example.org)"


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("/tmp/a b.wire", "file:///tmp/a%20b.wire"),
        ("javascript:x#?.wire", "javascript%3Ax%23%3F.wire"),
        ("\udc80", "%ED%B2%80"),
    ],
)
def test_sarif_addresses_are_quoted(name: str, uri: str) -> None:
    log = json.loads(render(report_of(fault(span=span(0, 0, name))), Sources(), "sarif"))
    (location,) = log["runs"][0]["results"][0]["locations"]
    assert location == {"physicalLocation": {"artifactLocation": {"uri": uri}}}


def test_junit_has_a_failed_case_for_each_error_and_warning_and_a_passed_one_for_each_note() -> None:
    note = Diagnostic(code="WG7001", message='is "assumed" <\x1b>', span=None, severity="note")
    suite = ET.fromstring(render(report_of(fault(), note), sources_of(a=TIDE), "junit"))
    assert (suite.tag, suite.attrib) == (
        "testsuite",
        {"name": "wiregen", "tests": "2", "failures": "1", "skipped": "0"},
    )
    told, failed = suite
    assert told.attrib == {"name": "WG7001"}
    assert told.findtext("system-out") == 'is "assumed" <\\u001b>'
    assert failed.attrib == {
        "name": "WG2004 a.wire:3:9",
        "classname": "a.wire",
        "file": "a.wire",
        "line": "3",
    }
    (failure,) = failed
    assert failure.get("type") == "error"
    assert "50% of a:b" in str(failure.get("message")) and "fix it" in str(failure.get("message"))


def test_junit_without_findings_is_a_case_that_passes() -> None:
    suite = ET.fromstring(render(Report(), Sources(), "junit"))
    assert suite.get("tests") == "1" and suite.get("failures") == "0"
    assert [each.attrib for each in suite] == [{"name": "no findings"}]
    assert not list(suite[0])
