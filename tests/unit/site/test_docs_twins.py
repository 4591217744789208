"""The Markdown twins: they say what the pages say, their links lead somewhere, and nothing of a stranger acts in them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.unit.docs_sites import FOLDERS, SHIPPED, Page, names_in, shipped_site, site_of_text
from tests.unit.site.test_docs_site import hostile_text

from wiregen.generate.escaping import code, markdown
from wiregen.site.pages.prose import Prose

READER = MarkdownIt("commonmark", {"html": True}).enable("table")
HEAD = 'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB }\n'
FRAME = "frame Frame { type : u8 := code(body)  body : match type }\n"


def tokens(text: str) -> Iterator[Token]:
    for token in READER.parse(text):
        yield token
        yield from token.children or ()


# ---- what is said


def test_where_a_message_is_said_stands_in_its_twin(tmp_path: Path) -> None:
    text = f"""{HEAD}{FRAME}
message M 1 from a {{
  old : u8 @since("2") @deprecated("nobody reads it") @source("Old things")
  pin : utf8[u8] @secret
}}
session Talk {{ state alone {{ a M when old > 3 violates strange  any any => {{}} }} }}
rule strange "No more than 3."
"""
    twin = site_of_text(text, tmp_path)["p/M.md"].decode()
    assert (
        "## Where it is used" in twin
        and "Session [Talk](session-Talk.md), in alone, said by a, when `old > 3`: refused: strange" in twin
    )
    row = next(line for line in twin.splitlines() if "| old |" in line)
    assert "Source: Old things. Since: 2. Deprecated: nobody reads it." in row
    assert "Secret: never shown." in next(line for line in twin.splitlines() if "| pin |" in line)


def test_an_erratum_reads_as_a_sentence_even_with_a_colon_of_its_own(tmp_path: Path) -> None:
    text = f'{HEAD}{FRAME}message M 1 from a {{ x : bool @errata("the tables: 1 bit") }}\n'
    files = site_of_text(text, tmp_path)
    said = "the document says otherwise — the tables: 1 bit"
    assert f"Erratum: {said}." in files["p/M.md"].decode()
    assert f"Erratum {said}" in Page(files["p/M.html"].decode()).text


INSIDE = """
open enum Kind : u8 {
  /// The first.
  ONE = 1
}
coding Length : u8 { 0 .. 253  254 => u16 }
struct Leaf { kind : Kind  text : utf8[u8] lenient }
struct Spelt { leaf : Leaf if 1 > 0 }
union Choice : u8 { Pair 1 { a : u8  b : { c : Leaf } if a > 1 }  Nil 2 {} }
enum Large : u8 { MANY }
message Item 2 from a { leaf : Leaf }
message M 1 from a { spelt : Spelt  data : bytes[Length]  choice : Choice[u8] if 1 > 0  large : Large  inner : Frame[2] if 1 > 0 }
"""


def test_a_page_shows_the_small_types_that_its_message_holds(tmp_path: Path) -> None:
    many = "  ".join(f"N{number} = {number}" for number in range(30))
    files = site_of_text(f"{HEAD}{FRAME}{INSIDE.replace('MANY', many)}", tmp_path)
    twin, page = files["p/M.md"].decode(), Page(files["p/M.html"].decode())
    inside = twin.partition("## Types inside")[2].partition("## Example")[0]
    titles = re.findall(r"^### (.*)$", inside, re.MULTILINE)
    assert sorted(titles) == [
        "[Choice](Choice.md) (union)", "[Frame](Frame.md) (frame)", "[Kind](Kind.md) (enum)", "[Leaf](Leaf.md) (struct)",
        "[Length](Length.md) (coding)",
    ]  # fmt: skip
    assert "- 1: ONE. The first." in inside and "Number: `u8`; unknown numbers are kept" in inside
    assert "- 1: Pair `a : u8, b : { c :` [`Leaf`](Leaf.md) `} if a > 1`" in inside
    assert "- 2: [Item](Item.md) `leaf :` [`Leaf`](Leaf.md)" in inside
    assert "| 0 | 1 byte | kind | [`Kind`](Kind.md) |" in inside and "`lenient` (`text`)" in inside
    assert "On pages of their own: [Large](Large.md)." in inside
    assert (
        "- 254: then u16" in inside
        and "Types inside" in page.text
        and "On pages of their own: Large." in page.text
    )
    ids = page.all("id")
    assert len(ids) == len(set(ids)) and "Leaf.kind" in ids


def test_a_message_without_named_types_has_none_inside(tmp_path: Path) -> None:
    files = site_of_text(f"{HEAD}{FRAME}message M 1 from a {{ x : u8 }}\n", tmp_path)
    assert "Types inside" not in files["p/M.md"].decode() + files["p/M.html"].decode()


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_twin_of_a_message_leads_to_the_types_that_the_page_leads_to(folder: str) -> None:
    twins = names_in(folder, ".md")
    types = {name.rpartition("/")[2] for name in twins if "/vectors-" not in name}
    assert twins
    missing = {name: types_missing(name, types) for name in twins}
    assert {name: types for name, types in missing.items() if types} == {}


def types_missing(name: str, types: set[str]) -> set[str]:
    """Return the types to which a page leads and its twin does not; none of a page that shows no message."""
    text = shipped_site()[name].decode()
    if not re.search(r"^# \w+ \((message|struct|frame|preamble)\)$", text, re.MULTILINE):
        return set()
    page = Page(shipped_site()[name.removesuffix(".md") + ".html"].decode())
    main = [
        each["href"]
        for _, each in page.elements
        if each.get("href") and each.get("rel") not in ("prev", "next")
    ]
    led = {url.removesuffix(".html") + ".md" for url in main if re.fullmatch(r"[\w-]+\.html", url)} & types
    twin = {str(token.attrGet("href")) for token in tokens(text) if token.type == "link_open"}
    return led - twin - {"index.md", "rules.md", "ledger.md", "coverage.md"}


def test_members_and_widths_stand_in_the_twin(tmp_path: Path) -> None:
    text = f"""{HEAD}
