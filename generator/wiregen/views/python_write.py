"""Steps of a layout → what the template of a writing function prints.

What has a length is prepared first, for its length may stand far before it; then come the pieces, in wire order. Whatever has
no straight-line form is left to the careful codec, which writes what this refuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from wiregen import model as m
from wiregen.plan.steps import (
    Carry,
    Check,
    Choose,
    Chunk,
    Delimiter,
    Dispatch,
    Enter,
    Extent,
    Given,
    Held,
    Invoke,
    Leave,
    Make,
    Mark,
    Number,
    Option,
    Repeat,
    Rest,
    Run,
    Slot,
    Step,
    UnsupportedError,
    Until,
)
from wiregen.views.python_expressions import python_expression, span_test
from wiregen.views.python_names import enum_table, is_odd, joined, split_by_endian
from wiregen.views.python_shared import variety_class
from wiregen.views.python_steps import (
    WriteAssign,
    WriteCase,
    WriteChecks,
    WriteChoose,
    WriteCount,
    WriteOption,
    WritePieces,
    WritePrepare,
    WriteRepeat,
    WriteStep,
)
from wiregen.views.python_text import class_name, flat, is_shown
from wiregen.views.python_write_names import Piece, Test, WriteLookup, WriteNames

__all__ = ["WriteBuilder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Steps that prepare, and the pieces that they were for."""

    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...]


