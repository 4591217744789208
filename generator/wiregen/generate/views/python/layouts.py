"""Facts about a function's layout that are needed before it is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from wiregen.generate.steps import frame_layout
from wiregen.generate.steps.step import (
    FRAME,
    Check,
    Enter,
    FixedRun,
    GivenLength,
    LayoutSteps,
    Leave,
    Mark,
    OptionalField,
    RepeatedItems,
    Step,
    UnsupportedError,
    VariableNumber,
)
from wiregen.generate.views.python.classes import single_code
from wiregen.generate.views.python.text import flat
from wiregen.runtime.schema.node import nodes_in
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.declared import index_of
from wiregen.schema.field_facts import called_structs
from wiregen.schema.walk import is_compression, references

__all__ = [
    "REST",
    "bodies_end",
    "chunk_layout",
    "code_fields",
    "coded",
    "ends_in_region",
    "fields_by_key",
    "flags_of_last",
    "has_empty_items",
    "has_options",
    "inflates",
    "is_apart",
    "is_byte_codes",
    "is_measured",
    "laid",
    "longest_size",
    "n_lists",
    "names_frames",
    "nested",
]


REST = m.Field(
    name="data",
    is_hidden=False,
    type=m.Bytes(length=m.ToEnd()),
    value=None,
    condition=None,
    where=None,
    where_text="",
)


def coded(union: m.Union, variety: m.Variety) -> tuple[m.Field, ...]:
    """Return the fields of an alternative after its code: a constant, or for several codes the attribute `code`."""
    number = single_code(variety)
    code = replace(REST, path=f"{variety.path}.code", type=union.type)
    if number is None:
        code = replace(code, name="code", is_hidden=False, where=_is_one_of("code", variety.spans))
    else:
        code = replace(code, name="_", is_hidden=True, value=m.Constant(value=m.Number(value=number)))
    return (code, *variety.fields)


def _is_one_of(name: str, spans: tuple[m.Span, ...]) -> m.Expression:
    """Return the condition that a field has one of some numbers."""
    numbers = (
        m.Number(each.low) if each.low == each.high else m.Range(m.Number(each.low), m.Number(each.high))
        for each in spans
    )
    return m.Operation("in", m.FieldReference((name,)), m.ListOf(tuple(numbers)))


def is_byte_codes(variety: m.Variety) -> bool:
    return all(0 <= span.low <= span.high <= 255 for span in variety.spans)


def bodies_end(protocol: m.Protocol) -> bool:
    """Return whether every message that is read by itself is the last of a region."""
    ends: set[bool] = set()
    for frame in protocol.frames:
        layout = laid(partial(frame_layout, protocol, frame, None))
        for step in nested(() if isinstance(layout, UnsupportedError) else layout.steps):
            if step.kind == "dispatch":
                ends.add(step.can_skip)
            elif step.kind == "invoke" and step.target == "message":
                ends.add(step.is_last)
    return ends == {True}


def chunk_layout(protocol: m.Protocol, struct: m.Struct) -> LayoutSteps:
    from wiregen.generate.steps.flattening import Flattener
    from wiregen.generate.steps.run_merging import merged_runs

    steps = tuple(merged_runs(Flattener(protocol, None).fields(struct.fields, FRAME)))
    return LayoutSteps(steps=steps, fixed_size=None)


def flags_of_last(free: Sequence[m.Field], until: m.Expression) -> dict[str, str] | None:
    """Return the texts of the flags, besides its data, of a chunk that is the last; None if no single flag decides it."""
    match free, until:
        case [], m.Truth(value=True):
            return {}
        case [flag], m.Negation(operator="not", operand=m.FieldReference(path=(own,))) if own == flag.name:
            return {own: "False"}
        case [flag], m.FieldReference(path=(own,)) if own == flag.name:
            return {own: "True"}
        case _:
            return None


def laid(make: Callable[[], LayoutSteps]) -> LayoutSteps | UnsupportedError:
    try:
        return make()
    except UnsupportedError as error:
        return error


def code_fields(frame: m.Frame) -> Iterator[str]:
    for field in flat(frame.fields):
        match field.value:
            case m.Derived(value=m.Call(function="code")):
                yield field.name


def inflates(steps: tuple[Step, ...]) -> bool:
    return any(step.kind == "carry" and is_compression(step.carrier) for step in nested(steps))


def n_lists(steps: tuple[Step, ...]) -> int:
    """Return how many lists a function may read, including the functions that it calls; 2 means many."""
    number = 0
    for step in nested(steps):
        number += {"repeat": 1, "carry": 1, "invoke": 2, "dispatch": 2}.get(step.kind, 0)
        if isinstance(step, RepeatedItems) and any(each.kind in ("repeat", "invoke") for each in step.item):
            number += 1
    return number


def ends_in_region(steps: tuple[Step, ...]) -> bool:
    """Return whether the last bytes belong to a region, whose end is compared with the frame's."""
    last = [step for step in steps if not isinstance(step, Mark)][-1:]
    return any(isinstance(step, Leave) for step in last)


