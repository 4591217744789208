"""Each document, statement by statement: its words are really there, something in the `.wire` file carries it, and the page says so.

`UPDATE_COVERAGE=1` (`make update-coverage`) writes docs/coverage; read the difference before you commit it.
"""

import os
import re
from dataclasses import replace
from functools import cache

import pytest
from tests.conformance.statements import DOCUMENTS, KINDS, PAGES, Index, carriers, load, model, page
from tests.unit.documents import is_quoted

from wiregen.schema.model.protocol import Protocol

MOST_WORDS = 6
"""Words of a document that are adjacent in a table."""
OF_PROGRAMS = {"pravega_documented": {"Padding"}}
"""Messages that no document has: a ledger entry says why they are there."""

each_document = pytest.mark.parametrize("name", DOCUMENTS)


@cache
def protocol(name: str) -> Protocol:
    return model(name)


def faults(index: Index, known: frozenset[str]) -> list[str]:
    """Return the errors in a table, a line for each."""
    found = []
    for section in index.sections:
        if not is_quoted(section, index.protocol) or len(section.split()) > MOST_WORDS:
            found.append(f"no section {section!r}")
    for each in index.statements:
        if not is_quoted(each.words, index.protocol):
            found.append(f"{each.words!r} is not in the document")
        if len(each.words.split()) > MOST_WORDS:
            found.append(f"{each.words!r} is more than {MOST_WORDS} words")
        if each.kind not in KINDS:
            found.append(f"{each.words!r} is of no kind {each.kind!r}")
        if not each.carried:
            found.append(f"nothing carries {each.words!r}")
        found += [f"{each.words!r}: there is no {one}" for one in each.carried if one not in known]
    for program in index.programs:
        found += [f"{program.name}: there is no {one}" for one in program.carried if one not in known]
    return found


@each_document
def test_every_statement_is_quoted_and_carried(name: str) -> None:
    index = load(name)
    assert len(index.statements) > 30
    assert faults(index, carriers(protocol(name))) == []


@each_document
def test_no_statement_is_told_twice(name: str) -> None:
    places = [(each.section, each.words) for each in load(name).statements]
    assert sorted({place for place in places if places.count(place) > 1}) == []


@each_document
def test_every_message_and_field_stands_in_the_document_or_is_said_not_to(name: str) -> None:
    carried = {one for each in load(name).statements for one in each.carried}
    wanted = [
        f"{message.name}.{field.name}"
        for message in protocol(name).messages
        if message.name not in OF_PROGRAMS.get(name, ())
        for field in message.fields
        if "the document does not describe" not in (message.notes.assumed or "")
    ]
    assert len(wanted) > 5
    assert sorted(set(wanted) - carried) == []


@each_document
def test_what_programs_do_names_them_and_the_place(name: str) -> None:
    told = {one for each in load(name).programs for one in each.carried}
    wanted = {f"ledger {entry.id}" for entry in protocol(name).ledgers if entry.peers}
    assert sorted(wanted - told) == []


@each_document
def test_the_page_is_that_of_the_table(name: str) -> None:
    path, text = PAGES / f"{name}.md", page(load(name))
    if os.environ.get("UPDATE_COVERAGE"):
        PAGES.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "make update-coverage writes it"


def test_faults_of_a_table_are_found() -> None:
    index, known = load("lumberjack"), carriers(protocol("lumberjack"))
    first = index.statements[0]
    spoiled = {
        "is not in the document": replace(first, words="the needs that never led"),
        "more than": replace(first, words="The needs that lead to this protocol are"),
        "of no kind": replace(first, kind="rumour"),
        "nothing carries": replace(first, carried=()),
        "there is no ledger 99": replace(first, carried=("ledger 99",)),
    }
    for message, statement in spoiled.items():
        (fault,) = faults(replace(index, statements=(statement,)), known)
        assert re.search(message, fault)
    assert faults(replace(index, sections=("Never a section",)), known) == ["no section 'Never a section'"]
