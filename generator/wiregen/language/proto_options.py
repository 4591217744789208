"""The options of .proto files that a configuration sets: for all protocols, and for single ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = [
    "CAPITALIZED",
    "NAMED",
    "NO_OPTIONS",
    "FileOption",
    "OptionsOfProtocol",
    "ProtoOptions",
    "proto_options",
]

NAMED: Final = "{protocol}"
"""The placeholder of the protocol's name."""
CAPITALIZED: Final = "{Protocol}"
"""The placeholder of the protocol's name in the form of a class, as `BlockStore` of `block_store`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileOption:
    """An option of a .proto file; `value` is a Boolean, a text with placeholders, or the word of an enum."""

    name: str
    value: str | bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionsOfProtocol:
    """The options of one protocol; `protocol` is the name of its .wire file."""

    protocol: str
    options: tuple[FileOption, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProtoOptions:
    """The options that all .proto files have, and those of single protocols, which replace them."""

    shared: tuple[FileOption, ...] = ()
    single: tuple[OptionsOfProtocol, ...] = ()

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols that have options of their own."""
        return tuple(each.protocol for each in self.single)

    def of(self, protocol: str) -> tuple[FileOption, ...]:
        """Return the options of a protocol, sorted by name."""
        own = (option for each in self.single if each.protocol == protocol for option in each.options)
        merged = {option.name: option for option in (*self.shared, *own)}
        return tuple(merged[name] for name in sorted(merged))


NO_OPTIONS: Final = ProtoOptions()


def proto_options(table: Mapping[str, Mapping[str, object]] | None) -> ProtoOptions:
    """Return the options of the table `protobuf` of a configuration, which is valid."""
    if table is None:
        return NO_OPTIONS
    single = table.get("protocols", {})
    return ProtoOptions(
        shared=_options(table.get("options", {})),
        single=tuple(
            OptionsOfProtocol(protocol=name, options=_options(options)) for name, options in single.items()
        ),
    )


def _options(table: object) -> tuple[FileOption, ...]:
    assert isinstance(table, Mapping)
    return tuple(FileOption(name=name, value=value) for name, value in table.items())