def longest_size(layout: LayoutSteps) -> int | None:
    """Return the most bytes of a layout, if its fixed size or a `where` on the size of its only region bounds them."""
    steps = layout.steps
    enters = [step for step in steps if isinstance(step, Enter)]
    if layout.fixed_size is not None or not ends_in_region(steps) or len(enters) != 1:
        return layout.fixed_size
    enter = enters[0]
    before = steps[: steps.index(enter)]
    sizes = [
        step.size if isinstance(step, FixedRun) else 0 if isinstance(step, Check | Mark) else None
        for step in before
    ]
    highest = [_highest(step, enter) for step in before]
    bounds = [bound for bound in highest if bound is not None]
    known = [size for size in sizes if size is not None]
    return sum(known) - enter.hoisted + min(bounds) if bounds and len(known) == len(sizes) else None


def _highest(step: Step, enter: Enter) -> int | None:
    """Return the bound of a `where` for the size of a region."""
    match step, enter.extent:
        case (
            Check(
                what="where",
                expression=m.Operation(operator="in", left=left, right=m.Range(high=m.Number(value=high))),
            ),
            GivenLength(value=m.FieldReference() as size),
        ) if (
            left == size
        ):
            return high
        case _:
            return None


def has_empty_items(steps: tuple[Step, ...]) -> bool:
    """Return whether a list may hold items without bytes, so that the bytes do not bound their number."""
    return any(isinstance(step, RepeatedItems) and step.smallest == 0 for step in nested(steps))


def nested(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        match step:
            case RepeatedItems():
                yield from nested(step.item)
            case OptionalField():
                yield from nested(step.steps)
            case _ if step.kind == "choose":
                for case in step.cases:
                    yield from nested(case.steps)
            case _ if step.kind == "carry":
                yield from nested(step.content)


def has_options(layout: LayoutSteps | UnsupportedError) -> bool:
    """Return whether a value may be None in a way that a type checker cannot follow."""
    return not isinstance(layout, UnsupportedError) and any(
        step.kind in ("option", "choose") or _is_coded(step) for step in nested(layout.steps)
    )


def _is_coded(step: Step) -> bool:
    """Return whether a step is a number of a coding, which may have null."""
    return isinstance(step, VariableNumber) and isinstance(step.type, m.CodingReference)


def is_measured(steps: tuple[Step, ...]) -> bool:
    return any(isinstance(step, Enter | Mark) for step in steps)


def fields_by_key(
    fields: tuple[m.Field, ...], prefix: str, protocol: m.Protocol
) -> Iterator[tuple[str, m.Field]]:
    structs, called = index_of(protocol).structs, called_structs(protocol)
    for field in flat(fields):
        key = prefix + field.name
        yield key, field
        type_, inner = field.type, key
        while isinstance(type_, m.List | m.Region):
            inner = f"{inner}[]" if isinstance(type_, m.List) else inner
            type_ = type_.item if isinstance(type_, m.List) else type_.content
        if isinstance(type_, m.StructReference) and type_.name not in called:
            yield from fields_by_key(structs[type_.name].fields, f"{inner}.", protocol)


def names_frames(protocol: m.Protocol) -> bool:
    """Return whether frames or messages are inside others, and share the budgets of the outer one."""
    owners: list[m.Struct | m.Message | m.Frame] = [*protocol.structs, *protocol.messages, *protocol.frames]
    types = [field.type for owner in owners for field in owner.fields]
    types += [
        field.type for union in protocol.unions for variety in union.varieties for field in variety.fields
    ]
    return any(isinstance(each, m.FrameReference | m.MessageReference) for each in references(*types))


def is_apart(step: OptionalField) -> bool:
    """Return whether a step is an optional list of a frame's header that depends on no other field.

    Such a list is written by one function, which all messages of the frame call.
    """
    field = step.field
    if not step.key.startswith(FRAME) or step.is_trailing or field.is_hidden or step.steps == ():
        return False
    if not isinstance(field.type, m.List):
        return False
    for node in nodes_in((field.type, field.where)):
        match node:
            case m.FieldReference(path=path, scope=scope) if scope != "item" and path[0] != field.name:
                return False
            case m.ContextReference() | m.JoinReference():
                return False
    return True
