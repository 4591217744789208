"""`wiregen play` in a browser: paste, look at both sides, change a field, follow a link; a stranger's link is text."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.unit.browser import Browser, axe_of_npm, browser, needs_chromium
from tests.unit.tools.test_cli_decode import run

from wiregen.tools.cli.play import pages

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def playing(*names: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "wiregen", "play", *names],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, line + process.stderr.read()
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with playing("lumberjack", "reactive_streams") as address:
        yield address


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture
def tab(running: Browser, url: str) -> Iterator[Browser]:
    running.anew()
    running.screen(1300)
    yield running
    assert running.complaints == []
    assert all(each.startswith((url, "data:")) for each in running.requests)


def link(**state: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")


WINDOWS = link(p="lumberjack", r="writer", f="hex", t="32570000000a 325700000001", b=[])


@needs_chromium
def test_pasted_bytes_are_a_tree_and_both_sides_light_up(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    assert tab.run("[...document.querySelectorAll('#trees h3')].map((each) => each.textContent)") == [
        "Window",
        "Window",
    ]
    tab.point_at(".b[data-at='5']")
    assert tab.wait("document.querySelector('.node.lit')?.dataset.path") == "Window.size"
    assert (
        tab.run("[...document.querySelectorAll('.b.lit')].map((each) => each.textContent).join('')")
        == "0000000a"
    )
    tab.point_at(".node[data-path='Frame.type']")
    assert tab.wait("[...document.querySelectorAll('.b.lit')].map((each) => each.dataset.at).join()") == "1"
    if "WIREGEN_SCREENSHOTS" in os.environ:
        tab.shoot(Path(os.environ["WIREGEN_SCREENSHOTS"], "play.png"))


@needs_chromium
def test_a_changed_field_changes_bytes_and_the_link(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("!!document.querySelector(\".node[data-path='Window.size']\")")
    tab.run(
        "document.querySelectorAll(\".node[data-path='Window.size']\")[1].dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"
    )
    tab.wait("document.activeElement.tagName === 'INPUT'")
    tab.type("258")
    tab.press("Enter", code=13, text="\r")
    assert (
        tab.wait(
            "document.getElementById('text').value !== '32570000000a 325700000001' && document.getElementById('text').value"
        )
        == "32570000000a325700000102"
    )
    before = tab.run("location.hash")
    tab.open("about:blank")
    tab.open(f"{url}{before}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    assert tab.run("document.getElementById('text').value") == "32570000000a325700000102"


DATA = "3244000000010000000100000001"


@needs_chromium
@pytest.mark.parametrize("value", ['say "hi"', "a\\b", "line\nnext\ttab", "\u202eright", "x" * 300], ids=repr)
def test_who_changes_nothing_in_a_field_changes_nothing(tab: Browser, url: str, value: str) -> None:
    data = f"{DATA}6b{len(value.encode()):08x}{value.encode().hex()}"
    field = "document.querySelector(\".node[data-path='Data.pairs[0].value']\")"
    tab.open(f"{url}#{link(p='lumberjack', r='writer', f='hex', t=data, b=[])}")
    for typed in ("", "!"):
        tab.wait(f"!!{field}")
        tab.run(f"{field}.dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))")
        tab.wait("document.activeElement.tagName === 'INPUT'")
        tab.run("document.activeElement.setSelectionRange(1, 1)")
        if typed:
            tab.type(typed)
        tab.press("Enter", code=13, text="\r")
        tab.wait("document.activeElement.tagName !== 'INPUT'")
        assert len(tab.run("document.getElementById('text').value")) == len(data) + 2 * len(typed)


@needs_chromium
def test_a_fault_is_shown_with_what_was_read(tab: Browser, url: str) -> None:
    tab.open(
        f"{url}#{link(p='lumberjack', r='writer', f='auto', t='32 44 00000001 00000001 00000003', b=[])}"
    )
    tab.wait("!!document.querySelector('.fault')")
    text = tab.run("document.querySelector('.fault').textContent")
    assert "truncated in Data.pairs[0].key" in text and "Read so far of Data" in text
    assert tab.run("[...document.querySelectorAll('.fault li li')].map((each) => each.textContent)")[:3] == [
        'version"V2"', "sequence1", "pairs[0]",
    ]  # fmt: skip
    tab.point_at(".fault .node")
    assert tab.wait("document.querySelectorAll('.b.lit').length") == 14


@needs_chromium
def test_what_cannot_be_read_leaves_nothing_of_before(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    tab.run(
        "(() => { const area = document.getElementById('text'); area.value = 'zz'; area.dispatchEvent(new Event('input')); })()"
    )
    tab.wait("document.getElementById('state').textContent.includes('not hex')")
    assert tab.run("document.querySelectorAll('#trees *, #bytes *').length") == 0


@needs_chromium
def test_a_link_that_cannot_hold_it_all_says_so(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    assert tab.run("document.getElementById('unkept').hidden")
    script = "(() => { const area = document.getElementById('text'); area.value = '32570000000a'.repeat(5000); area.dispatchEvent(new Event('input')); })()"
    tab.run(script)
    tab.wait("!document.getElementById('unkept').hidden")
    assert tab.run("location.hash") == ""


@needs_chromium
def test_another_link_in_the_same_tab_is_followed(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    tab.run(f"location.hash = '{link(p='lumberjack', r='writer', f='hex', t='325700000007', b=[])}'")
    tab.wait("document.querySelectorAll('#trees h3').length === 1")
    assert tab.run("document.getElementById('text').value") == "325700000007"


@needs_chromium
@pytest.mark.parametrize(
    "fragment",
    [
        "", "%00", "!!", link(p="<img src=x onerror=alert(1)>", t="00"), link(p="lumberjack", t=5), link(p="lumberjack", t="00", b="x"),
        link(p="lumberjack", r="<b>", f="<b>", t="<script>alert(1)</script>", b=[]),
    ],
)  # fmt: skip
def test_links_of_strangers_are_text(tab: Browser, url: str, fragment: str) -> None:
    tab.open(f"{url}#{fragment}")
    tab.wait("document.getElementById('protocol').options.length === 2")
    tab.wait("document.getElementById('state').textContent || document.getElementById('text').value === ''")
    assert tab.run("document.querySelectorAll('img, main script, b script').length") == 0


CAPTURE = (ROOT / "examples" / "captures" / "npm-w10-plain.pcap").read_bytes()


def drop(tab: Browser, capture: bytes) -> None:
    """Choose a file, as a person does."""
    script = (
        "(() => { const octets = Uint8Array.from(atob('CAPTURE'), (each) => each.charCodeAt(0)); const transfer = new DataTransfer();"
        "transfer.items.add(new File([octets], 'a.pcap')); const input = document.getElementById('file'); input.files = transfer.files;"
        "input.dispatchEvent(new Event('change')); })()"
    )
    tab.run(script.replace("CAPTURE", base64.b64encode(capture).decode()))


@needs_chromium
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (bytes.fromhex("32570000000a"), "32570000000a"),
        (b"00000000: 3257 0000 000b   2W....\n", "00000000: 3257 0000 000b   2W....\n"),
        (b"2W!!!!", "325721212121"),
    ],
    ids=["binary", "hexdump", "binary that is text"],
)
def test_any_file_is_dropped_in(tab: Browser, url: str, content: bytes, expected: str) -> None:
    tab.open(f"{url}#{link(p='lumberjack', r='writer', f='base64', t='MlcAAAAK', b=[])}")
    tab.wait("document.querySelectorAll('#trees h3').length === 1")
    drop(tab, content)
    tab.wait(f"document.getElementById('text').value === {json.dumps(expected)}")
    tab.wait("document.querySelector('#trees h3')?.textContent === 'Window'")


@needs_chromium
def test_of_a_large_file_the_first_part_is_shown_and_that_is_said(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    drop(tab, bytes(300_000))
    tab.wait("document.getElementById('state').textContent.includes('Only the first 262,144 bytes')")
    assert tab.run("document.getElementById('text').value.length") == 2 * 262_144


FAULTY = link(p="lumberjack", r="writer", f="hex", t="32570000000a 325a0000", b=[])


@needs_chromium
def test_bytes_have_characters_colours_borders_and_the_place_of_the_error(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{FAULTY}")
    tab.wait("!!document.querySelector('.fault')")
    assert tab.run("document.querySelector('#bytes .text').textContent") == "2W····2Z··"
    places = "[...document.querySelectorAll('#bytes .b{0}')].map((each) => Number(each.dataset.at))"
    assert tab.run(places.format(".first")) == [0, 6]
    assert tab.run(places.format(".torn")) == [6, 7, 8, 9]
    assert tab.run(places.format(".wrong")) == [7]
    colours = "[...document.querySelectorAll({0})].map((each) => getComputedStyle(each).backgroundColor)"
    size = tab.run(colours.format("\".node[data-path='Window.size'] b\""))
    assert tab.run(colours.format('\'#bytes .b[data-at="3"], #bytes .c[data-at="3"]\'')) == size * 2
    tab.point_at("#bytes .c[data-at='3']")
    assert tab.wait("document.querySelector('.node.lit')?.dataset.path") == "Window.size"


@needs_chromium
def test_parts_of_the_tree_are_collapsed(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    shown = "document.querySelector(\".node[data-path='Window.size']\").checkVisibility()"
    fold = "document.querySelector('#trees .fold')"
    is_open = "document.querySelector('#trees .node').ariaExpanded"
    assert (tab.run(shown), tab.run(is_open)) == (True, "true")
    tab.run(f"{fold}.click()")
    assert (tab.run(shown), tab.run(is_open)) == (False, "false")
    tab.run(f"{fold}.click()")
    assert tab.run(shown)


@needs_chromium
def test_a_refusal_is_beside_its_only_editor_and_a_change_is_undone(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    for number in (0, 1):
        tab.run(
            f"document.querySelectorAll(\".node[data-path='Window.size']\")[{number}].dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))"
        )
    assert tab.run("document.querySelectorAll('#trees input').length") == 1
    tab.type("-1")
    tab.press("Enter", code=13, text="\r")
    assert "expected 0 to 4294967295" in tab.wait("document.querySelector('.node + .refused')?.textContent")
    assert tab.run("document.activeElement.getAttribute('aria-describedby')") == "refused"
    tab.run("document.activeElement.select()")
    tab.type("2")
    tab.press("Enter", code=13, text="\r")
    tab.wait("document.getElementById('text').value === '32570000000a325700000002'")
    tab.run("document.getElementById('undo').click()")
    tab.wait("document.getElementById('text').value === '32570000000a 325700000001'")  # as it was pasted
    assert tab.run("document.getElementById('undo').disabled")


@needs_chromium
def test_the_other_role_is_named_where_it_sends_the_bytes(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{link(p='lumberjack', r='writer', f='hex', t='324100000007', b=[])}")
    other = "document.getElementById('other')"
    tab.wait(f"!{other}.hidden")
    assert tab.run(f"{other}.textContent") == "The reader sends this: read it so"
    tab.run(f"{other}.click()")
    tab.wait(f"{other}.hidden")
    assert tab.run("document.getElementById('role').value") == "reader"


@needs_chromium
def test_the_link_is_copied(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    tab.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    tab.run("document.getElementById('link').click()")
    assert tab.wait("window.copied") == tab.run("location.href")


@needs_chromium
def test_a_capture_is_dropped_in_and_each_direction_is_looked_at(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.getElementById('protocol').options.length === 2")
    drop(tab, CAPTURE)
    tab.wait("document.querySelectorAll('#trees .ours h3').length === 11")
    assert tab.run("document.getElementById('stream').options.length") == 2
    tab.run("(() => { const one = document.getElementById('stream'); one.value = '1'; one.onchange(); })()")
    tab.wait("document.querySelector('#trees .ours h3')?.textContent === 'Ack'")
    assert tab.run("document.getElementById('role').value") == "reader"


@needs_chromium
def test_both_directions_of_a_capture_are_side_by_side_with_their_sessions(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.getElementById('protocol').options.length === 2")
    drop(tab, CAPTURE)
    tab.wait("document.querySelectorAll('#trees .ours h3').length === 11")
    headings = "[...document.querySelectorAll('#trees {0} h3')].map((each) => each.textContent)"
    assert tab.run(headings.format(".theirs")) == ["Ack"]
    heads = "[...document.querySelectorAll('#trees .who')].map((each) => each.textContent)"
    assert tab.run(heads) == ["writer", "reader"]
    steps = "[...document.querySelectorAll('#trees .step')].map((each) => each.textContent)"
    assert tab.run(steps) == ["Transfer: idle → waiting", "Transfer: waiting → idle"]
    left = "document.querySelector('#trees {0}').getBoundingClientRect().x"
    assert tab.run(left.format("section.ours")) < tab.run(left.format("section.theirs"))
    shown = tab.run("location.hash")
    tab.open(f"{url}{shown}")  # a link holds both sides
    tab.wait("document.querySelectorAll('#trees .theirs h3').length === 1")


@needs_chromium
def test_a_field_of_an_enum_has_a_menu_and_undo_ends_at_the_paste(tab: Browser, url: str) -> None:
    window = "32570000000a"
    tab.open(f"{url}#{link(p='lumberjack', r='writer', f='hex', t=window, b=[])}")
    menu = "document.querySelector('#trees select')"
    tab.wait("!!document.querySelector('#trees .node b')")
    field = "document.querySelector(\".node[data-path='Frame.version']\")"
    tab.run(f"{field}.dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))")
    assert tab.run(f"[...{menu}.options].map((each) => each.value)") == ["V1", "V2"]
    tab.run(f"{menu}.value = 'V1'")
    tab.run(f"{menu}.dispatchEvent(new Event('change'))")
    tab.wait("document.getElementById('text').value === '31570000000a'")
    undo = "document.getElementById('undo').disabled"
    assert tab.run(undo) is False
    tab.run("(() => { const area = document.getElementById('text'); area.value = ''; area.focus(); })()")
    tab.type(window)
    assert tab.run(undo) is True


@needs_chromium
def test_of_a_large_capture_the_first_part_is_shown_and_that_is_said(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.getElementById('protocol').options.length === 2")
    header, packets = CAPTURE[:24], CAPTURE[24:]
    drop(tab, header + packets * (700_000 // len(packets) + 2))
    tab.wait("document.getElementById('state').textContent.includes('Only the first 700,000 bytes')")
    assert tab.run("document.querySelector('#trees h3').textContent") == "Window"
    assert tab.run("document.querySelectorAll('.fault').length") == 0


@needs_chromium
def test_something_left_open_is_no_fault(tab: Browser, url: str) -> None:
    tab.open(f"{url}#{link(p='reactive_streams', r='client', f='hex', t='0b0305046a6f696e', b=[])}")
    tab.wait("!!document.querySelector('#trees .open')")
    assert "Element[3, 5] is left open" in tab.run("document.querySelector('#trees .open').textContent")
    assert "is not whole yet" in tab.run("document.getElementById('state').textContent")
    assert tab.run("document.querySelectorAll('.fault, #bytes .lit').length") == 0


@needs_chromium
def test_examples_of_the_documentation_lead_to_the_playground(tab: Browser, url: str) -> None:
    tab.open(url)
    tab.wait("document.querySelectorAll('#trees h3').length")
    tab.open(tab.run("document.querySelector('.crumbs a').href"))
    assert tab.run("document.querySelector('h1').textContent") == "Protocols, byte by byte"
    tab.open(f"{url}reactive_streams/OnNext.html")
    tab.open(tab.run("document.querySelector('#example a[href*=\"#\"]').href"))
    tab.wait("document.querySelector('#trees h3')?.textContent === 'OnNext'")


@needs_chromium
def test_it_is_legible_in_the_dark_and_on_narrow_screens(tab: Browser, url: str) -> None:
    for width, dark in ((390, False), (1300, True)):
        tab.screen(width, dark=dark)
        tab.open(f"{url}#{WINDOWS}")
        tab.wait("document.querySelectorAll('#trees h3').length === 2")
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
        assert tab.run("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        tab.open("about:blank")


@needs_chromium
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_serious_fault_in_it(tab: Browser, url: str, tmp_path: Path, dark: bool) -> None:
    axe = axe_of_npm(tmp_path)
    tab.screen(1300, dark=dark)
    tab.open(f"{url}#{WINDOWS}")
    tab.wait("document.querySelectorAll('#trees h3').length === 2")
    assert tab.serious_faults(axe) == []


def test_only_questions_are_answered(url: str) -> None:
    own = url.rsplit("/", 2)[0]

    def status(path: str, body: bytes) -> int:
        try:
            with urlopen(Request(f"{url}{path}", body, {"Origin": own}), timeout=90) as response:
                return int(response.status)
        except HTTPError as error:
            return error.code

    ask = "wiregen-playground/ask"
    assert status(ask, b'{"kind": "protocols"}') == 200
    assert (status(ask, b"{"), status(ask, b"[" * 100000), status("ask", b"{}")) == (400, 400, 404)


def test_the_page_is_its_own_files_alone() -> None:
    files = pages()
    page = files["wiregen-playground/index.html"].decode()
    assert set(re.findall(r'(?:src|href)="([^"]+)"', page)) == {
        "../print.css", "../site.css", "play.css", "play.js", "../site.js", "../index.html", "../wiregen-playground/index.html", "index.md", "index.json",
        "#content", "data:,",
    }  # fmt: skip
    assert not re.search(
        rb"innerHTML|eval|https?:|insertAdjacent|document\.write", files["wiregen-playground/play.js"]
    )
    assert "<script>" not in page and "style=" not in page


def test_what_is_mistyped_has_a_way_out() -> None:
    assert run("play", "nobody").exit_code == 2
