"""The site as a whole: its links work, it stays small, is the same each time, and its content is true."""

from __future__ import annotations

import gzip
import json
import os
import posixpath
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.docs_sites import (
    FOLDERS,
    ROOT,
    SHIPPED,
    Page,
    chapter_of,
    files_of,
    names_in,
    shipped_chapter,
    shipped_site,
    site_of_text,
)
from tests.unit.tools.test_cli_decode import run

from wiregen.conformance.vectors.format import Invalid
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report, error_codes, known_codes
from wiregen.language.source import Sources
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.schema.lowering import lower
from wiregen.schema.walk import every_field, references
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.declarations import message_page
from wiregen.site.pages.decode_errors import faults_of
from wiregen.site.pages.named_rules import named_by
from wiregen.site.pages.navigation import reading_order
from wiregen.site.pages.page_paths import slugs_of

MOST_BYTES = 60 * 1024
DOCUMENTS = {f"{name}/document.html" for name in SHIPPED}
"""They hold the other pages of a protocol, and have no twins."""


@cache
def pages() -> list[str]:
    """Return the names of all pages. The site is built by the tests, not as they are collected: only one worker needs it."""
    return sorted(name for name in shipped_site() if name.endswith(".html"))


@cache
def page(name: str) -> Page:
    return Page(shipped_site()[name].decode())


# ---- it hangs together


def test_every_link_and_anchor_leads_somewhere() -> None:
    files = shipped_site()
    shown = {name: page(name) for name in pages()}
    ids = {name: set(each.all("id")) for name, each in shown.items()}
    dead = []
    for name, each in shown.items():
        for url in (*each.all("href"), *each.all("src")):
            if url.startswith("data:,"):
                continue
            path, _, fragment = url.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target not in files or (fragment and fragment not in ids[target]):
                dead.append((name, url))
    assert dead == []


def test_links_of_the_search_lead_somewhere() -> None:
    files = shipped_site()
    entries = json.loads(files["search.js"].decode().removeprefix("window.wiregenIndex=").removesuffix(";\n"))
    assert len(entries) > 500
    for _, _, url, _ in entries:
        path, _, fragment = url.partition("#")
        assert path in files
        assert not fragment or fragment in page(path).all("id")


def test_every_page_is_in_a_known_folder() -> None:
    assert sorted(name for folder in FOLDERS for name in names_in(folder, ".html")) == pages()
    assert {name for name in pages() if name.endswith("/document.html")} == DOCUMENTS


@pytest.mark.parametrize("folder", FOLDERS)
def test_ids_are_unique(folder: str) -> None:
    ids = {name: page(name).all("id") for name in names_in(folder, ".html")}
    assert ids
    assert [name for name, own in ids.items() if len(own) != len(set(own))] == []


def test_pages_are_small() -> None:
    sizes = {name: len(shipped_site()[name]) for name in pages()}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES and name not in DOCUMENTS} == {}


def test_the_first_load_is_small() -> None:
    files = shipped_site()
    assert len(files["site.css"]) + len(files["site.js"]) < 24 * 1024


@pytest.mark.parametrize("name", SHIPPED)
def test_the_first_load_of_a_message_is_at_most_40_kb_compressed(name: str) -> None:
    files = shipped_site()
    shared = sum(len(gzip.compress(files[each])) for each in ("site.css", "site.js", f"{name}/nav.js"))
    messages = {
        f"{name}/{slug}.html"
        for slug in slugs_of(each.name for each in shipped_chapter(name).protocol.messages).values()
    }
    assert max(len(gzip.compress(files[each])) for each in messages) + shared <= 40_000


