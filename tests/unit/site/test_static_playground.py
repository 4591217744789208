"""The playground as files of the site: the modules in its archive, the pinned package, and both in a browser."""

from __future__ import annotations

import base64
import functools
import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.npm import npm_modules
from tests.unit.browser import Browser, axe_of_npm, browser, needs_chromium
from tests.unit.docs_sites import SHIPPED, shipped_chapter
from tests.unit.site.test_playground import QUESTIONS, ROOT, WINDOW, asked
from tests.unit.tools.test_cli_decode import run

from wiregen.conformance.vectors.format import Invalid, Valid, octets
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.formats.inspect.secrets import without_secrets
from wiregen.schema import model as m
from wiregen.schema.lowering import lower
from wiregen.site.pages.playground_page import Transport
from wiregen.site.pages.samples import playground_state
from wiregen.site.pages.site import build_site
from wiregen.site.playground import pyodide_package
from wiregen.site.playground.archive import archive_of, module_finder
from wiregen.site.playground.pyodide_package import VERSION, PackageError, pyodide_files
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoded_input import decoded_input
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.input import Input, from_hex, open_bytes
from wiregen.tools.cli.sinks import sink

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
N_VECTORS = 12
"""The vectors of each protocol that `make test` decodes in the browser."""
CAPTURES = ("npm-w10-plain.pcap", "golumber-async-pipelined.pcap", "pylogbeat-unicode.pcap")


def protocols() -> tuple[m.Protocol, ...]:
    return tuple(shipped_chapter(name).protocol for name in SHIPPED)


def site(playground: Transport, package: Path | None = None) -> dict[str, bytes]:
    """Return the site of one protocol."""
    outputs = build_site([shipped_chapter("lumberjack")], playground=playground, pyodide=package)
    return {str(each.path): each.content for each in outputs}


# ---- the archive


def test_what_answers_imports_the_standard_library_alone() -> None:
    """Names that are not modules are those of classes and functions of wiregen."""
    finder = module_finder()
    missing = {name for name in finder.badmodules if name.rpartition(".")[0] not in finder.modules}
    assert {name for name in missing if name.split(".")[0] not in sys.stdlib_module_names} == set()
    assert "wiregen.runtime.reference.reading.reader" in finder.modules and len(finder.modules) > 100


ASKED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from wiregen.site.playground.browser import answers_of
answer = answers_of(sys.argv[1])
print(json.dumps([json.loads(answer(each)) for each in json.load(sys.stdin)]))
"""


def test_the_archive_answers_as_the_installed_modules_do(tmp_path: Path) -> None:
    """In a Python without site-packages."""
    archive = tmp_path / "wiregen.zip"
    archive.write_bytes(archive_of(protocols(), "wireproto"))
    questions = [
        {"kind": "protocols"},
        {"kind": "look", "protocol": "lumberjack", "text": WINDOW},
        {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": 0, "path": "Window.size", "value": "7"},
        {"kind": "look", "protocol": "nothing", "text": WINDOW},
    ]  # fmt: skip
    for name in SHIPPED:
        states = [state for state, _ in vectors_of(name)][::40]
        questions += [{"kind": "look", **asked(state)} for state in states]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ASKED, str(archive)],
        input=json.dumps([json.dumps(each) for each in questions]), capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert len(questions) > 50
    for question, found in zip(questions, json.loads(done.stdout), strict=True):
        assert found == json.loads(json.dumps(QUESTIONS.answer(question))), question


def test_the_archive_is_a_function_of_the_protocols() -> None:
    first = archive_of(protocols()[:1], "wireproto")
    assert first == archive_of(protocols()[:1], "wireproto") != archive_of(protocols()[1:2], "wireproto")


def vectors_of(name: str) -> Iterator[tuple[str, Valid | Invalid]]:
    """Yield the vectors that the page reads as they are, each with its link."""
    vectors = shipped_chapter(name).vectors
    assert vectors is not None
    for vector in vectors.vectors:
        if not isinstance(vector, Valid | Invalid) or vector.variant or vector.limits or vector.strict:
            continue
        if not 0 < len(data := octets(vector.bytes)) <= 4096:
            continue
        before = tuple((each.from_role, octets(each.bytes)) for each in vector.before)
        if all(
            role != vector.from_role for role, _ in before
        ):  # after others of its own, the command counts on
            yield playground_state(name, Scene(role=vector.from_role, before=before), data), vector


# ---- the package


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the name and the version of the package, and files of its own whose hashes are pinned."""
    from hashlib import sha256

    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"name": "pyodide", "version": VERSION}))
    (folder / "pyodide.mjs").write_bytes(b"loader")
    monkeypatch.setattr(pyodide_package, "_SHA256", {"pyodide.mjs": sha256(b"loader").hexdigest()})
    return folder


