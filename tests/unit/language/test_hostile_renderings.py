"""No text of a stranger leaves a rendering raw, adds a line to it or makes it fail."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from wiregen.language.diagnostics import OUTPUT_FORMATS, Diagnostic, Label, Report, Span, render
from wiregen.language.source import Source, Sources


def sources_of(**texts: str) -> Sources:
    return Sources(
        *(Source(name=f"{name}.wire", path=Path(f"{name}.wire"), text=text) for name, text in texts.items())
    )


def report_of(*diagnostics: Diagnostic) -> Report:
    report = Report()
    for diagnostic in diagnostics:
        report.add(diagnostic)
    return report


TEXTS = st.text(
    st.sampled_from("ab {}\n\r\t\0\x1b\x7f\x9b%:,漢\u0301\u202e\u2028\ufeff\udc80\U000e0001")
    | st.characters()
)
OFFSETS = st.integers(-5, 60) | st.integers()
SPANS = st.builds(Span, source=st.sampled_from(["a.wire", "b.wire", ""]) | TEXTS, start=OFFSETS, end=OFFSETS)
DIAGNOSTICS = st.builds(
    Diagnostic,
    code=TEXTS,
    message=TEXTS,
    span=st.none() | SPANS,
    label=TEXTS,
    others=st.lists(st.builds(Label, span=SPANS, text=TEXTS), max_size=3).map(tuple),
    help=st.none() | TEXTS,
    severity=st.sampled_from(["error", "warning", "note"]),
)


@given(texts=st.tuples(TEXTS, TEXTS), diagnostics=st.lists(DIAGNOSTICS, max_size=3))
def test_any_report_over_any_text_renders_without_raw_control_characters(
    texts: tuple[str, str], diagnostics: list[Diagnostic]
) -> None:
    sources = sources_of(a=texts[0], b=texts[1])
    for output in OUTPUT_FORMATS:
        rendered = render(report_of(*diagnostics), sources, output)
        assert rendered.replace("\n", "").isprintable()
        rendered.encode()


@given(diagnostics=st.lists(DIAGNOSTICS, max_size=3))
def test_no_text_adds_a_line_or_a_command(diagnostics: list[Diagnostic]) -> None:
    report = report_of(*diagnostics)
    for output in ("concise", "github"):
        rows = render(report, Sources(), output).split("\n")[:-1]
        assert len(rows) == len(report.diagnostics)
    assert all(row.startswith(("::error ", "::warning ", "::notice ")) for row in rows)
