"""Runs of fixed fields as the templates of writing functions print them."""

from __future__ import annotations

from functools import partial

from wiregen.generate.steps.step import BitField, FixedRun, Slot
from wiregen.generate.views.python.names import joined, split_by_endian
from wiregen.generate.views.python.text import class_name
from wiregen.generate.views.python.writing.asked_values import INTEGER
from wiregen.generate.views.python.writing.names import Test, WriteNames, WrittenBytes
from wiregen.schema import model as m

__all__ = ["RunWriter"]


class RunWriter:
    """Writes runs: one struct for all neighbours of one byte order. `pieces`: those among which the run is placed."""

    def __init__(self, names: WriteNames) -> None:
        self._names = names
        self._shared = names.shared

    def run(self, step: FixedRun, pieces: list[WrittenBytes], checks: list[Test]) -> None:
        for endian, slots in split_by_endian(step, self._shared.enums):
            size = sum(slot.size for slot in slots)
            checks += [check for slot in slots for check in self._checks(slot, pieces)]
            pieces.append(
                WrittenBytes(text=partial(self._packed, endian, slots, pieces), size=size, length="")
            )

    def _packed(self, endian: str, slots: tuple[Slot, ...], pieces: list[WrittenBytes]) -> str:
        """Return the expression of a run; a single small length is looked up in a table."""
        formats = ["x" * slot.size if _is_blank(slot) else self._shared.format(slot) for slot in slots]
        written = [slot for slot in slots if not _is_blank(slot)]
        format_ = endian + joined(formats)
        if not written:
            return repr(bytes(sum(slot.size for slot in slots)))
        packed = f"{self._shared.structs.pack(format_)}({', '.join(self._argument(slot, pieces) for slot in written)})"
        if format_ == ">I" and written[0].part == "length":
            length = self._argument(written[0], pieces)
            self._shared.uses.add("LENGTHS")
            return f"_LENGTHS[{length}] if {length} < 256 else {packed}"
        return packed

    def _argument(self, slot: Slot, pieces: list[WrittenBytes]) -> str:
        text = self._plain_argument(slot, pieces)
        odd = self._shared.odd_number(slot)
        return odd.encoded(text) if odd else text

    def _plain_argument(self, slot: Slot, pieces: list[WrittenBytes]) -> str:
        if slot.expected is not None:
            return repr(slot.expected)
        if slot.part == "length":
            return self._names.locals.name(slot.key)
        if slot.part == "bits":
            return " | ".join(self._bits(slot, pieces)) or "0"
        is_odd = self._shared.odd_number(slot) is not None and not isinstance(slot.type, m.Float)
        test = INTEGER if is_odd else None
        value = self._names.value(slot.key, slot.field, slot.prefix, pieces, test)
        is_plain = slot.field is None or not isinstance(slot.field.value, m.Derived | m.Constant)
        if not isinstance(slot.type, m.Uuid) or not is_plain:
            return value
        self._shared.uses.add("uuid_bytes")
        return f"_uuid_bytes({value})"

    def _bits(self, slot: Slot, pieces: list[WrittenBytes]) -> list[str]:
        texts = []
        for piece in slot.pieces:
            if piece.field.name == "_" and piece.field.value is None:
                continue
            value = self._bit_value(piece, slot, pieces)
            texts.append(f"{value} << {piece.shift}" if piece.shift else value)
        return texts

    def _bit_value(self, piece: BitField, slot: Slot, pieces: list[WrittenBytes]) -> str:
        return self._names.value(
            piece.key, piece.field, slot.prefix, pieces, "" if piece.is_flag else INTEGER
        )

    def _checks(self, slot: Slot, pieces: list[WrittenBytes]) -> tuple[Test, ...]:
        if slot.part == "bits":
            return tuple(
                check for piece in slot.pieces for check in self._bit_checks(slot, piece.key, pieces)
            )
        is_given = slot.part == "value" and slot.expected is None and not _is_blank(slot)
        if not is_given or (slot.field and isinstance(slot.field.value, m.Derived | m.Constant)):
            return ()
        is_twice = isinstance(slot.type, m.Boolean | m.EnumReference)
        value = self._names.value(slot.key, slot.field, slot.prefix, pieces, "" if is_twice else None)
        match slot.type:
            case m.Boolean() if value in ("False", "True"):
                return ()
            case m.Boolean():
                return (f"{value} is not True and {value} is not False",)
            case m.EnumReference() as type_:
                return self.enum_checks(type_, value)
            case _:
                return ()

    def enum_checks(self, type_: m.EnumReference, value: str) -> tuple[str, ...]:
        enum = self._shared.enums[type_.name]
        checks: tuple[str, ...] = ()
        if not enum.is_open:
            table, class_ = self._shared.enum_table(type_.name), class_name(type_.name)
            checks = (
                f"type({value}) is not {class_} and (type({value}) is not int or {value} not in {table})",
            )
        if type_.only is None:
            return checks
        members = {member.name: member.value for member in enum.members}
        return (*checks, f"{value} not in {tuple(members[each] for each in type_.only)!r}")

    def _bit_checks(self, slot: Slot, key: str, pieces: list[WrittenBytes]) -> tuple[Test, ...]:
        piece = next(piece for piece in slot.pieces if piece.key == key)
        if isinstance(piece.field.value, m.Derived) and not piece.is_flag:  # known behind what it measures
            return (lambda: f"({self._names.value(key, piece.field, slot.prefix, pieces)}) >> {piece.bits}",)
        if piece.field.is_hidden:
            return ()
        value = self._bit_value(piece, slot, pieces)
        if piece.is_flag:
            return (f"{value} is not True and {value} is not False",)
        return (f"{value} >> {piece.bits}",)


def _is_blank(slot: Slot) -> bool:
    return slot.part == "padding" and slot.expected is None
