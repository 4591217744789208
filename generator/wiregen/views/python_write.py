"""Steps of a layout → what the template of a writing function prints.

What has a length is prepared first, for its length may stand far before it; then come the pieces, in wire order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wiregen import model as m
from wiregen.plan.steps import FRAME, Chunk, Envelope, Make, Repeat, Run, Slot, Step
from wiregen.views.python_names import (
    Locals,
    StructTable,
    attribute,
    enum_table,
    format_of,
    is_header,
    joined,
    split_by_endian,
)
from wiregen.views.python_steps import (
    WriteCount,
    WriteEnvelope,
    WritePieces,
    WritePrepare,
    WriteRepeat,
    WriteStep,
)
from wiregen.views.python_text import class_name


class WriteBuilder:
    """Builds the steps of one writing function."""

    def __init__(
        self,
        owner: str,
        enums: Mapping[str, m.Enum],
        structs: StructTable,
        count_limit: str | None,
        headers: Mapping[str, str],
    ) -> None:
        """`headers`: the parameters that hold the frame's own fields, by field."""
        self._owner = owner
        self._enums = enums
        self._structs = structs
        self._count_limit = count_limit
        self._headers = headers
        self._locals = Locals(frozenset(headers.values()))
        self._items: list[tuple[str, str]] = []

    def steps(self, steps: tuple[Step, ...]) -> tuple[WriteStep, ...]:
        """Return preparations and pieces; a repetition ends a block of them, for its pieces come one by one."""
        views: list[WriteStep] = []
        block: list[Step] = []
        for step in steps:
            block.append(step)
            if isinstance(step, Repeat):
                views += self._block(block)
                block = []
        return (*views, *self._block(block))

    def _block(self, steps: list[Step]) -> Iterator[WriteStep]:
        for step in steps:
            if isinstance(step, Chunk | Repeat | Envelope):
                yield self._prepare(step)
        runs = [step for step in steps if isinstance(step, Run)]
        checks = tuple(check for run in runs for slot in run.slots for check in self._checks(slot))
        checks += tuple(
            check for step in steps if isinstance(step, Make) for check in self._class_checks(step)
        )
        pieces = tuple(piece for step in steps for piece in self._pieces(step))
        if pieces or checks:
            yield WritePieces(pieces=pieces, checks=checks)
        for step in steps:
            if isinstance(step, Repeat):
                yield self._repeat(step)

    def _pieces(self, step: Step) -> Iterator[str]:
        match step:
            case Run():
                for endian, slots in split_by_endian(step, self._enums):
                    yield self._packed(endian, slots)
            case Chunk(key=key) | Envelope(key=key):
                yield self._locals.name(f"{key}#data")
            case Make() | Repeat():
                pass

    def _prepare(self, step: Chunk | Repeat | Envelope) -> WriteStep:
        length, value = self._locals.name(step.length), self.value(step.key)
        match step:
            case Chunk():
                return self._chunk(step, value, length)
            case Repeat():
                target = self._locals.name(step.key)
                return WriteCount(target=target, value=value, length=length, count_limit=self._count_limit)
            case Envelope():
                target = self._locals.name(f"{step.key}#data")
                return WriteEnvelope(
                    target=target,
                    value=value,
                    length=length,
                    algorithm=step.algorithm,
                    owner=self._owner,
                )

    def _chunk(self, step: Chunk, value: str, length: str) -> WritePrepare:
        encode, careful, is_wide = "", "", False
        if isinstance(step.type, m.Text):
            encode, careful = _encoding(step.type)
            is_wide = step.type.encoding == "utf16"
        return WritePrepare(
            target=self._locals.name(f"{step.key}#data"),
            value=value,
            length=length,
            is_text=isinstance(step.type, m.Text),
            encode=encode,
            careful=careful,
            is_wide=is_wide,
        )

    def _packed(self, endian: str, slots: tuple[Slot, ...]) -> str:
        """Return the expression of a run; small lengths that stand alone come out of a table."""
        formats = [
            "x" * slot.size if self._is_blank(slot) else format_of(slot, self._enums) for slot in slots
        ]
        written = [slot for slot in slots if not self._is_blank(slot)]
        format_ = endian + joined(formats)
        packed = f"{self._structs.pack(format_)}({', '.join(self._argument(slot) for slot in written)})"
        if format_ == ">I" and written[0].part == "length":
            length = self._argument(written[0])
            return f"_LENGTHS[{length}] if {length} < 256 else {packed}"
        return packed

    @staticmethod
    def _is_blank(slot: Slot) -> bool:
        return slot.part == "padding" and slot.expected is None

    def _argument(self, slot: Slot) -> str:
        if slot.expected is not None:
            return repr(slot.expected)
        if slot.part == "length":
            return self._locals.name(slot.key)
        value = self.value(slot.key)
        return f"{value}.bytes" if isinstance(slot.type, m.Uuid) else value

    def _checks(self, slot: Slot) -> tuple[str, ...]:
        if slot.part != "value" or slot.expected is not None or self._is_blank(slot):
            return ()
        value = self.value(slot.key)
        match slot.type:
            case m.Boolean():
                return (f"{value} is not True and {value} is not False",)
            case m.Reference(name=enum) if not self._enums[enum].is_open:
                return (f"{value} not in {enum_table(enum)}",)
            case _:
                return ()

    def _class_checks(self, step: Make) -> tuple[str, ...]:
        """Return the check of a struct that no attribute is asked of: anything would pass for it."""
        if any(
            field.name != "_" and not isinstance(field.value, m.Derived | m.Constant)
            for field in step.struct.fields
        ):
            return ()
        return (f"type({self.value(step.key)}) is not {class_name(step.struct.name)}",)

    def value(self, key: str) -> str:
        """Return the expression of a field: a parameter for the frame's own, else an attribute."""
        if is_header(key):
            return self._headers[key.removeprefix(FRAME)]
        for prefix, item in reversed(self._items):
            if key == prefix:
                return item
            if key.startswith(f"{prefix}."):
                return _dotted(item, key.removeprefix(f"{prefix}."))
        return _dotted("message", key)

    def _repeat(self, step: Repeat) -> WriteRepeat:
        item = self._locals.name(step.item_key)
        self._items.append((step.item_key, item))
        steps = self.steps(step.item)
        self._items.pop()
        return WriteRepeat(target=self._locals.name(step.key), item=item, steps=steps)


def _dotted(base: str, path: str) -> str:
    return ".".join((base, *(attribute(name) for name in path.split("."))))


def _encoding(type_: m.Text) -> tuple[str, str]:
    """Return the arguments of `encode` that are right for nearly all text, and the exact road for the rest."""
    careful = f'"{type_.encoding}", {type_.lenient}, "{type_.endian}"'
    match type_.encoding:
        case "utf8":
            return "", careful
        case "ascii" | "latin1":
            return f'"{type_.encoding}"', careful
        case "mutf8" | "utf16":
            return "exact", careful
