"""Facts about frames that are needed before functions are printed: the place of the code, the needed header fields."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.generate.steps import frame_layout
from wiregen.generate.steps.step import FRAME, CodeDispatch, FixedRun, LayoutSteps, Slot, UnsupportedError
from wiregen.generate.views.python.classes import (
    shown_fields,
)
from wiregen.generate.views.python.names import endian_of
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import flat
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.walk import may_lack_message, nested_types

__all__ = [
    "can_skip", "code_place", "header_run", "message_annotation", "names_messages", "wanted_fields", "without_unread",
]  # fmt: skip


def wanted_fields(frame: m.Frame) -> frozenset[str]:
    """Return the fields of the header that its expressions refer to."""
    from wiregen.schema.walk import (
        direct_expressions,
        every_field,
        field_expressions,
        nested_expressions,
        shapes,
    )

    found: set[str] = set()
    for field in every_field(frame.fields):
        expressions = [*field_expressions(field)]
        expressions += [each for shape in shapes(field.type) for each in direct_expressions(shape)]
        for expression in nested_expressions(*expressions):
            if isinstance(expression, m.FieldReference) and expression.path:
                found.add(expression.path[0])
        if field.where is not None:
            found.add(field.name)
    return frozenset(found - set(_code_names(frame)))


def _code_names(frame: m.Frame) -> Iterator[str]:
    for field in flat(frame.fields):
        match field.value:
            case m.Derived(value=m.Call(function="code")) if field.where is None:
                yield field.name


def code_place(shared: Shared, frame: m.Frame) -> tuple[str, str, FixedRun] | None:
    """Return the code at its fixed place (in a frame at `offset`, in the buffer), and the run that contains it.

    Return None if the frame needs one function for all its messages. Two frames do too, because each could
    carry any message.
    """
    if len(shared.protocol.frames) > 1:
        return None
    if any(join.block is not None and join.block[0] == frame.name for join in shared.protocol.joins):
        return None
    try:
        steps = frame_layout(shared.protocol, frame, None).steps
    except UnsupportedError:
        return None
    first = steps[0] if steps else None
    dispatches = [step for step in steps if isinstance(step, CodeDispatch)]
    if not isinstance(first, FixedRun) or len(dispatches) != 1 or frame.message is None:
        return None
    held = {slot.key for slot in first.slots}
    header = [field for field in shown_fields(frame.fields) if field.name != frame.message]
    if any(FRAME + field.name not in held for field in header):
        return None
    subject = dispatches[0].subject
    before = 0
    for slot in first.slots:
        if slot.part == "code" and subject == m.FieldReference(path=(slot.key.removeprefix(FRAME),)):
            return _code_texts(shared, slot, before, first)
        before += slot.size
    return None


def _code_texts(shared: Shared, slot: Slot, before: int, run: FixedRun) -> tuple[str, str, FixedRun] | None:
    if slot.size not in (1, 2, 4, 8):
        return None
    format_ = shared.format(slot)
    at = f"offset + {before}" if before else "offset"
    if format_ == "B":
        return f"buffer[{at}]", f"buffer[{before}]", run
    endian = "<" if endian_of(slot, shared.enums) == "little" else ">"
    unpack = shared.structs.unpack(endian + format_)
    return f"{unpack}(buffer, {at})[0]", f"{unpack}(buffer, {before})[0]", run


def header_run(run: FixedRun, header: tuple[m.Field, ...]) -> FixedRun:
    """Return a run in which only the fields that the API shows are read."""
    shown = {FRAME + field.name for field in header}
    slots = tuple(
        slot if slot.key in shown else replace(slot, part="padding", expected=None) for slot in run.slots
    )
    return FixedRun(slots=slots, size=run.size)


def without_unread(layout: LayoutSteps | UnsupportedError, frame: m.Frame) -> LayoutSteps | UnsupportedError:
    """Return a frame's layout without the plain numbers of its header, which only users of the header need."""
    if isinstance(layout, UnsupportedError):
        return layout
    kept = {FRAME + name for name in (*wanted_fields(frame), *_code_names(frame))}

    def read(slot: Slot) -> Slot:
        is_number = isinstance(slot.type, m.Integer | m.Float | m.Uuid) and slot.part == "value"
        is_unread = (
            is_number and slot.expected is None and slot.key.startswith(FRAME) and slot.key not in kept
        )
        return replace(slot, part="padding") if is_unread else slot

    steps = tuple(
        replace(step, slots=tuple(read(slot) for slot in step.slots)) if isinstance(step, FixedRun) else step
        for step in layout.steps
    )
    return replace(layout, steps=steps)


def message_annotation(frame: m.Frame) -> str:
    """Return the annotation of a frame's message."""
    return "_Message | None" if may_lack_message(frame) else "_Message"


def can_skip(shared: Shared, frame: m.Frame) -> bool:
    steps = frame_layout(shared.protocol, frame, None).steps
    return any(
        isinstance(step, CodeDispatch) and step.can_skip and (step.only is None or step.is_lenient)
        for step in steps
    )


def names_messages(protocol: m.Protocol) -> bool:
    """Return whether messages are inside other declarations, or a frame names one."""
    declarations = (protocol.structs, protocol.messages, protocol.preambles)
    owned = [declared.fields for kind in declarations for declared in kind]
    owned += [variety.fields for union in protocol.unions for variety in union.varieties]
    inside = nested_types(*(field.type for fields in owned for field in fields))
    framed = nested_types(*(field.type for frame in protocol.frames for field in frame.fields))
    return any(isinstance(each, m.MessageMatch | m.MessageReference) for each in inside) or any(
        isinstance(each, m.MessageReference) for each in framed
    )
