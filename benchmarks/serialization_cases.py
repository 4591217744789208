"""The four messages in every serialization, and the raw libraries with the same values and without any check.

protobuf alone has a schema written by hand, and reads every field out; msgspec and msgpack-python go from and to plain lists.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import cases
import msgpack as python_msgpack
from msgspec.msgpack import Decoder as Unpacker
from msgspec.msgpack import Encoder as Packer

from wireproto import reactive_streams as rs

__all__ = ["SerialCase", "serial_cases"]

NATIVE, PROTOBUF, MSGPACK = "native", "protobuf", "msgpack"
RAW_PROTOBUF, RAW_MSGSPEC, RAW_MSGPACK = "protobuf runtime alone", "msgspec alone", "msgpack-python alone"

Calls: TypeAlias = dict[str, Callable[[], Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialCase:
    """A message; the first call of each kind is the base of comparison."""

    name: str
    decode: Calls
    encode: Calls

    def assert_same(self) -> None:
        """Hold the serializations to the same message, and the libraries of msgpack to the same bytes."""
        assert self.decode[NATIVE]() == self.decode[PROTOBUF]() == self.decode[MSGPACK]()
        packed = self.encode[MSGPACK]()
        assert packed == self.encode[RAW_MSGSPEC]() == self.encode[RAW_MSGPACK]()
        assert self.decode[RAW_MSGSPEC]() == self.decode[RAW_MSGPACK]()
        assert self.decode[RAW_PROTOBUF]() is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """The arguments of a protocol's decoders and encoders in a case."""

    protocol: str
    reading: dict[str, Any]
    writing: dict[str, Any]


def serial_cases() -> tuple[SerialCase, ...]:
    return tuple(
        _serial_case(case, way)
        for case, way in zip(
            cases.cases(), (_plain("pravega"), _plain("lumberjack"), _on_next(), _put()), strict=True
        )
    )


def _plain(protocol: str) -> _Way:
    return _Way(protocol=protocol, reading={}, writing={})


def _on_next() -> _Way:
    context = rs.Context()
    context.apply(rs.Message(rs.Subscribed(7, 0)), "server")
    arguments = {"from_role": "server", "context": context}
    return _Way(protocol="reactive_streams", reading=arguments, writing=arguments)


def _put() -> _Way:
    return _Way(protocol="geode", reading={"from_role": "client"}, writing={"correlation_id": 1})


def _serial_case(case: cases.Case, way: _Way) -> SerialCase:
    message = case.decode[cases.GENERATED]()
    decode: Calls = {NATIVE: case.decode[cases.GENERATED]}
    encode: Calls = {NATIVE: case.encode[cases.GENERATED]}
    for name in (PROTOBUF, MSGPACK):
        module = importlib.import_module(f"wireproto.{way.protocol}.{name}")
        data = module.encode(message, **way.writing)
        decode[name] = lambda module=module, data=data: module.decode_message(data, **way.reading)
        encode[name] = lambda module=module: module.encode(message, **way.writing)
    packed, packer, unpacker = encode[MSGPACK](), Packer(), Unpacker()
    row = unpacker.decode(packed)
    decode |= {
        RAW_PROTOBUF: case.decode[cases.PROTOBUF],
        RAW_MSGSPEC: lambda: unpacker.decode(packed),
        RAW_MSGPACK: lambda: python_msgpack.unpackb(packed),
    }
    encode |= {
        RAW_PROTOBUF: case.encode[cases.PROTOBUF],
        RAW_MSGSPEC: lambda: packer.encode(row),
        RAW_MSGPACK: lambda: python_msgpack.packb(row),
    }
    return SerialCase(name=case.name, decode=decode, encode=encode)