@pytest.mark.parametrize("name", SHIPPED)
def test_a_document_holds_the_pages_of_a_protocol(name: str) -> None:
    whole = page(f"{name}/document.html")
    chapter, text = shipped_chapter(name), whole.text
    parts = [attributes["id"] for tag, attributes in whole.elements if tag == "article"]
    order = [each.url.removesuffix(".html") for each in reading_order(Book(chapter).groups)]
    assert sorted(parts) == sorted({*order} - {"coverage"})
    for part in parts:
        single = page(f"{name}/{part}.html")
        assert {f"{part}--{each}" for each in single.all("id")} - {*whole.all("id")} <= {
            f"{part}--{each}" for each in OUTSIDE
        }
    assert all(
        " ".join(rule.text.split())[:20] in text
        for rule in chapter.protocol.rules
        if "`" not in rule.text[:20]
    )
    held = {f"{part}.html" for part in parts}  # the sidebar leads to three of them
    assert not [
        url
        for url in whole.all("href")
        if url.partition("#")[0] in held - {"index.html", "rules.html", "ledger.html"}
    ]


OUTSIDE = ("content", "menu", "query", "results", "side", "theme", "toc")
"""The ids of a page that are not in its content."""


def test_the_name_of_the_protocol_is_on_each_sheet() -> None:
    for name in SHIPPED:
        assert f'@top-left{{content:"{name}"' in shipped_site()[f"{name}/print.css"].decode()


def test_nothing_is_asked_of_other_computers() -> None:
    files = shipped_site()
    for name in pages():
        loading = [
            a
            for tag, a in page(name).elements
            if tag in ("script", "link", "img", "iframe", "source", "object")
        ]
        urls = [each.get("src") or each.get("href", "") for each in loading]
        assert [url for url in urls if re.match(r"[a-z]+:|//", url) and url != "data:,"] == []
    assert not re.search(rb"@import|url\(", files["site.css"])
    assert not re.search(rb"fetch\(|XMLHttpRequest|https?:|eval|innerHTML", files["site.js"])


def test_every_page_has_its_twins() -> None:
    files = shipped_site()
    for name in sorted({*pages()} - DOCUMENTS):
        assert files[name.replace(".html", ".md")]
        json.loads(files[name.replace(".html", ".json")])


def test_llms_txt_lists_every_page() -> None:
    files = shipped_site()
    listed = re.findall(r"\]\(([^)]+)\)", files["llms.txt"].decode())
    assert set(listed) <= set(files)
    codes = {
        f"wiregen-guide/{code}.md" for code in (*known_codes(), *error_codes())
    }  # their index lists them
    vectors = {
        name.replace(".html", ".md") for name in pages() if "/vectors-" in name
    }  # the coverage lists them
    assert set(listed) == {
        name.replace(".html", ".md") for name in {*pages()} - DOCUMENTS
    } - codes - vectors - {"index.md"}


def test_two_builds_are_byte_equal() -> None:
    again = files_of(*(shipped_chapter.__wrapped__(name) for name in SHIPPED), has_guide=True)
    assert again == shipped_site()


def test_the_order_of_a_set_is_nowhere(tmp_path: Path) -> None:
    digests = set()
    for seed in ("1", "2"):
        script = (
            "import sys; sys.path[:0] = sys.argv[1:3]\n"
            "from hashlib import sha256\n"
            "from tests.unit.docs_sites import files_of, shipped_chapter\n"
            "files = files_of(shipped_chapter('reactive_streams'))\n"
            "print(sha256(b''.join(name.encode() + files[name] for name in files)).hexdigest())"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(ROOT), str(ROOT / "generator")],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        digests.add(done.stdout)
    assert len(digests) == 1


# ---- what it shows is true


@pytest.mark.parametrize("with_vectors", [True, False], ids=["with vectors", "without"])
@pytest.mark.parametrize("name", SHIPPED)
def test_every_message_has_an_example_and_the_code_of_its_tabs_runs(name: str, with_vectors: bool) -> None:
    book = Book(shipped_chapter(name, with_vectors=with_vectors))
    for message in book.protocol.messages:
        view = message_page(book, message)
        assert view.sample is not None, message.name
        snippets = {snippet.language: snippet.text for snippet in view.sample.snippets}
        assert "assert" in snippets["python"], message.name
        program = compile(snippets["python"], message.name, "exec")
        exec(program, {})  # noqa: S102 - that it runs is the point