def test_files_of_the_pinned_package_are_copied(package: Path) -> None:
    [output] = pyodide_files(package, PurePosixPath("x"))
    assert (str(output.path), output.content) == ("x/pyodide.mjs", b"loader")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("pyodide.mjs", b"loader!", "its SHA-256 differs"),
        ("package.json", b'{"name": "pyodide", "version": "0.1"}', "found 0.1"),
        ("package.json", b'{"name": "other", "version": "1"}', "found another package"),
        ("package.json", b"[", "found no package of npm"),
    ],
)
def test_other_files_are_refused(package: Path, name: str, content: bytes, said: str) -> None:
    (package / name).write_bytes(content)
    with pytest.raises(PackageError, match=re.escape(said)):
        pyodide_files(package, PurePosixPath("x"))


def test_a_missing_file_is_named_with_a_way_out(package: Path) -> None:
    (package / "pyodide.mjs").unlink()
    with pytest.raises(PackageError, match=r"pyodide\.mjs: No such file"):
        pyodide_files(package, PurePosixPath("x"))
    result = run("docs", "build", "lumberjack", "-o", package.parent / "site", "--playground", package)
    assert result.exit_code == 2 and f"npm pack pyodide@{VERSION}" in result.stderr
    assert not (package.parent / "site").exists()


def test_the_guide_names_the_pinned_version() -> None:
    guide = (ROOT / "docs" / "guide" / "projects.md").read_text(encoding="utf-8")
    assert set(re.findall(r"pyodide[@-](\d[\d.]*\d)", guide)) == {VERSION}


# ---- pages


def test_without_it_the_page_says_how_to_start_it() -> None:
    files = site("none")
    page = files["wiregen-playground/index.html"].decode()
    assert "<code>wiregen play</code> starts it" in page and "<form" not in page and "play.js" not in page
    assert [name for name in files if name.startswith("wiregen-playground/")] == [
        "wiregen-playground/index.html", "wiregen-playground/index.md", "wiregen-playground/index.json",
    ]  # fmt: skip
    assert not any(b"wiregen-playground/index.html#" in content for content in files.values())


def test_examples_and_vectors_lead_to_it_where_it_is() -> None:
    files = site("server")
    link = re.compile(rb'href="\.\./wiregen-playground/index\.html#([\w-]+)"')
    for name, n_least in (("lumberjack/Data.html", 1), ("lumberjack/vectors-Window.html", 5)):
        states = link.findall(files[name])
        assert len(states) >= n_least
        frames = QUESTIONS.answer({"kind": "look", **asked(states[0].decode())})["frames"]
        assert frames[0]["message"] == name.partition("/")[2].removesuffix(".html").removeprefix("vectors-")


