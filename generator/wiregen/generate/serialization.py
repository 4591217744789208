"""The serializations of a protocol's package, with one interface for all protocols."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any, Final, Protocol, TypeAlias

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.objects import build
from wiregen.runtime.schema.protocol import Schema

__all__ = ["NATIVE", "ItemDecoder", "LoadedPackage", "Serialization", "StreamItem"]

NATIVE: Final = "native"
StreamItem: TypeAlias = "tuple[int, int, Any | DecodeError]"
"""Offset, size, and the frame, preamble or error at that place."""


class ItemDecoder(Protocol):
    """The interface that the stream decoders of all serializations share."""

    def items(self, chunk: bytes) -> Iterator[StreamItem]: ...

    def finish_items(self) -> Iterator[StreamItem]: ...

    def begin_inside(self) -> None: ...

    @property
    def pending(self) -> int: ...

    @property
    def needed(self) -> int: ...


class LoadedPackage:
    """A package that can be imported: `name` is the import name of its native module."""

    __slots__ = ()
    name: str

    @property
    def native(self) -> ModuleType:
        return importlib.import_module(self.name)

    @property
    def schema(self) -> Schema:
        schema: Schema = importlib.import_module(f"{self.name}._plan").PLAN
        return schema


class Serialization:
    """One serialization of a package, with the same interface for all protocols.

    Attributes:
        name: That of the backend.
    """

    __slots__ = ("_decoder", "_encode", "_encoding", "_native", "_package", "_schema", "name")

    def __init__(self, package: LoadedPackage, name: str, module: Any) -> None:
        self.name = name
        self._package = package
        self._schema: Schema | None = None  # loaded when it is needed
        self._native = package.native
        self._encode: Callable[..., bytes] = module.encode
        self._encoding = _options_of(module.encode)
        self._decoder: Callable[..., ItemDecoder] = module.Decoder

    @property
    def classes(self) -> Mapping[str, object]:
        """The names of the package's native module with their values, its classes among them."""
        return vars(self._native)

    def decoder(self, options: Options) -> ItemDecoder:
        """Return a decoder of a stream, which keeps the values of its frames that determine later ones."""
        limits = self._native.Limits(**options.limits) if options.limits else None
        wishes = {"context": options.context, "limits": limits, "strict": options.strict}
        wishes |= {"variant": options.variant}
        known = _options_of(self._decoder)
        chosen = {name: wish for name, wish in wishes.items() if name in known}
        return self._decoder(options.from_role, errors="yield", **chosen)

    def encode(self, frame: object, options: Options) -> bytes:
        """Return the bytes of a frame of the package.

        Raises:
            EncodeError: The protocol does not allow a value, or this serialization cannot carry it.
        """
        return self.encoder(options)(frame)

    def encoder(self, options: Options) -> Callable[[object], bytes]:
        """Return the function that encodes frames with these options, as `encode` does."""
        wishes = {"from_role": options.from_role, "context": options.context, "variant": options.variant}
        known = {name: wish for name, wish in wishes.items() if name in self._encoding}
        return partial(self._encode, **known)

    def write(self, value: object, options: Options) -> bytes:
        """Return the bytes of a frame that is given as a value of the reference codec.

        Raises:
            EncodeError: As for `encode`.
        """
        if self._schema is None:
            self._schema = self._package.schema
        return self.encode(build(self._schema, value, vars(self._native)), options)


def _options_of(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
