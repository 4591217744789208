"""The page of the playground in Chromium: pastes of any form, the text that a choice keeps, the tree by keys, its layout."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.unit.browser import Browser, needs_chromium
from tests.unit.tools.test_cli_play import CAPTURE, drop, link, playing

pytestmark = needs_chromium

STATE, TEXT, FORM = (f"document.getElementById('{each}')" for each in ("state", "text", "form-of"))
HEADINGS = "[...document.querySelectorAll('#trees h3')].map((each) => each.textContent)"
FOCUSED = "document.activeElement.dataset.path"
XXD = "00000000: 3257 0000 000a                           2W...."
WINDOW = "document.querySelectorAll(\".node[data-path='Window.size']\")"
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Tab": 9}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with playing("lumberjack", "geode") as address:
        yield address


@pytest.fixture
def tab(running: Browser) -> Iterator[Browser]:
    running.anew()
    running.screen(1440)
    yield running
    assert running.complaints == []


def shown(tab: Browser, url: str, text: str, protocol: str = "lumberjack", form: str = "hex") -> None:
    """Open the page with a text, and wait for its frames."""
    tab.open(f"{url}#{link(p=protocol, r=None, f=form, t=text, b=[])}")
    tab.wait("document.querySelectorAll('#trees h3').length")


def paste(tab: Browser, text: str) -> None:
    """Put a text in the place of all the text, as a paste does."""
    tab.run(f"(() => {{ {STATE}.textContent = ''; {TEXT}.focus(); {TEXT}.select(); }})()")
    tab.type(text)


def chosen(tab: Browser, name: str, value: str) -> None:
    """Choose a value in a menu."""
    tab.run(
        f"(() => {{ const one = document.getElementById('{name}'); one.value = '{value}'; one.dispatchEvent(new Event('change')); }})()"
    )


def pressed(tab: Browser, *keys: str) -> None:
    for key in keys:
        tab.press(key, code=KEYS[key])


# ---- texts


@pytest.mark.parametrize("form", ["hex", "base64"])
def test_a_text_in_the_place_of_another_is_read_as_it_looks(tab: Browser, url: str, form: str) -> None:
    shown(tab, url, "32570000000a" if form == "hex" else "MlcAAAAK", form=form)
    paste(tab, XXD)
    tab.wait(f"{STATE}.textContent.includes('1 frame')")
    assert tab.run(f"{FORM}.value") == "auto"
    assert tab.run(HEADINGS) == ["Window"]


def test_the_example_is_replaced_by_any_form(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.querySelectorAll('#trees h3').length")
    chosen(tab, "protocol", "lumberjack")
    tab.wait(f"{HEADINGS}[0] === 'Data'")
    assert tab.run(f"{FORM}.value") == "auto"
    paste(tab, "MlcAAAAK")
    tab.wait(f"{HEADINGS}[0] === 'Window'")
    assert tab.run("document.getElementById('read-as').textContent") == "Read as Base64, 6 bytes."


def test_a_form_that_was_chosen_for_an_empty_text_is_kept(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    paste(tab, " ")
    chosen(tab, "form-of", "base64")
    paste(tab, "32570000")
    tab.wait("document.querySelectorAll('#trees h3').length")
    assert tab.run(f"{FORM}.value") == "base64"


def test_after_an_edit_any_form_is_pasted(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    edited(tab, 0, "11")
    tab.wait(f"{TEXT}.value === '32570000000b'")
    assert tab.run(f"{FORM}.value") == "auto"


def test_a_text_of_another_form_is_named_and_one_click_reads_it(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    tab.run(f"(() => {{ {TEXT}.value = '{XXD}'; {TEXT}.dispatchEvent(new Event('input')); }})()")
    tab.wait(f"{STATE}.textContent === 'not hex; it looks like a hexdump'")
    assert tab.run("document.getElementById('fit').textContent") == "Read it as hexdump"
    assert tab.run("document.getElementById('bytes').getBoundingClientRect().height") == 0
    tab.run("document.getElementById('fit').click()")
    tab.wait("document.querySelector('#trees h3')?.textContent === 'Window'")
    assert tab.run(f"{FORM}.value") == "hexdump" and tab.run("document.getElementById('fit').hidden")


def test_words_are_no_bytes(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    paste(tab, "hello world")
    tab.wait(f"{STATE}.textContent.includes('it looks like words')")
    assert tab.run("document.querySelectorAll('#trees *, #bytes *').length") == 0
    assert tab.run("document.getElementById('read-as').textContent") == ""


def test_another_protocol_keeps_the_bytes_that_a_person_gave(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.querySelectorAll('#trees h3').length")
    example = tab.run(f"{TEXT}.value")
    first = tab.run("document.getElementById('protocol').value")
    second = "geode" if first == "lumberjack" else "lumberjack"
    chosen(tab, "protocol", second)
    tab.wait(f"{TEXT}.value !== '{example}'")  # an example gives way to the next one
    chosen(tab, "protocol", "geode")
    paste(tab, "325700000002")
    tab.wait("!!document.querySelector('.fault')")
    chosen(tab, "protocol", "lumberjack")
    tab.wait(f"{HEADINGS}[0] === 'Window'")
    assert tab.run(f"{TEXT}.value") == "325700000002"


def test_another_protocol_keeps_what_undo_gives_back(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    edited(tab, 0, "11")
    tab.wait(f"{TEXT}.value === '32570000000b'")
    chosen(tab, "protocol", "geode")
    tab.wait("!!document.querySelector('.fault')")
    tab.run("document.getElementById('undo').click()")
    tab.wait(f"{TEXT}.value === '32570000000a'")


# ---- the tree


def edited(tab: Browser, number: int, value: str) -> None:
    """Change the size of a window by the keyboard."""
    tab.run(f"{WINDOW}[{number}].focus()")
    tab.press("Enter", code=13, text="\r")
    tab.wait("document.activeElement.tagName === 'INPUT'")
    tab.type(value)
    tab.press("Enter", code=13, text="\r")


def test_after_an_edit_focus_scroll_and_folds_are_those_of_before(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a" * 60)
    tab.run("document.querySelectorAll('#trees .fold')[0].click()")
    tab.run(f"{WINDOW}[40].scrollIntoView({{block: 'center'}})")
    scroll = tab.run("document.getElementById('trees').scrollTop")
    assert scroll > 1000
    edited(tab, 40, "258")
    tab.wait(f"{TEXT}.value.includes('325700000102')")
    tab.wait(f"document.activeElement === {WINDOW}[40]")
    assert abs(tab.run("document.getElementById('trees').scrollTop") - scroll) < 5
    assert not tab.run(f"{WINDOW}[0].checkVisibility()") and tab.run(f"{WINDOW}[1].checkVisibility()")
    assert "60 frames" in tab.run(f"{STATE}.textContent")
    tab.run("(() => { const undo = document.getElementById('undo'); undo.focus(); undo.click(); })()")
    tab.wait(f"!{TEXT}.value.includes('325700000102')")
    tab.wait(f"document.activeElement === {WINDOW}[40]")  # there is nothing more to undo


def test_a_menu_of_values_gives_focus_back(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    tab.run("document.querySelector(\".node[data-path='Frame.version']\").focus()")
    tab.press("Enter", code=13, text="\r")
    tab.wait("document.activeElement.tagName === 'SELECT'")
    tab.run(
        "(() => { const menu = document.activeElement; menu.value = 'V1'; menu.dispatchEvent(new Event('change')); })()"
    )
    tab.wait(f"{TEXT}.value === '31570000000a'")
    tab.wait(f"{FOCUSED} === 'Frame.version'")


def test_the_tree_is_walked_by_arrows(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a32570000000b")
    tab.run("document.querySelector('#trees .node').focus()")
    seen = []
    for key in (
        "ArrowDown",
        "ArrowDown",
        "ArrowDown",
        "ArrowDown",
        "ArrowUp",
        "ArrowLeft",
        "ArrowLeft",
        "ArrowRight",
        "ArrowRight",
        "End",
    ):
        pressed(tab, key)
        seen.append(
            (
                tab.run("document.activeElement.querySelector('b').textContent"),
                tab.run("document.activeElement.getAttribute('aria-expanded')"),
            )
        )
    assert seen == [
        ("version", None), ("type", None), ("body", "true"), ("size", None), ("body", "true"),
        ("body", "false"), ("Frame", "true"), ("version", None), ("version", None), ("body", "false"),
    ]  # fmt: skip
    pressed(tab, "ArrowRight", "ArrowDown", "ArrowDown")
    assert (
        tab.run("[...document.querySelectorAll('#trees .node')].indexOf(document.activeElement)") == 5
    )  # the next frame
    pressed(tab, "Home")
    assert tab.run("document.activeElement.querySelector('b').textContent") == "Frame"


def test_each_frame_is_one_stop_for_tab(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a32570000000b")
    tab.run("document.querySelector('#trees .node').focus()")
    pressed(tab, "ArrowDown", "Tab")
    assert tab.run("document.activeElement.dataset.copy") == "command line"
    stops = "[...document.querySelectorAll('#trees [role=tree]')].map((tree) => [...tree.querySelectorAll('*')].filter((each) => each.tabIndex >= 0).length)"
    assert tab.run(stops) == [1, 1]
    tab.run("document.querySelectorAll('#trees .fold')[0].click()")  # the stop was below it
    assert tab.run("document.querySelector('#trees [role=tree] [tabindex=\"0\"]').checkVisibility()")


# ---- the layout


def test_lines_say_place_size_and_numbers_as_the_dump_has_them(tab: Browser, url: str) -> None:
    shown(tab, url, "32570000000a")
    lines = tab.run(
        "[...document.querySelectorAll('#trees .node')].map((each) => [...each.children].map((part) => part.textContent))"
    )
    assert lines == [
        ["Frame", "@0, 6 bytes"], ["version", "V2 (0x32)", "@0, 1 byte"], ["type", "87 (0x57)", "@1, 1 byte; Window, derived"],
        ["body", "@2, 4 bytes"], ["size", "10", "@2, 4 bytes"],
    ]  # fmt: skip


@pytest.mark.parametrize("width", [1280, 1440])
def test_the_tree_has_the_room_that_short_bytes_leave(tab: Browser, url: str, width: int) -> None:
    tab.screen(width)
    shown(tab, url, "32570000000a")
    sizes = "(({0}) => [{0}.left, {0}.width])(document.getElementById('{0}').getBoundingClientRect())"
    bytes_left, bytes_width = tab.run(sizes.format("bytes"))
    tree_left, tree_width = tab.run(sizes.format("trees"))
    assert tree_left > bytes_left and tree_width > bytes_width and tree_width > 600
    rows = tab.run(
        "[...new Set([...document.querySelectorAll('#trees button[data-copy]')].map((each) => each.getBoundingClientRect().top))].length"
    )
    assert rows == 1


def test_on_a_narrow_screen_each_frame_of_a_capture_names_its_side(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.querySelectorAll('#trees h3').length")
    chosen(tab, "protocol", "lumberjack")
    drop(tab, CAPTURE)
    tab.wait("document.querySelectorAll('#trees .ours h3').length === 11")
    names = "[...document.querySelectorAll('#trees .{0}')].filter((each) => each.checkVisibility()).map((each) => each.textContent)"
    assert (tab.run(names.format("who")), tab.run(names.format("sender"))) == (["writer", "reader"], [])
    tab.screen(390)
    assert tab.run(names.format("who")) == []
    assert json.dumps(tab.run(names.format("sender"))) == json.dumps(["writer"] * 11 + ["reader"])
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")
