"""Docstrings, annotations and defaults of generated Python, as plain text for the templates to place."""

from __future__ import annotations

from collections.abc import Mapping

from wiregen import model as m
from wiregen.naming import Scope, python_name

_OWN_TYPES = frozenset(
    "_Bad _Buffer _Context _Decoder _Frame _IntEnum _Item _Message _ReadState _Role _Struct _Variant _WriteState".split()
)
"""Names of types that a generated module has for itself."""


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


def annotation(type_: m.Type, protocol: m.Protocol) -> str:
    """Return the Python type of a field's value."""
    match type_:
        case m.Float():
            return "float"
        case m.Boolean() | m.Bits(is_flag=True):
            return "bool"
        case m.Uuid():
            return "UUID"
        case m.Bytes(length=length):
            return _nullable("bytes", length, protocol)
        case m.Text(length=length):
            return _nullable("str", length, protocol)
        case m.List(length=length):
            return _nullable(f"list[{annotation(type_.item, protocol)}]", length, protocol)
        case m.Region():
            return annotation(type_.content, protocol)
        case m.Reference():
            return _declared(type_, protocol)
        case m.Integer() | m.Bits() | m.Varint():
            return "int"
        case m.MessageMatch():
            return "_Message"
        case m.Match() | m.Block():
            return "Any"


def _declared(type_: m.Reference, protocol: m.Protocol) -> str:
    match type_.target:
        case "enum":
            enum = next(each for each in protocol.enums if each.name == type_.name)
            return "int" if enum.is_open else class_name(type_.name)
        case "coding":
            return "int | None" if has_null(type_, protocol) else "int"
        case "union":
            return union_alias(type_.name)
        case _:
            return class_name(type_.name)


def has_null(type_: m.Type, protocol: m.Protocol) -> bool:
    """Tell whether a coding has a form for null."""
    if not isinstance(type_, m.Reference) or type_.target != "coding":
        return False
    coding = next(each for each in protocol.codings if each.name == type_.name)
    return any(width.is_null for width in coding.widths)


def _nullable(text: str, length: m.Length, protocol: m.Protocol) -> str:
    is_nullable = isinstance(length, m.Prefix) and has_null(length.type, protocol)
    return f"{text} | None" if is_nullable else text


def union_alias(name: str) -> str:
    """Return the name of a union's type in annotations."""
    return f"_{class_name(name)}_" if f"_{name}" in _OWN_TYPES else f"_{class_name(name)}"


def flat(fields: tuple[m.Field, ...]) -> tuple[m.Field, ...]:
    """Return the fields with those of blocks, wherever they stand, in their place."""
    return tuple(inner for field in fields for inner in (block_fields(field.type) or (field,)))


def block_fields(type_: m.Type) -> tuple[m.Field, ...]:
    """Return the fields that a type adds to its declaration: those of blocks."""
    match type_:
        case m.Block(fields=fields):
            return flat(fields)
        case m.Region(content=content):
            return block_fields(content)
        case m.Match(arms=arms):
            return tuple(field for arm in arms for field in block_fields(arm.type))
        case _:
            return ()


def is_shown(field: m.Field) -> bool:
    """Tell whether a field is an attribute: derived, constant and meaningless ones are not."""
    return field.name != "_" and not isinstance(field.value, m.Derived | m.Constant)


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
        case m.ListOf(items=()):
            return "[]"
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


def encoding_text(type_: m.Text) -> tuple[str, str]:
    """Return the arguments of `encode` that are right for nearly all text, and the exact road for the rest."""
    careful = f'"{type_.encoding}"' + (", lenient=True" if type_.lenient else "")
    careful += f', endian="{type_.endian}"' if type_.endian != "big" else ""
    match type_.encoding:
        case "utf8":
            return "", careful
        case "ascii" | "latin1":
            return f'"{type_.encoding}"', careful
        case "mutf8":
            return "mutf8", careful
        case "utf16":
            return "exact", careful


def argument_text(text: str) -> str:
    """Return an expression as an argument: without parentheses around the whole of it."""
    inner = text[1:-1]
    depth = 0
    for character in inner:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return text
    return inner if text.startswith("(") and text.endswith(")") else text
