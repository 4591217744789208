"""Whether a reader would mistake a message that is sent for another one.

If a context chooses the message of a frame, the bytes do not identify it: another message would be misread.
A fragment that is not marked as one would be read as a whole.
"""

from __future__ import annotations

from ..schema.expressions import ContextReference
from ..schema.protocol import Schema
from ..schema.types import Match, MessageMatch, Region, Span, Type, covers
from .closures import NOTHING, Moment, Term, compile_term
from .names import Kind, MessageWords

__all__ = ["other_kind"]


def other_kind(kind: Kind) -> Term | None:
    """Return a term that tells if a reader would mistake messages of a kind for others, or None if that cannot happen.

    Without an entry in the context, or with another arm for the message, it is not mistaken.
    """
    words = MessageWords(kind, {})
    join = kind.schema.joins.get(kind.name)
    if join is not None:
        return _of_piece([compile_term(each.when, words) for each in join.parts if each.when is not None])
    if kind.frame is None or not kind.name:  # without a name: only the header could be read
        return None
    choices = [_choice(field.type, words) for field in kind.frame_fields.values()]
    return next((choice for choice in choices if choice is not None), None)


def _of_piece(terms: list[Term]) -> Term | None:
    """Return a term that tells if a fragment of a block, before the last one, is not marked as one."""

    def is_other(m: object, f: object, v: list[object], x: object) -> bool:
        return not any(_holds(term, m, f, v, x) for term in terms)

    return is_other if terms else None


def _holds(term: Term, m: object, f: object, v: list[object], x: object) -> bool:
    try:
        return bool(term(m, f, v, x))
    except NOTHING:
        return False


def _choice(type_: Type, words: MessageWords) -> Term | None:
    match type_:
        case Region(inner):
            return _choice(inner, words)
        case Match(subject, arms):
            inside = [(arm.spans, _choice(arm.type, words)) for arm in arms]
            if any(choice is not None for _, choice in inside):
                return _of_arm(compile_term(subject, words), inside)
        case MessageMatch(ContextReference() as subject):
            return _of_context(compile_term(subject, words), words.kind)
    return None


def _of_arm(subject: Term, arms: list[tuple[tuple[Span, ...], Term | None]]) -> Term:
    def is_other(m: object, f: object, v: list[object], x: object) -> bool:
        try:
            number = subject(m, f, v, x)
            taken = (choice for spans, choice in arms if not spans or covers(spans, number))
            choice = next(taken, None)
        except NOTHING:
            return False
        return choice is not None and bool(choice(m, f, v, x))

    return is_other


def _of_context(code: Term, kind: Kind) -> Term:
    own = kind.code

    def is_other(m: object, f: object, v: list[object], x: Moment) -> bool:
        try:
            said = code(m, f, v, x)
        except NOTHING:
            return False
        return said != own if own is not None else _is_known(kind.schema, said, x.sender)

    return is_other


def _is_known(schema: Schema, code: object, sender: str | None) -> bool:
    """Return whether a code is that of a message which a role sends."""
    return any(code == each.code and each.role in (None, sender) for each in schema.messages.values())
