"""The guide is right: its examples are built, its programs run, its notation is the grammar's."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.unit.docs_sites import loaded, shipped_site

from wiregen.formats.jsonl import LineEncoder
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report, error_codes, known_codes
from wiregen.schema.lowering import lower
from wiregen.site.pages.grammar import notation_of_rules, rule_names
from wiregen.site.pages.guide import guide_pages
from wiregen.site.pages.guide_files import handbook_folder

GUIDE = sorted(handbook_folder().joinpath("guide").glob("*.md"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in GUIDE}
EXAMPLES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(handbook_folder().joinpath("guide", "examples").glob("*.wire"))
}
FILLED = re.compile(r"^```(?:text|wire) (grammar|example): ([a-z_ ]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block that is made from rules of the grammar, or from a file of `examples/`."""
USED = {
    kind: [name for text in TEXTS.values() for each, names, _ in FILLED.findall(text) if each == kind for name in names.split()]
    for kind in ("grammar", "example")
}  # fmt: skip


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.stem)
def test_the_notation_and_the_examples_of_a_chapter_are_those_of_their_sources(path: Path) -> None:
    text = FILLED.sub(filled, TEXTS[path.stem])
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "make update-docs writes it"


def filled(found: re.Match[str]) -> str:
    kind, names, _ = found.groups()
    if kind == "grammar":
        return f"```text grammar: {names}\n{notation_of_rules(tuple(names.split()))}\n```"
    return f"```wire example: {names}\n{EXAMPLES[names].rstrip()}\n```"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_language_is_checked_and_built(name: str) -> None:
    subject, _ = loaded(handbook_folder() / "guide" / "examples" / f"{name}.wire")
    report = Report()
    package = make(subject, ("native",), report)
    assert package is not None and not report.diagnostics, [each.message for each in report.diagnostics]


def test_the_number_that_is_said_of_the_coding_is_laid_so() -> None:
    """The first number is the value, or says which one follows."""
    protocol = loaded(handbook_folder() / "guide" / "examples" / "choices.wire")[0].protocol
    record = {
        "message": "Store",
        "header": {},
        "fields": {"kind": 0, "place": 0, "value": {"Nothing": {}}, "data": "61" * 300},
    }
    frame = LineEncoder(lower(protocol)).encode({**record, "from": "client"})
    assert "300 is `fe 01 2c`" in TEXTS["language"]
    assert frame[-303:-300] == bytes.fromhex("fe 01 2c")


def built(name: str) -> Any:
    """Return the package of an example of the guide."""
    package = make(
        loaded(handbook_folder() / "guide" / "examples" / f"{name}.wire")[0], ("native",), Report()
    )
    assert package is not None
    return package.native


def test_bit_fields_and_padding_are_laid_out_as_the_language_says() -> None:
    assert "In the byte 0x25, `a : u3 b : u5` are 1 and 5 with `msb`, 5 and 4 with `lsb`." in " ".join(
        TEXTS["language"].split()
    )
    bits = built("bits")
    message = bits.decode(bytes.fromhex("01 25 03 616263 ffffff 00000001")).message
    assert (message.low, message.high, message.name, message.sum) == (5, 4, "abc", 1)
    assert bits.encode(message) == bytes.fromhex("01 25 03 616263 000000 00000001")


def test_size_counts_a_prefix_and_count_does_not(tmp_path: Path) -> None:
    assert 'the text "hi" as `utf8[u16]`, `size` is 4 and `count` is 2' in " ".join(TEXTS["language"].split())
    path = tmp_path / "p.wire"
    path.write_text("""protocol p { source "None" endian big roles a, b }
limits { frame = 1 KiB }
frame Frame { type : u8 := code(body)  body : match type }
message M 1 { n_bytes : u8 := size(text)  n : u8 := count(text)  text : utf8[u16] }
""")
    package = make(loaded(path)[0], ("native",), Report())
    assert package is not None
    assert package.native.encode(package.native.M(text="hi")) == bytes.fromhex("01 04 02 0002 6869")


def test_alternatives_have_the_attribute_code_and_need_it_where_there_are_several() -> None:
    choices = built("choices")
    words = choices.Value.Words(code=3, first="a", second="b")
    data = choices.encode(choices.Store(kind=0, place=0, value=words, data=b""))
    assert choices.decode(data).message.value.code == 3
    assert choices.Value.Number.code == 1
    with pytest.raises(TypeError, match="code"):
        choices.Value.Words(first="a", second="b")


