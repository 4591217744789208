"""The reading and writing functions of a module: one per message, frame, variety, recursive struct and preamble.

A function that has no straight-line form only refuses: the careful codec does its work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wiregen import model as m
from wiregen.naming import snake_case
from wiregen.plan import frame_layout, layout_of
from wiregen.plan.flatten import recursive_structs
from wiregen.plan.steps import FRAME, Enter, Layout, Mark, Option, Repeat, Step, UnsupportedError
from wiregen.views.python_classes import shown_fields, single_code
from wiregen.views.python_names import Locals
from wiregen.views.python_read import ReadBuilder
from wiregen.views.python_read_names import ReadNames
from wiregen.views.python_shared import Shared, variety_class
from wiregen.views.python_steps import ReadStep, WriteStep
from wiregen.views.python_text import class_name, flat
from wiregen.views.python_write import WriteBuilder
from wiregen.views.python_write_names import WriteNames
from wiregen.walk import references

__all__ = ["FunctionBuilder", "ReadFunction", "WriteFunction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFunction:
    """A reading function; `state` says when one is made: never, for `large` frames, or `always`."""

    name: str
    result: str
    has_last: bool
    must_be_last: bool
    is_refused: bool
    refuses_strict: bool
    """It keeps what is not known, which is not strict."""
    state: str
    enter: str
    steps: tuple[ReadStep, ...]
    end: str
    limit: int | None
    fixed_size: int | None
    class_: str
    target: str
    values: tuple[tuple[str, str], ...]

    @property
    def has_prologue(self) -> bool:
        return self.state != "never" or self.must_be_last or bool(self.enter) or self.refuses_strict


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFunction:
    """A writing function; `pieces` is None where `parts` are filled as it goes."""

    name: str
    owner: str
    class_: str
    annotation: str
    parameters: str
    has_last: bool
    must_be_last: bool
    is_refused: bool
    state: str
    enter: str
    n_trailing: int
    steps: tuple[WriteStep, ...]
    pieces: tuple[str, ...] | None
    limit: int | None
    is_fixed: bool

    @property
    def has_prologue(self) -> bool:
        return self.state == "always" or self.must_be_last or bool(self.enter) or self.n_trailing > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Traits:
    """What a function is beside its steps."""

    name: str
    is_frame: bool
    enter: str = ""
    has_last: bool = False
    must_be_last: bool = False
    is_heavy: bool = False
    """It inflates, or can stand in itself: it always needs a state."""


class FunctionBuilder:
    """Builds the functions of one protocol in one layout."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._protocol = shared.protocol
        self._reached = _reached(self._protocol)
        self._bodies_end = _bodies_end(self._protocol)

    # ---- traits

    def inside(self, name: str) -> frozenset[str]:
        """Return the unions, messages and structs that a declaration can stand in, if it can stand in itself."""
        reached = self._reached.get(name, frozenset())
        return frozenset(each for each in reached if name in self._reached.get(each, frozenset()))

    def _state(self, layout: Layout, traits: _Traits) -> str:
        if traits.is_heavy or _inflates(layout.steps):
            return "always"
        return "large" if traits.is_frame and _n_lists(layout.steps) > 1 else "never"

    # ---- reading

    def read(
        self,
        layout: Layout | UnsupportedError,
        names: ReadNames,
        traits: _Traits,
        class_: str,
        fields: tuple[m.Field, ...],
        prefix: str,
        extra: tuple[tuple[str, str], ...] = (),
    ) -> ReadFunction:
        """Return a reading function that makes a `class_` of fields whose keys begin with `prefix`."""
        wire_name = traits.enter or class_
        try:
            if isinstance(layout, UnsupportedError):
                raise layout
            state = self._state(layout, traits)
            builder = ReadBuilder(names, has_state=state == "always", inside=self.inside(traits.enter))
            builder.last = "is_last" if traits.has_last else "True"
            steps = builder.steps(layout.steps)
            is_tailed = class_ in {class_name(each) for each in self._shared.tailed}
            values = builder.attributes(fields, prefix, is_tailed=is_tailed)
        except UnsupportedError as error:
            self._shared.refused.append(f"{wire_name}: {error.unsupported.construct}")
            return self._refused_reader(traits, class_)
        return ReadFunction(
            name=traits.name,
            result=class_,
            has_last=traits.has_last,
            must_be_last=traits.must_be_last,
            is_refused=False,
            refuses_strict=class_ == "Unknown",
            state=state,
            enter=traits.enter if traits.is_heavy else "",
            steps=steps,
            end="" if names.at == "position" else names.at,
            limit=self._shared.frame_limit if traits.is_frame else None,
            fixed_size=layout.fixed_size,
            class_=class_,
            target="frame" if names.message is None and traits.is_frame else "message",
            values=(*values, *extra),
        )

    def _refused_reader(self, traits: _Traits, class_: str) -> ReadFunction:
        return ReadFunction(
            name=traits.name,
            result=class_,
            has_last=traits.has_last,
            must_be_last=False,
            is_refused=True,
            refuses_strict=False,
            state="never",
            enter="",
            steps=(),
            end="",
            limit=None,
            fixed_size=None,
            class_=class_,
            target="message",
            values=(),
        )

    def _names(self, *, is_frame: bool, sender: str | None) -> ReadNames:
        return ReadNames(shared=self._shared, is_frame=is_frame, sender=repr(sender))

    def read_message(self, frame: m.Frame, message: m.Message, wanted: frozenset[str]) -> ReadFunction:
        """Return the function that reads a whole frame for one message."""
        names = self._names(is_frame=True, sender=frame.role)
        names.is_whole, names.message, names.body, names.wanted = True, message, frame.message, wanted
        traits = self._traits(message.name, self._shared.reader(message.name), is_frame=True)
        layout = _laid(lambda: frame_layout(self._protocol, frame, message))
        return self.read(layout, names, traits, class_name(message.name), flat(message.fields), "")

    def read_unknown(self, frame: m.Frame, wanted: frozenset[str]) -> ReadFunction:
        """Return the function that reads a whole frame whose message is not known."""
        data = replace(_BYTES, path=f"{frame.path}.Unknown.data")
        message = m.Message(
            path=frame.path, name="Unknown", doc="", code=None, role=None, fields=(data,), notes=m.Notes()
        )
        names = self._names(is_frame=True, sender=frame.role)
        names.is_whole, names.message, names.body, names.reads_code = True, message, frame.message, True
        code = next(key for key in _code_fields(frame))
        names.wanted = wanted | {code}
        traits = _Traits(name="_read_unknown" + self._shared.suffix, is_frame=True)
        layout = _laid(lambda: frame_layout(self._protocol, frame, message))
        self._shared.uses.add("Unknown")
        function = self.read(layout, names, traits, "Unknown", (data,), "")
        # Left-over bytes there are none: what is not known takes all of its region.
        values = tuple(pair for pair in function.values if pair[0] != "tail")
        steps = tuple(replace(step, tail="") if step.kind == "leave" else step for step in function.steps)
        return replace(function, steps=steps, values=(*values, ("code", names.locals.name(FRAME + code))))

    def read_body(self, message: m.Message) -> ReadFunction:
        """Return the function that reads a message by itself."""
        names = self._names(is_frame=False, sender=message.role)
        traits = self._traits(message.name, self._shared.body_reader(message.name))
        layout = _laid(lambda: layout_of(self._protocol, message.fields, is_bounded=self._bodies_end))
        return self.read(layout, names, traits, class_name(message.name), flat(message.fields), "")

    def read_frame(self, frame: m.Frame) -> ReadFunction:
        """Return the function that reads a frame and whichever message it carries."""
        names = self._names(is_frame=True, sender=frame.role)
        names.body, names.reads_code = frame.message, True
        traits = _Traits(name=self._shared.reader(frame.name), is_frame=True, is_heavy=False)
        layout = _laid(lambda: frame_layout(self._protocol, frame, None))
        header = tuple(field for field in flat(frame.fields) if field.name != frame.message)
        function = self.read(layout, names, traits, class_name(frame.name), header, FRAME)
        if function.is_refused or frame.message is None:
            return replace(function, target="frame")
        body = ("message", names.values[FRAME + frame.message])
        return replace(function, values=(body, *function.values), target="frame")

    def read_struct(self, struct: m.Struct) -> ReadFunction:
        names = self._names(is_frame=False, sender=None)
        traits = self._traits(struct.name, self._shared.inner_reader(struct.name), is_heavy=True)
        layout = _laid(lambda: layout_of(self._protocol, struct.fields))
        return self.read(layout, names, traits, class_name(struct.name), flat(struct.fields), "")

    def read_preamble(self, preamble: m.Preamble) -> ReadFunction:
        names = self._names(is_frame=True, sender=preamble.role)
        traits = _Traits(name=self._shared.inner_reader(preamble.name), is_frame=True)
        layout = _laid(lambda: layout_of(self._protocol, preamble.fields))
        return self.read(layout, names, traits, class_name(preamble.name), flat(preamble.fields), "")

    def read_variety(self, union: m.Union, variety: m.Variety) -> ReadFunction:
        """Return the function that reads what stands behind the code of a union."""
        names = self._names(is_frame=False, sender=None)
        is_heavy = union.name in self._reached_by(variety)
        traits = _Traits(
            name=f"{self._shared.inner_reader(union.name)}_{snake_case(variety.name)}",
            is_frame=False,
            enter=union.name if is_heavy else "",
            has_last=True,
            must_be_last=_reaches_end(variety.fields, self._protocol),
            is_heavy=is_heavy,
        )
        extra: tuple[tuple[str, str], ...] = ()
        layout = _laid(lambda: layout_of(self._protocol, variety.fields, is_bounded=True))
        if single_code(variety) is None:
            is_byte = isinstance(union.type, m.Integer) and (union.type.bits, union.type.signed) == (8, False)
            extra = (("code", "buffer[offset - 1]"),)
            layout = (
                layout
                if is_byte
                else UnsupportedError(variety.path, "several codes that are no single bytes")
            )
        class_ = variety_class(union.name, variety.name)
        return self.read(layout, names, traits, class_, flat(variety.fields), "", extra)

    def _traits(self, name: str, function: str, *, is_frame: bool = False, is_heavy: bool = False) -> _Traits:
        is_heavy = is_heavy or name in self._reached.get(name, frozenset())
        return _Traits(name=function, is_frame=is_frame, enter=name, is_heavy=is_heavy)

    def _reached_by(self, variety: m.Variety) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for reference in references(*(field.type for field in variety.fields)):
            found |= {reference.name} | self._reached.get(reference.name, frozenset())
        return found

    # ---- writing

    def write(
        self,
        layout: Layout | UnsupportedError,
        names: WriteNames,
        traits: _Traits,
        class_: str,
        parameters: str = "",
        fields: tuple[m.Field, ...] = (),
    ) -> WriteFunction:
        """Return a writing function of a `class_`."""
        steps: tuple[WriteStep, ...] = ()
        pieces: tuple[str, ...] | None = ()
        is_refused, is_fixed, state = False, False, "never"
        try:
            if isinstance(layout, UnsupportedError):
                raise layout
            state = self._state(layout, traits)
            state = "always" if state == "large" else state
            builder = WriteBuilder(names, has_state=state == "always", inside=self.inside(traits.enter))
            builder.last = "is_last" if traits.has_last else "True"
            if any(isinstance(step, Repeat) for step in layout.steps) and not _is_measured(layout.steps):
                steps, pieces = builder.flowing(layout.steps), None
            else:
                steps, pieces = builder.whole(layout.steps)
            is_fixed = layout.fixed_size is not None and len(pieces or ()) == 1
        except UnsupportedError as error:
            self._shared.refused_writes.append(f"{traits.enter or class_}: {error.unsupported.construct}")
            is_refused = True
        return WriteFunction(
            name=traits.name,
            owner=names.owner,
            class_=class_,
            annotation="Any" if is_refused or _has_options(layout) else class_,
            parameters=parameters,
            has_last=traits.has_last,
            must_be_last=traits.must_be_last,
            is_refused=is_refused,
            state=state,
            enter=traits.enter if traits.is_heavy else "",
            n_trailing=sum(isinstance(field.value, m.Trailing) for field in flat(fields)),
            steps=steps,
            pieces=pieces,
            limit=self._shared.frame_limit if traits.is_frame else None,
            is_fixed=is_fixed,
        )

    def _write_names(self, fields: tuple[m.Field, ...], prefix: str) -> WriteNames:
        known = dict(_fields_by_key(fields, prefix, self._protocol))
        return WriteNames(shared=self._shared, fields=known, main=prefix)

    def write_message(
        self, frame: m.Frame, message: m.Message, headers: dict[str, str], parameters: str
    ) -> WriteFunction:
        """Return the function that writes a whole frame around one message."""
        names = self._write_names(message.fields, "")
        names.fields |= dict(_fields_by_key(frame.fields, FRAME, self._protocol))
        names.headers, names.message, names.body = headers, message, frame.message
        names.locals = Locals(frozenset(headers.values()))
        names.sender = repr(frame.role)
        traits = self._traits(message.name, self._shared.writer(message.name), is_frame=True)
        layout = _laid(lambda: frame_layout(self._protocol, frame, message))
        return self.write(layout, names, traits, class_name(message.name), parameters, message.fields)

    def write_body(self, message: m.Message) -> WriteFunction:
        names = self._write_names(message.fields, "")
        names.sender = repr(message.role)
        traits = self._traits(message.name, self._shared.body_writer(message.name))
        layout = _laid(lambda: layout_of(self._protocol, message.fields, is_bounded=self._bodies_end))
        return self.write(layout, names, traits, class_name(message.name), fields=message.fields)

    def write_frame(self, frame: m.Frame) -> WriteFunction:
        names = self._write_names(frame.fields, FRAME)
        names.owner, names.body, names.sender = "frame", frame.message, repr(frame.role)
        names.codes_table = self._shared.table("codes", snake_case(frame.name))
        traits = _Traits(name=self._shared.writer(frame.name), is_frame=True)
        layout = _laid(lambda: frame_layout(self._protocol, frame, None))
        return self.write(layout, names, traits, class_name(frame.name), fields=frame.fields)

    def write_struct(self, struct: m.Struct) -> WriteFunction:
        names = self._write_names(struct.fields, "")
        traits = self._traits(struct.name, self._shared.inner_writer(struct.name), is_heavy=True)
        layout = _laid(lambda: layout_of(self._protocol, struct.fields))
        return self.write(layout, names, traits, class_name(struct.name), fields=struct.fields)

    def write_preamble(self, preamble: m.Preamble) -> WriteFunction:
        names = self._write_names(preamble.fields, "")
        traits = _Traits(name=self._shared.inner_writer(preamble.name), is_frame=True)
        layout = _laid(lambda: layout_of(self._protocol, preamble.fields))
        return self.write(layout, names, traits, class_name(preamble.name), fields=preamble.fields)

    def write_variety(self, union: m.Union, variety: m.Variety) -> WriteFunction:
        """Return the function that writes a variety, its code first."""
        names = self._write_names((), "")
        coded = _coded(union, variety)
        names.fields = dict(_fields_by_key(coded, "", self._protocol))
        is_heavy = union.name in self._reached_by(variety)
        traits = _Traits(
            name=f"{self._shared.inner_writer(union.name)}_{snake_case(variety.name)}",
            is_frame=False,
            enter=union.name if is_heavy else "",
            has_last=True,
            must_be_last=_reaches_end(variety.fields, self._protocol),
            is_heavy=is_heavy,
        )
        layout: Layout | UnsupportedError = _laid(lambda: layout_of(self._protocol, coded, is_bounded=True))
        if single_code(variety) is None and not _is_byte_codes(variety):
            layout = UnsupportedError(variety.path, "several codes that are no single bytes")
        class_ = variety_class(union.name, variety.name)
        return self.write(layout, names, traits, class_, fields=variety.fields)

    def write_chunk(self, name: str, carrier: m.InChunks) -> WriteFunction:
        """Return the function that writes the only chunk there is."""
        struct = next(struct for struct in self._protocol.structs if struct.name == name)
        free = [field for field in shown_fields(struct.fields) if field.name != carrier.data]
        names = self._write_names(struct.fields, FRAME)
        names.headers = {carrier.data: "data_"}
        layout: Layout | UnsupportedError = _laid(lambda: _chunk_layout(self._protocol, struct))
        parameters = "data_: bytes"
        match free, carrier.until:
            case [], m.Truth(value=True):
                pass
            case [flag], m.Negation(operator="not", operand=m.FieldReference(path=(own,))) if (
                own == flag.name
            ):
                names.headers[own], parameters = own, f"data_: bytes, {own}: bool = False"
            case [flag], m.FieldReference(path=(own,)) if own == flag.name:
                names.headers[own], parameters = own, f"data_: bytes, {own}: bool = True"
            case _:
                layout = UnsupportedError(struct.path, "chunks like these, on writing")
        traits = _Traits(name=f"{self._shared.inner_writer(name)}_alone", is_frame=False)
        return self.write(layout, names, traits, "", parameters)


