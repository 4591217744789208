"""Fields in a row, and the records that they form: structs, messages, frames, alternatives, blocks."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from uuid import UUID

from ...codec.errors import DecodeError
from ...lazy import Lazy
from ...schema.declarations import Constant, Derived, Field, Trailing, is_code
from ...schema.elements import Element, PreambleReference
from ...schema.expressions import Call, Expression
from ...schema.node import nodes_in
from ...schema.shapes import blocks, content
from ...schema.types import (
    Bits,
    Block,
    Float,
    FrameReference,
    MessageReference,
    StructReference,
    Type,
    Uuid,
    Varint,
)
from ..expressions import Undefined
from ..layout import Fields, conditions_of, fixed_size
from ..scalars import number_shown
from ..scope import ABSENT, RecordScope
from ..tree import FrameValue, Node, Record, Value, Variety
from ..window import Place
from .reader import Reader, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.literals import Code
    from ..expressions import Value

__all__ = [
    "check_value", "measures", "read_block", "read_fields", "read_frame", "read_message", "read_record", "read_struct",
]  # fmt: skip


_READ_BITS = Lazy("reference.reading.bits", "read_bits")
_READ_DIVIDED = Lazy("reference.reading.fragments", "read_divided")


def read_record(
    reader: Reader, record: RecordScope, fields: Fields, type_: Element
) -> Generator[int, bool, tuple[Node, Record | FrameValue | Variety]]:
    """Return the node of a record, with the nodes of its fields, and its value."""
    outer, reader.record = reader.record, record
    reader.building.append((record.place.name, record))
    start = reader.window.here
    nodes = yield from read_fields(reader, record, fields, record.place)
    for check, offset in record.deferred:
        record.fixed_offset = offset
        check()
    reader.building.pop()
    reader.record = outer
    value = record.value()
    return reader.node(record.place, type_, start, value, nodes), value


def read_fields(
    reader: Reader, record: RecordScope, fields: Fields, place: Place
) -> Generator[int, bool, tuple[Node, ...]]:
    """Return the nodes of fields in a row, which are added to `record`."""
    after, is_last = reader.after, reader.is_last
    behind = reader.layout.fields_behind(fields) if after is not None else ()
    nodes: list[Node] = []
    is_row_over = False
    for run in _runs(fields):
        field, index = run[-1], len(nodes) + len(run) - 1
        size_behind = behind[index] if after is not None else None
        reader.after = None if after is None or size_behind is None else after + size_behind
        reader.is_last = is_last and index == len(fields) - 1
        if isinstance(field.type, Bits):
            nodes += yield from _READ_BITS.load()(reader, record, run, place)
            continue
        is_row_over = is_row_over and _is_trailing(field)
        if not is_row_over and _is_there(reader, field, place):
            nodes.append((yield from _read_field(reader, record, field, place)))
        else:
            is_row_over = _is_trailing(field)
            nodes.append(_absent(reader, record, field, place))
    reader.after, reader.is_last = after, is_last
    return tuple(nodes)


def _runs(fields: Fields) -> list[list[Field]]:
    """Return the fields one by one, but each run of adjacent bit fields together."""
    runs: list[list[Field]] = []
    for field in fields:
        if isinstance(field.type, Bits) and runs and isinstance(runs[-1][0].type, Bits):
            runs[-1].append(field)
        else:
            runs.append([field])
    return runs


def _is_trailing(field: Field) -> bool:
    return isinstance(field.value, Trailing)


def _is_there(reader: Reader, field: Field, place: Place) -> bool:
    if field.condition is not None:
        try:
            return bool(reader.evaluate(field.condition, place.field(field.name, field.rule)))
        except Undefined:
            return False
    if not _is_trailing(field):
        return True
    window = reader.window
    if window.end is None:
        here = place.field(field.name, field.rule)
        raise reader.fail("undelimitable", here, expected="a region with an end")
    return window.end - window.position >= (fixed_size(reader.layout, field.type) or 1)


def _absent(reader: Reader, record: RecordScope, field: Field, place: Place) -> Node:
    here = place.field(field.name, field.rule)
    value: Value = None
    if isinstance(field.value, Trailing):
        record.absent += 1
        value = _plain(reader.evaluate(field.value.value, here), field.type)
    node = reader.node(here, field.type, reader.window.here, value)
    node.note = ABSENT
    record.add(field, node)
    if isinstance(content(field.type), Block):
        for inner in next(blocks(field.type)):
            _absent(reader, record, inner, place)
    return node


def _plain(value: Value, type_: Type) -> Value:
    """Return a default as a value of the type."""
    if isinstance(type_, Uuid) and isinstance(value, bytes):
        return UUID(bytes=value)
    default: Value = list(value) if isinstance(value, tuple) else value
    return default


_CODES_WITH_CONTENT = ("invalid_text", "not_canonical", "constraint")
"""Codes whose errors may show a byte or a number of the found value."""


def _read_field(reader: Reader, record: RecordScope, field: Field, place: Place) -> Steps:
    here = place.field(field.name, field.rule)
    try:
        name = reader.layout.divided.get((record.name, field.name)) if reader.layout.divided else None
        if name is not None and record is reader.frame:
            node: Node = yield from _READ_DIVIDED.load()(reader, record, name, field, here)
        else:
            # A code's rule is about the message that it selects, not about the encoding of a varint.
            within = (
                place.field(field.name, None) if isinstance(field.type, Varint) and is_code(field) else here
            )
            node = yield from reader.read(reader, field.type, within)
    except DecodeError as error:
        if field.is_secret and error.code in _CODES_WITH_CONTENT:
            raise error.without_found() from None
        raise
    record.add(field, node)
    check_value(reader, record, field, node, here)
    return node


# ---- checks of a field's value ---- --


def check_value(reader: Reader, record: RecordScope, field: Field, node: Node, place: Place) -> None:
    """Refuse a value that is not the field's constant, not as derived, or outside its condition.

    Raises:
        DecodeError: wrong_constant, length_mismatch, constraint.
    """
    value, where = field.value, field.where
    if isinstance(value, Constant):
        _check_constant(reader, field, value, node, place)
    elif isinstance(value, Derived):
        _now_or_later(record, partial(_check_derived, reader, field, value, node, place))
    if where is not None:
        _now_or_later(record, partial(_check_where, reader, field, node, place))


def _now_or_later(record: RecordScope, check: partial[None]) -> None:
    """Run a check; if it needs later fields, defer it until the record is complete."""
    try:
        check(is_late=False)
    except Undefined:
        record.deferred.append((partial(check, is_late=True), record.offset()))


def _check_constant(reader: Reader, field: Field, constant: Constant, node: Node, place: Place) -> None:
    expected = reader.evaluate(constant.value, place)
    if not _agrees(node.value, expected, field.type):
        raise _unexpected(reader, "wrong_constant", field, node, place, expected)
    node.annotate("constant")


def _check_derived(
    reader: Reader, field: Field, derived: Derived, node: Node, place: Place, *, is_late: bool
) -> None:
    try:
        expected = reader.evaluate(derived.value, place)
    except Undefined:
        if not is_late:
            raise
        return  # nothing to compare with: an unknown message, for instance
    if _agrees(node.value, expected, field.type):
        node.annotate("derived")
    elif derived.is_lenient and not reader.layout.strict:
        node.annotate("not as derived")
    else:
        code: Code = "length_mismatch" if measures(derived.value) else "constraint"
        raise _unexpected(reader, code, field, node, place, expected)


def _check_where(reader: Reader, field: Field, node: Node, place: Place, *, is_late: bool) -> None:
    for condition, text, rule in conditions_of(field):
        try:
            holds = bool(reader.evaluate(condition, place))
        except Undefined:
            if not is_late:
                raise
            holds = False
        if not holds:
            found = "" if field.is_secret else number_shown(field.type, node.value)
            raise reader.fail("constraint", place, blame=node, expected=text, found=found, rule=rule)


def _agrees(value: Value, expected: Value, type_: Type) -> bool:
    if isinstance(type_, Float) and isinstance(value, float) and isinstance(expected, int | float):
        return not type_.definition.differs(value, expected)
    plain = value.bytes if isinstance(value, UUID) else value
    return bool(plain == expected)


def measures(expression: Expression) -> bool:
    """Return whether an expression uses a size or a count."""
    return any(isinstance(node, Call) and node.function in ("size", "count") for node in nodes_in(expression))


def _unexpected(
    reader: Reader, code: Code, field: Field, node: Node, place: Place, expected: Value
) -> Exception:
    is_constant = isinstance(field.value, Constant)
    found = "" if field.is_secret else _brief(node.value, is_constant=is_constant)
    return reader.fail(
        code, place, blame=node, expected=_brief(expected, is_constant=is_constant), found=found
    )


_MOST_BYTES = 16
"""Bytes and characters of a constant that an error shows, for the expected and the found value."""


def _brief(value: Value, *, is_constant: bool) -> str:
    """Return a number as text; for a constant the beginning of its bytes or text, for other values only their kind."""
    if isinstance(value, bool | int):
        return str(value)
    if value is None:
        return "nothing"
    if isinstance(value, UUID) and is_constant:
        return str(value)
    if isinstance(value, bytes) and is_constant:
        return f'x"{value[:_MOST_BYTES].hex()}"' + (
            f" of {len(value)} bytes" if len(value) > _MOST_BYTES else ""
        )
    if isinstance(value, str) and is_constant:
        return ascii(value[:_MOST_BYTES]) + ("…" if len(value) > _MOST_BYTES else "")
    return f"other {type(value).__name__}"


# ---- records ----


def read_struct(reader: Reader, type_: StructReference, place: Place) -> Steps:
    name = type_.name
    reader.enter(name, place)
    record = RecordScope(reader, name, place)
    node, _ = yield from read_record(reader, record, reader.layout.structs[name], type_)
    reader.leave(name)
    return node


def read_block(reader: Reader, type_: Block, place: Place) -> Steps:
    """Return the node of a block: its fields are the surrounding record's."""
    start = reader.window.here
    record = reader.scope
    nodes = yield from read_fields(reader, record, type_.fields, record.place)
    return reader.node(place, type_, start, None, nodes)


