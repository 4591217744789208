"""The sidebar's groups and the order of reading: every page of a protocol is reached."""

from __future__ import annotations

import json
import re

import pytest
from tests.unit.docs_sites import SHIPPED, Page, shipped_chapter, shipped_site

from wiregen.site.pages.chapter import Book
from wiregen.site.pages.navigation import reading_order


@pytest.mark.parametrize("name", SHIPPED)
def test_every_page_of_a_protocol_is_in_the_order_once(name: str) -> None:
    order = [each.url for each in reading_order(Book(shipped_chapter(name)).groups)]
    pages = {path.partition("/")[2] for path in shipped_site() if re.fullmatch(rf"{name}/[^/]+\.html", path)}
    assert len(order) == len(set(order))
    assert set(order) == {
        page for page in pages if not page.startswith(("differences-", "document.", "vectors-"))
    }


def test_next_leads_through_a_protocol_and_previous_back() -> None:
    files, here = shipped_site(), "index.html"
    seen = [here]
    while following := link_of(files[f"lumberjack/{here}"], "next"):
        assert link_of(files[f"lumberjack/{following}"], "prev") == here
        here = following
        seen.append(here)
    order = [each.url for each in reading_order(Book(shipped_chapter("lumberjack")).groups)]
    assert seen[: len(order)] == order and "Data.html" in seen
    assert set(seen[len(order) :]) == {
        path.partition("/")[2] for path in files if re.fullmatch(r"lumberjack/vectors-.*\.html", path)
    }


def link_of(page: bytes, relation: str) -> str:
    found = [each for _, each in Page(page.decode()).elements if each.get("rel") == relation]
    return found[0]["href"] if found else ""


def test_messages_are_grouped_by_role_with_their_codes() -> None:
    text = shipped_site()["lumberjack/nav.js"].decode()
    groups = json.loads(text.removeprefix("window.wiregenNav=").removesuffix(";\n"))
    by_title = {title: [item[::2] for item in items] for title, _, items in groups}
    assert by_title["From the reader"] == [["Ack", "65 (0x41, 'A')"]]
    assert by_title["Rules"] == []


def test_the_index_page_reaches_every_page_without_the_script() -> None:
    for name in SHIPPED:
        linked = set(Page(shipped_site()[f"{name}/index.html"].decode()).all("href"))
        order = {each.url for each in reading_order(Book(shipped_chapter(name)).groups)}
        assert order - linked == {"index.html"} - linked
