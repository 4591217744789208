"""The site in a browser, from a folder and from a server: search, light, tabs by keyboard, colours; no complaint, no stranger asked.

Pictures for people are written where WIREGEN_SCREENSHOTS says.
"""

from __future__ import annotations

import base64
import functools
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.unit.browser import Browser, axe_of_npm, needs_chromium
from tests.unit.docs_sites import site_of_text

from wiregen.site.diagrams.state_drawings import CHARACTER

pytestmark = needs_chromium

_ENTER, _ESCAPE, _TAB, _RIGHT, _DOWN = 13, 27, 9, 39, 40


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module", params=["file", "localhost"])
def base(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if request.param == "file":
        yield folder.as_uri()
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def tab(running: Browser, base: str) -> Iterator[Browser]:
    running.requests.clear()
    running.complaints.clear()
    running.screen(1200)
    yield running
    assert running.complaints == []
    allowed = urlsplit(base)
    strangers = [
        url
        for url in map(urlsplit, running.requests)
        if (url.scheme, url.netloc) != (allowed.scheme, allowed.netloc)
    ]
    assert [url for url in strangers if url.scheme not in ("data", "about")] == []


def lit(tab: Browser) -> dict[str, list[str]]:
    found: dict[str, list[str]] = tab.run(
        "Object.fromEntries(['g.lit', '.fields tr.lit', '.pieces tr.lit', '.b.lit'].map((each) => "
        "[each, [...document.querySelectorAll(each)].map((one) => one.dataset.f)]))"
    )
    return found


def test_search_finds_a_field(tab: Browser, base: str) -> None:
    tab.open(f"{base}/index.html")
    tab.press("/", text="/")
    assert tab.run("document.activeElement.id") == "query"
    assert tab.run("document.activeElement.value") == ""
    tab.wait("window.wiregenIndex !== undefined")
    tab.type("delegation_token")
    first = tab.wait("document.querySelector('#results [aria-selected=true] b')?.textContent")
    assert first.endswith(".delegation_token")
    tab.press("ArrowDown", code=_DOWN)
    assert tab.run("document.querySelector('#results [aria-selected=true]').id") == "result-1"
    tab.press("Enter", code=_ENTER)
    tab.wait("location.hash.endsWith('delegation_token')")
    assert tab.wait("document.querySelector('tr:target th')?.textContent").startswith("delegation_token")


@pytest.mark.parametrize(
    ("words", "kind"),
    [("overtaken window", ""), ("bad_version", "rule"), ("roll-over", "ledger"), ("xyzzy", "")],
)
def test_search_over_rules_and_prose(tab: Browser, base: str, words: str, kind: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.press("/", text="/")
    tab.type(words)
    text = tab.wait("document.querySelector('#results li')?.textContent")
    assert kind in text if kind else text == "Nothing found"
    tab.press("Escape", code=_ESCAPE)
    assert tab.run("document.querySelector('#results').hidden")


@pytest.mark.parametrize(
    ("words", "page"),
    [("coding", "language.html#choices"), ("aio.connect", "sessions.html")],
)
def test_search_finds_the_guide(tab: Browser, base: str, words: str, page: str) -> None:
    tab.open(f"{base}/index.html")
    tab.press("/", text="/")
    tab.wait("window.wiregenIndex !== undefined")
    tab.type(words)
    first = tab.wait("document.querySelector('#results [aria-selected=true]')?.dataset.url")
    assert first.startswith(f"wiregen-guide/{page}")


@pytest.mark.parametrize(
    "selector",
    [
        "g[data-f='Data.sequence']",
        ".fields tr[data-f='Data.sequence'] th",
        ".pieces tr[data-f='Data.sequence'] td",
        ".b[data-f='Data.sequence']",
    ],
)
def test_pointing_at_one_lights_up_the_others(tab: Browser, base: str, selector: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    assert not any(lit(tab).values())
    tab.point_at(selector)
    tab.wait("document.querySelector('.lit') !== null")
    assert lit(tab) == {
        each: ["Data.sequence"] for each in ("g.lit", ".fields tr.lit", ".pieces tr.lit", ".b.lit")
    } | {"g.lit": ["Data.sequence"] * 2}


def test_a_byte_of_an_item_lights_up_only_its_own_bytes(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.point_at(".hexdump .b[data-x='7']")
    tab.wait("document.querySelector('.lit') !== null")
    assert tab.run("[...document.querySelectorAll('.hexdump .b.lit')].map((each) => each.dataset.x)") == ["7"]
    assert tab.run("document.querySelectorAll('.pieces tr.lit').length") == 1
    assert set(lit(tab)["g.lit"]) == {"Data.pairs"}
    assert lit(tab)[".fields tr.lit"] == ["Data.pairs[].value"]


def test_a_field_of_items_and_the_list_around_light_up_what_is_theirs(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.point_at(".fields tr[data-f='Data.pairs[].value'] th")
    tab.wait("document.querySelector('.lit') !== null")
    found = lit(tab)
    assert set(found["g.lit"]) == {"Data.pairs"} and found[".fields tr.lit"] == ["Data.pairs[].value"]
    assert set(found[".b.lit"]) == set(found[".pieces tr.lit"]) == {"Data.pairs[].value"}
    tab.point_at(".fields tr[data-f='Data.pairs'] th")
    tab.wait("document.querySelectorAll('.fields tr.lit').length === 5")
    assert set(lit(tab)[".b.lit"]) >= {"Data.pairs[].value", "Data.pairs[].key#length"}


def test_arrows_go_through_the_bytes(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.run("document.querySelector('.hexdump').focus()")
    seen = []
    for key, code in (
        ("ArrowRight", _RIGHT),
        ("ArrowRight", _RIGHT),
        ("ArrowRight", _RIGHT),
        ("ArrowLeft", 37),
    ):
        tab.press(key, code=code)
        seen.append(tab.wait("document.querySelector('.b.lit')?.dataset.f"))
    assert seen == ["Frame.version", "Frame.type", "Data.sequence", "Frame.type"]
    assert lit(tab)[".fields tr.lit"] == ["Frame.type"]


def test_tabs_go_by_keyboard(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.run("document.getElementById('diagram-Data').focus()")
    shown = "[...document.querySelectorAll('#layout .panel')].map((each) => getComputedStyle(each).display !== 'none')"
    assert tab.run(shown) == [True, False, False, False]
    tab.press("ArrowRight", code=_RIGHT)
    assert tab.run(shown) == [False, True, False, False]
    tab.press("ArrowRight", code=_RIGHT)
    tab.press("ArrowRight", code=_RIGHT)
    assert tab.run(shown) == [False, False, False, True]


def test_everything_can_be_reached_by_keyboard(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/Data.html")
    tab.press("Tab", code=_TAB)
    assert tab.run("document.activeElement.textContent") == "Skip to the content"
    tab.run("document.querySelector('.fields a.self').focus()")
    tab.wait("document.querySelector('g.lit') !== null")


def test_dark_is_chosen_and_remembered(tab: Browser, base: str) -> None:
    tab.screen(1200, dark=True)
    tab.open(f"{base}/index.html")
    tab.run("localStorage.clear()")
    tab.open(f"{base}/index.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = tab.run(ground)
    tab.run("document.getElementById('theme').click()")
    light = tab.run(ground)
    assert (dark, light) == ("rgb(17, 21, 26)", "rgb(255, 255, 255)")
    tab.open(f"{base}/lumberjack/index.html")
    assert tab.run(ground) == light
    tab.run("localStorage.clear()")


def test_without_javascript_the_page_is_complete(tab: Browser, base: str) -> None:
    tab.screen(1200, dark=True)
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(f"{base}/lumberjack/Data.html")
        assert tab.run("document.querySelector('.search').hidden") is True
        assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(17, 21, 26)"
        tab.run("document.getElementById('ascii-Data').checked = true")
        assert tab.run("getComputedStyle(document.querySelectorAll('#layout .panel')[2]).display") == "block"
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_narrow_screen_needs_no_sideways_scrolling(tab: Browser, base: str) -> None:
    tab.screen(320, 740)
    for name in (
        "index.html",
        "lumberjack/index.html",
        "lumberjack/Data.html",
        "geode/GeodeValue.html",
        "pravega/rules.html",
        "pravega/coverage.html",
        "lumberjack/vectors-Compressed.html",
        "lumberjack/vectors--conversations.html",
        "lumberjack/ledger.html",
        "reactive_streams/session-Subscription.html",
        "geode/join-RequestPart.html",
        "geode/KeyResultPair.html",
        "pravega/AttributeUpdate.html",
        "pravega/AuthError.html",
        "reactive_streams/rules.html",
        "reactive_streams/context-element_size.html",
    ):
        tab.open(f"{base}/{name}")
        assert tab.run("document.documentElement.scrollWidth") <= 320, name


def test_a_word_without_end_makes_no_page_wide(running: Browser, tmp_path: Path) -> None:
    word = "w" * 400
    text = f"""/// {word} and `{word}`
protocol p {{ source "{word}" endian big roles a, b }}
limits {{ frame = 1 KiB }}
frame Frame {{ type : u8 := code(body)  body : match type }}
/// {word}
message M 1 from a {{
  /// {word}
  text : utf8[u8] where text != "{word}"
}}
rule r "{word}"
"""
    for name, content in site_of_text(text, tmp_path).items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    running.screen(1000)
    for name in ("index", "p/index", "p/M", "p/rules"):
        running.open(f"{(tmp_path / 'site').as_uri()}/{name}.html")
        assert running.run("document.documentElement.scrollWidth") <= 1000, name


def test_paper_has_what_is_open_on_the_screen(tab: Browser, base: str) -> None:
    tab.screen(800, paper=True)
    tab.open(f"{base}/lumberjack/Data.html")
    shown = "[...document.querySelectorAll('#layout .panel')].filter((each) => each.offsetHeight).map((each) => each.dataset.title)"
    assert tab.run(shown) == ["Diagram"]
    assert tab.run("document.querySelector('#errors').offsetHeight") == 0
    tab.open(f"{base}/lumberjack/session-Transfer.html")
    assert tab.run("document.querySelector('#conversations svg').getBoundingClientRect().height") > 0
    assert tab.run("document.querySelector('#conversations .told').checkVisibility()") is False
    tab.open(f"{base}/lumberjack/Data.html")
    tab.run(
        "document.getElementById('notation-Data').checked = document.querySelector('#errors details').open = true"
    )
    assert tab.run(shown) == ["Notation"]
    assert tab.run("document.querySelector('#errors').offsetHeight") > 0


@pytest.mark.parametrize(
    "name", ["lumberjack/Compressed", "reactive_streams/OnNext", "pravega_documented/AppendSetup"]
)
def test_a_message_is_on_one_or_two_sheets(tab: Browser, base: str, name: str) -> None:
    tab.open(f"{base}/{name}.html")
    pdf = base64.b64decode(tab.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) <= 2


@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_tables_fit_and_are_blocks_on_phones(tab: Browser, base: str, width: int) -> None:
    """What is drawn, or is as wide as its bytes, may be scrolled on a phone."""
    tab.screen(width, 900)
    hidden = (
        "[...document.querySelectorAll('.scroll')].filter((each) => each.querySelector('table:not(.pieces)') "
        "&& each.scrollWidth > each.clientWidth + 1).map((each) => each.getAttribute('aria-label'))"
    )
    names = (
        *(
            "geode/GetAllResponse",
            "geode/PutAllResponse",
            "geode/GeodeValue",
            "geode/index",
            "lumberjack/rules",
        ),
        *("pravega/UpdateTableEntries", "pravega/index", "reactive_streams/session-Subscription"),
    )
    for name in names:
        tab.open(f"{base}/{name}.html")
        assert tab.run(hidden) == [], name
    tab.open(f"{base}/lumberjack/rules.html")
    before = "getComputedStyle(document.querySelector('#table td:last-child'), '::before').content"
    assert tab.run(before) == ('"Vectors "' if width == 390 else "none")


@pytest.mark.parametrize("paper", [False, True], ids=["screen", "paper"])
def test_a_document_has_all_of_its_sections_in_full_width(tab: Browser, base: str, paper: bool) -> None:
    tab.screen(794 if paper else 1280, paper=paper)
    tab.open(f"{base}/lumberjack/document.html")
    narrow = (
        "[...document.querySelectorAll('article > section, article > .entry')].filter((each) => each.offsetHeight "
        "&& (each.offsetWidth < 600 || each.getBoundingClientRect().right > innerWidth)).map((each) => each.id)"
    )
    assert tab.run(narrow) == []


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="there is no pdftotext (poppler-utils)")
def test_a_printed_document_has_every_rule_and_every_entry_of_the_ledger(
    tab: Browser, base: str, tmp_path: Path
) -> None:
    tab.open(f"{base}/lumberjack/document.html")
    titles = tab.run(
        "[...document.querySelectorAll('article .entry > :is(h2, h3)')].map((each) => each.textContent.trim())"
    )
    assert len(titles) > 40
    (tmp_path / "all.pdf").write_bytes(
        base64.b64decode(tab.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    )
    done = subprocess.run(
        ["pdftotext", "-layout", "all.pdf", "-"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    sheets = done.stdout.split("\f")
    printed = " ".join(done.stdout.split())
    assert [title for title in titles if " ".join(title.split())[:30] not in printed] == []
    assert [sheet for sheet in sheets[:-1] if len(sheet.split()) < 3] == [], "no sheet is blank"


@pytest.mark.parametrize(
    "name",
    ["pravega/UpdateTableEntries", "geode/PutRequest", "pravega/session-Writer", "geode/join-RequestPart"],
)
def test_paper_is_light_and_nothing_is_cut_at_its_edge(tab: Browser, base: str, name: str) -> None:
    tab.screen(794, dark=True, paper=True)
    tab.open(f"{base}/{name}.html")
    assert tab.run("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    tab.run("document.documentElement.dataset.theme = 'dark'")
    assert tab.run("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    wide = (
        "[...document.querySelectorAll('main table, main pre, main pre code, main svg')].filter((each) => "
        "each.getBoundingClientRect().right > innerWidth || each.scrollWidth > each.clientWidth + 1 && each.tagName === 'PRE')"
        ".map((each) => each.parentElement.getAttribute('aria-label') || each.outerHTML.slice(0, 60))"
    )
    assert tab.run(wide) == []


@pytest.mark.parametrize("width", [360, 1200])
def test_results_of_the_search_are_on_the_screen(tab: Browser, base: str, width: int) -> None:
    tab.screen(width, 740)
    tab.open(f"{base}/pravega/index.html")
    tab.press("/", text="/")
    tab.type("offset")
    tab.wait("document.querySelectorAll('#results li').length > 3")
    left, right = tab.run(
        "(({left, right}) => [left, right])(document.querySelector('#results').getBoundingClientRect())"
    )
    assert 0 <= left < right <= width
    kinds = "[...document.querySelectorAll('#results li span')].map((each) => each.textContent)"
    assert tab.run(kinds)[0].startswith("pravega field"), "what is of this protocol comes first"


def test_the_vectors_of_a_rule_are_found(tab: Browser, base: str) -> None:
    tab.open(f"{base}/lumberjack/index.html")
    tab.press("/", text="/")
    tab.type("bad_version vector")
    tab.wait("document.querySelector('#results li') !== null")
    found = tab.run("document.querySelector('#results li').textContent")
    assert "bad_version" in found and "rule with vectors" in found
    assert "`" not in tab.run("document.querySelector('#results').textContent")


def test_text_of_a_diagram_stays_in_its_box(tab: Browser, base: str) -> None:
    for name in (
        "lumberjack/Data.html",
        "geode/PutRequest.html",
        "pravega/ConditionalAppend.html",
        "pravega/UpdateTableEntries.html",
    ):
        tab.open(f"{base}/{name}")
        wide = tab.run(
            "[...document.querySelectorAll('g.box')].flatMap((g) => { const edge = g.querySelector('path').getBoundingClientRect();"
            "return [...g.querySelectorAll('text')].filter((t) => { const own = t.getBoundingClientRect();"
            "return own.left < edge.left || own.right > edge.right || own.bottom > edge.bottom + 1; }).map((t) => t.textContent); })"
        )
        assert wide == [], name


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_of_npm(tmp_path_factory.mktemp("axe"))


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "lumberjack/index.html",
        "lumberjack/Data.html",
        "lumberjack/rules.html",
        "lumberjack/ledger.html",
        "lumberjack/coverage.html",
        "lumberjack/vectors-Compressed.html",
        "geode/GeodeValue.html",
        "geode/join-RequestPart.html",
    ],
)
def test_axe_finds_no_serious_fault(
    tab: Browser, base: str, axe: str, name: str, dark: bool, width: int
) -> None:
    tab.screen(width, dark=dark)
    tab.open(f"{base}/{name}")
    assert tab.serious_faults(axe) == []


@pytest.mark.parametrize("name", ["pravega/session-Call", "lumberjack/session-Transfer"])
def test_labels_of_states_are_no_wider_than_the_room_that_was_left(
    tab: Browser, base: str, name: str
) -> None:
    """Up to two pixels, which every label has besides its letters: one of three may be wider than three of the middle."""
    tab.open(f"{base}/{name}.html")
    wide = tab.run(
        f"[...document.querySelectorAll('.chart .label')].filter((each) => each.getBBox().width > each.textContent.length * {CHARACTER} + 2).map((each) => each.textContent)"
    )
    assert wide == []
    assert tab.run("document.querySelectorAll('.chart .label').length") > 5


PICTURED = "pravega/session-Call reactive_streams/session-Subscription index lumberjack/index lumberjack/Data lumberjack/Compressed geode/PutRequest geode/GeodeValue pravega/index lumberjack/rules"


@pytest.mark.skipif(
    "WIREGEN_SCREENSHOTS" not in os.environ, reason="pictures are written where WIREGEN_SCREENSHOTS says"
)
def test_pictures_for_people(running: Browser, folder: Path) -> None:
    for name in PICTURED.split():
        for look, width, dark in (("wide", 1200, False), ("dark", 1200, True), ("narrow", 390, False)):
            running.screen(width, dark=dark)
            running.open(f"{folder.as_uri()}/{name}.html")
            if name.endswith("Data"):
                running.point_at(".b[data-f='Data.sequence']")
                running.run("scrollTo(0, 0)")
            path = Path(os.environ["WIREGEN_SCREENSHOTS"], f"{name.replace('/', '-')}-{look}.png")
            running.shoot(path)
            assert path.stat().st_size > 10_000
