"""What is chosen by a number: unions, arms of a match, messages by their code."""

from __future__ import annotations

from ...codec.errors import DecodeError
from ...schema.elements import UnknownMessage
from ...schema.expressions import Expression, FieldReference
from ...schema.types import Match, MessageMatch, MessageReference, Span, UnionReference
from ..expressions import Undefined
from ..scope import RecordScope
from ..tree import Node, Unknown, Value
from ..window import Place
from .reader import Reader, Steps
from .records import read_message, read_record
from .scalars import refuse_outside

__all__ = ["read_match", "read_message_match", "read_union"]


def read_union(reader: Reader, type_: UnionReference, place: Place) -> Steps:
    name = type_.name
    union = reader.schema.plan.unions[name]
    rules = reader.schema.rules
    reader.enter("union", name, place)
    start = reader.window.here
    code_node = yield from reader.read(reader, union.type, place.part("code"))
    code = code_node.value
    assert isinstance(code, int)
    variety = next((variety for variety in union.varieties if _covers(variety.spans, code)), None)
    if variety is None:
        expected, rule = f"a {name}", rules.get(name)
        raise reader.fail(
            "unknown_code", place, blame=code_node, expected=expected, found=str(code), rule=rule
        )
    refuse_outside(reader, variety.name, type_.only, type_.is_lenient, place, code_node, variety.name)
    has_end = reader.is_last and reader.window.end is not None
    if not has_end and reader.schema.fields_reach_end(variety.fields):
        expected, rule = "a variety with an end", rules.get(f"{name}.{variety.name}")
        raise reader.fail(
            "unknown_code", place, blame=code_node, expected=expected, found=variety.name, rule=rule
        )
    here = Place(place.name, f"{place.path}.{variety.name}", place.rule)
    record = RecordScope(reader, variety.name, here, ("variety", name, code))
    node, value = yield from read_record(reader, record, variety.fields, type_)
    reader.leave("union", name)
    code_node.annotate(variety.name)
    return reader.node(place, type_, start, value, (code_node, *node.children))


def _covers(spans: tuple[Span, ...], number: Value) -> bool:
    return isinstance(number, int) and any(span.low <= number <= span.high for span in spans)


def read_match(reader: Reader, type_: Match, place: Place) -> Steps:
    """Return the node of the arm that takes the subject."""
    subject = type_.subject
    number = _subject(reader, subject, place)
    for arm in type_.arms:
        if not arm.spans or _covers(arm.spans, number):
            return (yield from reader.read(reader, arm.type, place))
    where = _subject_place(reader, subject, place)
    blame = reader.blame(subject)
    raise reader.fail("unknown_code", where, blame=blame, expected="a known choice", found=str(number))


def _subject(reader: Reader, subject: Expression, place: Place) -> Value:
    try:
        return reader.evaluate(subject, place)
    except Undefined:
        raise reader.fail(
            "invalid_value", place, blame=reader.blame(subject), expected="a number", found="none"
        ) from None


def _subject_place(reader: Reader, subject: Expression, place: Place) -> Place:
    """Return the place of the field that decides; the choice's own where no single field does."""
    if not isinstance(subject, FieldReference) or subject.scope != "own" or len(subject.path) != 1:
        return place
    blame = reader.blame(subject)
    rule = reader.scope.rules.get(subject.path[0]) or place.rule
    return place if blame is None else Place(blame.name, blame.path, rule)


def read_message_match(reader: Reader, type_: MessageMatch, place: Place) -> Steps:
    subject = type_.subject
    can_skip = reader.is_bounded and reader.is_last and not reader.schema.strict
    try:
        code = _subject(reader, subject, place)
    except DecodeError as error:
        if error.code == "missing_context" and can_skip:
            return (yield from _read_unknown(reader, None, place))
        raise
    assert code is None or isinstance(code, int)
    frame = None if reader.frame is None else reader.frame.name
    name = None if code is None else reader.schema.message_of(code, reader.sender, frame)
    blame = reader.blame(subject) if isinstance(subject, FieldReference) else None
    where = _subject_place(reader, subject, place)
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
    name = reader.schema.foreign_of(code, frame)
    if name is None:
        return
    expected, found = f"a message that {reader.schema.frames[frame].role} sends", f"{code} of {name}"
    rule = reader.schema.plan.role_rule or place.rule
    raise reader.fail("unknown_code", place, blame=blame, expected=expected, found=found, rule=rule)


def _as_frame(reader: Reader, place: Place) -> Place:
    """Return the place with the rule of what holds the frame, if that names one: what may stand there is its affair."""
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
