"""The site as a whole: it hangs together, stays small, is the same each time, and what it shows is true."""

from __future__ import annotations

import json
import os
import posixpath
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.unit.docs_sites import (
    ROOT,
    SHIPPED,
    Page,
    files_of,
    shipped_chapter,
    shipped_site,
)

from wiregen.docs.book import Book
from wiregen.docs.declarations import message_page

MOST_BYTES = 60 * 1024
PAGES = sorted(name for name in shipped_site() if name.endswith(".html"))


@cache
def page(name: str) -> Page:
    return Page(shipped_site()[name].decode())


# ---- it hangs together


def test_every_link_and_anchor_leads_somewhere() -> None:
    files = shipped_site()
    pages = {name: page(name) for name in PAGES}
    ids = {name: set(each.all("id")) for name, each in pages.items()}
    dead = []
    for name, each in pages.items():
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


@pytest.mark.parametrize("name", PAGES)
def test_ids_are_unique(name: str) -> None:
    ids = page(name).all("id")
    assert len(ids) == len(set(ids))


def test_pages_are_small() -> None:
    sizes = {name: len(shipped_site()[name]) for name in PAGES}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


def test_the_first_load_is_small() -> None:
    files = shipped_site()
    assert len(files["site.css"]) + len(files["site.js"]) < 24 * 1024


def test_nothing_is_asked_of_other_computers() -> None:
    files = shipped_site()
    for name in PAGES:
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
    for name in PAGES:
        assert files[name.replace(".html", ".md")]
        json.loads(files[name.replace(".html", ".json")])


def test_llms_txt_lists_every_page_of_a_declaration() -> None:
    files = shipped_site()
    listed = re.findall(r"\]\(([^)]+)\)", files["llms.txt"].decode())
    assert set(listed) <= set(files)
    own = {name.replace(".html", ".md") for name in PAGES if not name.endswith(("rules.html", "ledger.html"))}
    assert set(listed) == own - {"index.md"}


def test_two_builds_are_byte_equal() -> None:
    again = files_of(*(shipped_chapter.__wrapped__(name) for name in SHIPPED))
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