enum Kind : u8 {{ ONE = 1 @deprecated("edition 2")  TWO = 2 }}
coding Length : u8 {{ 0 .. 253  254 => u16  255 => null }}
struct S {{ kind : Kind  data : bytes[Length] }}
"""
    files = site_of_text(text, tmp_path)
    kind, length = files["p/Kind.md"].decode(), files["p/Length.md"].decode()
    assert "| ONE |  Deprecated: edition 2. |" in kind and "- [S.kind](S.md)" in kind
    assert (
        "| 254 | then u16 |" in length
        and "| 255 | null |" in length
        and "| 0 .. 253 | the value itself |" in length
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_the_twin_of_the_overview_leads_to_what_the_page_leads_to(name: str) -> None:
    files = shipped_site()
    page = Page(files[f"{name}/index.html"].decode())
    led = {
        url.partition("#")[0].removesuffix(".html")
        for url in page.all("href")
        if not url.startswith(("..", "data:"))
    }
    twin = {
        token.attrGet("href") or ""
        for token in tokens(files[f"{name}/index.md"].decode())
        if token.type == "link_open"
    }
    assert led - {str(url).removesuffix(".md") for url in twin} <= {
        "",
        "document",
        "index",
        "index.md",
        "index.json",
        "print.css",
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_links_of_twins_lead_somewhere(folder: str) -> None:
    twins = names_in(folder, ".md")
    assert twins
    assert [(name, url) for name in twins for url in dead_links(name)] == []


def dead_links(name: str) -> Iterator[str]:
    """Yield the links of a twin to what the site does not have."""
    for token in tokens(shipped_site()[name].decode()):
        url = str(token.attrGet("href") or "") if token.type == "link_open" else ""
        if url and not url.startswith("https://"):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), url))
            if target not in shipped_site():
                yield url


def test_a_site_without_vectors_says_how_they_are_made(tmp_path: Path) -> None:
    text = f"{HEAD}{FRAME}message M 1 from a {{}}\nsession Talk {{ state alone {{ a M => {{}} }} }}\n"
    files = site_of_text(text, tmp_path)
    for page in ("p/index", "p/session-Talk"):
        assert "wiregen vectors build p makes them" in Page(files[f"{page}.html"].decode()).text
        assert b"wiregen vectors build p" in files[f"{page}.md"]
    assert not [name for name in SHIPPED if b"vectors build" in shipped_site()[f"{name}/index.html"]]


# ---- what does not act

PARTS = [
    "`",
    "``",
    "```",
    "~~~",
    "~~~~",
    "<script>",
    "<!--",
    "](x)",
    "[x]: y",
    "\n",
    "\n\n",
    "- ",
    "> ",
    "    ",
    "  ",
    "|",
    "\\",
    "a",
    " ",
    "&lt;",
]
STRANGE = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


def harm_in(text: str) -> list[str]:
    return [
        token.type
        for token in tokens(text)
        if token.type in ("html_inline", "html_block", "link_open", "image")
    ]


@settings(max_examples=400, deadline=None)
@given(STRANGE, STRANGE, STRANGE)
def test_texts_of_strangers_do_not_act_whatever_stands_beside_them(one: str, two: str, three: str) -> None:
    first, second = Prose(text=one), Prose(text=two)
    text = f"# A\n\n{first.md}\n\n## Own heading\n\n| a | b | c |\n|---|---|---|\n| {first.cell} | {second.cell} | {code(three)} |\n\n- {second.cell}\n"
    assert harm_in(text) == [], text
    found = list(tokens(text))
    headings = [found[at + 1].content for at, token in enumerate(found) if token.type == "heading_open"]
    assert "Own heading" in headings and any(token.type == "table_open" for token in found), text


def test_code_stays_as_it_is_and_nothing_goes_on_behind_a_text() -> None:
    block = "Before a < b.\n~~~\nif a < b:\n~~~\nBehind `x < y` and a < b."
    assert markdown(block) == "Before a \\< b.\n~~~\nif a < b:\n~~~\nBehind `x < y` and a \\< b."
    assert markdown("~~~~\nnever ended") == "\\~\\~\\~\\~\nnever ended"
    assert markdown("a lone ` here") == "a lone \\` here"
    assert markdown("\\<script>") == "\\<script\\>"
    assert markdown("\\\\<script>") == "\\\\\\<script\\>"


def test_no_text_of_a_hostile_file_acts_in_a_twin(tmp_path: Path) -> None:
    unclosed = hostile_text().replace("/// <img", "/// ~~~~\n///\n/// <img")
    for name, content in site_of_text(unclosed, tmp_path).items():
        if name.endswith(".md"):
            text = content.decode()
            assert not [
                token for token in tokens(text) if token.type in ("html_inline", "html_block", "image")
            ], name
            urls = [str(token.attrGet("href")) for token in tokens(text) if token.type == "link_open"]
            assert all(re.fullmatch(r"[\w.-]+(/[\w.-]+)?", url) for url in urls), (name, urls)