# ---- in a browser


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    package = npm_modules(tmp_path_factory.mktemp("pyodide"), f"pyodide@{VERSION}") / "pyodide"
    folder = tmp_path_factory.mktemp("static")
    archive = {"wiregen-playground/wiregen.zip": archive_of(protocols(), "wireproto")}  # of all protocols
    for name, content in (site("worker", package) | archive).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def base(built: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(built)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def tab(base: str) -> Iterator[Browser]:
    """The page with the codec, which is loaded once for all tests."""
    with browser() as opened:
        opened.screen(1300)
        opened.open(f"{base}/lumberjack/Data.html")
        assert not any("pyodide" in each or "wiregen.zip" in each for each in opened.requests)
        opened.open(opened.run("document.querySelector('#example .play a').href"))
        opened.wait("document.querySelector('#trees h3')?.textContent === 'Data'")
        opened.run(COLLECT)
        yield opened
        assert opened.complaints == []
        assert len([each for each in opened.requests if each.endswith("pyodide.asm.wasm")]) == 1
        assert {each for each in opened.requests if not each.startswith((f"{base}/", "data:"))} == set()


PAUSE = 170 if IS_SOAK else 0
"""Milliseconds after each link: Chromium ignores more than 200 of them in 30 seconds."""
COLLECT = f"const pause = {PAUSE};" + """
history.replaceState = () => {};
navigator.clipboard.writeText = (text) => { window.copied.push(text); return Promise.resolve(); };
window.linesOf = async (state) => {
  await new Promise((resolve) => setTimeout(resolve, pause));
  const said = document.getElementById("state");
  said.textContent = "";
  location.hash = state;
  while (!said.textContent) await new Promise((resolve) => setTimeout(resolve, 2));
  window.copied = [];
  document.querySelectorAll("[data-copy=JSON]").forEach((each) => each.click());
  return window.copied;
};
0
"""


def decoded(name: str, opened: Input, role: str | None, before: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return the lines that `wiregen decode` prints up to the first error, secrets hidden."""
    schema = lower(shipped_chapter(name).protocol)
    settings = DecodingSettings(schema=schema)
    with redirect_stdout(io.StringIO()) as printed:
        lines = sink("jsonl", settings, Clock("epoch"))
        for each in decoded_input(opened, settings, role, before, None, (), lambda n_read: None):
            lines.write(each)
        lines.close()
    found = []
    for line in printed.getvalue().splitlines():
        known = {key: value for key, value in json.loads(line).items() if key not in ("flow", "time")}
        found.append(without_secrets(known, schema))
        if "error" in known:
            break
    return found


@needs_chromium
@pytest.mark.parametrize("name", SHIPPED)
def test_it_decodes_vectors_to_the_lines_of_the_command(tab: Browser, name: str) -> None:
    vectors = list(vectors_of(name))
    step = 1 if IS_SOAK else max(len(vectors) // N_VECTORS, 1)
    for state, vector in vectors[::step]:
        shown = [json.loads(each) for each in tab.run(f"linesOf({json.dumps(state)})")]
        before = tuple(f"{each.from_role}:{octets(each.bytes).hex()}" for each in vector.before)
        opened = from_hex(octets(vector.bytes).hex())
        assert shown == decoded(name, opened, vector.from_role, before), vector.id
    assert len(vectors[::step]) >= N_VECTORS


@needs_chromium
@pytest.mark.parametrize("capture", CAPTURES)
def test_it_decodes_captures_to_the_lines_of_the_command(tab: Browser, capture: str) -> None:
    path = ROOT / "examples" / "captures" / capture
    data = json.dumps(base64.b64encode(path.read_bytes()).decode())
    tab.run(f"linesOf('{playground_state('lumberjack', Scene(role='reader'), path.name.encode())}')")
    tab.run(
        f"(() => {{ const octets = Uint8Array.from(atob({data}), (each) => each.charCodeAt(0)); const transfer = new DataTransfer();"
        "transfer.items.add(new File([octets], 'a.pcap')); const input = document.getElementById('file'); input.files = transfer.files;"
        "document.getElementById('stream').replaceChildren(); document.getElementById('state').textContent = ''; input.dispatchEvent(new Event('change')); })()"
    )
    tab.wait(
        "document.getElementById('stream').options.length === 2 && document.getElementById('state').textContent.includes('frame')"
    )
    for side, role in enumerate(("writer", "reader")):
        tab.run(
            f"(() => {{ const one = document.getElementById('stream'); document.getElementById('state').textContent = ''; one.value = '{side}'; one.onchange(); }})()"
        )
        tab.wait("document.getElementById('state').textContent.includes('frame')")
        tab.run(
            "(() => { window.copied = []; document.querySelectorAll('[data-copy=JSON]').forEach((each) => each.click()); })()"
        )
        shown = [json.loads(each) for each in tab.run("window.copied")]
        with open_bytes(str(path), is_capture=True) as opened:
            assert shown == decoded("lumberjack", opened, role) != []


@needs_chromium
def test_a_field_is_changed_in_it(tab: Browser) -> None:
    tab.run(
        f"linesOf('{playground_state('lumberjack', Scene(role='writer'), bytes.fromhex('32570000000a'))}')"
    )
    tab.run(
        "document.querySelector(\".node[data-path='Window.size']\").dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"
    )
    tab.wait("document.activeElement.tagName === 'INPUT'")
    tab.type("258")
    tab.press("Enter", code=13, text="\r")
    tab.wait("document.getElementById('text').value === '325700000102'")


@needs_chromium
def test_axe_finds_no_serious_fault_in_both_themes(tab: Browser, tmp_path: Path) -> None:
    axe = axe_of_npm(tmp_path)
    for width in (1440, 390):
        tab.screen(width)
        for _ in ("light", "dark"):
            tab.run("document.getElementById('theme').click()")
            assert tab.serious_faults(axe) == []
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")


@needs_chromium
def test_only_its_page_may_compile_code(tab: Browser, built: Path) -> None:
    assert tab.run("document.querySelector('meta[http-equiv]').content").count("'wasm-unsafe-eval'") == 1
    with_policy = {path for path in built.rglob("*.html") if b"Content-Security-Policy" in path.read_bytes()}
    assert with_policy == {built / "wiregen-playground" / "index.html"}


@needs_chromium
def test_from_a_file_it_says_so(built: Path) -> None:
    with browser() as opened:
        opened.open((built / "wiregen-playground" / "index.html").as_uri())
        assert "not from a file" in opened.run("document.getElementById('state').textContent")
        assert opened.complaints == []
