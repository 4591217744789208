"""Sites for the tests of `wiregen docs`: of the shipped protocols, and of a text."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from wiregen.conformance.vectors.format import read_vectors
from wiregen.generate.backends import Subject
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.site.pages.chapter import Chapter
from wiregen.site.pages.declarations import wire_text
from wiregen.site.pages.site import build_site

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = tuple(sorted(path.stem for path in (ROOT / "idl").glob("*.wire")))
FOLDERS = ("", "wiregen-guide", "wiregen-playground", *SHIPPED)
"""The folders of the shipped site: its home, the guide, the playground, and the protocols. They are known without a build of the site."""


class Page(HTMLParser):
    """The content of a page: its elements with attributes, its ids, its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]


def loaded(path: Path) -> tuple[Subject, Sources]:
    sources, report = Sources(), Report()
    subject = load_protocol(path, sources, report, ())
    assert subject is not None, [each.message for each in report.diagnostics]
    return subject, sources


def chapter_of(path: Path, vectors: bytes = b"") -> Chapter:
    subject, sources = loaded(path)

    def text_of(place: str) -> str:
        span = subject.origins.get(place)
        return "" if span is None else wire_text(sources[span.source].text, span.start, span.end)

    file = read_vectors(vectors) if vectors else None
    return Chapter(protocol=subject.protocol, text_of=text_of, vectors=file, vectors_text=vectors)


@cache
def shipped_chapter(name: str, *, with_vectors: bool = True) -> Chapter:
    vectors = (ROOT / "generated" / "vectors" / f"{name}.json").read_bytes() if with_vectors else b""
    return chapter_of(ROOT / "idl" / f"{name}.wire", vectors)


@cache
def shipped_site() -> dict[str, bytes]:
    return files_of(*(shipped_chapter(name) for name in SHIPPED), has_guide=True)


def names_in(folder: str, suffix: str) -> list[str]:
    """Return the names of the shipped site's files in a folder, with a suffix."""
    return sorted(
        name for name in shipped_site() if name.rpartition("/")[0] == folder and name.endswith(suffix)
    )


def files_of(*chapters: Chapter, has_guide: bool = False) -> dict[str, bytes]:
    return {str(output.path): output.content for output in build_site(chapters, has_guide=has_guide)}


def site_of_text(text: str, folder: Path, name: str = "p") -> dict[str, bytes]:
    path = folder / f"{name}.wire"
    path.write_text(text, encoding="utf-8")
    return files_of(chapter_of(path))
