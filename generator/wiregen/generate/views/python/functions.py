"""The reading and writing functions of a module: one per message, frame, alternative, recursive struct and preamble.

A function without a straight-line form only refuses: the reference codec does its work.
"""

from __future__ import annotations

from functools import partial

from wiregen.generate.steps import frame_layout, layout_of
from wiregen.generate.steps.step import FRAME, LayoutSteps, Leave, OptionalField, UnsupportedError
from wiregen.generate.views.python.checks import any_of
from wiregen.generate.views.python.classes import shown_fields, single_code
from wiregen.generate.views.python.frames import message_annotation, without_unread
from wiregen.generate.views.python.function_views import (
    ReadFunction,
    WriteFunction,
    handed_on,
    refused_reader,
)
from wiregen.generate.views.python.layouts import (
    REST,
    bodies_end,
    chunk_layout,
    code_fields,
    coded,
    ends_in_region,
    fields_by_key,
    flags_of_last,
    has_empty_items,
    has_options,
    inflates,
    is_byte_codes,
    laid,
    longest_size,
    n_lists,
    names_frames,
)
from wiregen.generate.views.python.names import METHOD_PARAMETERS, Locals, local_name
from wiregen.generate.views.python.reading.names import ReadNames
from wiregen.generate.views.python.reading.step_views import annotated_once, with_checks
from wiregen.generate.views.python.reading.steps import ReadBuilder
from wiregen.generate.views.python.shared import Shared, variety_class
from wiregen.generate.views.python.text import class_name, flat
from wiregen.generate.views.python.traits import Traits, TraitsBuilder
from wiregen.generate.views.python.writing.names import WriteNames
from wiregen.generate.views.python.writing.step_views import WriteStep, without_unread_lengths
from wiregen.generate.views.python.writing.steps import WriteBuilder
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.declared import index_of

__all__ = ["FunctionBuilder"]


