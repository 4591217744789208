"""The parts of a `.ksy` file, and the identifiers in it.

Invariant: every value in them is an identifier, a number or an expression of this package; text of a `.wire` file
is only in identifiers of ASCII letters, digits and underscores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from wiregen.schema import model as m
from wiregen.schema.naming import snake_case

__all__ = [
    "Identifiers", "KaitaiAttribute", "KaitaiEntry", "KaitaiEnum", "KaitaiInstance", "KaitaiSwitch", "KaitaiType", "field_ids", "kaitai_id",
    "order_of", "quoted", "type_entry", "valid", "within",
]  # fmt: skip

_OTHER: Final = re.compile("[^a-z0-9_]")
_RESERVED: Final = frozenset(
    "abstract and as assert async await auto base bool boolean break byte case catch char class close const constructor continue debugger"
    " decimal def default del delegate delete do double elif else end enum equals event except explicit export extends extern false final"
    " finally float fixed for foreach from from_bytes from_file from_io function global goto hash_code if implements implicit import in"
    " inline int interface internal is lambda let local lock long module namespace native new nil none nonlocal not null object of operator"
    " or out override package params parent pass private protected public raise readonly ref register repeat return root sbyte sealed self"
    " short signed sizeof static std string struct super switch synchronized template then this throw throws to_string transient true try"
    " typedef typeof uint ulong unchecked union unsafe unsigned until ushort using var virtual void volatile while with yield".split()
)
"""Words of the languages for which Kaitai generates code, which it writes as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiEntry:
    """A key of an attribute and its value as YAML."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiSwitch:
    """A type chosen by an expression; the key of a case is a number or `_`, its value a type."""

    on: str
    cases: tuple[KaitaiEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiAttribute:
    """An attribute of `seq`; `switch` None: its type, if any, is among the entries."""

    id: str
    entries: tuple[KaitaiEntry, ...] = ()
    switch: KaitaiSwitch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiInstance:
    """A computed value."""

    id: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiType:
    """A user-defined type.

    `is_wrapper`: it was made for a value of several attributes, which is its attribute `value`.
    """

    name: str
    comment: str = ""
    seq: tuple[KaitaiAttribute, ...] = ()
    instances: tuple[KaitaiInstance, ...] = ()
    is_wrapper: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KaitaiEnum:
    """An enum: names by number."""

    name: str
    members: tuple[KaitaiEntry, ...]


def type_entry(name: str) -> KaitaiEntry:
    """Return the entry for a type."""
    return KaitaiEntry(key="type", value=name)


def valid(checks: Iterable[str]) -> KaitaiEntry:
    """Return the entry for conditions that all must hold."""
    texts = list(checks)
    text = texts[0] if len(texts) == 1 else " and ".join(f"({each})" for each in texts)
    return KaitaiEntry(key="valid", value=f"{{expr: {quoted(text)}}}")


def order_of(endian: str) -> str:
    """Return the suffix of a type in a byte order."""
    return "be" if endian == "big" else "le"


def within(access: str, low: object, high: object) -> str:
    """Return the condition that a number is in a range."""
    return f"({access} >= {low} and {access} <= {high})"


def quoted(expression: str) -> str:
    """Return an expression as a scalar of YAML."""
    assert "'" not in expression and expression.isascii() and expression.isprintable()
    return f"'{expression}'"


def kaitai_id(name: str) -> str:
    """Return a name as an identifier: lower case, never a word of a language that Kaitai generates."""
    made = _OTHER.sub("_", snake_case(name)).strip("_") or "reserved"
    made = made if made[0].isalpha() else f"n{made}"
    return f"{made}_field" if made in _RESERVED else made


class Identifiers:
    """Gives each name of a namespace an identifier of its own."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def new(self, name: str) -> str:
        """Return the identifier of a name, with a number if another name has it."""
        made = first = kaitai_id(name)
        number = 1
        while made in self._taken:
            number += 1
            made = f"{first}_{number}"
        self._taken.add(made)
        return made


def field_ids(fields: Iterable[m.Field]) -> dict[str, str]:
    """Return the identifier of each field with a name among the fields of a declaration or block."""
    identifiers = Identifiers()
    return {each.name: identifiers.new(each.name) for each in fields if each.name != "_"}
