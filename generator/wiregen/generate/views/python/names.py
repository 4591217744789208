"""Names and struct formats that a generated Python module shares among its functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wiregen.generate.steps.step import FRAME, FixedRun, Slot
from wiregen.schema import model as m
from wiregen.schema.naming import Namespace, constant_case, python_name, snake_case

_OWN_LOCALS = frozenset(
    "buffer bool getattr map offset end state position start stop message frame n data parts part append limits level inner inner_end"
    " inner_position compression item raw reader is_last cls self bytes float int isinstance len list range str tuple type".split()
)


def caseless(name: str) -> tuple[str, str]:
    """Return a sort key that ignores case; names that differ in case only have an order too."""
    return name.lower(), name


METHOD_PARAMETERS = frozenset({"from_role", "context", "variant", "entries"})
"""The parameters of an `encode` that are not fields of its header."""


class StructTable:
    """The struct constants of a module, by format; each is created once."""

    def __init__(self) -> None:
        self._constants: dict[str, tuple[str, str]] = {}

    def unpack(self, format_: str) -> str:
        """Return the name of `Struct(format_).unpack_from`."""
        return self._constant("unpack", format_, "unpack_from")

    def pack(self, format_: str) -> str:
        """Return the name of `Struct(format_).pack`."""
        return self._constant("pack", format_, "pack")

    def _constant(self, verb: str, format_: str, method: str) -> str:
        little = "_le" if format_.startswith("<") else ""
        name = f"_{verb}_{format_[1:]}{little}"
        self._constants[name] = (format_, method)
        return name

    def constants(self) -> tuple[tuple[str, str, str], ...]:
        """Return name, format and method of each constant, sorted."""
        return tuple((name, *rest) for name, rest in sorted(self._constants.items()))


class Locals:
    """The local names of one function, unique for each key."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._names: dict[str, str] = {}
        self._others = taken
        self._taken = set(_OWN_LOCALS | taken)

    def keeping(self, names: dict[str, str]) -> Locals:
        """Return the same with these names alone, by key."""
        kept = Locals(self._others | frozenset(names.values()))
        kept._names |= names
        return kept

    def name(self, key: str) -> str:
        """Return the local name of a key: its last word, with the prefix `n_` for a length."""
        if key not in self._names:
            self._names[key] = self._free(_no_class(_base(key)))
        return self._names[key]

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _base(key: str) -> str:
    word, *parts = re.split(r"[.:]", key)[-1].split("#")
    plain = word.rstrip("[]") or "value"
    name = local_name(singular(plain) if word.endswith("[]") else plain)
    match parts[-1:]:
        case ["length"]:
            return f"n_{name}"
        case ["region.length"] | [
            "start" | "end" | "code" | "tail" | "pieces" | "subject" | "bits" | "size"
        ] as tail:
            return f"{name}_{tail[0]}" if tail != ["tail"] else "tail"
        case ["absent"]:
            return "n_absent"
        case ["stop"]:
            return f"{name}_end"
        case _:
            return name


def _no_class(name: str) -> str:
    """Return a name that classes never have: theirs begin with a capital and have no underscore inside."""
    return f"the_{name}" if name[:1].isupper() else name


_UNCHANGED = ("series", "species")
_WITH_IE = ("cookies", "movies")
"""Plurals whose `ies` does not come from a word in `y`."""


def singular(word: str) -> str:
    """Return the name of an item of a list called `word`: an `entry` for `entries`, a `data_item` for `data`."""
    if len(word) < 3 or not word.endswith("s") or word.endswith(("ss", "us", *_UNCHANGED)):
        return f"{word}_item"
    if word.endswith("ies") and not word.endswith(_WITH_IE):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]


def local_name(name: str) -> str:
    """Return a field's name as a local variable or parameter."""
    return python_name(name, Namespace.FRAME_MEMBER)


