"""The places that the shipped files name, held to the documents: every heading and every quoted word is really there.

The documents are not part of the repository: `documents` has hashes of their words, and tests/conformance/data/references.json the
tables that were made from them.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.unit.documents import is_quoted

from wiregen.language import syntax
from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse
from wiregen.language.source import Sources, load
from wiregen.schema.naming import camel_case, snake_case

ROOT = Path(__file__).resolve().parents[3]
IDL = ROOT / "idl"
REFERENCES: dict[str, Any] = json.loads(
    (ROOT / "tests" / "conformance" / "data" / "references.json").read_text(encoding="utf-8")
)
"""Of each reference its `gaps` (what a ledger answers) and `verdicts` (names of rules); of Pravega's three forms also the `messages`, and the
`sections` of their documents with the number of fields that each lists."""
DOCUMENTS = ("pravega_documented", "pravega_proposal", "lumberjack", "geode", "reactive_streams")
OTHER_DOCUMENTS = {"reactive_streams": re.compile(r"(Reactive Streams )?\d\.\d+(, \d\.\d+)*")}
"""Places in a document that the protocol's own one builds upon."""
IMPLEMENTATION = re.compile(
    r"WireCommandType|WireCommands(\.[A-Z]\w+)?|java\.io\.Data(Input|Output)"
    r"|(Command|Append)(De|En)coder|AppendProcessor|PravegaRequestProcessor|FlowHandler|SegmentOutputStreamImpl"
)
REPOSITORY = "pravega/pravega"
"""Prefix of a name if another protocol imports the declaration: its pages are those of another document."""
LEDGERS = {
    "geode": ("geode", r"\d+"),
    "lumberjack": ("lumberjack", r"\d+"),
    "reactive_streams": ("reactive_streams", r"\d+"),
    "pravega": ("pravega", r"G\d+"),
    "pravega_documented": ("pravega", r"[GD]\d+"),
    "pravega_proposal": ("pravega", r"[GP]\d+"),
}
"""The table of gaps that a file's ledger answers, and the ids that concern it."""
OWN_ENTRIES = {
    "pravega": {"H1", "H2", "H3"},
    "pravega_documented": {"D11", "D12", "D13", "D14"},
    "pravega_proposal": {"P13", "P14", "P15", "P16", "P17", "P18", "P19", "P20", "P21"},
    "reactive_streams": {"31", "32", "33", "34", "35"},
    "geode": {"38", "39", "40", "41"},
}
"""The additional decisions of a file: questions from sessions of two sides, and from sentences of a page
that contradict each other.
"""


@cache
def tree(name: str) -> syntax.File:
    report = Report()
    source = load(IDL / f"{name}.wire", Sources(), report)
    file = parse(source, report) if source is not None else None
    assert file is not None and not report.has_errors
    return file


def nodes(root: object) -> list[object]:
    """Return every node of a syntax tree."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif hasattr(type(node), "__slots__"):
            found.append(node)
            waiting += [getattr(node, slot) for slot in getattr(type(node), "__slots__", ())]
    return found


def sources(name: str) -> list[tuple[str, ...]]:
    """Return the text of each `@source`, and each `source` of a rule, which is one text with commas between its parts."""
    found: list[tuple[str, ...]] = []
    for node in nodes(tree(name)):
        if isinstance(node, syntax.Annotation) and node.name.text == "source":
            values = [argument.value for argument in node.arguments]
            found.append(tuple(value.value for value in values if isinstance(value, syntax.String)))
        elif isinstance(node, syntax.Rule):
            found += [tuple(source.value.split(", ")) for source in node.sources]
    return found


def plain(text: str) -> str:
    """Return a text without what a page's markup, line breaks and typesetting may change."""
    text = text.replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"')
    return " ".join(re.sub(r"[*`_#\u2022]", "", text).replace("|", " ").lower().split())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_place_is_found_in_the_document(name: str) -> None:
    other = OTHER_DOCUMENTS.get(name)
    places = sources(name)
    assert len(places) > 20
    missing = [
        (place, words)
        for place in places
        for words in place
        if not is_quoted(words, name) and not (other and other.fullmatch(words))
    ]
    assert missing == []


def test_only_punctuation_and_case_may_differ_in_a_quote() -> None:
    assert is_quoted("Protocol  *version*", "lumberjack") == is_quoted("protocol version", "lumberjack")
    place = next(words for place in sources("lumberjack") for words in place if len(words.split()) > 5)
    first, second, *more = place.split()
    assert is_quoted(place.upper(), "lumberjack")
    assert not is_quoted(" ".join((second, first, *more)), "lumberjack")
    assert not is_quoted(f"{place} nevertheless", "lumberjack") and not is_quoted("", "lumberjack")


