"""The pages of vectors: every vector of the file is on one page with its bytes and its verdict, and is linked by its name."""

from __future__ import annotations

import re
from functools import cache

import pytest
from tests.unit.docs_sites import SHIPPED, files_of, shipped_chapter, shipped_site
from tests.unit.site.test_playground import QUESTIONS, asked

from wiregen.conformance.vectors.format import Invalid, Trace, Valid, octets
from wiregen.schema.copies import replace
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.protocol_pages import rules_page
from wiregen.site.pages.site import build_site
from wiregen.site.pages.vector_pages import vectors_index, vectors_page
from wiregen.site.pages.vector_places import MOST_BYTES
from wiregen.site.pages.vector_views import VectorView


@cache
def shown(name: str) -> dict[str, VectorView]:
    book = Book(shipped_chapter(name))
    views = [each for page in book.vector_places.pages for each in vectors_page(book, page).vectors]
    assert len({each.link.text for each in views}) == len(views)
    return {each.link.text: each for each in views}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_vector_is_on_one_page_with_its_bytes(name: str) -> None:
    views = shown(name)
    assert set(views) == {each.id for each in Book(shipped_chapter(name)).vectors}
    for vector in Book(shipped_chapter(name)).vectors:
        view = views[vector.id]
        if isinstance(vector, Valid | Invalid):
            data = octets(vector.bytes)
            digits = "".join(chip.text for chip in view.chips if chip.text != "end").replace(" ", "")
            assert (digits, view.size) == (data[:MOST_BYTES].hex(), len(data)), vector.id
            assert view.n_hidden == max(len(data) - MOST_BYTES, 0)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_error_of_a_vector_is_marked_where_it_is(name: str) -> None:
    n_marked = 0
    for vector in Book(shipped_chapter(name)).vectors:
        if isinstance(vector, Invalid) and (vector.error.at or 0) <= min(
            MOST_BYTES, len(octets(vector.bytes))
        ):
            *before, wrong = shown(name)[vector.id].chips
            assert sum(len(bytes.fromhex(chip.text)) for chip in before) == (vector.error.at or 0)
            assert wrong.look == "wrong" and wrong.name.startswith(vector.error.code)
            n_marked += 1
    assert n_marked > 50


@pytest.mark.parametrize("name", SHIPPED)
def test_coverage_counts_every_vector_and_names_what_is_tested(name: str) -> None:
    book = Book(shipped_chapter(name))
    view = vectors_index(book)
    n_traces = sum(isinstance(each, Trace) for each in book.vectors)
    assert sum(each.valid + each.invalid + each.unwritable for each in view.coverage) + n_traces == view.count
    assert [each.what.text for each in view.rules] == [each.name for each in book.protocol.rules]
    by_id = {each.id: each for each in book.vectors}
    for row in view.codes:
        assert row.first is not None
        vector = by_id[row.first.text]
        assert not isinstance(vector, Valid | Trace) and vector.error.code == row.what.text


def test_fields_that_no_vector_shows_are_not_counted() -> None:
    chapter = shipped_chapter("lumberjack")
    assert chapter.vectors is not None
    few = tuple(
        each
        for each in chapter.vectors.vectors
        if not isinstance(each, Valid) or "Data" not in str(each.frames)
    )
    view = vectors_index(Book(replace(chapter, vectors=replace(chapter.vectors, vectors=few))))
    whole = vectors_index(Book(chapter))
    fields = {each.about.text: each.fields for each in view.coverage}
    assert fields["Data"].startswith("0 of")
    assert {each.about.text: each.fields for each in whole.coverage}["Data"] == "2 of 2"


@pytest.mark.parametrize("name", SHIPPED)
def test_names_of_vectors_lead_to_them(name: str) -> None:
    files = shipped_site()
    ids = {each.id for each in Book(shipped_chapter(name)).vectors}
    n_linked = 0
    for path in (each for each in files if re.fullmatch(rf"{name}/(?!vectors-)[^/]+\.html", each)):
        text = files[path].decode()
        assert not ids & set(re.findall(r"<code>([a-z0-9-]+)</code>", text)), path
        n_linked += len(re.findall(r'<a href="vectors-[^"]+#vector-[a-z0-9-]+">', text))
    assert n_linked > 20


@pytest.mark.parametrize(("name", "n_least"), [("geode", 500), ("reactive_streams", 30)])
def test_the_playground_reads_linked_vectors_with_frames_before_them_alike(name: str, n_least: int) -> None:
    n_read = 0
    for vector in Book(shipped_chapter(name)).vectors:
        state = shown(name)[vector.id].play
        if not state or not isinstance(vector, Valid | Invalid) or not vector.before:
            continue
        frames = QUESTIONS.answer({"kind": "look", **asked(state)})["frames"]
        found = [each["fault"]["code"] for each in frames if "fault" in each]
        if isinstance(vector, Invalid) and "left_open" in frames[-1]:
            found.append("truncated")  # where bytes end for good it is one
        assert found == ([vector.error.code] if isinstance(vector, Invalid) else []), vector.id
        n_read += 1
    assert n_read >= n_least


def test_names_that_are_no_ids_have_anchors_and_are_escaped() -> None:
    chapter = shipped_chapter("lumberjack")
    assert chapter.vectors is not None
    one = next(each for each in chapter.vectors.vectors if isinstance(each, Invalid))
    hostile = replace(one, id='"><script>x</script>')
    files = files_of(replace(chapter, vectors=replace(chapter.vectors, vectors=(hostile,))))
    [page] = [text.decode() for path, text in files.items() if re.search(r"/vectors-.*\.html", path)]
    assert "<script>x" not in page and 'id="vector_0"' in page


def test_vectors_open_in_the_playground_where_it_reads_them_alike() -> None:
    views = shown("lumberjack")
    for vector in Book(shipped_chapter("lumberjack")).vectors:
        is_plain = isinstance(vector, Valid | Invalid) and not (
            vector.limits or vector.strict or vector.before
        )
        if is_plain and isinstance(vector, Valid | Invalid) and 0 < len(octets(vector.bytes)) <= MOST_BYTES:
            assert views[vector.id].play
    assert not any(each.play for each in views.values() if each.kind in ("trace", "unwritable"))
    files = {
        str(each.path): each.content
        for each in build_site([shipped_chapter("lumberjack")], playground="server")
    }
    link = r'href="\.\./wiregen-playground/index\.html#[\w-]+"'
    assert re.search(link, files["lumberjack/vectors-Window.html"].decode())
    assert not re.search(link, shipped_site()["lumberjack/vectors-Window.html"].decode())


@pytest.mark.parametrize("name", SHIPPED)
def test_the_rules_and_the_coverage_name_the_same_vectors(name: str) -> None:
    book = Book(shipped_chapter(name))
    rules = {each.name: (each.n_vectors, each.vectors[:1]) for each in rules_page(book).rules}
    coverage = {
        each.what.text: (each.count, () if each.first is None else (each.first,))
        for each in vectors_index(book).rules
    }
    assert rules == coverage


def test_every_rule_of_a_session_has_its_conversations() -> None:
    rules = {each.name: each for each in rules_page(Book(shipped_chapter("lumberjack"))).rules}
    assert rules["ack_out_of_window"].vectors[0].text.startswith("trace-")
    assert [name for name, each in rules.items() if not each.receiver] == []
