"""Docstrings, annotations and defaults of generated Python, as plain text for the templates to place."""

from __future__ import annotations

from collections.abc import Mapping

from wiregen import model as m
from wiregen.naming import Scope, python_name


def declaration_doc(doc: str, notes: m.Notes, sources: tuple[str, ...] = (), *, extra: str = "") -> str:
    """Return the text of a docstring: what the file says, then where it stands and what was decided."""
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


def annotation(type_: m.Type, enums: Mapping[str, m.Enum]) -> str:
    """Return the Python type of a field's value."""
    match type_:
        case m.Float():
            return "float"
        case m.Boolean() | m.Bits(is_flag=True):
            return "bool"
        case m.Uuid():
            return "UUID"
        case m.Bytes():
            return "bytes"
        case m.Text():
            return "str"
        case m.List():
            return f"list[{annotation(type_.item, enums)}]"
        case m.Region():
            return annotation(type_.content, enums)
        case m.Reference(target="enum", name=name):
            return "int" if enums[name].is_open else class_name(name)
        case m.Reference(target="coding"):
            return "int | None"
        case m.Reference(name=name):
            return class_name(name)
        case m.Integer() | m.Bits() | m.Varint():
            return "int"
        case m.MessageMatch() | m.Match() | m.Block():
            return "Any"


def default_text(field: m.Field, enums: Mapping[str, m.Enum]) -> str | None:
    """Return the default of a field as Python, or None where it must be given."""
    if not isinstance(field.value, m.Default | m.Trailing):
        return None
    match field.value.value:
        case m.MemberReference(enum=enum, member=member):
            return f"{class_name(enum)}.{python_name(member, Scope.ENUM_MEMBER)}"
        case m.Number(value=value) | m.ConstantReference(value=value) | m.Truth(value=value):
            return repr(value)
        case m.String(value=text):
            return ascii(text)
        case m.Octets(hex=text) if isinstance(field.type, m.Uuid):
            return f'UUID("{text}")'
        case m.Octets(hex=text):
            return repr(bytes.fromhex(text))
        case m.Negation(operator="-", operand=m.Number(value=value)):
            return repr(-value)
        case _:
            return None


def class_name(name: str) -> str:
    """Return the name of a declaration's class."""
    return python_name(name, Scope.MODULE, granted=("Frame",))
