"""`wiregen docs serve`: the site as it is now, and a page that notices when it is another."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tests.npm import npm_modules
from tests.unit.browser import browser, needs_chromium
from tests.unit.tools.test_cli_docs import WIRE

from wiregen.generate.writer import Output
from wiregen.site.loopback import Reply, Request
from wiregen.site.playground.pyodide_package import VERSION
from wiregen.tools.cli.docs_serve import Served

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "p.wire").write_text(WIRE)
    (tmp_path / "wiregen.toml").write_text("")
    return tmp_path


@contextmanager
def serving(project: Path, *options: str) -> Iterator[str]:
    """Run the command with options; hand out its address once the site is built."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wiregen", "docs", "serve", *options],
        cwd=project, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = ""
        while "the site is built" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        found = re.search(r"http://\S+", said)
        assert found is not None, said
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def read(url: str) -> str:
    with urlopen(url, timeout=60) as response:
        return str(response.read().decode())


def until(url: str, text: str) -> str:
    end = time.monotonic() + 90
    while text not in (page := read(url)):
        assert time.monotonic() < end, page
        time.sleep(0.1)
    return page


def test_a_change_is_seen_and_a_mistake_keeps_what_was(project: Path) -> None:
    source = project / "idl" / "p.wire"
    with serving(project) as url:
        assert "One number." in read(f"{url}p/Count.html") and "reload.js" in read(url)
        before = read(f"{url}version")
        source.write_text("protocol p {")
        assert until(f"{url}version", "wrong") == f"{before} wrong"
        assert "One number." in read(f"{url}p/Count.html")
        source.write_text(WIRE.replace("One number.", "Another number."))
        until(f"{url}p/Count.html", "Another number.")
        assert read(f"{url}version") != before
        with pytest.raises(HTTPError, match="404"):
            read(f"{url}../../etc/passwd")
        with pytest.raises(HTTPError, match="404"):
            read(url.rsplit("/", 2)[0] + "/p/Count.html")
    assert not (project / "site").exists()


@needs_chromium
def test_a_page_in_a_browser_loads_again_by_itself(project: Path) -> None:
    source = project / "idl" / "p.wire"
    with serving(project) as url, browser() as tab:
        tab.open(f"{url}p/Count.html")
        source.write_text(WIRE.replace("One number.", "Another number."))
        tab.wait("document.body?.innerText.includes('Another number.')")
        assert tab.complaints == []
        assert all(each.startswith((url, "data:")) for each in tab.requests)


@needs_chromium
def test_a_page_in_a_browser_says_that_the_source_is_wrong_until_it_is_right(project: Path) -> None:
    source = project / "idl" / "p.wire"
    with serving(project) as url, browser() as tab:
        tab.open(f"{url}p/Count.html")
        assert tab.run("document.querySelector('.broken').textContent") == ""
        source.write_text("protocol p {")
        tab.wait("document.querySelector('.broken').textContent.startsWith('The source is wrong')")
        source.write_text(WIRE)
        tab.wait("document.querySelector('.broken').textContent === ''")
        assert tab.complaints == []


def test_before_the_first_site_the_browser_is_told_why_there_is_none() -> None:
    served = Served()
    served.miss()
    reply = served.answer(Request(method="GET", path="", body=b""))
    assert reply.status == 503 and b"source is wrong" in reply.body


def test_files_are_known_by_their_whole_name() -> None:
    served = Served()
    page = Output(path=PurePosixPath("p/A.html"), content=b"<body></body>")
    assert served.put((page,)) and not served.put((page,))

    def status(path: str, method: str = "GET") -> int:
        return served.answer(Request(method=method, path=path, body=b"")).status

    assert (status("p/A.html"), status("p/A"), status("p/../p/A.html"), status("p/A.html", "POST")) == (
        200,
        404,
        404,
        405,
    )
    assert b'src="../reload.js"' in served.answer(Request(method="GET", path="p/A.html", body=b"")).body


def test_only_the_playground_may_compile_code() -> None:
    served = Served()
    served.put(
        tuple(
            Output(path=PurePosixPath(name), content=b"")
            for name in (
                "p/A.html",
                "wiregen-playground/index.html",
                "wiregen-playground/worker.js",
                "x.wasm",
            )
        )
    )

    def reply(path: str) -> Reply:
        return served.answer(Request(method="GET", path=path, body=b""))

    assert not reply("p/A.html").compiles and not reply("x.wasm").compiles
    assert reply("wiregen-playground/index.html").compiles and reply("wiregen-playground/worker.js").compiles
    assert reply("x.wasm").kind == "application/wasm"


@needs_chromium
def test_the_playground_of_the_site_is_served_with_it(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    package = npm_modules(tmp_path_factory.mktemp("pyodide"), f"pyodide@{VERSION}") / "pyodide"
    with serving(project, "--playground", str(package)) as url, browser() as tab:
        tab.open(f"{url}wiregen-playground/index.html")
        tab.wait("document.getElementById('protocol').options.length === 1")
        assert tab.complaints == []
