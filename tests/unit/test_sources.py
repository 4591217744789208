"""The places that the shipped files name, held to the documents: every heading and every quoted word is really there.

The documents are not part of the repository; where they are not at hand, these tests skip.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from wiregen import syntax
from wiregen.diagnostics import Report
from wiregen.naming import camel_case, snake_case
from wiregen.parser import parse
from wiregen.source import Sources, load

ROOT = Path(__file__).resolve().parents[2]
IDL = ROOT / "idl"
SHARED = ROOT.parent / "shared"
DOCUMENTS = {
    "pravega_documented": "000",
    "pravega_proposal": "001",
    "lumberjack": "002",
    "geode": "003",
    "reactive_streams": "004",
}
OTHER_DOCUMENTS = {"reactive_streams": re.compile(r"(Reactive Streams )?\d\.\d+(, \d\.\d+)*")}
"""Places in a document that the protocol's own one builds upon."""
IMPLEMENTATION = re.compile(
    r"WireCommandType|WireCommands(\.[A-Z]\w+)?|java\.io\.Data(Input|Output)"
    r"|(Command|Append)(De|En)coder|AppendProcessor|PravegaRequestProcessor|FlowHandler|SegmentOutputStreamImpl"
)
LEDGERS = {
    "geode": ("geode", r"\d+"),
    "lumberjack": ("lumberjack", r"\d+"),
    "reactive_streams": ("reactive_streams", r"\d+"),
    "pravega": ("pravega", r"G\d+"),
    "pravega_documented": ("pravega", r"[GD]\d+"),
    "pravega_proposal": ("pravega", r"[GP]\d+"),
}
"""The table of gaps that a file's ledger answers, and the ids that concern it."""
OWN_ENTRIES = {"pravega": {"H1", "H2", "H3"}, "reactive_streams": {"31", "32"}}
"""What a file decides besides: questions that came up where sessions of two sides met."""

OPTIONS = re.compile(r"^Options:(?s:.*?)\n\n|`max_[a-z_]+`", re.MULTILINE)
NOT_RULES = {"pravega_documented", "pravega_proposal", "utf8_fallback"} | {
    "ack_value",
    "max_window",
    "partial_ack_every",
    "per_window",
    "keepalive_interval",
    "too_deep",
    "trailing_bytes",
}
"""Names in the tables of verdicts that are protocols, options, or codes of every protocol."""


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
    """Return what each `@source` says, and each `source` of a rule, which is one text with commas between its parts."""
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


