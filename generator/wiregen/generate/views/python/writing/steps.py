"""Steps of a layout to the steps that the template of a writing function prints.

Values with a length are prepared first, because the length may be far before them; then the pieces follow in
wire order. Steps without a straight-line form are left to the reference codec, which writes the values that
this code refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from wiregen.generate.steps.step import (
    Carry,
    Check,
    Choose,
    Chunk,
    CodeDispatch,
    Delimiter,
    Enter,
    Extent,
    FixedRun,
    GivenLength,
    Held,
    Invoke,
    LayoutSteps,
    Leave,
    Make,
    Mark,
    OptionalField,
    RepeatedItems,
    Rest,
    Step,
    UnsupportedError,
    Until,
    VariableNumber,
)
from wiregen.generate.views.python.expressions import python_failure
from wiregen.generate.views.python.layouts import is_measured
from wiregen.generate.views.python.text import argument_text, class_name, encoding_text
from wiregen.generate.views.python.writing.asked_values import INTEGER, class_test
from wiregen.generate.views.python.writing.branches import BranchWriter
from wiregen.generate.views.python.writing.calls import CallWriter
from wiregen.generate.views.python.writing.names import Test, WriteLookup, WriteNames, WrittenBytes, prefix_of
from wiregen.generate.views.python.writing.runs import RunWriter
from wiregen.generate.views.python.writing.step_views import (
    PreparedSteps,
    WriteAssign,
    WriteChecks,
    WriteCount,
    WritePieces,
    WritePrepare,
    WriteRepeat,
    WriteStep,
)
from wiregen.schema import model as m

__all__ = ["WriteBuilder"]


class WriteBuilder:
    """Builds the steps of one writing function."""

    def __init__(
        self, names: WriteNames, *, has_state: bool, counted: frozenset[str] = frozenset(), last: str = "True"
    ) -> None:
        self.names = names
        self._shared = names.shared
        self.has_state = has_state
        self.last = last
        """The expression that the function's own declaration is the last of a region."""
        self.views: list[WriteStep] = []
        self.pieces: list[WrittenBytes] = []
        self.is_flowing = False
        self.is_transformed = False
        """Whether the output is compressed, or laid in chunks."""
        self.is_depth_checked = False
        """The depth was compared: all calls of this function are at the same depth."""
        self._runs = RunWriter(names)
        self._branches = BranchWriter(self)
        self._calls = CallWriter(self, counted)

    def function(self, layout: LayoutSteps) -> tuple[tuple[WriteStep, ...], tuple[str, ...] | None]:
        """Return the steps of the whole function, and its pieces; None if they are joined step by step."""
        names = self.names
        pieces: tuple[str, ...] | None = None
        if any(isinstance(step, RepeatedItems) for step in layout.steps) and not is_measured(layout.steps):
            steps = self.flowing(layout.steps)
        else:
            steps, pieces = self.whole(layout.steps)
        return (*names.asked.of_function({*names.item_variables.values()}, names.locals), *steps), pieces

    def flowing(self, steps: tuple[Step, ...]) -> tuple[WriteStep, ...]:
        """Return steps that fill `parts`; a list ends a block, because its pieces are added one by one."""
        views: list[WriteStep] = []
        self.is_flowing = True
        block: list[Step] = []
        for step in steps:
            block.append(step)
            if isinstance(step, RepeatedItems):
                views += self._flow(block)
                block = []
        return (*views, *self._flow(block))

    def _flow(self, steps: list[Step]) -> tuple[WriteStep, ...]:
        """Return a block; the loop of a list comes after the pieces before it."""
        block = self.block(steps)
        loops = tuple(step for step in block.steps if isinstance(step, WriteRepeat) and not step.data)
        rest = tuple(step for step in block.steps if step not in loops)
        pieces = (WritePieces(target="parts", pieces=block.pieces),) if block.pieces else ()
        return (*rest, *pieces, *loops)

    def whole(self, steps: tuple[Step, ...]) -> tuple[tuple[WriteStep, ...], tuple[str, ...]]:
        """Return steps that only prepare values, and all pieces in wire order."""
        block = self.block(steps)
        return block.steps, block.pieces

    def block(self, steps: Iterable[Step]) -> PreparedSteps:
        """Return the preparations and the pieces of steps; pieces may refer to sizes of later ones."""
        outer, self.views, self.pieces = (self.views, self.pieces), [], []
        waiting, self.names.waiting = self.names.waiting, []
        sizes, self.names.sizes = self.names.sizes, {}
        arm_tests, self.names.arm_tests = self.names.arm_tests, []
        checks: list[Test] = []
        is_depth_checked = self.is_depth_checked
        for step in steps:
            self._step(step, checks)
        self.is_depth_checked = is_depth_checked  # the block may be conditional
        assert not self.names.waiting, "a length that nothing has"
        self.names.waiting = waiting
        tests = tuple(test if isinstance(test, str) else test() for test in checks)
        pieces = tuple(piece.text() for piece in self.pieces)
        tests = (*dict.fromkeys(self.names.arm_tests), *tests)
        self.names.arm_tests = arm_tests
        self.views += [WriteAssign(target=name, value=text) for text, name in self.names.sizes.items()]
        self.names.sizes = sizes
        if tests := tuple(test for test in tests if test != "not True"):
            self.views.append(WriteChecks(checks=tests))
        block = PreparedSteps(steps=tuple(self.views), pieces=pieces)
        self.views, self.pieces = outer
        return block

    def _step(self, step: Step, checks: list[Test]) -> None:
        match step:
            case FixedRun():
                self._runs.run(step, self.pieces, checks)
            case VariableNumber():
                self._number(step)
            case Chunk():
                self._chunk(step, checks)
            case Make():
                self._make(step, checks)
            case RepeatedItems():
                self._repeat(step, checks)
            case Invoke():
                self._calls.invoke(step, checks)
            case Enter() | Mark():
                self._edge(step, checks)
            case Leave():
                self._leave(step)
            case Carry():
                self._branches.carry(step)
            case OptionalField():
                self._branches.option(step)
            case Choose():
                self._branches.choose(step)
            case CodeDispatch():
                self._calls.dispatch(step, checks)
            case Check():
                self._check(step, checks)
            case _:
                assert_never(step)

    def piece(self, text: str, size: int | None = None, length: str = "") -> None:
        self.pieces.append(WrittenBytes(text=lambda: text, size=size, length=length or f"len({text})"))

    def _make(self, step: Make, checks: list[Test]) -> None:
        """Check the class of a struct: any object with its attributes would pass otherwise."""
        value = self.names.attribute(step.key)
        checks.append(f"type({value}) is not {class_name(step.struct.name)}")

    # ---- numbers, bytes and text

    def _number(self, step: VariableNumber) -> None:
        if step.part == "length":
            text = self.names.locals.name(step.key)
        elif step.expected is not None:
            text = repr(step.expected)
        elif step.part == "padding":
            text = "0"
        else:
            text = self.at_once(
                lambda: self.names.value(step.key, step.field, step.prefix, self.pieces, self._test(step))
            )
        if (
            text.isdecimal()
            and int(text) < 128
            and isinstance(step.type, m.Varint)
            and not step.type.is_zigzag
        ):
            self.piece(repr(bytes((int(text),))), size=1)
            return
        target = self.names.locals.name(f"{step.key}#data")
        self._late(target, self._number_bytes(step, text), text if step.part == "length" else "")
        self.piece(target)

    def _test(self, step: VariableNumber) -> str:
        """Return the test of the class of a number; that of a closed enum is among its members."""
        is_enum = isinstance(step.type, m.EnumReference)
        return class_test(step.type, self._shared) if is_enum else INTEGER

    def _late(self, target: str, value: str, length: str) -> None:
        """Add an assignment; one that needs a length is delayed until the bytes of that length are prepared."""
        view = WriteAssign(target=target, value=value)
        if length:
            self.names.waiting.append((length, view))
        else:
            self.views.append(view)

    def _number_bytes(self, step: VariableNumber, text: str) -> str:
        type_ = step.type
        if isinstance(type_, m.CodingReference):
            return f"{self._shared.inner_writer(type_.name)}({argument_text(text)})"
        if isinstance(type_, m.EnumReference):
            declared = self._shared.enums[type_.name].type
            assert isinstance(declared, m.Varint)
            if step.expected is None and (checks := self._runs.enum_checks(type_, text)):
                self.views.append(WriteChecks(checks=checks))
            type_ = declared
        self._shared.uses.add("varint")
        value = f"{text} << 1 ^ {text} >> {type_.bits - 1}" if type_.is_zigzag else text
        return f"_varint({value}, {type_.bits})"

    def settle(self, length: str) -> None:
        """Add the assignments that waited for the variable `length`."""
        waiting = self.names.waiting
        self.views += [view for name, view in waiting if name == length]
        self.names.waiting = [(name, view) for name, view in waiting if name != length]

    def _chunk(self, step: Chunk, checks: list[Test]) -> None:
        names = self.names
        target, length = names.locals.name(f"{step.key}#data"), self._length_name(step.key, step.extent)
        if step.field is not None and step.field.name == "_" and step.field.value is None:
            self._padding(step, target)
            return
        value = names.value(step.key, step.field, prefix_of(step), self.pieces)
        encode, arguments, is_wide = "", "", False
        if isinstance(step.type, m.Text):
            encode, arguments = encoding_text(step.type)
            is_wide = step.type.encoding == "utf16"
            self._shared.uses.add("encode_text")
        may_be_null = isinstance(step.extent, Held) and step.extent.may_be_null
        if not may_be_null:
            names.counts[step.key] = length
        self.views.append(
            WritePrepare(
                target=target,
                value=value,
                length=length,
                is_text=isinstance(step.type, m.Text),
                encode=encode,
                arguments=arguments,
                is_wide=is_wide,
                is_nullable=may_be_null,
            )
        )
        self.settle(length)
        self.piece(target, length=length if not is_wide and not may_be_null else "")
        match step.extent:
            case GivenLength(value=expression, prefix=prefix):
                if not names.is_own_count(expression, prefix, step.key):
                    pieces = self.pieces
                    checks.append(lambda: f"{length} != {names.text(expression, prefix, pieces)}")
            case Delimiter() if is_wide:
                raise UnsupportedError(step.key, "a delimiter of wide text, on writing")
            case Delimiter(bytes=delimiter):
                checks.append(f"({target} + {delimiter!r}).find({delimiter!r}) != {length}")
                self.piece(repr(delimiter), size=len(delimiter))
            case Held() | Rest():
                pass
            case Until():
                raise UnsupportedError(step.key, "such a length")

    def _padding(self, step: Chunk, target: str) -> None:
        if not isinstance(step.extent, GivenLength) or not isinstance(step.type, m.Bytes):
            raise UnsupportedError(step.key, "padding of such a length, on writing")
        count = self.text_here(step.extent.value, step.extent.prefix)
        self.views.append(WriteAssign(target=target, value=f"bytes({count})"))
        self.piece(target)

    def text_here(self, expression: m.Expression, prefix: str) -> str:
        """Return the text of an expression that is needed before all parts of its block are known."""
        return self.at_once(lambda: self.names.text(expression, prefix, self.pieces))

    def at_once(self, text: Callable[[], str]) -> str:
        """Return a text, and compute the sums of sizes in it before it, which only include earlier parts."""
        sizes, self.names.sizes = self.names.sizes, {}
        found = text()
        self.views += [WriteAssign(target=name, value=text) for text, name in self.names.sizes.items()]
        self.names.sizes = sizes
        return found

    def _length_name(self, key: str, extent: Extent) -> str:
        return self.names.locals.name(extent.key if isinstance(extent, Held) else f"{key}#length")

    # ---- lists

    def _repeat(self, step: RepeatedItems, checks: list[Test]) -> None:
        names = self.names
        if isinstance(step.extent, Until):
            raise UnsupportedError(step.key, "a list until something holds, on writing")
        target, length = names.locals.name(step.key), self._length_name(step.key, step.extent)
        may_be_null = isinstance(step.extent, Held) and step.extent.may_be_null
        self.views.append(
            WriteCount(
                target=target,
                value=names.value(step.key, step.field, "", self.pieces),
                length=length,
                count_limit=self._shared.count_limit,
                has_state=self.has_state,
                may_have_state=not names.is_method,
                is_nullable=may_be_null,
            )
        )
        if not may_be_null:
            names.counts[step.key] = length
        self.settle(length)
        extent, pieces = step.extent, self.pieces
        if isinstance(extent, GivenLength) and not names.is_own_count(extent.value, extent.prefix, step.key):
            checks.append(lambda: f"{length} != {names.text(extent.value, extent.prefix, pieces)}")
        self._loop(step, target, may_be_null=may_be_null)

    def _loop(self, step: RepeatedItems, target: str, *, may_be_null: bool) -> None:
        names = self.names
        is_flowing, item = self.is_flowing, names.locals.name(step.item_key)
        data = "" if is_flowing else names.locals.name(f"{step.key}#data")
        parts = "parts" if is_flowing else names.locals.name(f"{step.key}#parts")
        names.items.append((names.chosen(step.item_key), item))
        names.item_variables[step.item_key] = item
        self.is_flowing = False
        block = self.block(step.item)
        self.is_flowing = is_flowing
        names.items.pop()
        asked = names.asked.of_loop(item, names.locals)
        inside = (*asked, *block.steps, WritePieces(target=parts, pieces=block.pieces))
        over = f"{target} or ()" if may_be_null else target
        is_first = bool(data) and parts not in names.lists
        names.lists.add(parts)
        self.views.append(
            WriteRepeat(target=over, item=item, parts=parts, data=data, is_first=is_first, steps=inside)
        )
        if data:
            self.piece(data)

    def take_one(self) -> None:
        """Count an item that is not in a list."""
        if self.has_state:
            self.views.append(WriteAssign(target="", value="state.take_one()"))

    # ---- regions

    def _edge(self, step: Enter | Mark, checks: list[Test]) -> None:
        edge = "start" if isinstance(step, Enter) else step.edge
        self.names.edges[step.key, edge] = (self.pieces, len(self.pieces), step.hoisted)
        if isinstance(step, Enter):
            self.names.open_regions[step.key] = (step.extent, checks)

    def _leave(self, step: Leave) -> None:
        names = self.names
        names.edges[step.key, "end"] = (self.pieces, len(self.pieces), 0)
        extent, checks = names.open_regions.pop(step.key)
        size = names.size_between(step.key)
        if isinstance(extent, Held):
            length = names.locals.name(extent.key)
            self.views.append(WriteAssign(target=length, value=size))
            self.settle(length)
        elif not names.is_own_size(extent.value, extent.prefix, step.key.removesuffix("#region")):
            if step.is_padded:
                raise UnsupportedError(step.key, "a lenient region of given size, on writing")
            pieces, value, prefix = self.pieces, extent.value, extent.prefix
            checks.append(lambda: f"{size} != {names.text(value, prefix, pieces)}")

    def _check(self, step: Check, checks: list[Test]) -> None:
        lookup = WriteLookup(self.names, step.prefix, self.pieces, step.item)
        lookup.refuse_wholes(step.expression)
        if step.what == "where":
            checks.append(lambda: python_failure(step.expression, lookup))
