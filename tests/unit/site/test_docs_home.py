"""The first page: a frame whose bytes are those of a message's page, three entrances, the protocols and the guide."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.docs_sites import SHIPPED, Page, chapter_of, files_of, shipped_chapter, shipped_site


def home() -> str:
    return shipped_site()["index.html"].decode()


def runs(text: str) -> list[str]:
    return re.findall(r'<span class="b h\d" data-x="\d+" data-f="[^"]*">([0-9a-f ]+)</span>', text)


def test_the_frame_is_that_of_the_page_it_links_to() -> None:
    shown = home().partition('class="shown"')[2]
    url = re.findall(r'href="([^"]+)"', shown)[0]
    assert len(runs(shown)) > 3 and runs(shown) == runs(shipped_site()[url].decode())


def test_there_are_entrances_for_readers_authors_and_bytes() -> None:
    ways = home().partition('class="ways"')[2].partition('<section class="shown"')[0]
    assert re.findall(r'href="([^"]+)"', ways)[1:] == [
        "wiregen-guide/start.html",
        "wiregen-playground/index.html",
    ]


def test_every_protocol_has_its_size_and_the_version_of_its_document() -> None:
    text = " ".join(Page(home()).text.split())
    for name in SHIPPED:
        chapter = shipped_chapter(name)
        assert chapter.vectors is not None
        said = f"{name} {len(chapter.protocol.messages)} messages, {len(chapter.vectors.vectors):,} vectors"
        assert said in text and chapter.protocol.sources[0] in text


def test_without_a_frame_and_a_guide_the_page_is_there(tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(
        'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB }\nstruct S { a : u8 }\n'
    )
    text = files_of(chapter_of(path))["index.html"].decode()
    assert 'class="shown"' not in text and 'href="p/index.html"' in text and "Write one" not in text
