"""Steps of a layout → what the template of a reading function prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    Step,
    UnsupportedError,
    Until,
)
from wiregen.views.python_expressions import python_expression, span_test
from wiregen.views.python_names import attribute
from wiregen.views.python_read_names import ReadLookup, ReadNames
from wiregen.views.python_read_runs import RunReader, decoding, numbers_of
from wiregen.views.python_shared import Shared, variety_class
from wiregen.views.python_steps import (
    On,
    ReadAssign,
    ReadCall,
    ReadCase,
    ReadCheck,
    ReadChoose,
    ReadChunk,
    ReadDispatch,
    ReadEnter,
    ReadInflate,
    ReadJoin,
    ReadLeave,
    ReadMake,
    ReadMeasure,
    ReadNumbers,
    ReadOption,
    ReadRepeat,
    ReadRest,
    ReadSearch,
    ReadStep,
    ReadVarint,
)
from wiregen.views.python_text import class_name, default_text, flat, is_shown

_LENIENT = "state is None or not state.strict"
_STRICT = "state is not None and state.strict"


class ReadBuilder:
    """Builds the steps of one reading function; follows the position through them.

    `has_state`: `state` is there. `inside`: the declarations that the function's own can stand in, for the depth.
    """

    def __init__(self, names: ReadNames, *, has_state: bool, inside: frozenset[str] = frozenset()) -> None:
        self.names = names
        self._shared: Shared = names.shared
        self._has_state = has_state
        self._inside = inside
        self.last = "True"
        """What says that the function's own declaration is the last of a region."""
        self._runs = RunReader(names)

    def steps(self, steps: Iterable[Step]) -> tuple[ReadStep, ...]:
        return tuple(view for step in steps for view in self._step(step))

    def settle(self) -> tuple[ReadAssign, ...]:
        """Return the step that makes the position variable say where the next byte is."""
        at, position = self.names.at, self.names.on.position
        self.names.arrive()
        return () if at == position else (ReadAssign(target=position, value=at),)

    def attributes(
        self, fields: Iterable[m.Field], prefix: str, *, is_tailed: bool = False
    ) -> tuple[tuple[str, str], ...]:
        """Return the attribute and the value of each field that the API shows, and what a record has besides."""
        names = self.names
        pairs = [
            (attribute(field.name), names.values[prefix + field.name])
            for field in fields
            if is_shown(field) and prefix + field.name in names.values
        ]
        if prefix not in names.tails and is_tailed:
            pairs.append(("tail", 'b""'))
        if prefix in names.absent:
            pairs.append(("absent", " + ".join(names.absent[prefix])))
        if prefix in names.tails:
            pairs.append(("tail", names.tails[prefix]))
        return tuple(pairs)

    def _step(self, step: Step) -> Iterator[ReadStep]:
        match step:
            case Run():
                yield from self._runs.run(step)
            case Number():
                yield self._number(step)
            case Chunk():
                yield from self._chunk(step)
            case Make():
                yield self._make(step)
            case Repeat():
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
            case Option():
                yield from self._option(step)
            case Choose():
                yield from self._choose(step)
            case Dispatch():
                yield self._dispatch(step)
            case Check():
                yield self._check(step)
            case _:
                assert_never(step)

    # ---- numbers, bytes and text

    def _number(self, step: Number) -> ReadVarint | ReadCall:
        names, target, at = self.names, self.names.locals.name(step.key), self.names.at
        checks = self._number_checks(step, target)
        type_ = step.type
        if isinstance(type_, m.Reference) and type_.target == "enum":
            declared = self._shared.enums[type_.name].type
            assert isinstance(declared, m.Varint)
            type_ = declared
        if isinstance(type_, m.Reference):
            names.arrive()
            call = f"{self._shared.inner_reader(type_.name)}({names.on.buffer}, {at})"
            return ReadCall(on=names.on, target=target, call=call, before=(), checks=checks)
        after = f"{names.base} + {names.added + 1}"
        names.arrive()
        self._shared.uses.add("read_varint")
        return ReadVarint(
            on=names.on,
            target=target,
            at=at,
            after=after,
            bits=type_.bits,
            lenient=f"({_LENIENT})" if type_.lenient else "False",
            is_zigzag=type_.zigzag,
            checks=checks,
        )

    def _number_checks(self, step: Number, target: str) -> tuple[str, ...]:
        if step.expected is not None:
            self.names.raws[step.key] = target
            return (f"{target} != {step.expected!r}",)
        if step.part == "length":
            self.names.raws[step.key] = target
            is_signed = isinstance(step.type, m.Varint) and step.type.zigzag
            if isinstance(step.type, m.Reference):
                is_signed = any(
                    width.wide is not None and width.wide.signed
                    for width in self._shared.codings[step.type.name].widths
                )
                return (f"{target} is not None and {target} < 0",) if is_signed else ()
            return (f"{target} < 0",) if is_signed else ()
        if isinstance(step.type, m.Reference) and step.type.target == "enum":
            return self._runs.enum_value(step.key, step.type, target)
        self.names.give(step.key, target)
        return ()

    def _chunk(self, step: Chunk) -> Iterator[ReadStep]:
        names = self.names
        is_skipped = step.field is not None and step.field.name == "_" and step.field.value is None
        target, at = names.locals.name(step.key), names.at
        unit = 2 if isinstance(step.type, m.Text) and step.type.encoding == "utf16" else 1
        length, null, before = self._length(step.key, step.extent, unit)
        yield from before
        names.counts[step.key] = length
        names.give(step.key, target)
        if null:
            names.optional.add(step.key)
        names.arrive()
        bytes_ = f"2 * {length}" if unit == 2 else length
        decode, careful = ("", "")
        if isinstance(step.type, m.Text):
            decode, careful = decoding(step.type, _LENIENT)
            self._shared.uses.add("decode_text")
        yield ReadChunk(
            on=names.on,
            target="" if is_skipped else target,
            length=bytes_,
            at=at,
            is_text=isinstance(step.type, m.Text),
            decode=decode,
            careful=careful,
            null=null,
        )
        if isinstance(step.extent, Delimiter):
            names.added = len(step.extent.bytes)

    def _length(self, key: str, extent: Extent, unit: int = 1) -> tuple[str, str, tuple[ReadStep, ...]]:
        """Return the length as an expression, the same where it may be None, and the steps that find it."""
        names = self.names
        match extent:
            case Held(key=held, may_be_null=may_be_null):
                name = names.locals.name(held)
                return name, name if may_be_null else "", ()
            case Given(value=value, prefix=prefix):
                text = python_expression(value, ReadLookup(names, prefix))
                if isinstance(value, m.Number) and value.value >= 0:
                    return text, "", ()
                name = names.locals.name(f"{key}#length")
                return name, "", (ReadMeasure(target=name, value=text),)
            case Rest():
                name = names.locals.name(f"{key}#length")
                return name, "", (ReadRest(on=names.on, target=name, at=names.at, unit=unit),)
            case Delimiter(bytes=delimiter) if unit == 1:
                name = names.locals.name(f"{key}#length")
                found = ReadSearch(on=names.on, target=name, at=names.at, delimiter=repr(delimiter))
                return name, "", (found,)
            case _:
                raise UnsupportedError(key, "such a length here")

    def _make(self, step: Make) -> ReadMake:
        target = self.names.locals.name(step.key)
        self.names.give(step.key, target)
        is_tailed = step.struct.name in self._shared.tailed
        values = self.attributes(flat(step.struct.fields), f"{step.key}.", is_tailed=is_tailed)
        return ReadMake(target=target, class_=class_name(step.struct.name), values=values)

    # ---- lists

    def _repeat(self, step: Repeat) -> Iterator[ReadStep]:
        names, target, at = self.names, self.names.locals.name(step.key), self.names.at
        is_counted = isinstance(step.extent, Held | Given)
        length, null, before = self._length(step.key, step.extent) if is_counted else ("", "", ())
        yield from before
        names.give(step.key, target)
        names.counts[step.key] = f"len({target})"
        if null:
            names.optional.add(step.key)
        names.arrive()
        numbers = numbers_of(step)
        if numbers is not None and is_counted and numbers.bits in (8, 16, 32, 64):
            yield self._numbers(step, numbers, target, length, null, at)
            return
        steps = self.steps(step.item)
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
        self, step: Repeat, numbers: m.Integer | m.Float, target: str, length: str, null: str, at: str
    ) -> ReadNumbers:
        self._shared.uses.add("Struct")
        run = step.item[0]
        assert isinstance(run, Run)
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
            size=numbers.bits // 8,
        )

    # ---- what has functions of its own

    def _invoke(self, step: Invoke) -> ReadCall:
        names, target, at = self.names, self.names.locals.name(step.key), self.names.at
        behind = f"{names.base} + {names.added + 1}"
        names.give(step.key, target)
        names.arrive()
        before = []
        if step.target == "union" and step.name in self._inside:
            before.append(f'state.allow("{step.name}")')
        if step.target == "frame" and not step.key.endswith("[]"):
            before.append(
                "state.take_one()" if self._has_state else "if state is not None:\n    state.take_one()"
            )
        return ReadCall(
            on=names.on,
            target=target,
            call=self._call(step, at, behind),
            before=tuple(before),
            checks=self._only_checks(step.target, step.name, step.only, step.is_lenient, target),
        )

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
        """Return the call of a union's reader; where the code is one byte, of the variety's own."""
        on, last = self.names.on, self.last if step.is_last else "False"
        if self._shared.is_byte_union(step.name):
            table = self._shared.union_table(step.name)
            return f"{table}[{on.buffer}[{at}]]({on.buffer}, {behind}, {on.end}, state, {last})"
        reader = self._shared.inner_reader(step.name)
        return f"{reader}({on.buffer}, {at}, {on.end}, state, {last})"

    def _only_checks(
        self, target: str, name: str, only: tuple[str, ...] | None, lenient: bool, value: str
    ) -> tuple[str, ...]:
        if only is None:
            return ()
        match target:
            case "union":
                classes = tuple(variety_class(name, each) for each in only)
            case _:
                classes = tuple(class_name(each) for each in only)
        subject = f"{value}.message" if target == "frame" else value
        test = f"type({subject}) not in {self._shared.only(classes)}"
        return (f"{_STRICT} and {test}" if lenient else test,)

    def _dispatch(self, step: Dispatch) -> ReadDispatch:
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
            can_skip=step.can_skip,
            checks=self._only_checks("message", "", step.only, step.is_lenient, target),
            is_context=isinstance(step.subject, m.ContextReference),
        )

    # ---- regions

    def _enter(self, step: Enter) -> ReadEnter:
        names, extent = self.names, step.extent
        if isinstance(extent, Held) and extent.may_be_null:
            raise UnsupportedError(step.key, "a region that may be null")
        if isinstance(extent, Given):
            length = python_expression(extent.value, ReadLookup(names, extent.prefix))
        else:
            length = names.locals.name(extent.key)
        outer, at, stop = names.on, names.behind(step.hoisted), names.locals.name(f"{step.key}#stop")
        names.enter(stop)
        return ReadEnter(on=outer, stop=stop, length=length, at=at)

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
        return ReadLeave(on=on, at=at, tail=tail, owner=owner)

    def _mark(self, step: Mark) -> Iterator[ReadStep]:
        if step.is_read:
            target = self.names.locals.name(f"{step.key}#{step.edge}")
            yield ReadAssign(target=target, value=self.names.behind(step.hoisted))

    def _carry(self, step: Carry) -> Iterator[ReadStep]:
        names = self.names
        if step.is_lenient:
            raise UnsupportedError(step.key, "left-over bytes in transformed ones")
        inner = names.inner()
        if isinstance(step.carrier, m.InCompressed):
            yield from self._inflate(step, step.carrier, inner)
        else:
            yield from self._join(step, step.carrier, inner)
        outer = names.on
        names.move(inner)
        yield from self.steps(step.content)
        if not _fills(step):
            yield ReadCheck(condition=f"{names.at} != {inner.end}")
        names.move(outer)

    def _inflate(self, step: Carry, carrier: m.InCompressed, inner: On) -> Iterator[ReadStep]:
        names, at = self.names, self.names.at
        assert step.extent is not None
        length, null, before = self._length(step.key, step.extent)
        if null or isinstance(step.extent, Delimiter) or not self._has_state:
            raise UnsupportedError(step.key, "compressed bytes of such a length")
        yield from before
        self._shared.uses.add("inflate")
        names.arrive()
        yield ReadInflate(on=names.on, inner=inner, length=length, at=at, algorithm=carrier.algorithm)

    def _join(self, step: Carry, carrier: m.InChunks, inner: On) -> Iterator[ReadStep]:
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

    # ---- what may be there

    def _option(self, step: Option) -> Iterator[ReadStep]:
        names = self.names
        if step.is_trailing:
            yield from self._trailing(step)
            return
        condition = (
            python_expression(step.condition, ReadLookup(names, step.prefix)) if step.condition else ""
        )
        before, known = list(self.settle()), frozenset(names.values)
        inside = (*self.steps(step.steps), *self.settle())
        targets, assigns = self._kept(known, step.prefix)
        before += [ReadAssign(target=target, value="None", annotation="Any") for target in targets]
        yield ReadOption(before=tuple(before), condition=condition, steps=(*inside, *assigns))

    def _trailing(self, step: Option) -> Iterator[ReadStep]:
        """Yield an option with the rest of its row inside; the first one says the defaults of all."""
        names = self.names
        before = list(self.settle())
        if step.condition is None:
            condition = f"{names.on.end} - {names.on.position} >= {step.size or 1}"
        else:
            condition = python_expression(step.condition, ReadLookup(names, step.prefix))
        is_first = names.row is None
        if names.row is None:
            names.row = names.locals.name(f"{step.prefix}{step.field.name}#absent")
            names.absent.setdefault(step.prefix, []).append(names.row)
            before.append(ReadAssign(target=names.row, value=str(len(step.row))))
            before += [self._default(field, step.prefix) for field in step.row]
        known = frozenset(names.values)
        counted = ReadAssign(target=names.row, value=str(len(step.row) - 1))
        inside = (*self.steps(step.steps), *self.settle())
        _, assigns = self._kept(known, step.prefix)
        # The value stands before what follows it in the row: a branch inside may end the function's luck, not the value.
        yield ReadOption(before=tuple(before), condition=condition, steps=(counted, *inside, *assigns))
        if is_first:
            names.row = None

    def _default(self, field: m.Field, prefix: str) -> ReadAssign:
        key = prefix + field.name
        default = default_text(field, self._shared.enums)
        if default is None:
            raise UnsupportedError(field.path, "a default like this")
        return ReadAssign(target=self.names.locals.name(key), value=default, annotation="Any")

    def _kept(self, known: frozenset[str], prefix: str) -> tuple[tuple[str, ...], tuple[ReadAssign, ...]]:
        """Return the variables of the fields that a branch has read, and what makes them their values at its end."""
        names = self.names
        targets, assigns = [], []
        for key in [key for key in names.values if key not in known]:
            value, target = names.values.pop(key), names.locals.name(key)
            names.raws.pop(key, None)
            if not _is_field(key, prefix):
                continue
            targets.append(target)
            if target != value:
                assigns.append(ReadAssign(target=target, value=value))
            names.give(key, target)
            names.optional.add(key)
        return tuple(targets), tuple(assigns)

    def _choose(self, step: Choose) -> Iterator[ReadStep]:
        names = self.names
        subject = python_expression(step.subject, ReadLookup(names, step.prefix))
        before: list[ReadAssign] = list(self.settle())
        if not subject.isidentifier():
            chosen = names.locals.name(f"{step.key}#subject")
            before.append(ReadAssign(target=chosen, value=subject))
            subject = chosen
        target, first = names.locals.name(step.key), frozenset(names.values)
        cases, targets = [], [target]
        for case in step.cases:
            known = frozenset(names.values)
            names.move(names.on)
            inside = (*self.steps(case.steps), *self.settle())
            value = names.values.pop(case.key, None)
            own = () if value is None else (ReadAssign(target=target, value=value),)
            flat, assigns = self._kept(known, step.prefix)
            targets += flat
            condition = span_test(subject, case.spans)
            cases.append(ReadCase(condition=condition, steps=(*inside, *own, *assigns)))
            if case.key in names.codes:
                names.codes.pop(case.key)
        before += [ReadAssign(target=each, value="None", annotation="Any") for each in dict.fromkeys(targets)]
        if all(case.key not in first for case in step.cases):
            names.give(step.key, target)
        names.arrive()
        has_else = any(not case.spans for case in step.cases)
        yield ReadChoose(before=tuple(before), cases=tuple(cases), has_else=has_else)

    def _check(self, step: Check) -> ReadCheck:
        names = self.names
        text = python_expression(step.expression, ReadLookup(names, step.prefix))
        if step.what == "where":
            return ReadCheck(condition=f"not {text}")
        own = names.raws.get(step.key)
        if own is None:
            raise UnsupportedError(step.field.path, "a constant of this kind")
        test = f"{own} != {text}" if text != "None" else f"{own} is not None"
        return ReadCheck(condition=f"{_STRICT} and {test}" if step.what == "tolerated" else test)


def _is_field(key: str, prefix: str) -> bool:
    """Tell whether a key is a whole field of the declaration with that prefix."""
    name = key.removeprefix(prefix)
    return key.startswith(prefix) and not any(mark in name for mark in ".[#")


def _fills(step: Carry) -> bool:
    """Tell whether the content reads to the end of its bytes by itself."""
    last = step.content[-1] if step.content else None
    return isinstance(last, Repeat) and isinstance(last.extent, Rest)
