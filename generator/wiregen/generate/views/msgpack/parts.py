"""The conversion of values to parts of msgpack arrays and back, as the templates print it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from wiregen.generate.views.serial.names import SerialNames, sent, taker
from wiregen.schema.value_shapes import Flag, Form, Member, Number, Octets, Raw, Real, String, Uuid
from wiregen.schema.value_shapes.shapes import Compound, Plain

__all__ = [
    "CodedView", "ConversionView", "FormView", "ItemView", "VarietiesView", "checked", "is_plain", "packed", "python_types",
    "unpacked",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """A field: its place in the array is a local variable, `name`.

    `check` is the condition under which it is refused because it is not `expected`.
    """

    name: str
    place: str
    pack: str
    check: str
    expected: str
    unpack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormView:
    """A form of a choice, by its number."""

    number: int
    test: str
    pack: str
    check: str
    expected: str
    unpack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionView:
    """The functions `_pack_STEM` and `_unpack_STEM`; those of a `wrapper` convert a value that has no class.

    `rule`: the rule that an unknown code violates. `has_tail`: a value may have trailing bytes, which are not
    carried. `may_lack_message`: the frame may come without a message; its code is then nil.
    """

    stem: str
    kind: Literal["record", "frame", "union", "choice", "wrapper"]
    class_name: str
    parts: tuple[ItemView, ...] = ()
    forms: tuple[FormView, ...] = ()
    trailing: tuple[str, ...] = ()
    table: str = ""
    rule: str | None = None
    has_tail: bool = False
    may_lack_message: bool = False

    @property
    def names(self) -> str:
        """The local variables of all parts, as the target of an assignment."""
        return ", ".join(part.name for part in self.parts) + ("," if len(self.parts) == 1 else "")

    @property
    def texts(self) -> Iterator[str]:
        for part in self.parts:
            yield from (part.pack, part.unpack)
        for form in self.forms:
            yield from (form.pack, form.unpack, form.test)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedView:
    """The messages of a frame: by class (code, stem), and by role and code (name, stem)."""

    name: str
    puts: tuple[tuple[str, str, str], ...]
    takes: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VarietiesView:
    """The alternatives of a union: by class (code, or None for several, and stem), and by code.

    A row has the lowest and highest code, name, stem, and whether there are several codes.
    """

    name: str
    puts: tuple[tuple[str, int | None, str], ...]
    rows: tuple[tuple[int, int, str, str, bool], ...]


def is_plain(form: Form) -> bool:
    """Return whether a form is one value of msgpack."""
    return isinstance(form, Number | Member | Flag | Real | String | Octets | Uuid | Raw)


def packed(form: Form, value: str, names: SerialNames) -> str:
    """Return the expression that converts a plain value to a value of msgpack."""
    match form:
        case Number() | Member():
            return f"_whole({value})"
        case Flag():
            return f"bool({value})"
        case Real():
            return _real(form, value)
        case _ if isinstance(form, Plain | Uuid | Raw | Compound):
            return sent(form, value, names)
        case _:
            assert_never(form)


def python_types(form: Form) -> tuple[str, ...]:
    """Return the types that are accepted for a plain form; () if the function that takes it checks them."""
    match form:
        case Number() | Member():
            return ("int",)
        case Flag():
            return ("bool",)
        case Real():
            return ("float", "int")
        case String(is_lenient=False):
            return ("str",)
        case Octets() | String():
            return ("bytes",)
        case _ if isinstance(form, Uuid | Raw | Compound):
            return ()
        case _:
            assert_never(form)


def checked(form: Form, value: str) -> tuple[str, str]:
    """Return the condition under which a plain value is refused, and the expected type in words."""
    types = python_types(form)
    if not types:
        return "", ""
    test = (
        f"type({value}) is not {types[0]}"
        if len(types) == 1
        else f"type({value}) not in ({', '.join(types)})"
    )
    words = {"int": "an integer", "bool": "a Boolean", "float": "a float", "str": "text", "bytes": "bytes"}
    return test, words[types[0]]


def unpacked(form: Form, place: str, value: str, names: SerialNames) -> str:
    """Return the expression that makes a plain value; `place` is used in errors."""
    take = taker(form, names)
    if take is not None:
        return f'_inside("{place}", {take}, {value}, budget)'
    match form:
        case Member(enum=enum):
            return f"{names.members(enum)}[{value}]"
        case String(is_lenient=True):
            return f'{value}.decode("utf-8", "surrogateescape")'
        case Real():
            return _real(form, value)
        case _ if isinstance(form, Plain | Uuid | Raw | Compound):
            return value
        case _:
            assert_never(form)


def _real(form: Real, value: str) -> str:
    """Return a float, which msgpack has in 64 bits, as the native codec carries it."""
    return f"_real({value})" if form.is_wide else f'_rounded("{form.format}", _real({value}))'
