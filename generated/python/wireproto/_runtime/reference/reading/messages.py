"""Messages that are chosen by a number or a context."""

from __future__ import annotations

from ...codec.errors import DecodeError
from ...schema.elements import UnknownMessage
from ...schema.expressions import Expression, FieldReference
from ...schema.types import MessageMatch, MessageReference
from ..expressions import Undefined
from ..tree import Node, Unknown, Value
from ..window import Place
from .reader import Reader, Steps
from .records import read_message
from .scalars import refuse_outside

__all__ = ["read_message_match", "subject_of", "subject_place"]


def subject_of(reader: Reader, subject: Expression, place: Place) -> Value:
    """Return the value of a subject.

    Raises:
        DecodeError: invalid_value, the subject has no value.
    """
    try:
        return reader.evaluate(subject, place)
    except Undefined:
        raise reader.fail(
            "invalid_value", place, blame=reader.blame(subject), expected="a number", found="none"
        ) from None


def subject_place(reader: Reader, subject: Expression, place: Place) -> Place:
    """Return the place of the field that decides; the choice's own place if several decide."""
    if not isinstance(subject, FieldReference) or subject.scope != "own" or len(subject.path) != 1:
        return place
    blame = reader.blame(subject)
    rule = reader.scope.rules.get(subject.path[0]) or place.rule
    return place if blame is None else Place(blame.name, blame.path, rule)


def read_message_match(reader: Reader, type_: MessageMatch, place: Place) -> Steps:
    subject = type_.subject
    can_skip = reader.is_bounded and reader.is_last and not reader.layout.strict
    try:
        code = subject_of(reader, subject, place)
    except DecodeError as error:
        if error.code == "missing_context" and can_skip:
            return (yield from _read_unknown(reader, None, place))
        raise
    assert code is None or isinstance(code, int)
    frame = None if reader.frame is None else reader.frame.name
    name = None if code is None else reader.layout.message_of(code, reader.sender, frame)
    blame = reader.blame(subject) if isinstance(subject, FieldReference) else None
    where = subject_place(reader, subject, place)
    if name is None and code is not None and frame is not None:
        _refuse_foreign(reader, code, frame, where, blame)
    if name is None and not can_skip:
        raise reader.fail("unknown_code", where, blame=blame, expected="a message's code", found=str(code))
    refuse_outside(reader, name, type_.only, type_.is_lenient, where, blame, name or str(code))
    refuse_outside(reader, name, *reader.only, _as_frame(reader, where), blame, name or str(code))
    if name is None:
        return (yield from _read_unknown(reader, code, place))
    node = yield from read_message(reader, MessageReference(name), place)
    _name_code(reader, subject, name)
    return node


def _refuse_foreign(reader: Reader, code: int, frame: str, place: Place, blame: Node | None) -> None:
    """Refuse a message of the other role, which has frames of its own.

    Raises:
        DecodeError: unknown_code.
    """
    name = reader.layout.foreign_of(code, frame)
    if name is None:
        return
    expected, found = f"a message that {reader.layout.frames[frame].role} sends", f"{code} of {name}"
    rule = reader.layout.schema.role_rule or place.rule
    raise reader.fail("unknown_code", place, blame=blame, expected=expected, found=found, rule=rule)


def _as_frame(reader: Reader, place: Place) -> Place:
    """Return the place with the rule of the frame's holder, if it names one: the holder decides which
    messages are allowed.
    """
    rule = None if reader.frame is None else reader.frame.place.rule
    return Place(place.name, place.path, rule or place.rule)


def _name_code(reader: Reader, subject: Expression, name: str) -> None:
    node = reader.blame(subject) if isinstance(subject, FieldReference) else None
    if node is not None:
        node.annotate(name)


def _read_unknown(reader: Reader, code: int | None, place: Place) -> Steps:
    window = reader.window
    assert window.end is not None
    start = window.here
    data = yield from reader.take(window.end - window.position, place)
    here = Place(place.name, f"{reader.prefix}Unknown", place.rule)
    node: Node = reader.node(here, UnknownMessage(), start, Unknown(code, data))
    return node