def test_the_commands_of_the_tabs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.chdir(ROOT)
    n_encoded = 0
    for name, message_name in (
        ("lumberjack", "Data"),
        ("geode", "PutResponse"),
        ("reactive_streams", "OnNext"),
        ("pravega", "Hello"),
    ):
        book = Book(shipped_chapter(name))
        message = next(each for each in book.protocol.messages if each.name == message_name)
        sample = message_page(book, message).sample
        assert sample is not None
        text = next(each.text for each in sample.snippets if each.language == "sh")
        decode, *encode = text.splitlines()
        result = run(*shlex.split(decode)[1:])
        assert (result.exit_code, message_name in result.output) == (0, True), result.output
        for line in encode:
            _, record, _, *words = shlex.split(line)
            done = run(*words[1 : words.index("|")], data=record.encode())
            assert (done.exit_code, done.stdout_bytes.hex()) == (0, sample.hex)
            n_encoded += 1
    assert n_encoded >= 2


def test_bytes_and_pieces_of_an_example_are_the_frame() -> None:
    for name in SHIPPED:
        book = Book(shipped_chapter(name))
        for message in book.protocol.messages:
            view = message_page(book, message)
            assert view.sample is not None
            anatomy, keys = view.sample.anatomy, {row.key for row in view.layout.rows}
            shown = "".join(run.text for line in anatomy.lines for run in line.runs).replace(" ", "")
            assert shown == view.sample.hex[: len(shown)]
            assert len(shown) // 2 + anatomy.n_hidden == view.sample.size
            assert {piece.key for piece in anatomy.pieces} <= keys
            outer = [piece for piece in anatomy.pieces if not piece.is_inner]
            assert all(one.offset + one.size == other.offset for one, other in pairwise(outer))


@pytest.mark.parametrize("name", SHIPPED)
def test_offsets_of_the_table_are_those_of_the_example(name: str) -> None:
    """Where the layout knows an offset without a letter, the example has the field there."""
    book = Book(shipped_chapter(name))
    n_compared = 0
    for message in book.protocol.messages:
        view = message_page(book, message)
        assert view.sample is not None
        fixed = {row.key: int(row.offset) for row in view.layout.rows if row.offset.isdigit()}
        for piece in view.sample.anatomy.pieces:
            first = next(each for each in view.sample.anatomy.pieces if each.key == piece.key)
            if piece is first and piece.key in fixed and not piece.is_inner:
                assert piece.offset == fixed[piece.key], (message.name, piece)
                n_compared += 1
    assert n_compared >= len(book.protocol.messages)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_vectors_see_reported_is_listed(name: str) -> None:
    """Every code that a vector meets in a declaration is on that declaration's page, or on that of something inside."""
    chapter = shipped_chapter(name)
    protocol = chapter.protocol
    owners = {each.name: each.fields for each in protocol.messages}
    owners |= {each.name: each.fields for each in protocol.structs}
    owners |= {each.name: each.fields for each in protocol.frames}
    owners |= {each.name: each.fields for each in protocol.preambles}
    for union in protocol.unions:
        owners |= {f"{union.name}.{each.name}": each.fields for each in union.varieties}
    inner = {
        owner: {each.name for each in references(*(field.type for field in every_field(fields)))}
        for owner, fields in owners.items()
    }

    named = named_by(protocol)

    @cache
    def own(owner: str) -> frozenset[str]:
        return frozenset(fault.code for fault in faults_of(owner, owners.get(owner, ()), named))

    def codes(owner: str, seen: set[str]) -> set[str]:
        if owner in seen:
            return set()
        seen.add(owner)
        found = set(own(owner))
        names = inner.get(owner, set())
        names |= {each for each in owners for name in names if each.startswith(f"{name}.")}
        return found.union(*(codes(each, seen) for each in names))

    assert chapter.vectors is not None
    general = {"limit_exceeded", "trailing_bytes"}  # a frame's own, wherever its running sum ends
    missing = {
        (vector.error.path, vector.error.code)
        for vector in chapter.vectors.vectors
        if isinstance(vector, Invalid)
        and (owner := vector.error.path.partition(".")[0].partition("[")[0]) in owners
        and vector.error.code not in codes(owner, set()) | general
    }
    assert missing == set()


