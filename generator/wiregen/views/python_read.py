"""Steps of a layout → what the template of a reading function prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wiregen import model as m
from wiregen.plan.steps import Chunk, Envelope, Make, Repeat, Run, Slot, Step
from wiregen.views.python_names import (
    Locals,
    StructTable,
    attribute,
    enum_table,
    format_of,
    is_header,
    joined,
    reader,
    split_by_endian,
)
from wiregen.views.python_steps import (
    LengthCheck,
    ReadChunk,
    ReadEnvelope,
    ReadMake,
    ReadNumbers,
    ReadRepeat,
    ReadRun,
    ReadStep,
)
from wiregen.views.python_text import class_name


class ReadBuilder:
    """Builds the steps of one reading function; follows the position through them."""

    def __init__(
        self, owner: str, enums: Mapping[str, m.Enum], structs: StructTable, count_limit: str | None
    ) -> None:
        self._owner = owner
        self._enums = enums
        self._structs = structs
        self._count_limit = count_limit
        self._locals = Locals()
        self._base, self._added = "offset", 0
        self._values: dict[str, str] = {}

    def steps(self, steps: tuple[Step, ...]) -> tuple[ReadStep, ...]:
        return tuple(view for step in steps for view in self._step(step))

    @property
    def at(self) -> str:
        """Where the next byte is read, as an expression."""
        return self._base if self._added == 0 else f"{self._base} + {self._added}"

    def value(self, key: str) -> str:
        """Return the expression of a value that has been read."""
        return self._values[key]

    def _step(self, step: Step) -> Iterator[ReadStep]:
        match step:
            case Run():
                for endian, slots in split_by_endian(step, self._enums):
                    yield from self._run(endian, slots)
            case Chunk():
                yield self._chunk(step)
            case Make():
                yield self._make(step)
            case Repeat():
                yield self._repeat(step)
            case Envelope():
                yield self._envelope(step)

    def _run(self, endian: str, slots: tuple[Slot, ...]) -> Iterator[ReadRun]:
        kept = [slot for slot in slots if self._is_read(slot)]
        size = sum(slot.size for slot in slots)
        at, self._added = self.at, self._added + size
        if not kept:
            return
        while not self._is_read(slots[-1]):
            slots = slots[:-1]
        formats = [format_of(slot, self._enums) if self._is_read(slot) else "x" * slot.size for slot in slots]
        names = [self._locals.name(slot.key) for slot in kept]
        is_byte = formats == ["B"]
        yield ReadRun(
            targets=", ".join(names) if len(names) > 1 or is_byte else f"({names[0]},)",
            unpack="" if is_byte else self._structs.unpack(endian + joined(formats)),
            at=at,
            checks=tuple(check for slot in kept for check in self._checks(slot)),
            lengths=tuple(
                LengthCheck(
                    name=self._locals.name(slot.key), is_signed=format_of(slot, self._enums).islower()
                )
                for slot in kept
                if slot.part == "length" and format_of(slot, self._enums).islower()
            ),
        )

    def _is_read(self, slot: Slot) -> bool:
        """A code has chosen this function, padding means nothing, a header that can be anything is the frame's."""
        if slot.part in ("code", "padding"):
            return False
        return not is_header(slot.key) or slot.expected is not None or bool(self._type_checks(slot, ""))

    def _checks(self, slot: Slot) -> tuple[str, ...]:
        name = self._locals.name(slot.key)
        if slot.expected is not None:
            return (f"{name} != {slot.expected!r}",)
        if slot.part == "value" and not is_header(slot.key):
            self._values[slot.key] = self._converted(slot, name)
        return self._type_checks(slot, name)

    def _type_checks(self, slot: Slot, name: str) -> tuple[str, ...]:
        match slot.type:
            case m.Boolean(lenient=True):
                return (f"{name} > 1 and state is not None and state.strict",)
            case m.Boolean():
                return (f"{name} > 1",)
            case m.Reference(name=enum) if not self._enums[enum].is_open and is_header(slot.key):
                return (f"{name} not in {enum_table(enum)}",)
            case _:
                return ()

    def _converted(self, slot: Slot, name: str) -> str:
        match slot.type:
            case m.Boolean():
                return f"{name} != 0"
            case m.Uuid():
                return f"UUID(bytes={name})"
            case m.Reference(name=enum) if self._enums[enum].is_open:
                return f"{enum_table(enum)}.get({name}, {name})"
            case m.Reference(name=enum):
                return f"{enum_table(enum)}[{name}]"
            case _:
                return name

    def _chunk(self, step: Chunk) -> ReadChunk:
        target, at = self._locals.name(step.key), self.at
        self._values[step.key] = target
        self._base, self._added = "position", 0
        length = self._locals.name(step.length)
        match step.type:
            case m.Text(encoding=encoding, lenient=lenient, endian=endian):
                decode, careful = _decoding(encoding, lenient, endian)
                length = f"2 * {length}" if encoding == "utf16" else length
                return ReadChunk(
                    target=target, length=length, at=at, is_text=True, decode=decode, careful=careful
                )
            case m.Bytes():
                return ReadChunk(target=target, length=length, at=at, is_text=False, decode="", careful="")

    def _make(self, step: Make) -> ReadMake:
        target = self._locals.name(step.key)
        self._values[step.key] = target
        return ReadMake(
            target=target,
            class_=class_name(step.struct.name),
            values=self.attributes(step.struct.fields, f"{step.key}."),
        )

    def attributes(self, fields: tuple[m.Field, ...], prefix: str) -> tuple[tuple[str, str], ...]:
        """Return the attribute and the value of each field that the API shows."""
        return tuple(
            (attribute(field.name), self._values[prefix + field.name])
            for field in fields
            if prefix + field.name in self._values
        )

    def _repeat(self, step: Repeat) -> ReadRepeat | ReadNumbers:
        at, length, target = self.at, self._locals.name(step.length), self._locals.name(step.key)
        self._values[step.key] = target
        self._base, self._added = "position", 0
        numbers = _numbers(step)
        if numbers is not None:
            return ReadNumbers(
                target=target,
                length=length,
                at=at,
                count_limit=self._count_limit,
                format_prefix="<" if numbers.endian == "little" else ">",
                format=format_of(_slot_of(step), self._enums),
                size=numbers.bits // 8,
            )
        steps = self.steps(step.item)
        end_position = f"position += {self._added}" if self._added else None
        self._base, self._added = "position", 0
        return ReadRepeat(
            target=target,
            length=length,
            at=at,
            annotation="",
            count_limit=self._count_limit,
            smallest=step.smallest,
            steps=steps,
            item=self._values[step.item_key],
            end_position=end_position,
        )

    def _envelope(self, step: Envelope) -> ReadEnvelope:
        at, target = self.at, self._locals.name(step.key)
        self._values[step.key] = target
        self._base, self._added = "position", 0
        return ReadEnvelope(
            target=target,
            length=self._locals.name(step.length),
            at=at,
            algorithm=step.algorithm,
            reader=reader(step.frame),
            annotation=step.frame,
            owner=self._owner,
        )


def _numbers(step: Repeat) -> m.Integer | m.Float | None:
    """Return the type of the items where they are plain numbers."""
    match step.item:
        case (Run(slots=(Slot(type=m.Integer() | m.Float() as type_, part="value", expected=None),)),):
            return type_
        case _:
            return None


def _slot_of(step: Repeat) -> Slot:
    run = step.item[0]
    assert isinstance(run, Run)
    return run.slots[0]


def _decoding(encoding: m.Encoding, lenient: bool, endian: m.Endian) -> tuple[str, str]:
    """Return the arguments of `decode` that are right for nearly all text, and the exact road for the rest."""
    tolerates = "state is None or not state.strict" if lenient else "False"
    careful = f'"{encoding}", {tolerates}, "{endian}"'
    match encoding:
        case "utf8":
            return "", careful
        case "ascii" | "latin1":
            return f'"{encoding}"', careful
        case "mutf8" | "utf16":
            return "exact", careful
