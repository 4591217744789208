"""Findings: statements without a source, declarations without documentation, declarations without a use."""

from __future__ import annotations

from typing import Final

from wiregen.language.linter.inventory import LintRule, Survey

__all__ = ["RULES"]

_INSIDE: Final = frozenset({"member", "variety", "field", "row", "timer"})
"""Nodes that are inside a declaration, and share its source."""
_TOLD: Final = frozenset({"enum", "struct", "message", "frame", "preamble", "union", "session"})
"""Declarations that have a page or a class of their own."""
_NEEDED: Final = frozenset({"constant", "type", "enum", "struct", "union", "coding"})
"""Declarations that exist only for others."""


def _no_source(survey: Survey) -> None:
    for node in survey.nodes:
        if node.is_sourced or node.what == "variant":
            continue
        if node.what == "protocol":
            help_ = 'name the document and its version: `source "…"`'
            survey.warning("WG7011", f"{node.shown} names no document", node, help_=help_)
        elif node.what not in _INSIDE:
            help_ = 'write `@source("heading, a few words")`, or `@assumed("reason")` if no document has it'
            survey.warning("WG7011", f"{node.shown} has no source", node, help_=help_)


def _no_doc(survey: Survey) -> None:
    for node in survey.nodes:
        if node.what in _TOLD and not node.doc and not node.is_in_variant:
            help_ = "describe its purpose on the line before it: `/// …`"
            survey.warning("WG7012", f"{node.shown} has no description", node, help_=help_)


def _no_field_doc(survey: Survey) -> None:
    for node in survey.nodes:
        is_meant = node.what == "field" and not node.path.rpartition(".")[2].startswith("_")
        if is_meant and not node.doc and not node.is_in_variant:
            help_ = "describe its purpose on the line before it, `/// …`, or use a `type` with a description"
            survey.warning("WG7014", f"{node.shown} has no description", node, help_=help_)


def _unused(survey: Survey) -> None:
    for node in survey.nodes:
        name = node.path.rpartition(".")[2]
        if node.what in _NEEDED and name not in survey.mentioned:
            help_ = "remove it; if the document has it, mention it in a ledger entry"
            survey.warning("WG7013", f"{node.shown} is not used", node, help_=help_)
    imported = {node.path.rpartition(".")[2] for node in survey.all_nodes if node.what in _NEEDED}
    for name, span in survey.imports:
        if name in imported and name not in survey.mentioned:
            survey.report.warning("WG7013", f"import `{name}` is not used", span, help="remove it")


RULES = (
    LintRule(name="no-source", code="WG7011", is_listing=False, apply=_no_source),
    LintRule(name="no-doc", code="WG7012", is_listing=False, apply=_no_doc),
    LintRule(name="no-field-doc", code="WG7014", is_listing=False, apply=_no_field_doc),
    LintRule(name="unused", code="WG7013", is_listing=False, apply=_unused),
)