def read_message(reader: Reader, type_: MessageReference, place: Place) -> Steps:
    name = type_.name
    is_body = reader.record is not None and reader.record is reader.frame
    path = f"{reader.prefix}{name}" if is_body or reader.record is None else f"{place.path}.{name}"
    here = Place(place.name, path, place.rule)
    reader.enter(name, here)
    record = RecordScope(reader, name, here)
    node, _ = yield from read_record(reader, record, reader.layout.messages[name].fields, type_)
    reader.leave(name)
    return node


def read_frame(reader: Reader, type_: FrameReference, place: Place) -> Steps:
    """Return the node of a frame within a record; a list has counted its items itself."""
    name = type_.name
    if not place.is_item:
        reader.spend_messages(1, place)
    prefix, bounded, allowed, frame = reader.prefix, reader.is_bounded, reader.only, reader.frame
    window = reader.window
    start, end = window.frame_start, window.frame_end
    window.frame_start = window.position
    window.frame_end = min(end, window.position + reader.layout.frame)
    reader.prefix, reader.is_bounded, reader.only = f"{place.path}.", False, (type_.only, type_.is_lenient)
    node = yield from read_bare_frame(
        reader, name, Place(place.name, f"{place.path}.{name}", place.rule), type_
    )
    window.frame_start, window.frame_end = start, end
    reader.prefix, reader.is_bounded, reader.only, reader.frame = prefix, bounded, allowed, frame
    return node


def read_bare_frame(reader: Reader, name: str, place: Place, type_: Type) -> Steps:
    """Return the node of a frame after its state is set."""
    frame = reader.layout.frames[name]
    record = RecordScope(reader, name, place, ("frame", frame.message))
    reader.frame = record
    node, _ = yield from read_record(reader, record, frame.fields, type_)
    return node


def read_preamble(reader: Reader, name: str) -> Steps:
    """Return the node of the preamble before the first frame."""
    record = RecordScope(reader, name, Place(name, name))
    node, _ = yield from read_record(
        reader, record, reader.layout.preambles[name].fields, PreambleReference(name)
    )
    return node
