"""Docstrings, annotations and defaults of generated Python, as plain text for the templates to place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from wiregen.language.spelling import expression_text, type_text
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.shapes import blocks, content
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.declared import index_of
from wiregen.schema.naming import Namespace, python_name
from wiregen.schema.walk import attributes

_OWN_TYPES = frozenset(
    "_Bad _Buffer _Context _Decoder _Frame _IntEnum _Item _Message _ReadState _Role _Struct _Variant _WriteState".split()
)
"""Names of the types that a generated module defines for its own use."""


def declaration_doc(doc: str, notes: m.Notes, sources: tuple[str, ...] = (), *, extra: str = "") -> str:
    """Return the text of a docstring: the documentation of the file, then its sources and decisions."""
    lines = [doc.strip(), extra]
    lines += [f"Source: {source}." for source in sources]
    lines += [f"Source: {', '.join(source)}." for source in notes.sources]
    lines += [f"Since version {notes.since}."] if notes.since else []
    lines += [f"Deprecated: {notes.deprecated}."] if notes.deprecated else []
    lines += [f"Assumed: {notes.assumed}."] if notes.assumed is not None else []
    lines += [f"Errata: {notes.errata}."] if notes.errata is not None else []
    return "\n\n".join(line for line in lines if line)


def summary(doc: str) -> str:
    """Return a text in one line."""
    return " ".join(doc.split())


def layout_text(fields: tuple[m.Field, ...]) -> str:
    """Return the fields of a declaration in wire order as `name type, …`, in the notation of a file; "" without fields."""
    return ", ".join(_layout_field(field) for field in fields)


def _layout_field(field: m.Field) -> str:
    name = "" if field.name == "_" else f"{field.name} "
    match field.value:
        case m.Constant(value=value):
            after = f" == {expression_text(value)}"
        case value:
            after = "?" if isinstance(value, m.Trailing) or field.condition is not None else ""
    return f"{name}{type_text(field.type)}{after}"


@dataclass(frozen=True, slots=True)
class PythonType:
    """The Python type of a value; `has_none`: None is one of its values."""

    text: str
    has_none: bool = False

    def or_none(self, may_be_none: bool = True) -> PythonType:
        """Return the type of a value that may also be None."""
        return self if self.has_none or not may_be_none else PythonType(f"{self.text} | None", has_none=True)


ANY: Final = PythonType("Any", has_none=True)


def annotation(
    type_: m.Type, protocol: m.Protocol, nulls: frozenset[str] = frozenset(), *, is_elsewhere: bool = False
) -> PythonType:
    """Return the Python type of a field's value.

    Args:
        nulls: The fields next to it that may be null, and with them the values that they count.
        is_elsewhere: It stands in another module, which does not import the names for several classes.
    """
    match type_:
        case m.Float():
            return PythonType("float")
        case m.Boolean() | m.Bits(is_flag=True):
            return PythonType("bool")
        case m.Uuid():
            return PythonType("UUID")
        case m.Bytes(length=length):
            return PythonType("bytes").or_none(_is_null(length, protocol, nulls))
        case m.Text(length=length):
            return PythonType("str").or_none(_is_null(length, protocol, nulls))
        case m.List(length=length):
            item = annotation(type_.item, protocol, nulls, is_elsewhere=is_elsewhere)
            return PythonType(f"list[{item.text}]").or_none(_is_null(length, protocol, nulls))
        case m.Region(content=content, carrier=carrier):
            inner = annotation(content, protocol, nulls, is_elsewhere=is_elsewhere)
            return inner.or_none(
                not isinstance(carrier, m.InSize) and _is_null(carrier.length, protocol, nulls)
            )
        case m.EnumReference(name=name):
            return PythonType("int" if index_of(protocol).enums[name].is_open else class_name(name))
        case m.CodingReference():
            return PythonType("int").or_none(has_null(type_, protocol))
        case m.UnionReference(name=name):
            return ANY if is_elsewhere else PythonType(union_alias(name))
        case _ if isinstance(type_, m.RecordReference):
            return PythonType(class_name(type_.name))
        case m.Integer() | m.Bits() | m.Varint():
            return PythonType("int")
        case m.MessageMatch():
            return ANY if is_elsewhere else PythonType("_Message")
        case m.Match() | m.Block():
            return ANY


def has_null(type_: m.Type, protocol: m.Protocol) -> bool:
    """Return whether a coding has a form for null."""
    if not isinstance(type_, m.CodingReference):
        return False
    coding = index_of(protocol).codings[type_.name]
    return any(width.is_null for width in coding.widths)


def null_names(fields: Iterable[m.Field], protocol: m.Protocol) -> frozenset[str]:
    """Return the names of the fields that are numbers of a coding with null."""
    return frozenset(field.name for field in fields if has_null(field.type, protocol))


def _is_null(length: m.Length | None, protocol: m.Protocol, nulls: frozenset[str]) -> bool:
    match length:
        case m.Prefix(type=type_):
            return has_null(type_, protocol)
        case m.Computed(value=m.FieldReference(path=(name,))):
            return name in nulls
        case _:
            return False


def union_alias(name: str) -> str:
    """Return the name of a union's type in annotations."""
    return f"_{class_name(name)}_" if f"_{name}" in _OWN_TYPES else f"_{class_name(name)}"


