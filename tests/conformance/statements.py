"""The statements of the documents: tables that a person maintains, the carriers of each, and the pages made from them.

A carrier is written as the `.wire` file names it: `Data`, `Data.sequence`, `Status.FULL_RESPONSE`, `limits.window`, `protocol.endian`,
`option Transfer.ack_reach`, `session Transfer`, `row Transfer.waiting reader Ack`, `rule window_overrun`, `ledger 8`, `example "a keepalive"`,
`variant example`, `reserved Mode`. A table in the order of its document is in data/statements.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.model.behaviour import Row, Session
from wiregen.schema.model.protocol import Protocol
from wiregen.schema.model.types import Block, Field, Region

__all__ = [
    "DOCUMENTS",
    "KINDS",
    "PAGES",
    "Index",
    "Program",
    "Statement",
    "carriers",
    "load",
    "model",
    "page",
]

ROOT = Path(__file__).resolve().parents[2]
TABLES = Path(__file__).resolve().parent / "data" / "statements"
PAGES = ROOT / "docs" / "coverage"
DOCUMENTS = ("geode", "lumberjack", "pravega_documented", "pravega_proposal", "reactive_streams")
KINDS = ("must", "should", "may", "number", "table", "example", "fact")
"""The kinds of statements: a demand, advice, a permission, a number or layout, a row of a table, an
example, or another fact.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement of a document: a few of its `words`, a summary of our own, and the names of its carriers."""

    section: str
    words: str
    kind: str
    summary: str
    carried: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A behaviour of programs that a ledger entry describes, and the `place` in their source, or the
    traffic, that shows it.
    """

    name: str
    place: str
    carried: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The table of one document. `title` is the document as a person would ask for it."""

    protocol: str
    title: str
    sections: tuple[str, ...]
    statements: tuple[Statement, ...]
    programs: tuple[Program, ...]


class Table:
    """A table of a file, read key by key; `done` refuses what was not asked for."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise TypeError(f"{place}: not a table")
        self.values: dict[str, object] = dict(value)
        self.place = place

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.pop(key, default)
        if not isinstance(value, str) or (value == "" and default is None):
            raise TypeError(f"{self.place}: `{key}` is not a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(Table({key: each}, self.place).text(key) for each in self.listed(key))

    def tables(self, key: str) -> list[Table]:
        return [Table(each, f"{self.place}, {key} {at}") for at, each in enumerate(self.listed(key), 1)]

    def listed(self, key: str) -> list[object]:
        value = self.values.pop(key, [])
        if not isinstance(value, list):
            raise TypeError(f"{self.place}: `{key}` is not a list")
        return value

    def done(self) -> None:
        if self.values:
            raise TypeError(f"{self.place}: unknown {', '.join(sorted(self.values))}")


def load(name: str) -> Index:
    """Return the table of a document.

    Raises TypeError: where a line is not a part of a table, naming the place.
    """
    root = Table(tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8")), name)
    sections, statements = [], []
    for table in root.tables("section"):
        section = table.text("title")
        sections.append(section)
        for row in table.tables("statements"):
            statements.append(
                Statement(
                    section=section,
                    words=row.text("words"),
                    kind=row.text("kind"),
                    summary=row.text("summary"),
                    carried=row.texts("carried"),
                )
            )
            row.done()
        table.done()
    programs = []
    for row in root.tables("programs"):
        programs.append(Program(name=row.text("name"), place=row.text("place"), carried=row.texts("carried")))
        row.done()
    index = Index(
        protocol=name,
        title=root.text("title"),
        sections=tuple(sections),
        statements=tuple(statements),
        programs=tuple(programs),
    )
    root.done()
    return index


def model(name: str) -> Protocol:
    """Return the protocol that a `.wire` file describes."""
    report = Report()
    subject = load_protocol(ROOT / "idl" / f"{name}.wire", Sources(), report, (ROOT / "idl",))
    assert subject is not None, report.diagnostics
    return subject.protocol


def carriers(protocol: Protocol) -> frozenset[str]:
    """Return every name that can carry a statement."""
    return frozenset(_named(protocol))


def _named(protocol: Protocol) -> Iterator[str]:
    yield from ("protocol", "protocol.endian", "protocol.roles")
    if protocol.ports:
        yield "protocol.port"
    yield from (f"limits.{limit.name}" for limit in protocol.limits)
    yield from (f"rule {rule.name}" for rule in protocol.rules)
    yield from (f"ledger {entry.id}" for entry in protocol.ledgers)
    yield from (f'example "{example.name}"' for example in protocol.examples)
    yield from (f'example "{conversation.name}"' for conversation in protocol.conversations)
    yield from (f"variant {variant.name}" for variant in protocol.variants)
    for named in (protocol.constants, protocol.aliases, protocol.codings, protocol.contexts, protocol.joins):
        yield from (each.name for each in named)
    for enum in protocol.enums:
        yield enum.name
        yield from (f"{enum.name}.{member.name}" for member in enum.members)
        if enum.reserved:
            yield f"reserved {enum.name}"
    for owners in (protocol.structs, protocol.messages, protocol.frames, protocol.preambles):
        for owner in owners:
            yield owner.name
            yield from _fields(owner.name, owner.fields)
    for union in protocol.unions:
        yield union.name
        for variety in union.varieties:
            yield f"{union.name}.{variety.name}"
            yield from _fields(f"{union.name}.{variety.name}", variety.fields)
    for session in protocol.sessions:
        yield from _behaviour(session)


def _fields(owner: str, fields: tuple[Field, ...]) -> Iterator[str]:
    for field in fields:
        yield f"{owner}.{field.name}"
        held = field.type.content if isinstance(field.type, Region) else field.type
        if isinstance(held, Block):
            yield from _fields(owner, held.fields)


def _behaviour(session: Session) -> Iterator[str]:
    yield f"session {session.name}"
    yield from (f"option {session.name}.{each.name}" for each in session.variables if each.is_option)
    for row in session.rows:
        for state in row.states or tuple(each.name for each in session.states):
            yield from (
                f"row {session.name}.{state} {row.role or 'any'} {target}" for target in _targets(row)
            )


def _targets(row: Row) -> tuple[str, ...]:
    return row.targets if row.targets is not None else ("any",)


def page(index: Index) -> str:
    """Return the Markdown page of a document."""
    lines = [
        f"# {index.title}: statements of the document and where each is implemented",
        "",
        "`make update-coverage` writes this page from",
        f"[a table](../../tests/conformance/data/statements/{index.protocol}.toml): edit the table and not this page. A few words of the document",
        "identify each statement; the summaries are written for this project. The last column names the declarations of",
        f"[{index.protocol}.wire](../../idl/{index.protocol}.wire) that implement the statement.",
        "",
        f"{len(index.statements)} statements in {len(index.sections)} sections; each is implemented.",
    ]
    for section in index.sections:
        lines += ["", f"## “{section}”", "", *_head("in the document", "kind", "summary", "implemented by")]
        for each in index.statements:
            if each.section == section:
                lines.append(_row(f"“{each.words}”", each.kind, each.summary, _codes(each.carried)))
    if index.programs:
        lines += [
            "",
            "## Habits of programs that the document does not have",
            "",
            *_head("program", "place", "described in"),
        ]
        lines += [_row(each.name, each.place, _codes(each.carried)) for each in index.programs]
    return "\n".join(lines) + "\n"


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _head(*titles: str) -> list[str]:
    return [_row(*titles), "|" + "---|" * len(titles)]


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
