"""The inputs of all pages of one protocol, and the small parts that the pages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from wiregen.conformance.vectors.format import AnyVector, Invalid, Trace, Unwritable, VectorFile
from wiregen.generate.escaping import harmless
from wiregen.language.diagnostics import error_codes
from wiregen.language.examples.conversations import TracedConversation, told_conversations
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower
from wiregen.site.pages.conversations import Conversations, conversations_in
from wiregen.site.pages.example_frames import ExampleFrames
from wiregen.site.pages.layout_cells import Cells
from wiregen.site.pages.named_rules import named_by
from wiregen.site.pages.navigation import PageGroup, groups_of, reading_order
from wiregen.site.pages.page_paths import GUIDE, Linked, Places
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.sample_frame import Sample
from wiregen.site.pages.samples import Samples
from wiregen.site.pages.snippets import Snippets
from wiregen.site.pages.usage import Usage, reactions_of
from wiregen.site.pages.vector_places import VectorPlaces, rule_of
from wiregen.site.pages.views import NotesView, Shell

__all__ = ["Book", "Carry", "Chapter", "RuleVectors", "notes_of"]

Carry: TypeAlias = Callable[[Sample], Mapping[str, bytes]]
"""Returns the bytes of a sample in each other serialization."""

_INDEX: Final = re.compile(r"\[[^\]]*\]")
_QUOTED: Final = re.compile(r"`([a-z_]+)`")
_MOST_NAMED: Final = 4
"""The most vectors that are named; the rest is counted."""


def _nothing(sample: Sample) -> Mapping[str, bytes]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVectors:
    """The vectors of a rule: all ids, the first as links, and how many more there are.

    `codes`: those that connect them, if the vectors do not name the rule.
    """

    ids: tuple[str, ...]
    codes: tuple[str, ...]
    first: tuple[Linked, ...]
    n_more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A protocol with the data that its model does not hold: its text by path, its vectors, its other serializations."""

    protocol: m.Protocol
    text_of: Callable[[str], str]
    package: str = "wireproto"
    has_columns: bool = False
    vectors: VectorFile | None = None
    vectors_text: bytes = b""
    carry: Carry = field(default=_nothing)