def attribute(name: str) -> str:
    """Return a field's name as an attribute."""
    return python_name(name, Namespace.MEMBER)


def enum_table(name: str) -> str:
    """Return the name of the table from numbers to members of an enum."""
    return f"_{constant_case(name)}_BY_NUMBER"


def reader(name: str) -> str:
    """Return the name of the function that reads a declaration."""
    return f"_read_{snake_case(name)}"


def writer(name: str) -> str:
    """Return the name of the function that writes a declaration."""
    return f"_write_{snake_case(name)}"


def is_header(key: str) -> bool:
    """Return whether a key is a field of the frame around the message."""
    return key.startswith(FRAME)


def format_of(slot: Slot, enums: Mapping[str, m.Enum]) -> str:
    """Return the struct character of a slot, without its byte order."""
    match number_type(slot, enums):
        case m.Integer() | m.Float() as type_:
            return type_.letter or f"{slot.size}s"
        case m.Boolean():
            return "B"
        case m.Uuid():
            return "16s"
        case _:
            raise AssertionError("bit fields are pieces of a slot, and varints are not in runs")


def number_type(slot: Slot, enums: Mapping[str, m.Enum]) -> m.Type:
    """Return the type of a slot, or that of an enum's numbers."""
    return enums[slot.type.name].type if isinstance(slot.type, m.EnumReference) else slot.type


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedNumber:
    """A number between a struct's bytes and Python: packed as bytes if `struct` lacks a letter for it."""

    type: m.Integer | m.Float

    @property
    def is_odd(self) -> bool:
        return not self.type.letter

    def decoded(self, data: str) -> str:
        """Return the expression of the number, of unusual size, in the bytes `data`."""
        type_ = self.type
        if isinstance(type_, m.Integer):
            return f'int.from_bytes({data}, "{type_.endian}"{_signed(type_)})'
        return f'_FLOATS["{type_.format}"].unpack({data}{self._order})'

    def encoded(self, value: str | int) -> str:
        """Return the expression that is passed to a struct for a value."""
        type_ = self.type
        if not self.is_odd:
            return str(value)
        if isinstance(type_, m.Integer):
            return f'({value}).to_bytes({type_.size}, "{type_.endian}"{_signed(type_)})'
        return f'_FLOATS["{type_.format}"].pack({value}){self._order}'

    @property
    def _order(self) -> str:
        return "[::-1]" if self.type.endian == "little" else ""


def _signed(type_: m.Integer) -> str:
    return ", signed=True" if type_.is_signed else ""


def endian_of(slot: Slot, enums: Mapping[str, m.Enum]) -> m.Endian | None:
    """Return the byte order of a slot, or None if it has no order."""
    type_ = number_type(slot, enums)
    if slot.size == 1 or slot.part == "padding" or not isinstance(type_, m.Integer | m.Float):
        return None
    return type_.endian


def split_by_endian(run: FixedRun, enums: Mapping[str, m.Enum]) -> tuple[tuple[str, tuple[Slot, ...]], ...]:
    """Return the slots of a run in groups that one struct format can hold, each with its `<` or `>`."""
    groups: list[tuple[m.Endian | None, list[Slot]]] = [(None, [])]
    for slot in run.slots:
        endian = endian_of(slot, enums)
        current, slots = groups[-1]
        if endian is None or current is None or endian == current:
            slots.append(slot)
            groups[-1] = (current or endian, slots)
        else:
            groups.append((endian, [slot]))
    return tuple(("<" if endian == "little" else ">", tuple(slots)) for endian, slots in groups)


def joined(formats: list[str]) -> str:
    """Return struct characters with equal neighbours counted (`IIII` is `4I`), padding included."""
    text = ""
    for match in re.finditer(r"(\d+s)|([a-zA-Z])\2*", "".join(formats)):
        one = match.group(0)
        text += one if match.group(1) or len(one) < 3 else f"{len(one)}{one[0]}"
    return text
