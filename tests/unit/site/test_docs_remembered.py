"""Pages of contexts and joins: their settings and uses, examples that were read, links from all that take part."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from tests.built_schema import schema_of
from tests.unit.docs_sites import ROOT, SHIPPED, Page, chapter_of, shipped_chapter, shipped_site, site_of_text

from wiregen.site.pages.chapter import Book
from wiregen.site.pages.context_pages import context_page
from wiregen.site.pages.reassembly_pages import join_page

JOINS = [(name, join) for name in SHIPPED for join in schema_of(name).joins]
CONTEXTS = [(name, context) for name in SHIPPED for context in schema_of(name).contexts]


@cache
def book_of(name: str, *, with_vectors: bool = True) -> Book:
    return Book(shipped_chapter(name, with_vectors=with_vectors))


def test_there_are_some() -> None:
    assert len(JOINS) >= 4 and len(CONTEXTS) >= 2


@pytest.mark.parametrize("with_vectors", [True, False], ids=["with vectors", "without"])
@pytest.mark.parametrize(("protocol", "name"), JOINS)
def test_a_join_is_shown_from_its_first_piece_to_the_whole(
    protocol: str, name: str, with_vectors: bool
) -> None:
    book = book_of(protocol, with_vectors=with_vectors)
    join = next(each for each in book.protocol.joins if each.name == name)
    page = join_page(book, join)
    pieces = [each for each in page.heard if "piece" in each.about and "together" not in each.about]
    assert len(pieces) >= 2 and "last piece" in pieces[-1].about
    assert page.together and page.origin.startswith("vector") == with_vectors
    parts = [piece.number for each in page.heard for piece in each.anatomy.pieces]
    assert len(parts) == len(set(parts)), "a part would light up those of other frames"
    assert (page.ladder is not None) == with_vectors
    exec(compile(page.python, name, "exec"), {})  # noqa: S102 - that it runs is the point


@pytest.mark.parametrize("with_vectors", [True, False], ids=["with vectors", "without"])
@pytest.mark.parametrize(("protocol", "name"), CONTEXTS)
def test_a_context_is_shown_as_it_is_told_and_asked(protocol: str, name: str, with_vectors: bool) -> None:
    book = book_of(protocol, with_vectors=with_vectors)
    context = next(each for each in book.protocol.contexts if each.name == name)
    page = context_page(book, context)
    *telling, asking = page.heard
    assert {each.about for each in telling} == {f"sets {name}"} and asking.about == f"read by {name}"
    assert page.readers
    told = {setting.target for setting in context.settings}
    assert {doing.target.text for doing in page.doings if doing.what == "sets it"} == told


def test_who_takes_part_leads_there() -> None:
    files = shipped_site()
    for page, way in (
        ("reactive_streams/Subscribed", "context-element_size.html"),
        ("reactive_streams/OnNext", "context-element_size.html"),
        ("reactive_streams/OnNextPart", "join-Element.html"),
        ("geode/PutRequest", "join-RequestPart.html"),
        ("geode/PutRequest", "context-api.html"),
        ("geode/Response", "context-api.html"),
        ("pravega_proposal/PartialMessage", "join-Whole.html"),
        ("pravega_proposal/index", "join-Whole.html"),
    ):
        content = files[f"{page}.html"].decode()
        assert f'href="{way}"' in content, page
    assert "reactive_streams/join-Element.md" in files["llms.txt"].decode()
    entries = json.loads(files["search.js"].decode().removeprefix("window.wiregenIndex=").removesuffix(";\n"))
    assert {
        entry[1] for entry in entries if entry[2] in ("geode/context-api.html", "geode/join-RequestPart.html")
    } == {
        "geode context",
        "geode join",
    }


def test_errors_of_a_join_name_the_vectors_that_show_them() -> None:
    page = Page(shipped_site()["reactive_streams/join-Element.html"].decode()).text
    assert "bad-join-element-left-open" in page and "bad-join-element-more-than-may-be-open" in page
    page = Page(shipped_site()["reactive_streams/context-element_size.html"].decode()).text
    assert "bad-onnext-missing-context" in page and "element_before_subscribed" in page


def test_the_guides_examples_have_such_pages_too(tmp_path: Path) -> None:
    for name, kind in (("joins", "join-"), ("contexts", "context-")):
        path = ROOT / "docs" / "guide" / "examples" / f"{name}.wire"
        files = site_of_text(path.read_text(encoding="utf-8"), tmp_path, name)
        own = [each for each in files if f"/{kind}" in each and each.endswith(".html")]
        protocol = chapter_of(path).protocol
        assert len(own) == len(protocol.joins if name == "joins" else protocol.contexts) > 0
        for each in own:
            assert "example" in Page(files[each].decode()).all("id"), each
