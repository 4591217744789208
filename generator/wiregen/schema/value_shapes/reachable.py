"""The declarations that frames of a protocol can hold: a struct that only lays bytes out is not carried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wiregen.schema.value_shapes.shapes import Carried, Form, FrameRecord, Many, Nullable, One, Record

__all__ = ["reachable"]


def reachable(carried: Carried) -> Carried:
    """Return only the declarations that some frame holds, at any depth."""
    found: set[tuple[str, str]] = set()
    waiting = [one for frame in carried.frames for one in _of_frame(frame)]
    while waiting:
        one = waiting.pop()
        if (one.kind, one.name) not in found:
            found.add((one.kind, one.name))
            waiting += [inner for record in _records(carried, one) for inner in _of_record(record)]
    return replace(
        carried,
        records=tuple(each for each in carried.records if _key(each) in found),
        unions=tuple(union for union in carried.unions if ("union", union) in found),
    )


def _key(record: Record) -> tuple[str, str]:
    return (record.kind, record.name) if record.union is None else ("union", record.union)


def _records(carried: Carried, one: One) -> Iterator[Record]:
    return (record for record in carried.records if _key(record) == (one.kind, one.name))


def _of_frame(frame: FrameRecord) -> Iterator[One]:
    yield from (One(kind="message", name=name) for name in frame.messages)
    yield from _of_record(frame)


def _of_record(record: Record | FrameRecord) -> Iterator[One]:
    forms = [field.form for field in record.fields]
    forms += [form for choice in record.choices for form in choice.forms]
    for form in forms:
        yield from _of_form(form)


def _of_form(form: Form) -> Iterator[One]:
    match form:
        case One():
            yield form
        case Many(item=inner) | Nullable(value=inner):
            yield from _of_form(inner)
