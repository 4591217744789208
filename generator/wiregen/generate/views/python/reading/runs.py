"""Runs of fixed fields, and the decoding of text, as the templates of reading functions print them."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.generate.steps.step import BitField, FixedRun, RepeatedItems, Slot, UnsupportedError
from wiregen.generate.views.python.checks import AnyCheck, StrictCheck, strict_if
from wiregen.generate.views.python.names import is_header, joined, split_by_endian
from wiregen.generate.views.python.reading.names import ReadNames
from wiregen.generate.views.python.reading.step_views import ReadRun
from wiregen.schema import model as m

__all__ = ["RunReader", "decoding", "numbers_of"]


class RunReader:
    """Reads runs: one struct for all neighbours of one byte order."""

    def __init__(self, names: ReadNames) -> None:
        self._names = names
        self._shared = names.shared

    def run(self, step: FixedRun) -> Iterator[ReadRun]:
        for endian, slots in split_by_endian(step, self._shared.enums):
            yield from self._group(endian, slots)

    def _group(self, endian: str, slots: tuple[Slot, ...]) -> Iterator[ReadRun]:
        names = self._names
        kept = [slot for slot in slots if self._is_read(slot)]
        size = sum(slot.size for slot in slots)
        at, names.added = names.at, names.added + size
        if not kept:
            return
        while not self._is_read(slots[-1]):
            slots = slots[:-1]
        formats = [self._shared.format(slot) if self._is_read(slot) else "x" * slot.size for slot in slots]
        targets = [names.locals.name(slot.key) for slot in kept]
        is_byte = formats == ["B"]
        yield ReadRun(
            on=names.on,
            targets=", ".join(targets) if len(targets) > 1 or is_byte else f"({targets[0]},)",
            unpack="" if is_byte else self._shared.structs.unpack(endian + joined(formats)),
            at=at,
            assigns=tuple(each for slot in kept for each in self._assigns(slot)),
            checks=tuple(check for slot in kept for check in self._checks(slot)),
        )

    def _is_read(self, slot: Slot) -> bool:
        """Return whether a slot is read.

        Not read are a code that chose the function, arbitrary padding, and header fields that the frame reads.
        """
        names = self._names
        if slot.part == "padding":
            return isinstance(slot.type, m.Boolean)
        if slot.part == "code" and not names.reads_code:
            return False
        if slot.part in ("length", "bits") or not is_header(slot.key) or not names.is_whole:
            return True
        is_wanted = slot.field is not None and slot.field.name in names.wanted
        return is_wanted or slot.expected is not None or bool(self._type_checks(slot, ""))

    def _assigns(self, slot: Slot) -> Iterator[tuple[str, str]]:
        name = self._names.locals.name(slot.key)
        if odd := self._shared.odd_number(slot):
            yield name, odd.decoded(name)
        for piece in slot.pieces:
            if piece.field.name == "_":
                continue
            value = _extracted(name, piece)
            target = self._names.locals.name(piece.key)
            yield target, f"({value}) != 0" if piece.is_flag else value
            self._names.give(piece.key, target)

    def _checks(self, slot: Slot) -> tuple[AnyCheck, ...]:
        name = self._names.locals.name(slot.key)
        if slot.part == "bits":
            return tuple(check for piece in slot.pieces for check in _constant_check(name, piece))
        if slot.expected is not None:
            self._names.raws[slot.key] = name
            return (f"{name} != {slot.expected!r}",)
        if slot.part == "length":
            self._names.raws[slot.key] = name
            is_signed = isinstance(slot.type, m.Integer) and slot.type.is_signed
            return (f"{name} < 0",) if is_signed else ()
        if is_header(slot.key) and self._names.is_whole:
            self._names.raws[slot.key] = name
            return self._type_checks(slot, name)
        checks = self._given(slot, name)
        return (*self._type_checks(slot, name), *checks) if slot.part == "code" else checks

    def _given(self, slot: Slot, name: str) -> tuple[AnyCheck, ...]:
        match slot.type:
            case m.Boolean():
                self._names.give(slot.key, f"{name} != 0", f"({name} != 0)")
            case m.Uuid():
                self._shared.uses.add("uuid")
                self._names.give(slot.key, f"_uuid({name})", name)
            case m.EnumReference():
                return self.enum_value(slot.key, slot.type, name)
            case _:
                self._names.give(slot.key, name)
        return self._type_checks(slot, name)

    def enum_value(self, key: str, type_: m.EnumReference, name: str) -> tuple[AnyCheck, ...]:
        """Record the value of an enum; return the checks of its `only`."""
        table = self._shared.enum_table(type_.name)
        is_open = self._shared.enums[type_.name].is_open
        self._names.give(key, f"{table}.get({name}, {name})" if is_open else f"{table}[{name}]", name)
        return self._only_checks(type_, name)

    def _only_checks(self, type_: m.EnumReference, name: str) -> tuple[AnyCheck, ...]:
        if type_.only is None:
            return ()
        members = {member.name: member.value for member in self._shared.enums[type_.name].members}
        numbers = tuple(members[each] for each in type_.only)
        return (strict_if(type_.is_lenient, f"{name} not in {numbers!r}"),)

    def _type_checks(self, slot: Slot, name: str) -> tuple[AnyCheck, ...]:
        match slot.type:
            case m.Boolean(is_lenient=True):
                return (StrictCheck(f"{name} > 1"),)
            case m.Boolean():
                return (f"{name} > 1",)
            case m.EnumReference(name=enum) if not self._shared.enums[enum].is_open and is_header(slot.key):
                return (f"{name} not in {self._shared.enum_table(enum)}", *self._only_checks(slot.type, name))
            case _:
                return ()


def _extracted(name: str, piece: BitField) -> str:
    shifted = f"{name} >> {piece.shift}" if piece.shift else name
    return f"{shifted} & {(1 << piece.bits) - 1}"


def _constant_check(name: str, piece: BitField) -> tuple[str, ...]:
    match piece.field.value:
        case m.Constant(value=m.Number(value=number)):
            return (f"({_extracted(name, piece)}) != {number}",)
        case m.Constant(value=m.Truth(value=truth)):
            return (f"({_extracted(name, piece)}) != {int(truth)}",)
        case m.Constant():
            raise UnsupportedError(piece.field.path, "a constant like this")
        case _:
            return ()


def numbers_of(step: RepeatedItems) -> m.Integer | m.Float | None:
    """Return the type of the items if they are plain numbers that `struct` supports."""
    match step.item:
        case (FixedRun(slots=(Slot(type=m.Integer() | m.Float() as type_, part="value", expected=None),)),):
            return type_ if type_.letter else None
        case _:
            return None


def decoding(type_: m.Text) -> tuple[str, str, str]:
    """Return the arguments of `decode` for nearly all text, and the exact function with its arguments for the rest."""
    exact = "lenient_text" if type_.is_lenient else "decode_text"
    arguments = f'"{type_.encoding}"' + (", state" if type_.is_lenient else "")
    arguments += f', endian="{type_.endian}"' if type_.endian != "big" else ""
    match type_.encoding:
        case "utf8":
            return "", exact, arguments
        case "ascii" | "latin1":
            return f'"{type_.encoding}"', exact, arguments
        case "mutf8":
            return "mutf8", exact, arguments
        case "utf16":
            return "exact", exact, arguments
