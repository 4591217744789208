"""Reading in a browser: code is copied, the language of one page is that of the next, codes are found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.browser import Browser, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def base(folder: Path) -> str:
    return folder.as_uri()


@pytest.fixture
def tab(running: Browser) -> Iterator[Browser]:
    running.complaints.clear()
    running.screen(1440)
    yield running
    assert running.complaints == []


def test_code_is_copied(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    tab.run("document.querySelector('pre[data-run=python] + .copy').click()")
    text = tab.wait("window.copied")
    assert text.startswith("from wireproto import lumberjack\n")
    tab.wait("document.querySelector('pre[data-run=python] + .copy').textContent === 'Copied'")


def test_the_language_of_one_page_is_that_of_the_next(tab: Browser, base: str) -> None:
    chosen = "document.querySelector('input[name=use]:checked').labels[0].textContent"
    tab.open(f"{base}/lumberjack/Data.html")
    tab.run("localStorage.clear()")
    assert tab.run(chosen) == "Python"
    tab.run("document.getElementById('use-2').click()")
    tab.open(f"{base}/geode/PutRequest.html")
    assert tab.run(chosen) == "Command line"
    tab.run("localStorage.clear()")


@pytest.mark.parametrize(
    ("page", "words", "first", "kind"),
    [
        ("lumberjack/index", "0x41", "Ack", "lumberjack message"),
        ("lumberjack/index", "0x0041", "Ack", "lumberjack message"),
        ("pravega/index", "0x09", "ReadSegment", "pravega message"),
        ("pravega/index", "setupappend", "SetupAppend", "pravega message"),
        ("geode/index", "0x39", "GeodeValue.Integer", "geode 57"),
    ],
)
def test_search_finds_codes_and_ranks_messages_first(
    tab: Browser, base: str, page: str, words: str, first: str, kind: str
) -> None:
    tab.open(f"{base}/{page}.html")
    tab.press("/", text="/")
    tab.wait("window.wiregenIndex !== undefined")
    tab.type(words)
    assert tab.wait("document.querySelector('#results [aria-selected=true] b')?.textContent") == first
    assert tab.run("document.querySelector('#results [aria-selected=true] span').textContent").startswith(
        kind
    )


def test_rules_are_a_table_with_what_a_receiver_does(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/rules.html")
    rows = "[...document.querySelectorAll('#table tbody tr')]"
    assert tab.run(f"{rows}.length") == tab.run("document.querySelectorAll('section.entry').length") > 3
    assert "refuses" in tab.run(f"{rows}.map((row) => row.cells[2].textContent).join(' ')")
    assert tab.run(f"{rows}.filter((row) => row.cells[3].querySelector('a')).length") >= 3


def test_no_code_of_an_example_is_wider_than_its_box(tab: Browser, base: str) -> None:
    for name in ("pravega/SetupAppend", "lumberjack/Data", "geode/PutRequest"):
        tab.open(f"{base}/{name}.html")
        wide = "[...document.querySelectorAll('#example pre[data-run=python]')].filter((each) => each.checkVisibility()).map((each) => each.scrollWidth - each.clientWidth)"
        assert [each for each in tab.run(wide) if each > 0] == [], name


def test_tables_of_unions_and_fields_fit_a_wide_screen(tab: Browser, base: str) -> None:
    for name, table in (("geode/GeodeValue", "main table"), ("pravega/SetupAppend", "table.fields")):
        tab.open(f"{base}/{name}.html")
        box = f"document.querySelector('{table}').parentElement"
        assert tab.run(f"{box}.scrollWidth - {box}.clientWidth") <= 0, name


def test_a_column_of_defaults_is_shown_where_there_are_some(tab: Browser, base: str) -> None:
    heading = "[...document.querySelectorAll('.fields thead th')].find((each) => each.textContent === 'Default').checkVisibility()"
    tab.open(f"{base}/pravega/SetupAppend.html")
    assert not tab.run(heading)
    tab.open(f"{base}/lumberjack/Data.html")
    assert tab.run(heading) == tab.run("document.querySelector('.fields td:nth-child(6) > code') !== null")
