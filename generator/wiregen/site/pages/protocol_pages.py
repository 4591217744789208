"""The pages of a protocol as a whole: its overview, its rules, its ledger."""

from __future__ import annotations

from wiregen.generate.escaping import harmless
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.site.pages.chapter import Book, notes_of
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.session_pages import conversation_lines
from wiregen.site.pages.views import LedgerPageView, LedgerView, RulesPageView, RuleView

__all__ = ["ledger_page", "rule_view", "rules_page"]


def rules_page(book: Book) -> RulesPageView:
    """Return the rules of a protocol, numbered in the file's order."""
    rules = tuple(rule_view(book, rule) for rule in book.protocol.rules)
    return RulesPageView(shell=book.shell("Rules", "rules", Linked(text="Rules")), rules=rules)


def rule_view(book: Book, rule: m.Rule) -> RuleView:
    """Return one rule: its text, its place in the document, the reaction of a receiver, the vectors that break it."""
    vectors = book.vectors_of_rule(rule)
    codes = ", ".join(vectors.codes)
    by_code = (f"refuses the frame: {codes}",) if codes else ()
    sources = tuple(harmless(" ".join(source.split())) for source in rule.sources)
    breaking = book.conversations.breaking.get(rule.name)
    return RuleView(
        number=book.rule_numbers[rule.name],
        name=rule.name,
        url=f"rules.html#{rule.name}",
        text=Prose(text=rule.text),
        notes=replace(notes_of(rule.notes), sources=sources),
        receiver=book.reactions.get(rule.name, by_code),
        vectors=vectors.first,
        n_more=vectors.n_more,
        by_code=codes if vectors.first else "",
        told=() if breaking is None else conversation_lines(breaking),
    )


def ledger_page(book: Book) -> LedgerPageView:
    """Return the page of open questions of the document, with the decisions."""
    entries = tuple(_entry(book, each) for each in book.protocol.ledgers)
    return LedgerPageView(shell=book.shell("Ledger", "ledger", Linked(text="Ledger")), entries=entries)


def _entry(book: Book, ledger: m.Ledger) -> LedgerView:
    about = (Linked(text=name, url=book.places.url(name.partition(".")[0])) for name in ledger.about)
    return LedgerView(
        id=ledger.id,
        anchor=f"entry-{ledger.id}",
        title=harmless(" ".join(ledger.title.split())),
        document=Prose(text=ledger.document),
        peers=Prose(text=ledger.peers),
        decision=Prose(text=ledger.decision),
        reason=Prose(text=ledger.reason),
        about=tuple(about),
    )
