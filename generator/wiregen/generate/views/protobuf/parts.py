"""The conversion of one value to a part of a protobuf message and back, as the templates print it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from wiregen.generate.views.serial.names import SerialNames, sent, taker
from wiregen.schema.value_shapes import Flag, Form, Member, Number, Octets, Raw, Real, String, Uuid
from wiregen.schema.value_shapes.shapes import AnyOf, Compound, Many, Nullable, One, Plain

__all__ = ["FormTestView", "FunctionView", "OneofView", "PartView", "put", "received", "scalar"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """A field: `put` is the expression that is assigned, or the function that fills; `guard` when it is put at all. `take` is an expression."""

    name: str
    kind: Literal["assign", "extend", "items", "inner"]
    value: str
    put: str
    take: str
    guard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormTestView:
    """A form of a choice, and the test whether a value has it."""

    test: str
    part: PartView


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionView:
    """The two functions of one protobuf message: `_put_STEM` and `_take_STEM`.

    `class_name`: the class that is made; "" for a wrapper, which only holds its one part. `trailing`: the
    fields that may be absent at the end. `oneof` and `table`: those of unions and frames. `rule`: the rule
    that is violated if none is set.

    `has_tail`: a value may have trailing bytes, which are not carried. `may_lack_message`: the frame may come
    without a message; its oneof is then not set.
    """

    stem: str
    kind: Literal["record", "frame", "union", "choice", "wrapper"]
    class_name: str
    doc: str
    parts: tuple[PartView, ...] = ()
    options: tuple[FormTestView, ...] = ()
    trailing: tuple[str, ...] = ()
    oneof: str = ""
    table: str = ""
    rule: str | None = None
    has_tail: bool = False
    may_lack_message: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OneofView:
    """The fields of a oneof: class, field, path for errors, stem of the functions."""

    name: str
    rows: tuple[tuple[str, str, str, str], ...]


def scalar(form: Form) -> str | None:
    """Return the protobuf type of a scalar form, or None for other forms and for enums that are used by name."""
    match form:
        case Number(is_wide=is_wide, is_signed=is_signed):
            return f"{'s' if is_signed else 'u'}int{64 if is_wide else 32}"
        case Member(is_open=False, fits=True):
            return None
        case Member(number=number):
            return _open_number(number)
        case Flag():
            return "bool"
        case Real():
            return "double" if form.is_wide else "float"
        case String(is_lenient=False):
            return "string"
        case Octets() | String() | Uuid() | Raw():
            return "bytes"
        case Member() | One() | AnyOf() | Many() | Nullable():
            return None
        case _:
            assert_never(form)


def _open_number(number: Number) -> str:
    """Return the type of an open enum: a plain number, encoded like an enum, so that either may become the other."""
    if number.is_wide:
        return "int64" if number.is_signed else "uint64"
    return "int32" if number.is_signed else "int64"


def received(form: Form, name: str, value: str, names: SerialNames) -> str:
    """Return the expression that makes a plain value from a message's field; `name` is used in errors."""
    take = taker(form, names)
    if take is not None:
        return f'_inside("{name}", {take}, {value}, budget)'
    match form:
        case Member(enum=enum):
            return f"{names.members(enum)}[{value}]"
        case String(is_lenient=True):
            return f'{value}.decode("utf-8", "surrogateescape")'
        case _ if isinstance(form, Plain | Uuid | Raw | Compound):
            return value
        case _:
            assert_never(form)


def put(form: Form, value: str, names: SerialNames) -> str:
    """Return the expression that is assigned to a field: a number is asked once, by the native codec."""
    match form:
        case Number() | Member():
            return f"_whole({value})"
        case Real():
            return f"_real({value})"
        case _:
            return sent(form, value, names)


def all_sent(form: Form, value: str, names: SerialNames) -> str:
    """Return the expression for a list of plain values."""
    one = sent(form, "item", names)
    return value if one == "item" else f"[{one} for item in {value}]"


def all_received(form: Form, name: str, value: str, names: SerialNames) -> str:
    take = taker(form, names)
    if take is not None:
        return f'_each("{name}", {value}, {take}, budget)'
    one = received(form, name, "item", names)
    items = f'_plain("{name}", {value}, budget)'
    return items if one == "item" else f"[{one} for item in {items}]"
