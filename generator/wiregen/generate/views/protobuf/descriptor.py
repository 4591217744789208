"""A protobuf file as the bytes of a FileDescriptorProto.

It is encoded here, field by field, so that builds do not need protobuf and always give the same bytes.
Source: google/protobuf/descriptor.proto.
"""

from __future__ import annotations

from collections.abc import Iterable

from wiregen.generate.views.protobuf.schema import ProtoEnum, ProtoField, ProtoFile, ProtoMessage, ProtoOption

__all__ = ["descriptor_pieces"]

_TYPES = {
    "double": 1, "float": 2, "uint64": 4, "int32": 5, "bool": 8, "string": 9, "bytes": 12, "uint32": 13, "sint32": 17,
    "sint64": 18, "int64": 3,
}  # fmt: skip
_MESSAGE, _ENUM = 11, 14
_OPTIONAL, _REPEATED = 1, 3


def descriptor_pieces(file: ProtoFile) -> tuple[tuple[str, bytes], ...]:
    """Return the descriptor in pieces, each with the name that it describes; concatenated they are the whole."""
    head = _text(1, file.name) + _text(2, file.package)
    return (
        (file.package, head),
        *((message.name, _inner(4, _message(message))) for message in file.messages),
        *((enum.name, _inner(5, _enum(enum))) for enum in file.enums),
        *((("options", _inner(8, _options(file.options))),) if file.options else ()),
        ("syntax", _text(12, "proto3")),
    )


def _options(options: tuple[ProtoOption, ...]) -> bytes:
    ordered = sorted(options, key=lambda each: each.number)
    return b"".join(
        _text(each.number, each.value) if isinstance(each.value, str) else _number(each.number, each.value)
        for each in ordered
    )


def _message(message: ProtoMessage) -> bytes:
    optional = [each for each in message.fields if each.label == "optional"]
    oneofs = [message.oneof] if message.oneof else []
    synthetic = {each.name: len(oneofs) + index for index, each in enumerate(optional)}
    return b"".join(
        (
            _text(1, message.name),
            *(_inner(2, _field(each, synthetic)) for each in message.fields),
            *(_inner(3, _message(each)) for each in message.nested),
            *(_inner(8, _text(1, name)) for name in (*oneofs, *(f"_{each.name}" for each in optional))),
            *(_inner(9, _number(1, each) + _number(2, each + 1)) for each in message.reserved),
        )
    )


def _field(field: ProtoField, synthetic: dict[str, int]) -> bytes:
    is_named = field.type.startswith(".")
    kind = (_ENUM if field.is_enum else _MESSAGE) if is_named else _TYPES[field.type]
    parts = [
        _text(1, field.name),
        _number(3, field.number),
        _number(4, _REPEATED if field.label == "repeated" else _OPTIONAL),
        _number(5, kind),
    ]
    if is_named:
        parts.append(_text(6, field.type))
    if field.oneof:
        parts.append(_number(9, 0))
    if field.name in synthetic:
        parts += [_number(9, synthetic[field.name]), _number(17, 1)]
    return b"".join(parts)


def _enum(enum: ProtoEnum) -> bytes:
    members = (_text(1, member.name) + _number(2, member.number) for member in enum.members)
    alias = _inner(3, _number(2, 1)) if enum.has_alias else b""
    return _text(1, enum.name) + _joined(2, members) + alias


def _joined(number: int, parts: Iterable[bytes]) -> bytes:
    return b"".join(_inner(number, part) for part in parts)


def _text(number: int, text: str) -> bytes:
    return _inner(number, text.encode())


def _inner(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value % 2**64)


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes((*parts, number))
