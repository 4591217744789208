"""The uses of a declaration: in fields and frames, contexts, joins and transitions of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.language.spelling import expression_text
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.lowering import limits_of
from wiregen.schema.walk import (
    direct_expressions,
    every_field,
    field_expressions,
    nested_expressions,
    references,
    shapes,
)
from wiregen.site.pages.decode_errors import faults_of
from wiregen.site.pages.named_rules import NamedRules
from wiregen.site.pages.numbers import limit_phrase
from wiregen.site.pages.page_paths import context_page_name, join_page_name

__all__ = ["TransitionUse", "Usage", "Use", "contexts_asked", "reactions_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """`owner`: the declaration that uses it. `how`: the path of a field, or words.

    `page`: another page to link, without suffix.
    """

    owner: str
    how: str
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionUse:
    """A transition of a session that names a message: its states, the role, the guard, and the effect."""

    session: str
    states: str
    role: str
    when: str
    comes_to: str
    violation: str
    note: str


_MOST_PLACES: Final = 4
"""Fields that are named beside an error; the rest is counted."""


class Usage:
    """The uses of one protocol's declarations, indexed by name."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._uses: dict[str, list[Use]] = {}
        self._rows: dict[str, list[TransitionUse]] = {}
        self.owners = tuple(_owners(protocol))
        """Declarations that have fields, with these fields."""
        for name, use in (*_fields(protocol), *_behaviour(protocol)):
            if use not in self._uses.setdefault(name, []):
                self._uses[name].append(use)
        for session in protocol.sessions:
            self._look_over(session)

    def uses(self, name: str) -> tuple[Use, ...]:
        return tuple(self._uses.get(name, ()))

    def rows(self, name: str) -> tuple[TransitionUse, ...]:
        """Return the transitions that name a message; not those of `any`."""
        return tuple(self._rows.get(name, ()))

    def of_frame(self, name: str) -> tuple[Use, ...]:
        """Return the contexts and joins in which a frame, and so every message in it, takes part."""
        return tuple(replace(use, how=f"{name} {use.how}") for use in self.uses(name) if use.page)

    def _look_over(self, session: m.Session) -> None:
        for row in session.rows:
            for target in row.targets or ():
                self._rows.setdefault(target, []).append(_said(session, row))


def _said(session: m.Session, row: m.Row) -> TransitionUse:
    effect = row.effect
    match effect:
        case m.Go(state=state):
            comes_to, violation = (f"then {state}" if state else "stays"), ""
        case m.Violates(name=name, is_lenient=lenient):
            comes_to, violation = ("a note; strict: refused" if lenient else "refused"), name
    return TransitionUse(
        session=session.name,
        states="any" if row.states is None else ", ".join(row.states),
        role=row.role or "any",
        when="" if row.when is None else expression_text(row.when),
        comes_to=comes_to,
        violation=violation,
        note=row.doc,
    )


def _fields(protocol: m.Protocol) -> Iterator[tuple[str, Use]]:
    for owner, fields in _owners(protocol):
        for field in every_field(fields):
            for type_ in shapes(field.type):
                for reference in references(type_):
                    yield reference.name, Use(owner=owner, how=f"{owner}.{field.name}")
            if field.view is not None and not isinstance(field.view, str):
                for reference in references(field.view):
                    yield reference.name, Use(owner=owner, how=f"{owner}.{field.name}, as a view")


def _owners(protocol: m.Protocol) -> Iterator[tuple[str, tuple[m.Field, ...]]]:
    groups: tuple[tuple[m.Frame | m.Message | m.Struct | m.Preamble, ...], ...] = (
        protocol.frames, protocol.messages, protocol.structs, protocol.preambles,
    )  # fmt: skip
    for group in groups:
        for each in group:
            yield each.name, each.fields
    for union in protocol.unions:
        for variety in union.varieties:
            yield union.name, variety.fields


def _behaviour(protocol: m.Protocol) -> Iterator[tuple[str, Use]]:
    for context in protocol.contexts:
        page = context_page_name(context.name)
        for setting in context.settings:
            yield setting.target, Use(owner="", how=f"sets the context {context.name}", page=page)
        for clearing in context.clearings:
            for target in clearing.targets:
                yield target, Use(owner="", how=f"clears the context {context.name}", page=page)
        for owner, fields in _owners(protocol):
            if context.name in contexts_asked(fields):
                yield owner, Use(owner="", how=f"is laid out by the context {context.name}", page=page)
    for join in protocol.joins:
        page = join_page_name(join.name)
        for part in join.parts:
            yield part.target, Use(owner="", how=f"is a part of the join {join.name}", page=page)
        for last in join.lasts:
            yield last.target, Use(owner="", how=f"is the last part of the join {join.name}", page=page)
        for clearing in join.clearings:
            for target in clearing.targets:
                yield target, Use(owner="", how=f"drops the parts of the join {join.name}", page=page)


def contexts_asked(fields: tuple[m.Field, ...]) -> frozenset[str]:
    """Return the contexts that determine the layout of fields."""
    flat = tuple(every_field(fields))
    asked = [part for field in flat for part in field_expressions(field)]
    asked += [part for field in flat for type_ in shapes(field.type) for part in direct_expressions(type_)]
    return frozenset(
        each.context for each in nested_expressions(*asked) if isinstance(each, m.ContextReference)
    )


def reactions_of(protocol: m.Protocol, named: NamedRules) -> dict[str, tuple[str, ...]]:
    """Return the reactions of a receiver to a broken rule, by rule, each in a few words."""
    found: dict[str, dict[str, None]] = {}
    bounds = limits_of(protocol)
    for limit in protocol.limits:
        _note(found, limit.notes.rule, f"refuses what is beyond {limit_phrase(limit.name, bounds)}")
    for rule, text in _refusals(protocol, named):
        _note(found, rule, text)
    for session in protocol.sessions:
        effects = [row.effect for row in session.rows] + [timer.effect for timer in session.timers]
        for effect in effects:
            if isinstance(effect, m.Violates):
                word = "notes it, and refuses it if strict" if effect.is_lenient else "fails the connection"
                _note(found, effect.name, f"{word}: session {session.name}")
    return {name: tuple(texts) for name, texts in found.items()}


def _refusals(protocol: m.Protocol, named: NamedRules) -> Iterator[tuple[str, str]]:
    """Yield each rule of a field with the error that reports it, and the fields."""
    places: dict[tuple[str, str, bool], list[str]] = {}
    for owner, fields in _owners(protocol):
        for fault in faults_of(owner, fields, named):
            if fault.rule and fault.code != "limit_exceeded":  # the rule of its limit
                places.setdefault((fault.rule, fault.code, fault.strict), []).append(fault.path or owner)
    for (rule, code, is_strict), paths in places.items():
        more = f" and {len(paths) - _MOST_PLACES} more" if len(paths) > _MOST_PLACES else ""
        where = ", ".join(dict.fromkeys(paths[:_MOST_PLACES]))
        yield rule, f"refuses the frame{' if strict' if is_strict else ''}: {code} at {where}{more}"
    for owner, fields in _owners(protocol):
        for field in every_field(fields):
            if field.rule is not None and field.view == "json":
                yield field.rule, f"accepts the frame, and refuses to read {owner}.{field.name}_json"


def _note(found: dict[str, dict[str, None]], rule: str | None, text: str) -> None:
    if rule is not None:
        found.setdefault(rule, {})[text] = None