@pytest.mark.parametrize("name", SHIPPED)
def test_rules_of_errors_are_those_that_vectors_report(name: str) -> None:
    chapter = shipped_chapter(name)
    protocol = chapter.protocol
    owners = {each.name: each.fields for each in protocol.messages}
    owners |= {each.name: each.fields for each in protocol.structs}
    owners |= {each.name: each.fields for each in protocol.frames}
    rules: dict[tuple[str, str], set[str]] = {}
    for owner, fields in owners.items():
        for fault in faults_of(owner, fields, named_by(protocol)):
            rules.setdefault((fault.path, fault.code), set()).add(fault.rule)
    assert chapter.vectors is not None
    told = {
        ((re.sub(r"\[\d+\]", "", vector.error.path), vector.error.code), vector.error.rule or "")
        for vector in chapter.vectors.vectors
        if isinstance(vector, Invalid)
    }
    known = {(place, rule) for place, rule in told if place in rules}
    assert len(known) > 3
    assert {(place, rule) for place, rule in known if rule not in rules[place]} == set()


def test_secrets_are_not_shown() -> None:
    book = Book(shipped_chapter("pravega"))
    message = next(each for each in book.protocol.messages if each.name == "SetupAppend")
    sample = message_page(book, message).sample
    assert sample is not None
    tokens = [
        piece for piece in sample.anatomy.pieces if piece.key.startswith("SetupAppend.delegation_token")
    ]
    assert [(piece.size, piece.value) for piece in tokens] == [(2, "0")]


SECRETS = {
    "pin : ascii[4] @secret": "x" * 4,
    "pin : bytes[4] @secret": bytes(4).hex(),
    "pin : utf8[u8] @secret": "",
    "pin : uuid @secret": "00000000-0000-0000-0000-000000000000",
    "pin : u32 @secret": "0",
}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_message_is_shown_by_an_example_of_its_file(name: str) -> None:
    book = Book(shipped_chapter(name))
    samples = {message.name: message_page(book, message).sample for message in book.protocol.messages}
    assert [
        each for each, sample in samples.items() if sample is None or "example “" not in sample.origin
    ] == []


SEVERAL = """
protocol p { source "None" endian big roles a, b }
limits { frame = 1 KiB  inflated = 1 KiB  depth = 2 }
enum Version : u8 { V1 = '1'  V2 = '2' }
frame Frame { version : Version = V2 { Item => V1 }  type : u8 := code(body)  body : match type }
context sizes : u8 per id { set Open.size  clear Close }
message Open 1 { id : u8  size : u8  key : bytes[u8] @secret }
message Close 2 { id : u8 }
message Data 3 { id : u8  data : bytes[sizes[id]] }
message Item 4 { text : ascii[u8] }
message Pack 5 { frames : Frame[] in zlib[u8] }
session All { state on { any any => {} } }
"""
SAID = [
    pytest.param("Data", '[Close(9), Open(1, 2, x""), Data(1, x"0a0b")] = x"32 03 01 0a0b"', "example “one”", 1, id="scene"),
    pytest.param("Data", '{ a Close(9)  a Open(1, 2, x"")  b Close(8)  a Data(1, x"0a0b") }', "a step of the example “one”", 1, id="step"),
    pytest.param("Item", 'x"32 05 0d 789c336461cacc03000250010f" = Pack([Frame(version = V1, body = Item("in"))])', "from the example “one”", 0, id="nested"),
    pytest.param("Close", '{ a Pack([Frame(body = Close(7))]) }', "from the example “one”", 0, id="nested in a step"),
    pytest.param("Data", '[Open(1, 2, x"3333"), Data(1, x"0a0b")] = x"32 03 01 0a0b"', "sample values", 1, id="after a secret"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "said", "origin", "n_before"), SAID)