def flat(fields: tuple[m.Field, ...]) -> tuple[m.Field, ...]:
    """Return the fields with a value of their own, those of blocks included, also `_` and derived ones."""
    return tuple(each.field for each in attributes(fields))


def block_fields(type_: m.Type) -> tuple[m.Field, ...]:
    """Return the fields that a type adds to its declaration: those of blocks."""
    return flat(tuple(field for block in blocks(type_) for field in block))


def is_shown(field: m.Field) -> bool:
    """Return whether a field is an attribute: not derived, not constant, not without meaning."""
    return not field.is_hidden


def default_value(field: m.Field) -> m.Expression | None:
    """Return the default of a field, or None if it has none."""
    return field.value.value if isinstance(field.value, m.Default | m.Trailing) else None


def default_text(field: m.Field, enums: Mapping[str, m.Enum]) -> str | None:
    """Return the default of a field as Python, or None if it must be given."""
    value = default_value(field)
    return None if value is None else constant_text(value, field.type, enums)


def makes_uuid(field: m.Field) -> bool:
    """Return whether a default of a field is a uuid, or has one."""
    others = field.value.others if isinstance(field.value, m.Default) else ()
    values = (default_value(field), *(each.value for each in others))
    is_written = any(isinstance(node, m.Octets) for each in values if each for node in nodes_in(each))
    return is_written and has_uuid(field)


def has_uuid(field: m.Field) -> bool:
    """Return whether the values of a field are uuids, or have them."""
    return any(isinstance(node, m.Uuid) for node in nodes_in(field.type))


def default_by_message(field: m.Field, enums: Mapping[str, m.Enum]) -> str:
    """Return the expression of a frame field's default by its `message`; "" if it is the same for all."""
    default = default_text(field, enums)
    if default is None or not isinstance(field.value, m.Default) or not field.value.others:
        return ""
    others = [
        f"{constant_text(each.value, field.type, enums)} if _is_a(message, {class_name(each.message)}) else "
        for each in field.value.others
    ]
    return f"{''.join(others)}{default}"


def default_with(field: m.Field, message: str) -> m.Field:
    """Return a frame's field with the default that it has for this message."""
    if not isinstance(field.value, m.Default):
        return field
    own = next((each.value for each in field.value.others if each.message == message), field.value.value)
    return replace(field, value=m.Default(value=own))


def constant_text(value: m.Expression, type_: m.Type, enums: Mapping[str, m.Enum]) -> str | None:
    """Return a constant of a type as Python, or None if it has no short form in Python."""
    match value:
        case m.MemberReference(enum=enum, member=member):
            return f"{class_name(enum)}.{python_name(member, Namespace.ENUM_MEMBER)}"
        case m.Number(value=number) | m.Truth(value=number):
            return repr(number)
        case m.String(value=text):
            return ascii(text)
        case m.Null():
            return "None"
        case m.ListOf(items=items):
            list_ = content(type_)
            item_type = list_.item if isinstance(list_, m.List) else type_
            texts = [constant_text(item, item_type, enums) for item in items]
            return None if None in texts else f"[{', '.join(filter(None, texts))}]"
        case m.Octets(hex=text) if isinstance(content(type_), m.Uuid):
            return f'UUID("{text}")'
        case m.Octets(hex=text):
            return repr(bytes.fromhex(text))
        case _:
            return None


def class_name(name: str) -> str:
    """Return the name of a declaration's class."""
    return python_name(name, Namespace.MODULE, granted=("Frame",))


def encoding_text(type_: m.Text) -> tuple[str, str]:
    """Return the arguments of `encode` for nearly all text, and those of the exact function for the rest."""
    arguments = f'"{type_.encoding}"' + (", lenient=True" if type_.is_lenient else "")
    arguments += f', endian="{type_.endian}"' if type_.endian != "big" else ""
    match type_.encoding:
        case "utf8":
            return "", arguments
        case "ascii" | "latin1":
            return f'"{type_.encoding}"', arguments
        case "mutf8":
            return "mutf8", arguments
        case "utf16":
            return "exact", arguments


def argument_text(text: str) -> str:
    """Return an expression as an argument: without parentheses around all of it."""
    inner = text[1:-1]
    depth = 0
    for character in inner:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return text
    return inner if text.startswith("(") and text.endswith(")") else text
