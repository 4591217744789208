"""The decoders of a generated package, under one signature whatever options its protocol has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Protocol, TypeAlias

from wirespark.options import Wishes
from wirespark.packages import Package
from wirespark.untyped import Made

__all__ = ["Context", "Item", "Snapshot", "StreamDecoder", "context_of", "decoder_of", "has_context"]

Item: TypeAlias = tuple[int, int, Made]
"""Offset, size, and the frame, preamble or error there."""
Snapshot: TypeAlias = dict[str, object]


class Context(Protocol):
    """The common interface of all generated contexts."""

    def snapshot(self) -> Snapshot: ...

    def restore(self, snapshot: Snapshot) -> None: ...

    def apply(self, frame: object, role: str | None) -> None: ...

    def damage(self, role: str | None) -> None: ...

    def unfinished(self, role: str | None) -> Made: ...


class StreamDecoder(Protocol):
    """The common interface of all generated stream decoders."""

    @property
    def needed(self) -> int: ...

    @property
    def pending(self) -> int: ...

    def begin_inside(self) -> None: ...

    def items(self, chunk: bytes | memoryview) -> Iterator[Item]: ...

    def finish_items(self) -> Iterator[Item]: ...


def has_context(package: Package) -> bool:
    """Return whether one frame can change how later ones are read."""
    return bool(package.schema.contexts or package.schema.joins)


def context_of(wishes: Wishes, snapshot: Snapshot | None = None) -> Context | None:
    """Return the context of one connection as of the snapshot, or None if the protocol has no context."""
    package = wishes.package
    if not has_context(package):
        return None
    context: Context = package.native.Context(limits=_limits(package, wishes.limits))
    if snapshot is not None:
        context.restore(snapshot)
    return context


def decoder_of(
    wishes: Wishes, role: str | None, context: Context | None, *, is_strict: bool = False
) -> StreamDecoder:
    """Return a decoder of the stream of a role; it yields errors as items."""
    package = wishes.package
    given = {
        "context": context,
        "limits": _limits(package, wishes.limits),
        "strict": wishes.strict or is_strict,
        "variant": wishes.variant,
    }
    known = _parameters(wishes.codec.Decoder)
    decoder: StreamDecoder = wishes.codec.Decoder(
        role, errors="yield", **{name: value for name, value in given.items() if name in known}
    )
    return decoder


def _limits(package: Package, limits: Mapping[str, int]) -> object:
    return package.native.Limits(**limits) if limits else None


@cache
def _parameters(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