def test_samples_are_taken_from_examples_where_a_frame_needs_others(
    tmp_path: Path, name: str, said: str, origin: str, n_before: int
) -> None:
    path = tmp_path / "p.wire"
    path.write_text(f'{SEVERAL}example "one" {said}\n')
    book = Book(chapter_of(path))
    sample = message_page(book, next(each for each in book.protocol.messages if each.name == name)).sample
    assert sample is not None and (sample.origin, len(sample.before)) == (origin, n_before)


def test_frames_inside_others_have_the_declared_defaults(tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(SEVERAL)
    book = Book(chapter_of(path))
    sample = message_page(book, book.protocol.messages[-1]).sample
    assert sample is not None
    versions = [each.value for each in sample.anatomy.pieces if each.path.endswith("Frame.version")]
    kinds = [each.note for each in sample.anatomy.pieces if each.path.endswith("Frame.type")]
    assert len(kinds) > 1
    assert all(
        version == ("49" if "Item" in kind else "50") for version, kind in zip(versions, kinds, strict=True)
    )


@pytest.mark.parametrize("field", SECRETS)
@pytest.mark.parametrize("example", ["", 'example "one" M(7, {}) = x"01 07 {}"'], ids=["grown", "example"])
def test_a_message_with_a_secret_has_an_example_without_it(tmp_path: Path, field: str, example: str) -> None:
    value, octets_ = {
        "ascii": ('"1234"', "31323334"), "bytes": ('x"31323334"', "31323334"), "utf8[": ('"12"', "023132"),
        "uuid ": ('x"' + "31" * 16 + '"', "31" * 16), "u32 @": ("825373492", "31323334"),
    }[field[6:11]]  # fmt: skip
    (tmp_path / "p.wire").write_text(
        'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB }\n'
        "frame Frame { type : u8 := code(body)  body : match type }\n"
        f"message M 1 from a {{ n : u8  {field} }}\n{example.format(value, octets_)}\n"
    )
    book = Book(chapter_of(tmp_path / "p.wire"))
    page = message_page(book, book.protocol.messages[0])
    assert page.sample is not None and "secrets" in page.sample.origin and not page.no_sample
    assert "3132" not in page.sample.hex
    pin = [each.value for each in page.sample.anatomy.pieces if each.path == "M.pin"]
    assert [each.strip('x"') for each in pin] in ([SECRETS[field].strip("x")], [])
    titles = {each.title for each in page.sample.snippets}
    assert {"Python", "Command line"} <= titles


def test_a_message_that_cannot_be_shown_says_so(tmp_path: Path) -> None:
    text = (
        'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB }\n'
        "frame Frame { type : u8 := code(body)  body : match type }\n"
        'message M 1 from a { pin : ascii[4] where pin == "1234" @secret }\n'
    )
    files = site_of_text(text, tmp_path)
    assert "It has no example" in Page(files["p/M.html"].decode()).text
    assert b"It has no example" in files["p/M.md"]


# ---- hostile text

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    "<img src=x onerror=alert(2)>",
    "[a](javascript:alert(3))",
    "[b](java&#115;cript:alert(4))",
    "<javascript:alert(5)>",
    "![c](http://evil.example/x.png)",
    "{{ 7 * 191 }} {% raw %} {# gone #}",
    "</title></style><svg onload=alert(6)>",
    "[d](//evil.example) [e]( data:text/html,x )",
    "[f]: javascript:alert(7)",
    "&lt;b&gt; `</code><b>` | ~~~~",
]


