"""Steps of a layout to the steps that the template of a reading function prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from wiregen.generate.steps.step import (
    FRAME,
    Carry,
    Check,
    Choose,
    Chunk,
    CodeDispatch,
    Delimiter,
    Enter,
    FixedRun,
    GivenLength,
    Held,
    Invoke,
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
from wiregen.generate.views.python.checks import AnyCheck, strict_if
from wiregen.generate.views.python.expressions import python_expression, python_failure
from wiregen.generate.views.python.reading.branches import BranchReader
from wiregen.generate.views.python.reading.lengths import LengthReader
from wiregen.generate.views.python.reading.names import ReadLookup, ReadNames
from wiregen.generate.views.python.reading.runs import RunReader, numbers_of
from wiregen.generate.views.python.reading.step_views import (
    On,
    ReadAssign,
    ReadCall,
    ReadCheck,
    ReadDispatch,
    ReadEnter,
    ReadInflate,
    ReadJoin,
    ReadLeave,
    ReadMake,
    ReadNumbers,
    ReadRepeat,
    ReadStep,
)
from wiregen.generate.views.python.shared import Shared, variety_class
from wiregen.generate.views.python.text import class_name, flat
from wiregen.generate.views.python.transforms import arguments_after
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.schema import model as m
from wiregen.schema.field_facts import is_code
from wiregen.schema.walk import is_compression


class ReadBuilder:
    """Builds the steps of one reading function, and tracks the position through them.

    `has_state`: the variable `state` exists. `counted`: the declarations that count as a level of nesting.
    """

    def __init__(self, names: ReadNames, *, has_state: bool, counted: frozenset[str] = frozenset()) -> None:
        self.names = names
        self._shared: Shared = names.shared
        self._has_state = has_state
        self._counted = counted
        self.last = "True"
        """The expression that the function's own declaration is the last of a region."""
        self._is_depth_checked = False
        """The depth was compared: all calls of this function are at the same depth."""
        self._runs = RunReader(names)
        self._lengths = LengthReader(names, self._runs)
        self._branches = BranchReader(self)

    def steps(self, steps: Iterable[Step]) -> tuple[ReadStep, ...]:
        before = self._is_depth_checked
        found = tuple(view for step in steps for view in self._step(step))
        self._is_depth_checked = before  # these steps may be conditional
        return found

    def settle(self) -> tuple[ReadAssign, ...]:
        """Return the steps that set the position variable to the offset of the next byte."""
        at, position = self.names.at, self.names.on.position
        self.names.arrive()
        return () if at == position else (ReadAssign(target=position, value=at),)

    def _step(self, step: Step) -> Iterator[ReadStep]:
        match step:
            case FixedRun():
                yield from self._runs.run(step)
            case VariableNumber():
                yield self._lengths.number(step)
            case Chunk():
                yield from self._lengths.chunk(step)
            case Make():
                yield self._make(step)
            case RepeatedItems():
                yield from self._repeat(step)
            case Invoke():
                yield self._invoke(step)
            case Enter():
                yield self._enter(step)
            case Mark():
                yield from self._mark(step)
            case Leave():
                yield self._leave(step)
            case Carry():
                yield from self._carry(step)
            case OptionalField():
                yield from self._branches.option(step)
            case Choose():
                yield from self._branches.choose(step)
            case CodeDispatch():
                yield self._dispatch(step)
            case Check():
                yield self._check(step)
            case _:
                assert_never(step)

    def _make(self, step: Make) -> ReadMake:
        target = self.names.locals.name(step.key)
        self.names.give(step.key, target)
        is_tailed = class_name(step.struct.name) in self._shared.tailed
        values = self.names.attributes(flat(step.struct.fields), f"{step.key}.", is_tailed=is_tailed)
        return ReadMake(target=target, class_=class_name(step.struct.name), values=values)

    # ---- lists

    def _repeat(self, step: RepeatedItems) -> Iterator[ReadStep]:
        names, target, at = self.names, self.names.locals.name(step.key), self.names.at
        is_counted = isinstance(step.extent, Held | GivenLength)
        length, null, before = self._lengths.length(step.key, step.extent) if is_counted else ("", "", ())
        yield from before
        names.give(step.key, target)
        names.counts[step.key] = f"len({target})"
        if null:
            names.optional.add(step.key)
            names.nullable.add(step.key)
        names.arrive()
        numbers = numbers_of(step)
        if numbers is not None and is_counted:
            yield self._numbers(step, numbers, target, length, null, at)
            return
        tails = dict(names.tails)
        steps = self.steps(step.item)
        yield from names.empty_tails(tails)
        end_position = f"{names.on.position} += {names.added}" if names.added else None
        if names.base != names.on.position:
            end_position = f"{names.on.position} = {names.at}"
        names.arrive()
        until = ""
        if isinstance(step.extent, Until):
            until = python_expression(
                step.extent.condition, ReadLookup(names, step.extent.prefix, step.item_key)
            )
        yield ReadRepeat(
            on=names.on,
            target=target,
            length=length,
            null=null,
            at=at,
            count_limit=self._shared.count_limit,
            has_state=self._has_state,
            smallest=step.smallest,
            is_to_end=isinstance(step.extent, Rest),
            until=until,
            steps=steps,
            item=names.values[step.item_key],
            end_position=end_position,
        )

    def _numbers(
        self, step: RepeatedItems, numbers: m.Integer | m.Float, target: str, length: str, null: str, at: str
    ) -> ReadNumbers:
        self._shared.uses.add("Struct")
        run = step.item[0]
        assert isinstance(run, FixedRun)
        return ReadNumbers(
            on=self.names.on,
            target=target,
            length=length,
            null=null,
            at=at,
            count_limit=self._shared.count_limit,
            has_state=self._has_state,
            format_prefix="<" if numbers.endian == "little" else ">",
            format=self._shared.format(run.slots[0]),
            size=numbers.size,
        )

    # ---- values with functions of their own

    def _invoke(self, step: Invoke) -> ReadCall:
        names, target, at = self.names, self.names.locals.name(step.key), self.names.at
        behind = f"{names.base} + {names.added + 1}"
        names.give(step.key, target)
        names.arrive()
        before = []
        if step.target == "union" and step.name in self._counted and not self._is_depth_checked:
            before.append(self._of_state("allow"))
            self._is_depth_checked = True
        if step.target == "frame" and not step.key.endswith("[]"):
            before.append(self._of_state("take_one"))
        return ReadCall(
            on=names.on,
            target=target,
            call=self._call(step, at, behind),
            before=tuple(before),
            checks=self._only_checks(step.target, step.name, step.only, step.is_lenient, target),
        )

    def _of_state(self, method: str) -> str:
        """Return the call of a method of the state, if there is a state."""
        return f"state.{method}()" if self._has_state else f"if state is not None:\n    state.{method}()"

    def _call(self, step: Invoke, at: str, behind: str) -> str:
        on = self.names.on
        arguments = f"{on.buffer}, {at}, {on.end}, state"
        match step.target:
            case "union":
                return self._union_call(step, at, behind)
            case "message":
                return f"{self._shared.body_reader(step.name)}({arguments})"
            case "frame":
                return f"{self._shared.reader(step.name)}({arguments})"
            case _:
                return f"{self._shared.inner_reader(step.name)}({arguments})"

    def _union_call(self, step: Invoke, at: str, behind: str) -> str:
        """Return the call of a union's reader or, if its code is one byte, of the alternative's own."""
        on, last = self.names.on, self._is_last(step)
        if self._shared.is_byte_union(step.name):
            table = self._shared.union_table(step.name)
            return f"{table}[{on.buffer}[{at}]]({on.buffer}, {behind}, {on.end}, state, {last})"
        reader = self._shared.inner_reader(step.name)
        return f"{reader}({on.buffer}, {at}, {on.end}, state, {last})"

    def _is_last(self, step: Invoke) -> str:
        """Return the expression that the value is the last one, which is certain in a region of this function's own."""
        is_within = self.names.on != On()
        return ("True" if is_within else self.last) if step.is_last else "False"

    def _only_checks(
        self, target: str, name: str, only: tuple[str, ...] | None, lenient: bool, value: str
    ) -> tuple[AnyCheck, ...]:
        if only is None:
            return ()
        match target:
            case "union":
                classes = tuple(variety_class(name, each) for each in only)
            case _:
                classes = tuple(class_name(each) for each in only)
        subject = f"{value}.message" if target == "frame" else value
        return (strict_if(lenient, f"type({subject}) not in {self._shared.only(classes)}"),)

    def _dispatch(self, step: CodeDispatch) -> ReadDispatch:
        names, target, at = self.names, self.names.locals.name(step.key), self.names.at
        subject = python_expression(step.subject, ReadLookup(names, step.prefix))
        code = names.locals.name(f"{step.key}#code")
        names.codes[step.key] = code
        names.give(step.key, target)
        names.arrive()
        self._shared.uses.add("dispatch")
        if step.can_skip:
            self._shared.uses.add("Unknown")
        return ReadDispatch(
            on=names.on,
            target=target,
            code=code,
            code_value=subject,
            readers=self._shared.readers_of(names.sender),
            at=at,
            can_skip=step.can_skip and not step.is_total,
            checks=self._only_checks("message", "", step.only, step.is_lenient, target),
            is_context=isinstance(step.subject, m.ContextReference),
        )

    # ---- regions

    def _enter(self, step: Enter) -> ReadEnter:
        names, extent = self.names, step.extent
        if isinstance(extent, Held) and extent.may_be_null:
            raise UnsupportedError(step.key, "a region that may be null")
        if isinstance(extent, GivenLength):
            length = python_expression(extent.value, ReadLookup(names, extent.prefix))
        else:
            length = names.locals.name(extent.key)
        outer, at, stop = names.on, names.behind(step.hoisted), names.locals.name(f"{step.key}#stop")
        names.enter(stop)
        checks = (f"{stop} > {outer.end}",)
        return ReadEnter(on=outer, stop=stop, length=length, at=at, checks=checks)

    def _leave(self, step: Leave) -> ReadLeave:
        names, at, on = self.names, self.names.at, self.names.on
        names.leave()
        tail, owner = "", ""
        if step.is_lenient and step.is_made:
            owner = names.values[step.owner]
        elif step.is_lenient:
            if step.owner in names.values:
                owner = names.values[step.owner]
            else:
                tail = names.tails[step.owner] = names.locals.name(f"{step.key}#tail")
        return ReadLeave(on=on, at=at, tail=tail, owner=owner, is_padded=step.is_padded)

    def _mark(self, step: Mark) -> Iterator[ReadStep]:
        if step.is_read:
            target = self.names.locals.name(f"{step.key}#{step.edge}")
            self.names.edges[step.key, step.edge] = self.names.on.buffer
            yield ReadAssign(target=target, value=self.names.behind(step.hoisted))

    def _carry(self, step: Carry) -> Iterator[ReadStep]:
        names = self.names
        if step.is_lenient:
            raise UnsupportedError(step.key, "left-over bytes in transformed ones")
        inner = names.inner()
        if isinstance(step.carrier, m.Compressed):
            yield from self._inflate(step, step.carrier, inner)
        else:
            yield from self._join(step, step.carrier, inner)
        outer = names.on
        names.move(inner)
        yield from self.steps(step.content)
        if not step.fills:
            yield ReadCheck(checks=(f"{names.at} != {inner.end}",))
        names.move(outer)

    def _inflate(self, step: Carry, carrier: m.Compressed, inner: On) -> Iterator[ReadStep]:
        names, at = self.names, self.names.at
        assert step.extent is not None
        length, null, before = self._lengths.length(step.key, step.extent)
        if null or isinstance(step.extent, Delimiter) or (is_compression(carrier) and not self._has_state):
            raise UnsupportedError(step.key, "compressed bytes of such a length")
        yield from before
        reader = TRANSFORMS[carrier.algorithm].reader
        self._shared.uses.add(reader)
        names.arrive()
        yield ReadInflate(
            on=names.on,
            inner=inner,
            length=length,
            at=at,
            function=f"_{reader}",
            arguments=arguments_after(carrier),
        )

    def _join(self, step: Carry, carrier: m.Chunks, inner: On) -> Iterator[ReadStep]:
        names = self.names
        yield from self.settle()
        steps = self.steps(step.chunk)
        end_position = f"{names.on.position} = {names.at}" if names.at != names.on.position else None
        names.arrive()
        item = f"{step.key}[]"
        yield ReadJoin(
            on=names.on,
            inner=inner,
            pieces=names.locals.name(f"{step.key}#pieces"),
            at=names.on.position,
            data=names.values[f"{item}.{carrier.data}"],
            until=python_expression(carrier.until, ReadLookup(names, step.prefix, item)),
            steps=steps,
            end_position=end_position,
            has_state=self._has_state,
        )

    def _check(self, step: Check) -> ReadCheck:
        names = self.names
        lookup = ReadLookup(names, step.prefix, step.item)
        if step.what == "where":
            return ReadCheck(checks=(python_failure(step.expression, lookup),))
        own = names.raws.get(step.key)
        if own is None:
            raise UnsupportedError(step.field.path, "a constant of this kind")
        is_of_body = bool(names.codes_table) and step.prefix == FRAME and is_code(step.expression)
        text = lookup.code_of_body(own) if is_of_body else python_expression(step.expression, lookup)
        test = f"{own} != {text}" if text != "None" else f"{own} is not None"
        if isinstance(step.field.type, m.Float):
            test = f'{lookup.use("FLOATS")}["{step.field.type.format}"].differs({own}, {text})'
        return ReadCheck(checks=(strict_if(step.what == "tolerated", test),))
