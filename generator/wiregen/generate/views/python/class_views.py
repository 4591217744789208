"""Classes of plain data, enums and unions as the Python templates print them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ClassView", "EnumView", "FieldView", "LazyView", "NumberView", "UnionView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberView:
    """A constant, limit or enum member: its name, its number and its documentation.

    Attributes:
        is_time: It counts milliseconds.
    """

    name: str
    wire_name: str
    value: str
    doc: str
    is_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumView:
    name: str
    doc: str
    table: str
    members: tuple[NumberView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """A field of a class; `signature` is its parameter, `keyword` the same if it can only be given by name.

    `argument`: the value that is stored for the parameter. `by_message`: its default, if that depends on the
    message. `has_list_apart`: the default is a list, which an argument of None does not mean.
    """

    name: str
    annotation: str
    signature: str
    keyword: str
    argument: str
    by_message: str
    is_required: bool
    is_required_late: bool
    has_uuid: bool
    makes_uuid: bool
    has_list_apart: bool
    doc: str
    is_secret: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyView:
    """A property that reads a field as another type."""

    name: str
    field: str
    form: str
    annotation: str
    path: str
    rule: str | None
    pair: str
    """For a dict, the arguments that name the attributes of a pair."""
    absent: str
    """For a dict that may be absent, its value then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """A class of plain data.

    `qualified`: its name from the top of the module. `extras`: its attributes that are not fields.
    """

    name: str
    qualified: str
    wire_name: str
    """The name of the declaration, of an alternative after that of its union: several unions may have one of that name."""
    doc: str
    slots: tuple[str, ...]
    """The attributes, sorted; `arguments` are the same in the order of the file."""
    arguments: tuple[str, ...]
    fields: tuple[FieldView, ...]
    extras: tuple[tuple[str, str, str, str], ...]
    """Name, type, initial value and documentation."""
    code: int | None
    """The code of an alternative that has exactly one."""
    has_codes: bool
    """Whether it is an alternative with several codes, whose first parameter by name is `code`."""
    views: tuple[LazyView, ...]
    layout: str
    """The layout on the wire in one line, or ""."""

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields if field.is_secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionView:
    name: str
    wire_name: str
    alias: str
    doc: str
    varieties: tuple[ClassView, ...]