_BYTES = m.Field(
    path="",
    name="data",
    doc="",
    type=m.Bytes(length=m.ToTheEnd()),
    view=None,
    value=None,
    condition=None,
    where=None,
    where_text="",
    notes=m.Notes(),
)


def _coded(union: m.Union, variety: m.Variety) -> tuple[m.Field, ...]:
    """Return the fields of a variety with its code before them: a constant, or the attribute `code`."""
    number = single_code(variety)
    value = None if number is None else m.Constant(value=m.Number(value=number))
    name = "code" if number is None else "_"
    code = replace(_BYTES, path=f"{variety.path}.code", name=name, type=union.type, value=value)
    return (code, *variety.fields)


def _is_byte_codes(variety: m.Variety) -> bool:
    return all(0 <= span.low <= span.high <= 255 for span in variety.codes)


def _bodies_end(protocol: m.Protocol) -> bool:
    """Tell whether every message that is read by itself is the last of a region."""
    ends: set[bool] = set()
    for frame in protocol.frames:
        layout = _laid(lambda frame=frame: frame_layout(protocol, frame, None))
        for step in _nested(() if isinstance(layout, UnsupportedError) else layout.steps):
            if step.kind == "dispatch":
                ends.add(step.can_skip)
            elif step.kind == "invoke" and step.target == "message":
                ends.add(step.is_last)
    return ends == {True}