def hostile_text(texts: list[str] = HOSTILE) -> str:
    """Return a protocol that says these texts wherever free text may be."""
    doc = "\n".join(f"/// {line}\n///" for line in texts)
    quoted = json.dumps(" ".join(texts[:8]))
    return f"""
{doc}
protocol p @assumed({quoted}) {{ source {quoted} endian big roles a, b reserved 9 {quoted} }}
{doc}
limits {{
{doc}
  frame = 1 KiB @assumed({quoted})
}}
{doc}
frame Frame {{
  type : u8 := code(body)
  body : match type
}}
{doc}
enum Kind : u8 {{
{doc}
  ONE = 1 @source({quoted})
  reserved 7 {quoted}
}}
{doc}
message Aux 1 from a @source({quoted}) @since({quoted}) @deprecated({quoted}) @errata({quoted}) {{
{doc}
  kind : Kind @rule(strange)
  text : utf8[u8] where text != {quoted} @assumed({quoted})
}}
{doc}
session Talk @assumed({quoted}) @source({quoted}) {{
{doc}
  var seen : u8 = 0
{doc}
  state alone {{
{doc}
    a Aux when size(text) > 3 violates strange
{doc}
    any any => {{ seen = 1 }}
  }}
}}
rule strange {quoted} {{ source {quoted} }}
ledger 1 {quoted} {{ document {quoted} decision {quoted} reason {quoted} about Aux }}
example {quoted} Aux(ONE, {json.dumps(SCRIPT)}) = x"01 01 19 3c7363726970743e616c6572742831293c2f7363726970743e"
"""


def test_hostile_text_is_text(tmp_path: Path) -> None:
    files = site_of_text(hostile_text(), tmp_path)
    for name, content in files.items():
        if not name.endswith(".html"):
            continue
        shown = Page(content.decode())
        assert [a.get("src") for tag, a in shown.elements if tag == "script"] in (
            ["nav.js", "../site.js"],
            ["../site.js"],
            ["site.js"],
        )
        assert not [tag for tag, _ in shown.elements if tag in ("img", "style", "iframe", "object")]
        assert not [key for _, attributes in shown.elements for key in attributes if key.startswith("on")]
        for url in (*shown.all("href"), *shown.all("src")):
            assert re.fullmatch(r"data:,|[\w./#-]*|http://evil.example/x.png", url), url
        assert "1337" not in shown.text
    message = Page(files["p/Aux-.html"].decode()).text
    assert message.count(SCRIPT) >= 4
    assert "{{ 7 * 191 }}" in message and "{# gone #}" in message
    assert "[a](javascript:alert(3))" in message
    assert Page(files["p/session-Talk.html"].decode()).text.count(SCRIPT) >= 5


LINKS = {
    "[rel](../../../etc/passwd)": None,
    "[up](../../p/index.html)": None,
    "[bs](\\\\\\\\evil.example/)": None,
    "[tab](java\tscript:alert(8))": None,
    "[far](//evil.example/index.html)": None,
    "[file](file:///etc/passwd)": None,
    "[odd](http:evil.example)": None,
    "[gone](nowhere.html)": None,
    "[place](index.html#nowhere)": None,
    "[page](M.html)": "M.html",
    "[other](../p/M.html#M.text)": "../p/M.html#M.text",
    "[here](#layout)": "#layout",
    "[home](../index.html)": "../index.html",
    "[web](https://example.org/a?b=c&d=e)": "https://example.org/a?b=c&d=e",
}


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.partition("]")[0][1:])
def test_prose_leads_to_the_web_or_to_what_the_site_has(tmp_path: Path, link: str) -> None:
    text = (
        'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB }\n'
        "frame Frame { type : u8 := code(body)  body : match type }\n"
        f"/// See {link}.\nmessage M 1 from a {{ text : utf8[u8] }}\n"
    )
    shown = Page(site_of_text(text, tmp_path)["p/M.html"].decode())
    main = [attributes.get("href") for tag, attributes in shown.elements if tag == "a"]
    target = LINKS[link]
    assert not shown.all("data-page")
    if target is not None:
        assert target in main
    else:
        assert not [url for url in main if url and re.search("passwd|evil|script|file:|nowhere|up", url)]
        assert link.partition("]")[0] in shown.text