class FunctionBuilder:
    """Builds the functions of one protocol in one layout."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._protocol = shared.protocol
        self.traits = TraitsBuilder(self._protocol)
        self._bodies_end = bodies_end(self._protocol)
        self.has_frames_inside = names_frames(self._protocol)

    # ---- traits

    def state_of(self, layout: LayoutSteps, traits: Traits) -> str:
        if traits.is_heavy or inflates(layout.steps):
            return "always"
        if has_empty_items(layout.steps):
            return "always"
        return "large" if traits.is_frame and n_lists(layout.steps) > 1 else "never"

    # ---- reading

    def read(
        self,
        layout: LayoutSteps | UnsupportedError,
        names: ReadNames,
        traits: Traits,
        class_: str,
        fields: tuple[m.Field, ...],
        prefix: str,
        extra: tuple[tuple[str, str], ...] = (),
    ) -> ReadFunction:
        """Return a reading function that makes a `class_` from the fields whose keys begin with `prefix`."""
        wire_name = traits.owner or class_
        try:
            if isinstance(layout, UnsupportedError):
                raise layout
            state = self.state_of(layout, traits)
            builder = ReadBuilder(names, has_state=state == "always", counted=self.traits.counted(traits))
            builder.last = "is_last" if traits.has_last else "True"
            steps = annotated_once(with_checks(builder.steps(layout.steps)))
            is_tailed = class_ in self._shared.tailed
            values = builder.names.attributes(fields, prefix, is_tailed=is_tailed)
        except UnsupportedError as error:
            self._shared.refused.append(f"{wire_name}: {error.unsupported.construct}")
            return refused_reader(traits, class_)
        return ReadFunction(
            name=traits.name,
            result=class_,
            asks_context=names.asks_context,
            has_last=traits.has_last,
            must_be_last=traits.must_be_last,
            is_refused=False,
            refuses_strict=class_ == "Unknown",
            state=state,
            enters=traits.enters,
            steps=steps,
            end="" if names.at == "position" else names.at,
            beyond=self._beyond(layout) if traits.is_frame else "",
            budget=self._shared.limits["messages"] or 0,
            class_=class_,
            target="frame" if names.message is None and traits.is_frame else "message",
            values=(*values, *extra),
        )

    def _beyond(self, layout: LayoutSteps) -> str:
        """Return the test of a frame's end and size, without the parts that its own region ensures."""
        tests = () if ends_in_region(layout.steps) else ("position > end",)
        limit, longest = self._shared.frame_limit, longest_size(layout)
        has_tail = any(isinstance(step, Leave) and step.is_lenient for step in layout.steps)
        if longest is None or longest > limit or has_tail and layout.fixed_size is not None:
            return any_of((*tests, f"position - offset > ({limit} if state is None else state.frame)"))
        size = "position - offset" if layout.fixed_size is None else str(layout.fixed_size)
        return any_of(
            (*tests, f"(state is not None and state.frame < {size})"[slice(None) if tests else slice(1, -1)])
        )

    def _names(self, *, is_frame: bool, sender: str | None) -> ReadNames:
        return ReadNames(shared=self._shared, is_frame=is_frame, sender=repr(sender))

    def read_message(self, frame: m.Frame, message: m.Message, wanted: frozenset[str]) -> ReadFunction:
        """Return the function that reads a whole frame for one message."""
        names = self._names(is_frame=True, sender=frame.role)
        names.is_whole, names.message, names.body, names.wanted = True, message, frame.message, wanted
        traits = self.traits.of(message.name, self._shared.reader(message.name), is_frame=True)
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        return self.read(layout, names, traits, class_name(message.name), flat(message.fields), "")

    def read_unknown(self, frame: m.Frame, wanted: frozenset[str]) -> ReadFunction:
        """Return the function that reads a whole frame with an unknown message."""
        message = _unknown_message(frame)
        names = self._names(is_frame=True, sender=frame.role)
        names.is_whole, names.message, names.body, names.reads_code = True, message, frame.message, True
        code = next(key for key in code_fields(frame))
        names.wanted = wanted | {code}
        traits = Traits(name="_read_unknown" + self._shared.suffix, is_frame=True)
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        self._shared.uses.add("Unknown")
        function = self.read(layout, names, traits, "Unknown", message.fields, "")
        # Trailing bytes do not occur: an unknown message takes all of its region.
        values = tuple(pair for pair in function.values if pair[0] != "tail")
        steps = tuple(replace(step, tail="") if step.kind == "leave" else step for step in function.steps)
        return replace(function, steps=steps, values=(*values, ("code", names.locals.name(FRAME + code))))

    def read_body(self, message: m.Message) -> ReadFunction:
        """Return the function that reads a message by itself."""
        names = self._names(is_frame=False, sender=message.role)
        traits = self.traits.of(message.name, self._shared.body_reader(message.name))
        layout = laid(lambda: layout_of(self._protocol, message.fields, is_bounded=self._bodies_end))
        return self.read(layout, names, traits, class_name(message.name), flat(message.fields), "")

    def read_frame(self, frame: m.Frame, *, is_bare: bool = False) -> ReadFunction:
        """Return the function that reads a frame with any message; `is_bare`: only to return the message."""
        names = self._names(is_frame=True, sender=frame.role)
        names.body, names.reads_code = frame.message, True
        names.codes_table = self._shared.codes_table(frame)
        names.codes_of_named = self._shared.codes_of_named(frame)
        traits = Traits(name=self._shared.reader(frame.name), is_frame=True, is_heavy=False)
        layout = laid(lambda: frame_layout(self._protocol, frame, None))
        layout = without_unread(layout, frame) if is_bare else layout
        header = tuple(field for field in flat(frame.fields) if field.name != frame.message and not is_bare)
        function = self.read(layout, names, traits, class_name(frame.name), header, FRAME)
        if function.is_refused or frame.message is None:
            return replace(function, target="frame")
        body = ("message", names.values[FRAME + frame.message])
        if is_bare:
            name = self._shared.reader(frame.name).replace("_read_", "_bare_", 1)
            result = message_annotation(frame)
            return replace(function, name=name, result=result, class_="", target=body[1], values=())
        return replace(function, values=(body, *function.values), target="frame")

    def read_struct(self, struct: m.Struct) -> ReadFunction:
        names = self._names(is_frame=False, sender=None)
        traits = self.traits.of(struct.name, self._shared.inner_reader(struct.name), is_heavy=True)
        layout = laid(lambda: layout_of(self._protocol, struct.fields))
        return self.read(layout, names, traits, class_name(struct.name), flat(struct.fields), "")

    def read_preamble(self, preamble: m.Preamble) -> ReadFunction:
        names = self._names(is_frame=True, sender=preamble.role)
        traits = Traits(name=self._shared.inner_reader(preamble.name), is_frame=True)
        layout = laid(lambda: layout_of(self._protocol, preamble.fields))
        return self.read(layout, names, traits, class_name(preamble.name), flat(preamble.fields), "")

    def read_variety(self, union: m.Union, variety: m.Variety) -> ReadFunction:
        """Return the function that reads the bytes after the code of a union."""
        names = self._names(is_frame=False, sender=None)
        function = self._shared.variety_reader(union.name, variety.name)
        traits = self.traits.of_variety(union, variety, function)
        extra: tuple[tuple[str, str], ...] = ()
        layout = laid(lambda: layout_of(self._protocol, variety.fields, is_bounded=True))
        if single_code(variety) is None:
            is_byte = isinstance(union.type, m.Integer) and (union.type.bits, union.type.is_signed) == (
                8,
                False,
            )
            extra = (("code", "buffer[offset - 1]"),)
            layout = (
                layout
                if is_byte
                else UnsupportedError(variety.path, "several codes that are not single bytes")
            )
        class_ = variety_class(union.name, variety.name)
        return self.read(layout, names, traits, class_, flat(variety.fields), "", extra)

    # ---- writing

    def write(
        self,
        layout: LayoutSteps | UnsupportedError,
        names: WriteNames,
        traits: Traits,
        class_: str,
        parameters: str = "",
        fields: tuple[m.Field, ...] = (),
    ) -> WriteFunction:
        """Return a function that writes a `class_`."""
        steps: tuple[WriteStep, ...] = ()
        pieces: tuple[str, ...] | None = ()
        is_refused, state = False, "never"
        try:
            if isinstance(layout, UnsupportedError):
                raise layout
            state = self.state_of(layout, traits)
            counted, last = self.traits.counted(traits), "is_last" if traits.has_last else "True"
            make = partial(WriteBuilder, has_state=state == "always", counted=counted, last=last)
            steps, pieces = make(names).function(layout)
            if names.asked.values:
                names = names.for_second_pass()
                steps, pieces = make(names).function(layout)
        except UnsupportedError as error:
            self._shared.refused_writes.append(f"{traits.owner or class_}: {error.unsupported.construct}")
            is_refused = True
        return WriteFunction(
            name=traits.name,
            owner=names.owner,
            class_=class_,
            annotation="Any" if is_refused or has_options(layout) else class_,
            parameters=parameters,
            asks_context=names.asks_context,
            is_method=names.is_method,
            has_last=traits.has_last,
            must_be_last=traits.must_be_last,
            is_refused=is_refused,
            state=state,
            enters=traits.enters,
            n_trailing=sum(isinstance(field.value, m.Trailing) for field in flat(fields)),
            steps=without_unread_lengths(steps, pieces),
            pieces=pieces,
            limit=self._limit_to_test(layout, traits, is_counted=names.is_method and state == "large"),
            again=names.again or f"{traits.name}({names.owner}, {handed_on(parameters)}_WriteState(_LIMITS))",
            budget=self._shared.limits["messages"] or 0,
            has_compression=not isinstance(layout, UnsupportedError) and inflates(layout.steps),
        )

    def _limit_to_test(
        self, layout: LayoutSteps | UnsupportedError, traits: Traits, *, is_counted: bool
    ) -> int | None:
        """Return the limit of a frame, or None if what is written cannot exceed it.

        `is_counted`: a frame with more bytes than `messages` has items is written by another function.
        """
        limit, messages = self._shared.frame_limit, self._shared.limits["messages"]
        longest = None if isinstance(layout, UnsupportedError) else longest_size(layout)
        is_short = longest is not None and longest <= limit
        is_left_over = is_counted and messages is not None and messages <= limit
        return limit if traits.is_frame and not is_short and not is_left_over else None

    def _write_names(self, fields: tuple[m.Field, ...], prefix: str) -> WriteNames:
        known = dict(fields_by_key(fields, prefix, self._protocol))
        return WriteNames(shared=self._shared, fields=known, main=prefix)

    def write_message(
        self,
        frame: m.Frame,
        message: m.Message,
        headers: dict[str, str],
        parameters: str,
        *,
        is_method: bool,
        again: str = "",
        readers: str = "",
    ) -> WriteFunction:
        """Return the function that writes a whole frame with one message; `again` writes it with a state.

        `readers`: the table by code, in which the code of an unknown message is not found.
        """
        names = self._write_names(message.fields, "")
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        # A field that may be None is read only if it is present, which a type checker does not see.
        names.owner, names.is_method = (
            "self" if is_method and not has_options(layout) else "message"
        ), is_method
        names.fields |= dict(fields_by_key(frame.fields, FRAME, self._protocol))
        names.headers, names.message, names.body = headers, message, frame.message
        names.frame = frame.name
        names.locals = Locals(frozenset((*map(local_name, headers), *headers.values())) | METHOD_PARAMETERS)
        names.sender, names.again = repr(frame.role), again
        names.readers = readers
        traits = self.traits.of(message.name, self._shared.writer(message.name), is_frame=True)
        return self.write(layout, names, traits, class_name(message.name), parameters, message.fields)

    def write_unknown(self, frame: m.Frame, headers: dict[str, str], parameters: str) -> WriteFunction:
        """Return the function that writes a whole frame with an unknown message."""
        readers = self._shared.frame_readers_of(repr(frame.role))
        message = _unknown_message(frame)
        function = self.write_message(frame, message, headers, parameters, is_method=False, readers=readers)
        return replace(function, class_="Unknown", annotation="Any" if function.is_refused else "Unknown")

    def write_body(self, message: m.Message) -> WriteFunction:
        names = self._write_names(message.fields, "")
        names.sender = repr(message.role)
        traits = self.traits.of(message.name, self._shared.body_writer(message.name))
        layout = laid(lambda: layout_of(self._protocol, message.fields, is_bounded=self._bodies_end))
        return self.write(layout, names, traits, class_name(message.name), fields=message.fields)

    def write_frame(self, frame: m.Frame) -> WriteFunction:
        names = self._write_names(frame.fields, FRAME)
        names.owner, names.body, names.sender = "frame", frame.message, repr(frame.role)
        names.frame = frame.name
        names.codes_table = self._shared.codes_table(frame)
        traits = Traits(name=self._shared.writer(frame.name), is_frame=True)
        layout = laid(lambda: frame_layout(self._protocol, frame, None))
        return self.write(layout, names, traits, class_name(frame.name), fields=frame.fields)

    def write_struct(self, struct: m.Struct) -> WriteFunction:
        names = self._write_names(struct.fields, "")
        traits = self.traits.of(struct.name, self._shared.inner_writer(struct.name), is_heavy=True)
        layout = laid(lambda: layout_of(self._protocol, struct.fields))
        return self.write(layout, names, traits, class_name(struct.name), fields=struct.fields)

    def write_preamble(self, preamble: m.Preamble) -> WriteFunction:
        names = self._write_names(preamble.fields, "")
        traits = Traits(name=self._shared.inner_writer(preamble.name), is_frame=True)
        layout = laid(lambda: layout_of(self._protocol, preamble.fields))
        return self.write(layout, names, traits, class_name(preamble.name), fields=preamble.fields)

    def write_variety(self, union: m.Union, variety: m.Variety) -> WriteFunction:
        """Return the function that writes an alternative, its code first."""
        names = self._write_names((), "")
        fields = coded(union, variety)
        names.fields = dict(fields_by_key(fields, "", self._protocol))
        function = self._shared.variety_writer(union.name, variety.name)
        traits = self.traits.of_variety(union, variety, function)
        layout: LayoutSteps | UnsupportedError = laid(
            lambda: layout_of(self._protocol, fields, is_bounded=True)
        )
        if single_code(variety) is None and not is_byte_codes(variety):
            layout = UnsupportedError(variety.path, "several codes that are not single bytes")
        class_ = variety_class(union.name, variety.name)
        return self.write(layout, names, traits, class_, fields=variety.fields)

    def write_header_list(self, name: str, step: OptionalField) -> WriteFunction:
        """Return the function that writes an optional list of a header where it is present."""
        names = self._write_names((step.field,), FRAME)
        own = local_name(step.field.name)
        value = "state_" if own == "state" else own
        names.headers, names.locals = {step.field.name: value}, Locals(frozenset((value, "state")))
        names.present = {step.key}
        names.again = f"{name}({value}, _WriteState(_LIMITS))"
        layout = LayoutSteps(steps=step.steps, fixed_size=None)
        traits = Traits(name=name, is_frame=False)
        return self.write(layout, names, traits, "", f"{value}: Any, state: _Writing")

    def write_chunk(self, name: str, carrier: m.Chunks) -> WriteFunction:
        """Return the function that writes content as one single chunk."""
        struct = index_of(self._protocol).structs[name]
        free = [field for field in shown_fields(struct.fields) if field.name != carrier.data]
        names = self._write_names(struct.fields, FRAME)
        names.headers = {carrier.data: "data_"}
        layout: LayoutSteps | UnsupportedError = laid(lambda: chunk_layout(self._protocol, struct))
        flags = flags_of_last(free, carrier.until)
        if flags is None:
            layout = UnsupportedError(struct.path, "chunks like these, on writing")
        names.headers |= flags or {}
        traits = Traits(name=f"{self._shared.inner_writer(name)}_alone", is_frame=False)
        return self.write(layout, names, traits, "", "data_: bytes")


def _unknown_message(frame: m.Frame) -> m.Message:
    """Return the declaration of an unknown message: all bytes of its region."""
    data = replace(REST, path=f"{frame.path}.Unknown.data")
    return m.Message(
        path=frame.path, name="Unknown", doc="", code=None, role=None, fields=(data,), notes=m.Notes()
    )