def test_every_place_of_the_implementation_is_a_name_of_it() -> None:
    for place in sources("pravega"):
        name, *_ = (each for each in place if each != REPOSITORY)
        assert IMPLEMENTATION.fullmatch(name.partition(":")[0]), place


def test_every_message_of_the_implementation_names_its_class() -> None:
    messages = [node for node in tree("pravega").declarations if isinstance(node, syntax.Message)]
    assert len(messages) == 70
    for message in messages:
        notes = [each for each in message.annotations if each.name.text == "source"]
        (argument,) = (each for each in notes[0].arguments if getattr(each.value, "value", "") != REPOSITORY)
        assert isinstance(argument.value, syntax.String)
        assert argument.value.value == f"WireCommands.{message.name.text}"


@pytest.mark.parametrize("name", LEDGERS)
def test_the_ledger_answers_every_gap_of_the_document(name: str) -> None:
    reference, ids = LEDGERS[name]
    wanted = [gap for gap in REFERENCES[reference]["gaps"] if re.fullmatch(ids, gap)]
    ledger = [node.id for node in tree(name).declarations if isinstance(node, syntax.Ledger)]
    found = [str(each.value) if isinstance(each, syntax.Integer) else each.text for each in ledger]
    assert len(wanted) > 5
    own = OWN_ENTRIES.get(name, set())
    assert sorted(set(found) - own) == sorted(wanted)
    assert own <= set(found) and len(found) == len(set(found))


@pytest.mark.parametrize("name", ["pravega_documented", "pravega_proposal"])
def test_a_message_has_as_many_fields_as_its_section_has_items(name: str) -> None:
    sections = REFERENCES["pravega"]["sections"][name]
    assert len(sections) >= 9
    messages = messages_of_the_document(name)
    assert {plain(quoted(message)[0]): len(message.fields) for message in messages} == sections


def test_a_message_has_the_fields_of_the_signature_that_it_quotes() -> None:
    for message in tree("reactive_streams").declarations:
        if isinstance(message, syntax.Message):
            name, _, listed = quoted(message)[1].rstrip(")").partition("(")
            wanted = [snake_case(part.partition(":")[0].strip()) for part in listed.split(", ")]
            assert camel_case(name) == message.name.text
            assert [field.name.text for field in message.fields] == wanted


@pytest.mark.parametrize("name", ["pravega_proposal", "pravega_documented", "pravega"])
def test_messages_have_codes_roles_and_fields_of_the_reference(name: str) -> None:
    rows = REFERENCES["pravega"]["messages"][name]
    wanted = {word: (row["code"], row["role"], row["fields"]) for word, row in rows.items()}
    assert len(wanted) >= 9
    wanted.update(NEVER_WRITTEN if name == "pravega_documented" else {})
    messages = messages_of_the_document(name)
    assert {message.name.text: described(message) for message in messages} == wanted


NEVER_WRITTEN = {
    "AppendBlockEnd": (
        4,
        "client",
        ["writer_id", "size_of_whole_events", "data", "num_events", "last_event_number"],
    )
}
"""A message whose eight unused bytes are left over when they are there."""


OF_PROGRAMS = {"pravega_documented": {"Padding"}}
"""Messages that no document has: a ledger entry says why they are there."""


def messages_of_the_document(name: str) -> list[syntax.Message]:
    messages = [node for node in tree(name).declarations if isinstance(node, syntax.Message)]
    return [each for each in messages if each.name.text not in OF_PROGRAMS.get(name, ())]


def described(message: syntax.Message) -> tuple[int | None, str | None, list[str]]:
    code, role = message.code, message.role
    names = [field.name.text for field in message.fields]
    return code.value if code is not None else None, role.text if role is not None else None, names


def quoted(message: syntax.Message) -> list[str]:
    """Return the texts of the first `@source` of a message."""
    notes = [each for each in message.annotations if each.name.text == "source"]
    values = [argument.value for argument in notes[0].arguments]
    return [value.value for value in values if isinstance(value, syntax.String)]


@pytest.mark.parametrize("name", sorted({reference for reference, _ in LEDGERS.values()}))
def test_every_verdict_has_a_rule(name: str) -> None:
    named = REFERENCES[name]["verdicts"]
    files = [each for each, (reference, _) in LEDGERS.items() if reference == name]
    rules = [node for each in files for node in tree(each).declarations if isinstance(node, syntax.Rule)]
    assert len(named) > 15
    assert sorted(set(named) - {rule.name.text for rule in rules}) == []