def test_hostile_text_does_not_leave_scripts_and_twins(tmp_path: Path) -> None:
    files = site_of_text(hostile_text(), tmp_path)
    assert b"<" not in files["search.js"] and files["search.js"].isascii()
    for name, content in files.items():
        if name.endswith(".md"):
            outside = re.sub(
                r"(?ms)^~~~~\w*\n.*?^~~~~$|(`+)(?!`).*?(?<!`)\1(?!`)|^    .*$", "", content.decode()
            )
            assert not re.search(r"(?<!\\)<(script|img|svg|javascript)", outside), name
        if name.endswith(".json"):
            json.loads(content)


def test_names_that_systems_do_not_take_have_pages() -> None:
    assert slugs_of(["Aux", "Put", "PUT", "index", "COM1"]) == {
        "Aux": "Aux-", "Put": "Put", "PUT": "PUT-", "index": "index-", "COM1": "COM1-",
    }  # fmt: skip


def test_a_protocol_without_anything_has_a_page(tmp_path: Path) -> None:
    files = site_of_text('protocol p { source "None" endian big roles a, b }\nstruct S { a : u8 }', tmp_path)
    assert {"index.html", "p/index.html", "p/S.html", "search.js", "llms.txt"} <= set(files)


def test_a_protocol_of_ones_own_looks_the_same(tmp_path: Path) -> None:
    text = (ROOT / "tests" / "talk.wire").read_text(encoding="utf-8")
    files = site_of_text(text, tmp_path)
    chapter = chapter_of(tmp_path / "p.wire")
    for message in chapter.protocol.messages:
        shown = Page(files[f"p/{message.name}.html"].decode())
        assert {"layout", "fields", "example", "errors"} & set(shown.all("id")) or not message.fields


# ---- colours


def colours(theme: str) -> dict[str, str]:
    text = shipped_site()["site.css"].decode()
    pairs = re.findall(r"--([\w-]+): ?light-dark\((#[0-9a-f]{6}), ?(#[0-9a-f]{6})\)", text)
    return {name: light if theme == "light" else dark for name, light, dark in pairs}


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    *((text, ground) for text in ("ink", "soft", "link", "warn") for ground in ("paper", "tint")),
    *(("h-ink", f"h{hue}") for hue in range(6)),
    *((text, box) for text in ("ink", "soft") for box in ("box", "box-list", "box-optional")),
    ("lit-ink", "lit"),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_text_has_contrast(theme: str, text: str, ground: str) -> None:
    palette = colours(theme)
    assert contrast(palette[text], palette[ground]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_edges_and_focus_have_contrast(theme: str) -> None:
    palette = colours(theme)
    assert min(contrast(palette[each], palette["paper"]) for each in ("soft", "focus", "link")) >= 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lumberjack/Version", "invalid_enum"),
        ("geode/GeodeValue", "unknown_code"),
        ("pravega/ErrorCode", ""),
        ("lumberjack/Frame", "unknown_code"),
        ("pravega/Frame", ""),
    ],
)
def test_a_page_says_what_a_receiver_does_with_an_unknown_number(name: str, said: str) -> None:
    text = " ".join(page(f"{name}.html").text.split())
    assert ("A receiver refuses the frame:" in text) == bool(said) and said in text


def test_unknown_messages_that_are_kept_are_refused_if_strict() -> None:
    text = " ".join(page("pravega/Frame.html").text.split())
    assert "The message is kept as its bytes; a strict receiver refuses the frame: unknown_code" in text
    rules = " ".join(page("pravega/rules.html").text.split())
    assert "refuses the frame if strict: unknown_code at Frame.type" in rules