def original(name: str) -> str:
    found = sorted((SHARED / "seeds").glob(f"{DOCUMENTS[name]}_*.txt"))
    if not found:
        pytest.skip("the documents are not at hand")
    return found[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_place_is_found_in_the_document(name: str) -> None:
    text, other = plain(original(name)), OTHER_DOCUMENTS.get(name)
    places = sources(name)
    assert len(places) > 20
    missing = [
        (place, words)
        for place in places
        for words in place
        if plain(words) not in text and not (other and other.fullmatch(words))
    ]
    assert missing == []


def test_only_markup_and_typesetting_may_differ() -> None:
    assert plain("The *Segment*\u2019s |  Offset") == plain("the segment's offset")
    assert plain("the segments offset") not in plain("the segment's offset")


def test_every_place_of_the_implementation_is_a_name_of_it() -> None:
    for place in sources("pravega"):
        assert IMPLEMENTATION.fullmatch(place[0].partition(":")[0]), place


def test_every_message_of_the_implementation_names_its_class() -> None:
    messages = [node for node in tree("pravega").declarations if isinstance(node, syntax.Message)]
    assert len(messages) == 70
    for message in messages:
        notes = [each for each in message.annotations if each.name.text == "source"]
        (argument,) = notes[0].arguments
        assert isinstance(argument.value, syntax.String)
        assert argument.value.value == f"WireCommands.{message.name.text}"


@pytest.mark.parametrize("name", LEDGERS)
def test_the_ledger_answers_every_gap_of_the_document(name: str) -> None:
    reference, ids = LEDGERS[name]
    page = SHARED / "protocols" / f"{reference}.md"
    if not page.is_file():
        pytest.skip("the table of gaps is not at hand")
    table = page.read_text(encoding="utf-8").partition("## 4. Ledger")[2].partition("\n## ")[0]
    wanted = [row for row in re.findall(r"^\| (\w+) \|", table, re.MULTILINE) if re.fullmatch(ids, row)]
    ledger = [node.id for node in tree(name).declarations if isinstance(node, syntax.Ledger)]
    found = [str(each.value) if isinstance(each, syntax.Integer) else each.text for each in ledger]
    assert len(wanted) > 5
    own = OWN_ENTRIES.get(name, set())
    assert sorted(set(found) - own) == sorted(wanted)
    assert own <= set(found) and len(found) == len(set(found))


HEADINGS = re.compile(r"^[A-Z][A-Za-z ]*[a-z] ?- (?:Request|Reply)(?:/Reply)?$", re.MULTILINE)
ITEM = re.compile(r"^  ? ?(?:\d+\.|\u2022) +Data\b|^  \d+\. ", re.MULTILINE)


@pytest.mark.parametrize("name", ["pravega_documented", "pravega_proposal"])
def test_a_message_has_as_many_fields_as_its_section_has_items(name: str) -> None:
    text = original(name).replace("\u00a0", " ").partition("When appending a client")[0]
    parts = zip(HEADINGS.findall(text), HEADINGS.split(text)[1:], strict=True)
    sections = {plain(heading): len(ITEM.findall(part)) for heading, part in parts}
    messages = [node for node in tree(name).declarations if isinstance(node, syntax.Message)]
    assert {plain(quoted(message)[0]): len(message.fields) for message in messages} == sections


def test_a_message_has_the_fields_of_the_signature_that_it_quotes() -> None:
    for message in tree("reactive_streams").declarations:
        if isinstance(message, syntax.Message):
            name, _, listed = quoted(message)[1].rstrip(")").partition("(")
            wanted = [snake_case(part.partition(":")[0].strip()) for part in listed.split(", ")]
            assert camel_case(name) == message.name.text
            assert [field.name.text for field in message.fields] == wanted


@pytest.mark.parametrize(
    ("name", "section"), [("pravega_proposal", "3.1"), ("pravega_documented", "3.2"), ("pravega", "3.3")]
)
def test_messages_have_codes_roles_and_fields_of_the_reference(name: str, section: str) -> None:
    page = SHARED / "protocols" / "pravega.md"
    if not page.is_file():
        pytest.skip("the table of messages is not at hand")
    table = page.read_text(encoding="utf-8").partition(f"### {section} ")[2].partition("\n### ")[0]
    rows = re.findall(
        r"^\| ([\u2212\d]+)[^|]*\| (\w+)[^|]*\|[^|]*?([\u2192\u2190\u2194])[^|]*\| ([^|]*)\|",
        table,
        re.MULTILINE,
    )
    roles = {"\u2192": "client", "\u2190": "server", "\u2194": None}
    wanted = {
        word: (
            int(code.replace("\u2212", "-")),
            roles[arrow],
            [snake_case(each) for each in re.findall(r"(\w+):\w", fields)],
        )
        for code, word, arrow, fields in rows
    }
    assert len(wanted) >= 9
    wanted.update(NEVER_WRITTEN if name == "pravega_documented" else {})
    messages = [node for node in tree(name).declarations if isinstance(node, syntax.Message)]
    assert {message.name.text: described(message) for message in messages} == wanted


NEVER_WRITTEN = {
    "AppendBlockEnd": (
        4,
        "client",
        ["writer_id", "size_of_whole_events", "data", "num_events", "last_event_number"],
    )
}
"""A message whose eight unused bytes are left over when they are there."""


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
    page = SHARED / "protocols" / f"{name}.md"
    if not page.is_file():
        pytest.skip("the table of verdicts is not at hand")
    verdicts = page.read_text(encoding="utf-8").partition("## 5. ")[2].partition("\n## 7.")[0]
    named = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)`", OPTIONS.sub("", verdicts))) - NOT_RULES
    files = [each for each, (reference, _) in LEDGERS.items() if reference == name]
    rules = [node for each in files for node in tree(each).declarations if isinstance(node, syntax.Rule)]
    assert len(named) > 15
    assert sorted(named - {rule.name.text for rule in rules}) == []
