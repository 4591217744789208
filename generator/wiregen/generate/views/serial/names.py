"""Python text that all serializations share: names, expressions for plain forms, annotations."""

from __future__ import annotations

from typing import assert_never

from wiregen.generate.views.python.names import attribute, local_name
from wiregen.generate.views.python.shared import variety_class
from wiregen.generate.views.python.text import class_name
from wiregen.schema.naming import Stems, constant_case, snake_case
from wiregen.schema.value_shapes import (
    CarriedField,
    Form,
    FrameRecord,
    Member,
    Number,
    Octets,
    Raw,
    Record,
    String,
    Uuid,
)
from wiregen.schema.value_shapes.shapes import AnyOf, Choice, Compound, Flag, Many, Nullable, One, Plain, Real

__all__ = [
    "SerialNames", "attribute_of", "class_of", "is_instance", "sent", "taker",
]  # fmt: skip


def attribute_of(owner: Record | FrameRecord, field: CarriedField) -> str:
    """Return the attribute that holds a field."""
    return local_name(field.name) if isinstance(owner, FrameRecord) else attribute(field.name)


def class_of(owner: Record | FrameRecord) -> str:
    """Return the class of a record, from the top of the package."""
    if isinstance(owner, Record) and owner.union is not None:
        return variety_class(owner.union, owner.name)
    return class_name(owner.name)


_STEMS = frozenset(("oneof", "uuid"))
"""The stems of functions that the runtime has: `_put_oneof`, `_take_uuid`."""

_CONSTANTS = frozenset("_CODEC _DEFAULTS _DESCRIPTOR _FORMAT _FRAMES _PLAN _POOL _ROLES".split())
"""Names that the modules always have."""


class SerialNames:
    """The names of one module's functions and tables."""

    def __init__(self) -> None:
        self._stems = Stems(_STEMS)
        self._constants = Stems(_CONSTANTS)

    def function(self, *names: str) -> str:
        """Return the stem of the functions of a declaration, or of a part of one."""
        return self._stems.own("_".join(snake_case(name) for name in names), *names)

    def inner(self, stem: str, *names: str) -> str:
        """Return the stem of the functions of a part without a declaration, inside a declaration."""
        wanted = "_".join((stem, *(snake_case(name) for name in names)))
        return self._stems.own(wanted, "inner", stem, *names)

    def members(self, enum: str) -> str:
        """Return the name of the table from numbers to members."""
        wanted = constant_case(enum)
        own = f"_THE_{wanted}" if wanted.startswith(("PUT_", "TAKE_")) else f"_{wanted}"  # tables begin so
        return self._constants.own(own, enum)

    def raw_union(self, union: str) -> str:
        """Return the name of the object that writes and reads a union's encoded bytes."""
        return self._constants.own(f"_RAW_{constant_case(union)}", union)

    def table(self, verb: str, name: str) -> str:
        """Return the name of the table of a union or frame."""
        return self._constants.own(f"_{verb}_{constant_case(name)}", name)


def sent(form: Form, value: str, names: SerialNames) -> str:
    """Return a plain value in the form that a library takes."""
    match form:
        case String(is_lenient=True):
            return f'str.encode({value}, "utf-8", "surrogateescape")'
        case Uuid():
            return f"{value}.bytes"
        case Raw(union=union):
            return f"{names.raw_union(union)}.put({value})"
        case _ if isinstance(form, Plain | Compound):
            return value
        case _:
            assert_never(form)


def taker(form: Form, names: SerialNames) -> str | None:
    """Return the function that makes a plain value that may be invalid, or None if all values are valid."""
    match form:
        case Uuid():
            return "_take_uuid"
        case Raw(union=union):
            return f"{names.raw_union(union)}.take"
        case _ if isinstance(form, Plain | Compound):
            return None
        case _:
            assert_never(form)


def is_instance(form: Form, value: str, choices: tuple[Choice, ...], varieties: dict[str, str]) -> str:
    """Return the test that a value is of a form; `varieties` are the classes of each union."""
    match form:
        case Flag():
            return f"isinstance({value}, bool)"
        case Number():
            return _is_number(form, value)
        case Member(number=number):
            return _is_number(number, value)
        case Real():
            return f"isinstance({value}, float)"
        case Uuid():
            return f"isinstance({value}, UUID)"
        case Octets():
            return f"isinstance({value}, bytes)"
        case String():
            return f"isinstance({value}, str)"
        case Raw(union=union) | One(kind="union", name=union):
            return f"isinstance({value}, {varieties[union]})"
        case One(name=name):
            return f"isinstance({value}, {class_name(name)})"
        case Many(item=item):
            inner = is_instance(item, "item", choices, varieties)
            return f"isinstance({value}, list) and all({inner} for item in {value})"
        case Nullable(value=inner_form):
            return f"({value} is None or {is_instance(inner_form, value, choices, varieties)})"
        case AnyOf(name=name):
            chosen = next(choice for choice in choices if choice.name == name)
            tests = (is_instance(each, value, choices, varieties) for each in chosen.forms)
            return f"({' or '.join(tests)})"


def _is_number(number: Number, value: str) -> str:
    bits = 64 if number.is_wide else 32
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if number.is_signed else (0, (1 << bits) - 1)
    return f"type({value}) is not bool and isinstance({value}, int) and {low} <= {value} <= {high}"