@pytest.mark.parametrize(("rest", "is_kept"), [("", True), ("  check : u8", False)])
def test_an_unknown_message_is_kept_only_at_the_end_of_a_region(
    rest: str, is_kept: bool, tmp_path: Path
) -> None:
    """The page says of a frame what the reference codec does with it."""
    text = f"""protocol p {{ source "None" endian big roles a, b }}
limits {{ frame = 1 KiB }}
frame F {{ type : u8 := code(body)  length : u16 := size(rest)  rest : {{ body : match type{rest} }} in length }}
message M 1 {{ x : u8 }}
"""
    shown = " ".join(Page(site_of_text(text, tmp_path)["p/F.html"].decode()).text.split())
    said = "The message is kept as its bytes; a strict receiver refuses" if is_kept else "A receiver refuses"
    assert f"Unknown codes{said} the frame: unknown_code" in shown
    subject = load_protocol(tmp_path / "p.wire", Sources(), Report(), ())
    assert subject is not None
    schema, data = lower(subject.protocol), bytes.fromhex("09 0002 0102")
    if is_kept:
        assert explain(schema, data, 0, len(data), Options()).end == len(data)
    else:
        with pytest.raises(DecodeError, match="unknown_code"):
            explain(schema, data, 0, len(data), Options())


# ---- rules


def test_rules_that_share_a_code_say_that_their_vectors_are_those_of_the_code() -> None:
    text = shipped_site()["lumberjack/rules.html"].decode()
    for section in text.split("<section")[1:]:
        ids = re.findall(r"<code><a href=\"vectors-[^\"]+\">(bad-[a-z0-9-]+)</a></code>", section)
        errors = [each.error for each in shipped_vectors("lumberjack") if each.id in ids]
        by_code = [error for error in errors if error.rule is None]
        assert ("whichever rule that breaks" in section) == bool(by_code)
        assert all(f"Refused with <code>{error.code}</code>" in section for error in by_code)


def shipped_vectors(name: str) -> list[Invalid]:
    file = shipped_chapter(name).vectors
    assert file is not None
    return [each for each in file.vectors if isinstance(each, Invalid)]


def test_more_vectors_than_two_of_an_error_can_be_seen() -> None:
    page_ = shipped_site()["lumberjack/Data.html"].decode()
    more = re.findall(r"<details><summary>more</summary>(.*?)</details>", page_)
    assert more and all(re.search(r"<code><a [^>]+>bad-", each) for each in more)
    assert not re.search(r"and \d+ more(?! in <a href=\"vectors.json\")", page_)


@pytest.mark.parametrize("name", SHIPPED)
def test_rules_are_numbered_and_name_vectors_that_break_them(name: str) -> None:
    chapter = shipped_chapter(name)
    text = shipped_site()[f"{name}/rules.html"].decode()
    assert chapter.vectors is not None
    by_id = {each.id: each for each in chapter.vectors.vectors if isinstance(each, Invalid)}
    n_tested = 0
    for number, rule in enumerate(chapter.protocol.rules, 1):
        section = text.partition(f'id="{rule.name}"')[2].partition("</section>")[0]
        assert f"MUST {number}. {rule.name}" in section
        ids = [
            each for each in re.findall(r"<code><a [^>]+>([a-z0-9-]+)</a></code> ", section) if each in by_id
        ]
        n_tested += bool(ids)
        for each in ids:
            error = by_id[each].error
            assert error.rule == rule.name or (error.rule is None and f"`{error.code}`" in rule.text), each
    assert n_tested >= 3


def test_a_field_is_shown_with_the_text_of_its_alias() -> None:
    page = Page(shipped_site()["pravega/SetupAppend.html"].decode())
    assert "Identifies a writer: its SetupAppend introduces it" in " ".join(page.text.split())


def test_text_in_a_document_stays_as_it_is(tmp_path: Path) -> None:
    text = """protocol p { source "None" endian big roles a, b }
frame Frame { type : u8 := code(body)  body : match type }
/// The attribute name="v" of <main id="content">, and href="#b".
message M 1 from a { x : u8 }
"""
    shown = Page(site_of_text(text, tmp_path)["p/document.html"].decode()).text
    assert 'name="v" of <main id="content">, and href="#b"' in shown
    assert '="M--' not in shown
