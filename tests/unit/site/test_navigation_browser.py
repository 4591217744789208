"""The sidebar, the drawer and the contents of a page in a browser, from files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.browser import Browser, needs_chromium

pytestmark = needs_chromium

_SHOWN = "[...document.querySelectorAll('#side details li:not([hidden])')].filter((each) => each.checkVisibility()).map((each) => each.querySelector('span').textContent)"


@pytest.fixture(scope="module")
def base(folder: Path) -> str:
    return folder.as_uri()


@pytest.fixture
def tab(running: Browser) -> Iterator[Browser]:
    running.complaints.clear()
    running.requests.clear()
    running.screen(1440)
    yield running
    assert running.complaints == []
    assert [each for each in running.requests if not each.startswith(("file:", "data:"))] == []


def test_the_sidebar_has_the_pages_and_marks_this_one(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    assert set(tab.run(_SHOWN)) >= {"Data", "Ack", "Frame", "Pair", "Transfer"}
    assert tab.run("document.querySelector('#side [aria-current]').getAttribute('href')") == "Data.html"


@pytest.mark.parametrize(("words", "names"), [("tablekeys", ["RemoveTableKeys", "TableKeysRemoved", "ReadTableKeys", "TableKeysRead"]), ("0x0b", ["GetStreamSegmentInfo"]), ("89 ", ["ConditionalBlockEnd"])])  # fmt: skip
def test_the_filter_finds_names_and_codes(tab: Browser, base: str, words: str, names: list[str]) -> None:
    tab.open(f"{base}/pravega/index.html")
    tab.run("document.getElementById('filter').focus()")
    tab.type(words)
    assert set(tab.run(_SHOWN)) == set(names)


def test_the_page_is_found_in_a_long_sidebar(tab: Browser, base: str) -> None:
    tab.open(f"{base}/pravega/TableKeysRead.html")
    top, low = tab.run(
        "((now, side) => [now.top - side.top, side.bottom - now.bottom])"
        "(document.querySelector('#side [aria-current]').getBoundingClientRect(), document.querySelector('#side').getBoundingClientRect())"
    )
    assert top > 0 and low > 0


def test_contents_of_the_page_lead_to_its_sections(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    links = tab.run("[...document.querySelectorAll('#toc a')].map((each) => each.getAttribute('href'))")
    assert [each for each in links if each != "#inside"][:4] == ["#layout", "#fields", "#example", "#errors"]
    assert tab.run("document.querySelector('#errors details').open") is False
    tab.run("document.querySelector('#toc a[href=\"#errors\"]').click()")
    tab.wait("document.querySelector('#errors details').open")
    tab.wait("document.querySelector('#toc [aria-current]').getAttribute('href') === '#errors'")


def test_an_address_with_a_wrong_escape_is_a_page_like_others(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.open(f"{base}/lumberjack/Data.html#100%")
    assert tab.run("document.querySelectorAll('main button.copy').length > 0")


def test_errors_are_counted_while_they_are_collapsed(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    count = int(tab.run("document.querySelector('#errors small').textContent"))
    assert count == tab.run("document.querySelectorAll('#errors tbody tr').length") > 3


def test_on_a_phone_the_sidebar_is_a_drawer(tab: Browser, base: str) -> None:
    tab.screen(390)
    tab.open(f"{base}/lumberjack/Data.html")
    is_shown = "document.getElementById('side').checkVisibility()"
    assert tab.run(is_shown) is False
    tab.run("document.getElementById('menu').click()")
    assert tab.run(is_shown) is True
    assert tab.run("document.activeElement.closest('#side') !== null && document.querySelector('main').inert")
    tab.press("Escape", code=27)
    assert tab.run(is_shown) is False
    assert tab.run("[document.activeElement.id, document.querySelector('main').inert]") == ["menu", False]


@pytest.mark.parametrize("width", [390, 1440])
def test_without_javascript_the_sections_are_links(tab: Browser, base: str, width: int) -> None:
    tab.screen(width)
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(f"{base}/lumberjack/Data.html")
        texts = "[...document.querySelectorAll('#side a')].filter((each) => each.checkVisibility()).map((each) => each.textContent)"
        assert {"Overview", "Messages", "Types", "Sessions", "Rules", "Ledger"} <= set(tab.run(texts))
        assert tab.run("document.documentElement.scrollWidth") <= width
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_what_scrolls_shows_it(tab: Browser, base: str) -> None:
    tab.screen(700)
    tab.open(f"{base}/lumberjack/Data.html")
    table = "document.querySelector('#fields .scroll')"
    tab.wait(f"{table}.classList.contains('more')")
    tab.run(f"{table}.scrollLeft = 5000")
    tab.wait(f"!{table}.classList.contains('more')")


def test_long_unions_are_one_table_with_anchors(tab: Browser, base: str) -> None:
    tab.open(f"{base}/geode/GeodeValue.html#Integer")
    assert tab.run("document.querySelector('tr:target td:last-of-type') !== null")
    assert "value : i32" in tab.run("document.querySelector('tr:target').textContent")
    assert tab.run("document.querySelectorAll('main table').length") == 1


def test_the_frame_of_the_first_page_reacts_to_the_pointer(tab: Browser, base: str) -> None:
    tab.open(f"{base}/index.html")
    tab.point_at(".shown .hexdump .b")
    tab.wait("document.querySelector('.shown .pieces tr.lit') !== null")
    assert tab.run(
        "document.querySelector('.shown tr.lit').dataset.x === document.querySelector('.shown .b.lit').dataset.x"
    )