class Book:
    """One protocol, with the indexes that its pages need."""

    def __init__(self, chapter: Chapter, *, has_guide: bool = False, has_playground: bool = False) -> None:
        self._has_guide, self._has_playground = has_guide, has_playground
        self.chapter = chapter
        self.protocol = chapter.protocol
        self.schema: Schema = lower(chapter.protocol)
        self.places = Places(chapter.protocol)
        self.cells = Cells(chapter.protocol)
        self.usage = Usage(chapter.protocol)
        self.named = named_by(chapter.protocol)
        examples = ExampleFrames(chapter.protocol, self.schema, lambda: self.conversation_examples)
        self.samples = Samples(chapter.protocol, self.schema, chapter.vectors, examples)
        self.snippets = Snippets(chapter.protocol, self.schema, chapter.package)

    def shell(self, title: str, here: str, *trail: Linked) -> Shell:
        """Return the frame of a page of this protocol."""
        crumbs = (
            Linked(text="Protocols", url="../index.html"),
            Linked(text=self.protocol.name, url="index.html"),
        )
        before, after = self._neighbours.get(f"{here}.html", (None, None))
        return Shell(
            title=f"{title} · {self.protocol.name}" if title != self.protocol.name else title,
            root="../",
            here=here,
            crumbs=(*(crumbs if trail else crumbs[:1]), *(trail or (Linked(text=title),))),
            sections=self._sections,
            has_tree=True,
            before=before,
            after=after,
            has_playground=self._has_playground,
        )

    @cached_property
    def groups(self) -> tuple[PageGroup, ...]:
        """Return the groups of the sidebar."""
        return groups_of(self.protocol, self.places, self.remembering, has_vectors=bool(self.vectors))

    @cached_property
    def _neighbours(self) -> dict[str, tuple[Linked | None, Linked | None]]:
        """Return the pages before and after each page, by its file's name."""
        order = reading_order(self.groups)
        order += tuple(Linked(text=each.title, url=f"{each.name}.html") for each in self.vector_places.pages)
        beside = zip((None, *order[:-1]), order, (*order[1:], None), strict=True)
        return {page.url: (before, after) for before, page, after in beside}

    @cached_property
    def _sections(self) -> tuple[Linked, ...]:
        found = [
            Linked(text="Overview", url="index.html"),
            Linked(text="Messages", url="index.html#messages"),
        ]
        found += [Linked(text="Types", url="index.html#types")] if self.has_types else []
        is_remembering = bool(self.protocol.contexts or self.protocol.joins)
        found += [Linked(text=self.remembering, url="index.html#remembered")] if is_remembering else []
        found += [Linked(text="Sessions", url="index.html#sessions")] if self.protocol.sessions else []
        found += [Linked(text="Rules", url="rules.html")] if self.protocol.rules else []
        found += [Linked(text="Ledger", url="ledger.html")] if self.protocol.ledgers else []
        found += [Linked(text="Vectors", url="coverage.html")] if self.vectors else []
        found += [Linked(text="Guide", url=f"../{GUIDE}/start.html")] if self._has_guide else []
        return tuple(found)

    @property
    def remembering(self) -> str:
        """Return the heading for the contexts and joins of a file."""
        named = (("Contexts", self.protocol.contexts), ("Joins", self.protocol.joins))
        return " and ".join(word for word, some in named if some).capitalize()

    @property
    def has_types(self) -> bool:
        protocol = self.protocol
        return bool(protocol.structs or protocol.enums or protocol.unions or protocol.codings)

    def wire(self, path: str) -> str:
        return harmless(self.chapter.text_of(path))

    def rule_link(self, name: str | None) -> Linked | None:
        """Return a rule's name, as a link where the file declares the rule."""
        return Linked(text=name, url=self.places.rule_url(name)) if name else None

    def code_link(self, code: str) -> Linked:
        """Return an error's code, as a link to its page where the site contains the guide."""
        return Linked(text=code, url=f"../{GUIDE}/{code}.html" if self._has_guide else "")

    @cached_property
    def rules(self) -> dict[str, m.Rule]:
        return {rule.name: rule for rule in self.protocol.rules}

    def rules_of_codes(self, codes: Iterable[str]) -> list[str]:
        """Return the rules that are tied to codes alone: their name is the code of an error, or their text quotes it."""
        known = set(codes)
        return [name for name, own in self._codes_of_rules.items() if not own.isdisjoint(known)]

    @cached_property
    def _codes_of_rules(self) -> dict[str, frozenset[str]]:
        codes = frozenset(error_codes())
        tied = _named_rules(replace(self.protocol, rules=()))
        return {
            rule.name: codes.intersection({rule.name, *_QUOTED.findall(rule.text)})
            for rule in self.protocol.rules
            if rule.name not in tied
        }

    @cached_property
    def rule_numbers(self) -> dict[str, int]:
        return {rule.name: number for number, rule in enumerate(self.protocol.rules, 1)}

    @cached_property
    def reactions(self) -> dict[str, tuple[str, ...]]:
        """Return, by rule, the reactions of a receiver to a broken rule."""
        return reactions_of(self.protocol, self.named)

    # ---- vectors

    def vectors_of_rule(self, rule: m.Rule) -> RuleVectors:
        """Return the vectors that break a rule, or else those without a rule that are refused with a code that its text names.

        A decoder reports a broken rule by these codes, where no field names the rule.
        """
        own = self._by_rule.get(rule.name, [])
        codes = () if own else tuple(each for each in _QUOTED.findall(rule.text) if each in error_codes())
        ids = own or [
            each.id for each in self._invalid if each.error.rule is None and each.error.code in codes
        ]
        first, n_more = self._first(ids)
        return RuleVectors(ids=tuple(ids), codes=codes, first=first, n_more=n_more)

    def vectors_of_fault(self, path: str, code: str, rule: str) -> tuple[tuple[Linked, ...], int]:
        """Return the first vectors that a decoder refuses with a code and rule, and how many more there are.

        `path`: the field, or the declaration for an error anywhere in it.
        """
        return self._first(self._by_fault.get((path, code, rule), []))

    def _first(self, ids: list[str]) -> tuple[tuple[Linked, ...], int]:
        return tuple(map(self.vector_places.link, ids[:_MOST_NAMED])), max(len(ids) - _MOST_NAMED, 0)

    @property
    def vectors(self) -> tuple[AnyVector, ...]:
        """Return the vectors of the protocol's file, if there is one."""
        return self.chapter.vectors.vectors if self.chapter.vectors is not None else ()

    @cached_property
    def vector_places(self) -> VectorPlaces:
        return VectorPlaces(self.vectors, self.places.slugs)

    @property
    def hint(self) -> str:
        """Return how to make vectors, where there are none yet.

        The command contains only a name, safe for a shell.
        """
        if self.chapter.vectors is not None:
            return ""
        command = f"wiregen vectors build {self.protocol.name}"
        return f"The conformance vectors are not made yet: {command} makes them, and the next site shows them, with conversations."

    @cached_property
    def _invalid(self) -> tuple[Invalid, ...]:
        return tuple(each for each in self.vectors if isinstance(each, Invalid))

    @cached_property
    def _by_rule(self) -> dict[str, list[str]]:
        """Return the vectors that break each rule: of bytes first, then of values, then conversations."""
        found: dict[str, list[str]] = {}
        for kind in (Invalid, Unwritable, Trace):
            for vector in self.vectors:
                rule = rule_of(vector)
                if isinstance(vector, kind) and rule is not None:
                    found.setdefault(rule, []).append(vector.id)
        return found

    @cached_property
    def _by_fault(self) -> dict[tuple[str, str, str], list[str]]:
        found: dict[tuple[str, str, str], list[str]] = {}
        for vector in self._invalid:
            path = _INDEX.sub("", vector.error.path)
            for place in dict.fromkeys((path, path.partition(".")[0])):
                found.setdefault((place, vector.error.code, vector.error.rule or ""), []).append(vector.id)
        return found

    @cached_property
    def conversations(self) -> Conversations:
        """Return the conversations of the protocol and of its file of vectors."""
        return conversations_in(self.conversation_examples, self.schema, self.chapter.vectors)

    @cached_property
    def conversation_examples(self) -> tuple[TracedConversation, ...]:
        """Return the conversations of the `.wire` file."""
        return told_conversations(self.protocol)

    @cached_property
    def limits(self) -> dict[str, int]:
        """Return the limits in force, including those that the file does not name."""
        known: dict[str, object] = dict(self.schema.limits)
        return {name: value for name, value in known.items() if isinstance(value, int)}


def _named_rules(protocol: m.Protocol) -> frozenset[str]:
    """Return the rules that annotations name."""
    notes = (each for each in nodes_in(protocol) if isinstance(each, m.Notes))
    return frozenset(each.rule for each in notes if each.rule is not None)


def notes_of(notes: m.Notes, *, is_part: bool = False) -> NotesView:
    """Return annotations as pages show them.

    `is_part`: without the places that the enclosing declaration names already.
    """
    places = notes.sources if is_part else notes.places
    return NotesView(
        sources=tuple(_line(", ".join(place)) for place in places),
        assumed=Prose(text=notes.assumed or ""),
        errata=Prose(text=notes.errata or ""),
        deprecated=Prose(text=notes.deprecated or ""),
        since=_line(notes.since or ""),
        is_secret=notes.secret,
    )


def _line(text: str) -> str:
    return harmless(" ".join(text.split()))
