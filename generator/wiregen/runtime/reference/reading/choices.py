"""Unions, and the arms of a match: chosen by a number."""

from __future__ import annotations

from ...schema.types import Match, UnionReference, covers
from ..scope import RecordScope
from ..window import Place
from .messages import subject_of, subject_place
from .reader import Reader, Steps
from .records import read_record
from .scalars import refuse_outside

__all__ = ["read_match", "read_union"]


def read_union(reader: Reader, type_: UnionReference, place: Place) -> Steps:
    name = type_.name
    union = reader.layout.schema.unions[name]
    rules = reader.layout.rules
    reader.enter(name, place)
    start = reader.window.here
    code_node = yield from reader.read(reader, union.type, place.part("code"))
    code = code_node.value
    assert isinstance(code, int)
    variety = next((variety for variety in union.varieties if covers(variety.spans, code)), None)
    if variety is None:
        expected, rule = f"a {name}", rules.get(name)
        raise reader.fail(
            "unknown_code", place, blame=code_node, expected=expected, found=str(code), rule=rule
        )
    refuse_outside(reader, variety.name, type_.only, type_.is_lenient, place, code_node, variety.name)
    has_end = reader.is_last and reader.window.end is not None
    if not has_end and reader.layout.fields_reach_end(variety.fields):
        expected, rule = "a variety with an end", rules.get(f"{name}.{variety.name}")
        raise reader.fail(
            "unknown_code", place, blame=code_node, expected=expected, found=variety.name, rule=rule
        )
    here = Place(place.name, f"{place.path}.{variety.name}", place.rule)
    record = RecordScope(reader, variety.name, here, ("variety", name, code))
    node, value = yield from read_record(reader, record, variety.fields, type_)
    reader.leave(name)
    code_node.annotate(variety.name)
    return reader.node(place, type_, start, value, (code_node, *node.children))


def read_match(reader: Reader, type_: Match, place: Place) -> Steps:
    """Return the node of the arm that takes the subject."""
    subject = type_.subject
    number = subject_of(reader, subject, place)
    arm = type_.arm(number)
    if arm is not None:
        return (yield from reader.read(reader, arm.type, place))
    where = subject_place(reader, subject, place)
    blame = reader.blame(subject)
    raise reader.fail("unknown_code", where, blame=blame, expected="a known choice", found=str(number))
