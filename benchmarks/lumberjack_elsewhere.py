"""Lumberjack's Data and Window in the tools that one would otherwise take: construct, and protobuf for the same values."""

from __future__ import annotations

from typing import Any

import construct as c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PAIR = c.Struct("key" / c.PascalString(c.Int32ub, "utf8"), "value" / c.PascalString(c.Int32ub, "utf8"))
FRAME = c.Struct(
    "version" / c.Int8ub,
    "type" / c.Int8ub,
    "body"
    / c.Switch(
        c.this.type,
        {
            0x44: c.Struct("sequence" / c.Int32ub, "pairs" / c.PrefixedArray(c.Int32ub, _PAIR)),
            0x57: c.Struct("size" / c.Int32ub),
        },
    ),
)
COMPILED = FRAME.compile()


def protobuf_frame() -> type[Any]:
    """Return a message class with a oneof of Data and Window, on protobuf's C runtime."""
    file = descriptor_pb2.FileDescriptorProto(name="bench.proto", package="bench", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    _message(file, "Pair", [("key", 1, kinds.TYPE_STRING, ""), ("value", 2, kinds.TYPE_STRING, "")])
    _message(
        file, "Data", [("sequence", 1, kinds.TYPE_FIXED32, ""), ("pairs", 2, kinds.TYPE_MESSAGE, "*Pair")]
    )
    _message(file, "Window", [("size", 1, kinds.TYPE_UINT32, "")])
    fields = [("version", 1, kinds.TYPE_UINT32, ""), ("data", 2, kinds.TYPE_MESSAGE, "Data")]
    _message(file, "Frame", [*fields, ("window", 3, kinds.TYPE_MESSAGE, "Window")], oneof={"data", "window"})
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.Frame"))


def _message(
    file: descriptor_pb2.FileDescriptorProto,
    name: str,
    fields: list[tuple[str, int, Any, str]],
    oneof: frozenset[str] | set[str] = frozenset(),
) -> None:
    message = file.message_type.add(name=name)
    if oneof:
        message.oneof_decl.add(name="body")
    for field_name, number, kind, target in fields:
        field = message.field.add(name=field_name, number=number, type=kind)
        field.label = field.LABEL_REPEATED if target.startswith("*") else field.LABEL_OPTIONAL
        if target:
            field.type_name = f".bench.{target.removeprefix('*')}"
        if field_name in oneof:
            field.oneof_index = 0