def test_a_frame_of_one_message_needs_no_code() -> None:
    single = built("single")
    assert single.encode(single.Sample(sensor=7, tenths=-35)) == bytes.fromhex("0004 0007 ffdd")


def test_the_message_of_the_section_on_blocks_is_read_so() -> None:
    subject, _ = loaded(handbook_folder() / "guide" / "examples" / "blocks.wire")
    package = make(subject, ("native",), Report())
    assert package is not None and "`01 00 02 01 61 68 69`" in TEXTS["language"]
    frame = bytes.fromhex("010007 01 0002 01 61 6869")
    message = package.native.decode(frame).message
    shown = {name: getattr(message, name) for name in ("kind", "to", "x", "y", "name", "label")}
    assert shown == {"kind": 1, "to": None, "x": 2, "y": None, "name": "a", "label": b"hi"}
    assert package.native.encode(message) == frame


def test_every_example_and_every_rule_of_the_grammar_is_shown_once() -> None:
    assert sorted(USED["example"]) == sorted(EXAMPLES)
    assert sorted(USED["grammar"]) == sorted(rule_names())


def test_the_notation_is_that_of_the_grammar() -> None:
    assert notation_of_rules(("member", "effect")).splitlines() == [
        'member        : NAME "=" code annotation*',
        'effect        : "=>" NAME updates?',
        '              | "=>" updates',
        '              | "violates" NAME "lenient"?',
    ]
    whole = notation_of_rules(rule_names())
    assert not re.search(r"->|\b_|\bdocs\b|SET_WORD|/", re.sub(r'"[^"]*"', "", whole)), whole


def test_every_chapter_with_a_program_is_run() -> None:
    """tests/unit/site/test_docs_commands.py runs the program of `start`, tests/pipeline/test_docs_snippets.py those of `pipeline`,
    tests/interop/test_kaitai.py that of `kaitai`.
    """
    assert {name for name, text in TEXTS.items() if "```python\n" in text} == {"start", "pipeline", "kaitai"}


def test_every_code_has_a_page_that_others_lead_to() -> None:
    files = shipped_site()
    index = files["wiregen-guide/codes.html"].decode()
    for code in (*known_codes(), *error_codes()):
        assert f"wiregen-guide/{code}.html" in files
        assert f'href="{code}.html"' in index
    assert 'href="../wiregen-guide/truncated.html"' in files["lumberjack/Data.html"].decode()


def test_links_of_pages_lead_to_pages_and_those_elsewhere_are_text() -> None:
    for page in guide_pages():
        assert "../" not in "".join(re.findall(r'href="([^"]*)"', page.html)), page.title
        assert page.title


@pytest.mark.parametrize(
    ("page", "target"),
    [
        ("start", "WG2001"),
        ("start", "codes"),
        ("start", "sessions"),
        ("start", "glossary"),
        ("projects", "plugins"),
    ],
)
def test_a_link_to_the_file_of_a_page_leads_to_the_page(page: str, target: str) -> None:
    view = next(view for view in guide_pages() if view.shell.here == page)
    assert f'href="{target}.html"' in view.html and f"]({target}.md)" in view.md


def test_the_glossary_is_in_the_navigation_of_the_site() -> None:
    files = shipped_site()
    assert b"<strong>reference codec</strong>" in files["wiregen-guide/glossary.html"]
    for page in ("index.html", "wiregen-guide/start.html"):
        assert b"glossary.html" in files[page], page


def test_texts_of_the_guide_are_shipped() -> None:
    text = Path(__file__).resolve().parents[3].joinpath("pyproject.toml").read_text()
    for name in (
        "docs/guide",
        "docs/glossary.md",
        "docs/plugins.md",
        "docs/serializations.md",
        "docs/sessions.md",
        "docs/vectors.md",
    ):
        assert text.count(f'"{name}"') == 2


def test_alternatives_of_a_sign_are_in_parentheses() -> None:
    assert notation_of_rules(("term",)).splitlines()[0].endswith('term ("*" | "/" | "%") unary')