class WriteBuilder:
    """Builds the steps of one writing function."""

    def __init__(self, names: WriteNames, *, has_state: bool, inside: frozenset[str] = frozenset()) -> None:
        self.names = names
        self._shared = names.shared
        self._has_state = has_state
        self._inside = inside
        self.last = "True"
        """What says that the function's own declaration is the last of a region."""
        self._views: list[WriteStep] = []
        self._pieces: list[Piece] = []
        self._is_flowing = False

    def flowing(self, steps: tuple[Step, ...]) -> tuple[WriteStep, ...]:
        """Return steps that fill `parts` as they go; a list ends a block, for its pieces come one by one."""
        views: list[WriteStep] = []
        self._is_flowing = True
        block: list[Step] = []
        for step in steps:
            block.append(step)
            if isinstance(step, Repeat):
                views += self._flow(block)
                block = []
        return (*views, *self._flow(block))

    def _flow(self, steps: list[Step]) -> tuple[WriteStep, ...]:
        """Return a block; the loop of a list comes behind the pieces before it."""
        block = self._block(steps)
        loops = tuple(step for step in block.steps if isinstance(step, WriteRepeat) and not step.data)
        rest = tuple(step for step in block.steps if step not in loops)
        pieces = (WritePieces(target="parts", pieces=block.pieces),) if block.pieces else ()
        return (*rest, *pieces, *loops)

    def whole(self, steps: tuple[Step, ...]) -> tuple[tuple[WriteStep, ...], tuple[str, ...]]:
        """Return steps that only prepare, and all pieces in wire order."""
        block = self._block(steps)
        return block.steps, block.pieces

    def _block(self, steps: Iterable[Step]) -> _Block:
        """Return what steps prepare and the pieces, which may look at sizes of what comes behind them."""
        outer, self._views, self._pieces = (self._views, self._pieces), [], []
        waiting, self.names.waiting = self.names.waiting, []
        checks: list[Test] = []
        for step in steps:
            self._step(step, checks)
        self._settle()
        self.names.waiting = waiting
        tests = tuple(test if isinstance(test, str) else test() for test in checks)
        if tests := tuple(test for test in tests if test != "not True"):
            self._views.append(WriteChecks(checks=tests))
        block = _Block(steps=tuple(self._views), pieces=tuple(piece.text() for piece in self._pieces))
        self._views, self._pieces = outer
        return block

    def _step(self, step: Step, checks: list[Test]) -> None:
        match step:
            case Run():
                self._run(step, checks)
            case Number():
                self._number(step)
            case Chunk():
                self._chunk(step, checks)
            case Make():
                self._make(step, checks)
            case Repeat():
                self._repeat(step, checks)
            case Invoke():
                self._invoke(step, checks)
            case Enter() | Mark():
                self._edge(step, checks)
            case Leave():
                self._leave(step)
            case Carry():
                self._carry(step)
            case Option():
                self._option(step)
            case Choose():
                self._choose(step)
            case Dispatch():
                self._dispatch(step, checks)
            case Check():
                self._check(step, checks)
            case _:
                assert_never(step)

    def _piece(self, text: str, size: int | None = None, length: str = "") -> None:
        self._pieces.append(Piece(text=lambda: text, size=size, length=length or f"len({text})"))

    def _make(self, step: Make, checks: list[Test]) -> None:
        """Check the class of a struct that no attribute is asked of: anything would pass for it."""
        if not any(is_shown(field) for field in flat(step.struct.fields)):
            value = self.names.attribute(step.key)
            checks.append(f"type({value}) is not {class_name(step.struct.name)}")

    # ---- runs

    def _run(self, step: Run, checks: list[Test]) -> None:
        for endian, slots in split_by_endian(step, self._shared.enums):
            size = sum(slot.size for slot in slots)
            checks += [check for slot in slots for check in self._checks(slot)]
            self._pieces.append(
                Piece(
                    text=lambda endian=endian, slots=slots: self._packed(endian, slots),  # type: ignore[misc]
                    size=size,
                    length="",
                )
            )

    def _packed(self, endian: str, slots: tuple[Slot, ...]) -> str:
        """Return the expression of a run; small lengths that stand alone come out of a table."""
        formats = ["x" * slot.size if _is_blank(slot) else self._shared.format(slot) for slot in slots]
        written = [slot for slot in slots if not _is_blank(slot)]
        format_ = endian + joined(formats)
        if not written:
            return repr(bytes(sum(slot.size for slot in slots)))
        packed = (
            f"{self._shared.structs.pack(format_)}({', '.join(self._argument(slot) for slot in written)})"
        )
        if format_ == ">I" and written[0].part == "length":
            length = self._argument(written[0])
            self._shared.uses.add("LENGTHS")
            return f"_LENGTHS[{length}] if {length} < 256 else {packed}"
        return packed

    def _argument(self, slot: Slot) -> str:
        text = self._plain_argument(slot)
        if is_odd(slot, self._shared.enums):
            type_ = (
                self._shared.enums[slot.type.name].type if isinstance(slot.type, m.Reference) else slot.type
            )
            assert isinstance(type_, m.Integer)
            signed = ", signed=True" if type_.signed else ""
            return f'({text}).to_bytes({slot.size}, "{type_.endian}"{signed})'
        return text

    def _plain_argument(self, slot: Slot) -> str:
        if slot.expected is not None:
            return repr(slot.expected)
        if slot.part == "length":
            return self.names.locals.name(slot.key)
        if slot.part == "bits":
            return " | ".join(self._bits(slot)) or "0"
        value = self.names.value(slot.key, slot.field, slot.prefix, self._pieces)
        is_plain = slot.field is None or not isinstance(slot.field.value, m.Derived | m.Constant)
        return f"{value}.bytes" if isinstance(slot.type, m.Uuid) and is_plain else value

    def _bits(self, slot: Slot) -> list[str]:
        texts = []
        for piece in slot.pieces:
            if piece.field.name == "_" and piece.field.value is None:
                continue
            value = self.names.value(piece.key, piece.field, slot.prefix, self._pieces)
            texts.append(f"{value} << {piece.shift}" if piece.shift else value)
        return texts

    def _checks(self, slot: Slot) -> tuple[str, ...]:
        if slot.part == "bits":
            return tuple(check for piece in slot.pieces for check in self._bit_checks(slot, piece.key))
        is_given = slot.part == "value" and slot.expected is None and not _is_blank(slot)
        if not is_given or (slot.field and isinstance(slot.field.value, m.Derived | m.Constant)):
            return ()
        value = self.names.value(slot.key, slot.field, slot.prefix, self._pieces)
        match slot.type:
            case m.Boolean():
                return (f"{value} is not True and {value} is not False",)
            case m.Reference(name=enum) as type_:
                return self._enum_checks(enum, type_, value)
            case _:
                return ()

    def _enum_checks(self, enum: str, type_: m.Reference, value: str) -> tuple[str, ...]:
        checks = () if self._shared.enums[enum].is_open else (f"{value} not in {enum_table(enum)}",)
        if type_.only is None:
            return checks
        members = {member.name: member.value for member in self._shared.enums[enum].members}
        return (*checks, f"{value} not in {tuple(members[each] for each in type_.only)!r}")

    def _bit_checks(self, slot: Slot, key: str) -> tuple[str, ...]:
        piece = next(piece for piece in slot.pieces if piece.key == key)
        if piece.field.name == "_" or isinstance(piece.field.value, m.Derived | m.Constant):
            return ()
        value = self.names.value(key, piece.field, slot.prefix, self._pieces)
        if piece.is_flag:
            return (f"{value} is not True and {value} is not False",)
        return (f"{value} >> {piece.bits}",)

    # ---- numbers, bytes and text

    def _number(self, step: Number) -> None:
        if step.part == "length":
            text = self.names.locals.name(step.key)
        elif step.expected is not None:
            text = repr(step.expected)
        elif step.part == "padding":
            text = "0"
        else:
            text = self.names.value(step.key, step.field, step.prefix, self._pieces)
        target = self.names.locals.name(f"{step.key}#data")
        self._late(target, self._number_bytes(step, text), is_late=step.part == "length")
        self._piece(target)

    def _late(self, target: str, value: str, *, is_late: bool) -> None:
        """Note an assignment; a length is known only when what it measures is prepared."""
        view = WriteAssign(target=target, value=value)
        if is_late:
            self.names.waiting.append(view)
        else:
            self._views.append(view)

    def _number_bytes(self, step: Number, text: str) -> str:
        type_ = step.type
        if isinstance(type_, m.Reference) and type_.target == "coding":
            return f"{self._shared.inner_writer(type_.name)}({text})"
        if isinstance(type_, m.Reference):
            declared = self._shared.enums[type_.name].type
            assert isinstance(declared, m.Varint)
            if step.expected is None:
                checks = self._enum_checks(type_.name, type_, text)
                self._views.append(WriteChecks(checks=checks)) if checks else None
            type_ = declared
        self._shared.uses.add("varint")
        if type_.zigzag:
            return f"_varint({text} << 1 ^ {text} >> {type_.bits - 1}, {type_.bits})"
        return f"_varint({text}, {type_.bits})"

    def _settle(self) -> None:
        """Let what waited for a length come now."""
        self._views += self.names.waiting
        self.names.waiting = []

    def _chunk(self, step: Chunk, checks: list[Test]) -> None:
        names = self.names
        target, length = names.locals.name(f"{step.key}#data"), self._length_name(step.key, step.extent)
        if step.field is not None and step.field.name == "_" and step.field.value is None:
            self._padding(step, target)
            return
        value = names.value(step.key, step.field, _prefix(step), self._pieces)
        encode, careful, is_wide = "", "", False
        if isinstance(step.type, m.Text):
            encode, careful = _encoding(step.type)
            is_wide = step.type.encoding == "utf16"
            self._shared.uses.add("encode_text")
        may_be_null = isinstance(step.extent, Held) and step.extent.may_be_null
        names.counts[step.key] = length
        self._views.append(
            WritePrepare(
                target=target,
                value=value,
                length=length,
                is_text=isinstance(step.type, m.Text),
                encode=encode,
                careful=careful,
                is_wide=is_wide,
                is_nullable=may_be_null,
            )
        )
        self._settle()
        self._piece(target, length=length if not is_wide and not may_be_null else "")
        match step.extent:
            case Given(value=expression, prefix=prefix):
                if not names.is_own_count(expression, prefix, step.key):
                    pieces = self._pieces
                    checks.append(lambda: f"{length} != {names.text(expression, prefix, pieces)}")
            case Delimiter(bytes=delimiter):
                checks.append(f"({target} + {delimiter!r}).find({delimiter!r}) != {length}")
                self._piece(repr(delimiter), size=len(delimiter))
            case Held() | Rest():
                pass
            case Until():
                raise UnsupportedError(step.key, "such a length")

    def _padding(self, step: Chunk, target: str) -> None:
        if not isinstance(step.extent, Given) or not isinstance(step.type, m.Bytes):
            raise UnsupportedError(step.key, "padding of such a length, on writing")
        count = self.names.text(step.extent.value, step.extent.prefix, self._pieces)
        self._views.append(WriteAssign(target=target, value=f"bytes({count})"))
        self._piece(target)

    def _length_name(self, key: str, extent: Extent) -> str:
        return self.names.locals.name(extent.key if isinstance(extent, Held) else f"{key}#length")

    # ---- lists

    def _repeat(self, step: Repeat, checks: list[Test]) -> None:
        names = self.names
        if isinstance(step.extent, Until):
            raise UnsupportedError(step.key, "a list until something holds, on writing")
        target, length = names.locals.name(step.key), self._length_name(step.key, step.extent)
        may_be_null = isinstance(step.extent, Held) and step.extent.may_be_null
        self._views.append(
            WriteCount(
                target=target,
                value=names.value(step.key, step.field, "", self._pieces),
                length=length,
                count_limit=self._shared.count_limit,
                has_state=self._has_state,
                is_nullable=may_be_null,
            )
        )
        names.counts[step.key] = length
        self._settle()
        extent, pieces = step.extent, self._pieces
        if isinstance(extent, Given) and not names.is_own_count(extent.value, extent.prefix, step.key):
            checks.append(lambda: f"{length} != {names.text(extent.value, extent.prefix, pieces)}")
        self._loop(step, target, may_be_null=may_be_null)

    def _loop(self, step: Repeat, target: str, *, may_be_null: bool) -> None:
        names = self.names
        is_flowing, item = self._is_flowing, names.locals.name(step.item_key)
        data = "" if is_flowing else names.locals.name(f"{step.key}#data")
        parts = "parts" if is_flowing else names.locals.name(f"{step.key}#parts")
        names.items.append((step.item_key, item))
        self._is_flowing = False
        block = self._block(step.item)
        self._is_flowing = is_flowing
        names.items.pop()
        inside = (*block.steps, WritePieces(target=parts, pieces=block.pieces))
        over = f"{target} or ()" if may_be_null else target
        self._views.append(WriteRepeat(target=over, item=item, parts=parts, data=data, steps=inside))
        if data:
            self._piece(data)

    # ---- what has functions of its own

    def _invoke(self, step: Invoke, checks: list[Test]) -> None:
        names = self.names
        value, target = (
            names.value(step.key, step.field, "", self._pieces),
            names.locals.name(f"{step.key}#data"),
        )
        if step.target == "union" and step.name in self._inside:
            raise_deep = f'state.allow("{step.name}")'
            self._views.append(WriteAssign(target="", value=raise_deep))
        if step.only is not None:
            checks += self._only(step, value)
        self._views.append(WriteAssign(target=target, value=self._call(step, value)))
        self._settle()
        self._piece(target)

    def _call(self, step: Invoke, value: str) -> str:
        match step.target:
            case "union":
                return f"{self._shared.inner_writer(step.name)}({value}, state, {self.last if step.is_last else False})"
            case "message":
                return f"{self._shared.body_writer(step.name)}({self._exact(step.name, value)}, state)"
            case _:
                if step.target == "frame" and not step.key.endswith("[]"):
                    self._take_one()
                is_frame = step.target == "frame"
                writer = self._shared.writer if is_frame else self._shared.inner_writer
                return f"{writer(step.name)}({self._exact(step.name, value)}, state)"

    def _exact(self, name: str, value: str) -> str:
        """Return the value, behind a check that it is of just this class."""
        self._views.append(WriteChecks(checks=(f"type({value}) is not {class_name(name)}",)))
        return value

    def _take_one(self) -> None:
        """Count an item that is in no list."""
        if self._has_state:
            self._views.append(WriteAssign(target="", value="state.take_one()"))

    def _only(self, step: Invoke, value: str) -> list[str]:
        assert step.only is not None
        if step.target == "union":
            classes = tuple(variety_class(step.name, each) for each in step.only)
            return [f"type({value}) not in {self._shared.only(classes)}"]
        classes = tuple(class_name(each) for each in step.only)
        return [f"type({value}.message) not in {self._shared.only(classes)}"]

    def _dispatch(self, step: Dispatch, checks: list[Test]) -> None:
        names, target = self.names, self.names.locals.name(f"{step.key}#data")
        value = names.value(step.key, step.field, "", self._pieces)
        writers = f"_BODY_WRITERS{self._shared.inner_suffix.upper()}"
        self._views.append(WriteAssign(target=target, value=f"{writers}[type({value})]({value}, state)"))
        if step.only is not None:
            classes = tuple(class_name(each) for each in step.only)
            checks.append(f"type({value}) not in {self._shared.only(classes)}")
        if isinstance(step.subject, m.ContextReference):
            checks.append(f"{names.codes_table}.get(type({value})) is None")
        else:
            subject = names.text(step.subject, step.prefix, self._pieces)
            own = f"{names.codes_table}[type({value})]"
            checks += [f"{subject} != {own}"] if subject != own else []
        self._settle()
        self._piece(target)

    # ---- regions

    def _edge(self, step: Enter | Mark, checks: list[Test]) -> None:
        edge = "start" if isinstance(step, Enter) else step.edge
        key = step.key
        self.names.edges[key, edge] = (self._pieces, len(self._pieces), step.hoisted)
        if isinstance(step, Enter):
            self.names.open_regions[key] = (step.extent, checks)

    def _leave(self, step: Leave) -> None:
        names = self.names
        names.edges[step.key, "end"] = (self._pieces, len(self._pieces), 0)
        extent, checks = names.open_regions.pop(step.key)
        size = names.size_between(step.key)
        if isinstance(extent, Held):
            self._views.append(WriteAssign(target=names.locals.name(extent.key), value=size))
            self._settle()
        elif not names.is_own_size(extent.value, extent.prefix, step.key.removesuffix("#region")):
            pieces, value, prefix = self._pieces, extent.value, extent.prefix
            checks.append(lambda: f"{size} != {names.text(value, prefix, pieces)}")

    def _carry(self, step: Carry) -> None:
        names = self.names
        if not isinstance(step.carrier, m.InCompressed):
            self._joined(step, step.carrier)
            return
        if not self._has_state or not isinstance(step.extent, Held) or step.extent.may_be_null:
            raise UnsupportedError(step.key, "compressed bytes of such a length, on writing")
        inner, target = self._content(step), names.locals.name(f"{step.key}#data")
        self._shared.uses.add("deflate")
        length = names.locals.name(step.extent.key)
        algorithm = step.carrier.algorithm
        self._views.append(WriteAssign(target=target, value=f'_deflate({inner}, "{algorithm}", state)'))
        self._views.append(WriteAssign(target=length, value=f"len({target})"))
        self._settle()
        self._piece(target, length=length)

    def _content(self, step: Carry) -> str:
        """Return the expression of the bytes that are to be transformed."""
        is_flowing, self._is_flowing = self._is_flowing, False
        block = self._block(step.content)
        self._is_flowing = is_flowing
        self._views += block.steps
        return block.pieces[0] if len(block.pieces) == 1 else f"b''.join(({', '.join(block.pieces)},))"

    def _joined(self, step: Carry, carrier: m.InChunks) -> None:
        """Write one chunk, where its layout is a size, flags and the data."""
        names = self.names
        inner, target = self._content(step), names.locals.name(f"{step.key}#data")
        writer = f"{self._shared.inner_writer(carrier.struct)}_alone"
        self._shared.chunks[carrier.struct] = carrier
        self._take_one()
        self._views.append(WriteAssign(target=target, value=f"{writer}({inner})"))
        self._piece(target)

    # ---- what may be there

    def _option(self, step: Option) -> None:
        names = self.names
        target = names.locals.name(f"{step.key}#data")
        if step.is_trailing:
            condition = f"n_absent < {len(step.row)}" if names.absent_of(step.prefix) else ""
            if not condition:
                raise UnsupportedError(step.key, "trailing fields like these, on writing")
            given: tuple[str, ...] = ()
        else:
            assert step.condition is not None
            condition = names.text(step.condition, step.prefix, self._pieces)
            keys = [step.prefix + field.name for field in names.fields_of(step.field)]
            given = tuple(f"{names.attribute(key)} is not None" for key in keys)
        is_flowing, self._is_flowing = self._is_flowing, False
        block = self._block(step.steps)
        self._is_flowing = is_flowing
        self._views.append(
            WriteOption(data=target, condition=condition, steps=block.steps, pieces=block.pieces, given=given)
        )
        self._piece(target)

    def _choose(self, step: Choose) -> None:
        names = self.names
        subject = names.text(step.subject, step.prefix, self._pieces)
        target = names.locals.name(f"{step.key}#data")
        is_flowing, self._is_flowing = self._is_flowing, False
        cases = []
        for case in step.cases:
            names.arms.append((case.key, step.key))
            block = self._block(case.steps)
            names.arms.pop()
            cases.append(
                WriteCase(condition=span_test(subject, case.spans), steps=block.steps, pieces=block.pieces)
            )
        self._is_flowing = is_flowing
        has_else = any(not case.spans for case in step.cases)
        self._views.append(WriteChoose(data=target, cases=tuple(cases), has_else=has_else))
        self._settle()
        self._piece(target)

    def _check(self, step: Check, checks: list[Test]) -> None:
        if step.what == "where":
            lookup = WriteLookup(self.names, step.prefix, self._pieces)
            checks.append(lambda: f"not {python_expression(step.expression, lookup)}")


def _prefix(step: Chunk) -> str:
    return step.key.removesuffix(step.field.name) if step.field is not None else ""


def _is_blank(slot: Slot) -> bool:
    return slot.part == "padding" and slot.expected is None


def _encoding(type_: m.Text) -> tuple[str, str]:
    """Return the arguments of `encode` that are right for nearly all text, and the exact road for the rest."""
    careful = f'"{type_.encoding}", {type_.lenient}, "{type_.endian}"'
    match type_.encoding:
        case "utf8":
            return "", careful
        case "ascii" | "latin1":
            return f'"{type_.encoding}"', careful
        case "mutf8":
            return "mutf8", careful
        case "utf16":
            return "exact", careful