def _chunk_layout(protocol: m.Protocol, struct: m.Struct) -> Layout:
    from wiregen.plan.flatten import Flattener, merged_runs

    steps = tuple(merged_runs(Flattener(protocol, None).fields(struct.fields, FRAME)))
    return Layout(steps=steps, fixed_size=None)


def _laid(make: object) -> Layout | UnsupportedError:
    try:
        layout: Layout = make()  # type: ignore[operator]
    except UnsupportedError as error:
        return error
    return layout


def _code_fields(frame: m.Frame) -> Iterator[str]:
    for field in flat(frame.fields):
        match field.value:
            case m.Derived(value=m.Call(function="code")):
                yield field.name


def _inflates(steps: tuple[Step, ...]) -> bool:
    return any(step.kind == "carry" and isinstance(step.carrier, m.InCompressed) for step in _nested(steps))


def _n_lists(steps: tuple[Step, ...]) -> int:
    """Return how many lists a function may read, those of functions that it calls included; 2 stands for many."""
    number = 0
    for step in _nested(steps):
        number += step.kind in ("repeat", "invoke", "dispatch", "carry")
        if isinstance(step, Repeat) and any(each.kind in ("repeat", "invoke") for each in step.item):
            number += 1
    return number


def _nested(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        match step:
            case Repeat():
                yield from _nested(step.item)
            case Option():
                yield from _nested(step.steps)
            case _ if step.kind == "choose":
                for case in step.cases:
                    yield from _nested(case.steps)
            case _ if step.kind == "carry":
                yield from _nested(step.content)


def _has_options(layout: Layout | UnsupportedError) -> bool:
    """Tell whether some value may be None, which a type checker cannot follow here."""
    return not isinstance(layout, UnsupportedError) and any(
        step.kind in ("option", "choose") for step in _nested(layout.steps)
    )


def _is_measured(steps: tuple[Step, ...]) -> bool:
    return any(isinstance(step, Enter | Mark) for step in steps)


def _reaches_end(fields: tuple[m.Field, ...], protocol: m.Protocol, seen: tuple[str, ...] = ()) -> bool:
    """Tell whether fields take whatever their region has left."""
    if not fields:
        return False
    match fields[-1].type:
        case m.Bytes(length=m.ToTheEnd()) | m.Text(length=m.ToTheEnd()) | m.List(length=m.ToTheEnd()):
            return True
        case m.Block(fields=inner):
            return _reaches_end(inner, protocol, seen)
        case m.Reference(target="struct", name=name) if name not in seen:
            struct = next(struct for struct in protocol.structs if struct.name == name)
            return _reaches_end(struct.fields, protocol, (*seen, name))
        case _:
            return False


def _fields_by_key(
    fields: tuple[m.Field, ...], prefix: str, protocol: m.Protocol
) -> Iterator[tuple[str, m.Field]]:
    recursive = recursive_structs(protocol)
    structs = {struct.name: struct for struct in protocol.structs if struct.name not in recursive}
    for field in flat(fields):
        key = prefix + field.name
        yield key, field
        type_, inner = field.type, key
        while isinstance(type_, m.List | m.Region):
            inner = f"{inner}[]" if isinstance(type_, m.List) else inner
            type_ = type_.item if isinstance(type_, m.List) else type_.content
        if isinstance(type_, m.Reference) and type_.target == "struct" and type_.name in structs:
            yield from _fields_by_key(structs[type_.name].fields, f"{inner}.", protocol)


def _reached(protocol: m.Protocol) -> dict[str, frozenset[str]]:
    """Return for each declaration which others can stand in it, frames with all their messages."""
    direct: dict[str, set[str]] = {}
    owners: list[m.Struct | m.Message | m.Frame] = [*protocol.structs, *protocol.messages, *protocol.frames]
    for owner in owners:
        direct[owner.name] = {each.name for each in references(*(field.type for field in owner.fields))}
    for union in protocol.unions:
        types = (field.type for variety in union.varieties for field in variety.fields)
        direct[union.name] = {each.name for each in references(*types)}
    for frame in protocol.frames:
        direct[frame.name] |= {message.name for message in protocol.messages if message.code is not None}
    return {name: frozenset(_all(name, direct)) for name in direct}


def _all(name: str, direct: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for each in direct.get(waiting.pop(), set()):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found
