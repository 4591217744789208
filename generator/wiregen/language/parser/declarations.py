"""Rules of the grammar to the protocol, its settings and declarations of data."""

from typing import cast

from wiregen.language import syntax

from .expressions import code_of, expressions, ranges_of, references
from .layout import fields_of
from .parts import Parts


def protocol(parts: Parts) -> syntax.Protocol:
    settings = tuple(child for child in parts.children if isinstance(child, _SETTINGS))
    return syntax.Protocol(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        annotations=parts.all(syntax.Annotation),
        settings=settings,
        span=parts.span,
    )


_SETTINGS = (
    syntax.SourceSetting,
    syntax.EndianSetting,
    syntax.BitsSetting,
    syntax.RolesSetting,
    syntax.PortSetting,
    syntax.ErrorSetting,
    syntax.Reserved,
)


def source_setting(parts: Parts) -> syntax.SourceSetting:
    return syntax.SourceSetting(text=parts.one(syntax.String), span=parts.span)


def endian_setting(parts: Parts) -> syntax.EndianSetting:
    return syntax.EndianSetting(order=parts.one(syntax.Name), span=parts.span)


def bits_setting(parts: Parts) -> syntax.BitsSetting:
    return syntax.BitsSetting(order=parts.one(syntax.Name), span=parts.span)


def roles_setting(parts: Parts) -> syntax.RolesSetting:
    annotations = parts.all(syntax.Annotation)
    return syntax.RolesSetting(names=parts.names(), annotations=annotations, span=parts.span)


def port_setting(parts: Parts) -> syntax.PortSetting:
    return syntax.PortSetting(
        transport=parts.one(syntax.Name), number=parts.one(syntax.Integer), span=parts.span
    )


def error_setting(parts: Parts) -> syntax.ErrorSetting:
    return syntax.ErrorSetting(action=parts.one(syntax.Name), span=parts.span)


def reserved(parts: Parts) -> syntax.Reserved:
    return syntax.Reserved(
        docs=parts.docs,
        ranges=ranges_of(parts),
        reason=parts.maybe(syntax.String),
        span=parts.span,
    )


def import_(parts: Parts) -> syntax.Import:
    return syntax.Import(
        docs=parts.docs, protocol=parts.one(syntax.Name), names=parts.names(), span=parts.span
    )


def const(parts: Parts) -> syntax.Const:
    name, value = expressions(parts)
    return syntax.Const(
        docs=parts.docs,
        name=cast(syntax.Name, name),
        value=value,
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def limits(parts: Parts) -> syntax.Limits:
    return syntax.Limits(
        docs=parts.docs,
        limits=parts.all(syntax.Limit),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def limit(parts: Parts) -> syntax.Limit:
    return syntax.Limit(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        value=parts.maybe(syntax.Integer) or parts.one(syntax.Quantity),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def alias(parts: Parts) -> syntax.Alias:
    return syntax.Alias(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        shape=parts.one(syntax.Shape),
        where=parts.expression("where"),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def enum(parts: Parts) -> syntax.Enum:
    name, type_ = parts.all(syntax.Name)
    members = tuple(child for child in parts.children if isinstance(child, syntax.Member | syntax.Reserved))
    return syntax.Enum(
        docs=parts.docs,
        open=parts.place("OPEN"),
        name=name,
        type=type_,
        members=members,
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def member(parts: Parts) -> syntax.Member:
    code = code_of(parts)
    assert code is not None
    return syntax.Member(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        code=code,
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def struct(parts: Parts) -> syntax.Struct:
    return syntax.Struct(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        fields=fields_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def frame(parts: Parts) -> syntax.Frame:
    return syntax.Frame(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        role=role_of(parts),
        fields=fields_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def message(parts: Parts) -> syntax.Message:
    return syntax.Message(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        code=code_of(parts),
        role=role_of(parts),
        fields=fields_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def preamble(parts: Parts) -> syntax.Preamble:
    (role,) = parts.names("from")
    return syntax.Preamble(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        role=role,
        fields=fields_of(parts),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def role_of(parts: Parts) -> syntax.Name | None:
    return next(iter(parts.names("from")), None)


def union(parts: Parts) -> syntax.Union:
    name, type_ = parts.all(syntax.Name)
    return syntax.Union(
        docs=parts.docs,
        name=name,
        type=type_,
        varieties=parts.all(syntax.Variety),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def variety(parts: Parts) -> syntax.Variety:
    return syntax.Variety(
        docs=parts.docs,
        name=parts.one(syntax.Name),
        codes=ranges_of(parts),
        body=parts.maybe(syntax.Shape) or parts.maybe(syntax.Block),
        where=parts.expression("where"),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def coding(parts: Parts) -> syntax.Coding:
    name, type_ = parts.all(syntax.Name)
    return syntax.Coding(
        docs=parts.docs,
        name=name,
        type=type_,
        widths=parts.all(syntax.Width),
        annotations=parts.all(syntax.Annotation),
        span=parts.span,
    )


def width(parts: Parts) -> syntax.Width:
    target = next(iter(references(parts)), None) or parts.maybe(syntax.Null)
    return syntax.Width(codes=parts.one(syntax.CodeRange), target=target, span=parts.span)


RULES = {
    "protocol": protocol,
    "source_setting": source_setting,
    "endian_setting": endian_setting,
    "bits_setting": bits_setting,
    "roles_setting": roles_setting,
    "port_setting": port_setting,
    "error_setting": error_setting,
    "reserved_setting": reserved,
    "reserved": reserved,
    "import_": import_,
    "const": const,
    "limits": limits,
    "limit": limit,
    "alias": alias,
    "enum": enum,
    "member": member,
    "struct": struct,
    "frame": frame,
    "message": message,
    "preamble": preamble,
    "union": union,
    "variety": variety,
    "coding": coding,
    "width": width,
}
