"""The declarations of a protocol by name: one index, so that stages do not search the lists for each name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from wiregen.schema.model import (
    Coding,
    CodingReference,
    Enum,
    EnumReference,
    Field,
    Protocol,
    Struct,
    StructReference,
    Union,
    UnionReference,
)

__all__ = ["Index", "index_of", "kept"]

_Result = TypeVar("_Result")


def kept(work: Callable[[Protocol], _Result]) -> Callable[[Protocol], _Result]:
    """Return `work` with a cache of one entry: the result for the protocol of the last call.

    Protocols are compared by identity. They never change, and comparing their contents costs as much as most
    of the work.
    """
    last: tuple[Protocol, _Result] | None = None

    def result_of(protocol: Protocol) -> _Result:
        nonlocal last
        known = last
        if known is None or known[0] is not protocol:
            known = last = (protocol, work(protocol))
        return known[1]

    return result_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Declarations that types refer to, by kind and name."""

    enums: Mapping[str, Enum]
    structs: Mapping[str, Struct]
    struct_fields: Mapping[str, tuple[Field, ...]]
    unions: Mapping[str, Union]
    codings: Mapping[str, Coding]

    def declared(
        self, reference: EnumReference | StructReference | UnionReference | CodingReference
    ) -> Enum | Struct | Union | Coding:
        """Return the declaration that a reference names."""
        match reference:
            case EnumReference(name=name):
                return self.enums[name]
            case StructReference(name=name):
                return self.structs[name]
            case UnionReference(name=name):
                return self.unions[name]
            case CodingReference(name=name):
                return self.codings[name]


@kept
def index_of(protocol: Protocol) -> Index:
    """Return the declarations of a protocol by name; the work is linear in their number, and done once per protocol."""
    return Index(
        enums={each.name: each for each in protocol.enums},
        structs={each.name: each for each in protocol.structs},
        struct_fields={each.name: each.fields for each in protocol.structs},
        unions={each.name: each for each in protocol.unions},
        codings={each.name: each for each in protocol.codings},
    )
