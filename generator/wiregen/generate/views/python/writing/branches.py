"""Transformed bytes, optional fields and choices, as the templates of writing functions print them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wiregen.generate.steps.step import (
    FRAME,
    Carry,
    Case,
    Choose,
    Held,
    OptionalField,
    UnsupportedError,
)
from wiregen.generate.views.python.expressions import span_test
from wiregen.generate.views.python.layouts import is_apart
from wiregen.generate.views.python.text import block_fields, is_shown
from wiregen.generate.views.python.transforms import arguments_after
from wiregen.generate.views.python.writing.step_views import (
    WriteAssign,
    WriteCase,
    WriteChecks,
    WriteChoose,
    WriteOption,
)
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.schema.shapes import is_flat
from wiregen.schema import model as m
from wiregen.schema.walk import is_compression, nested_expressions

if TYPE_CHECKING:
    from wiregen.generate.views.python.writing.steps import WriteBuilder

__all__ = ["BranchWriter"]


class BranchWriter:
    """Writes parts that become separate bytes before they are placed among other pieces."""

    def __init__(self, builder: WriteBuilder) -> None:
        self._builder = builder
        self._names = builder.names
        self._shared = builder.names.shared

    def carry(self, step: Carry) -> None:
        names = self._names
        if not isinstance(step.carrier, m.Compressed):
            self._joined(step, step.carrier)
            return
        if (
            (is_compression(step.carrier) and not self._builder.has_state)
            or not isinstance(step.extent, Held)
            or step.extent.may_be_null
        ):
            raise UnsupportedError(step.key, "compressed bytes of such a length, on writing")
        inner, target = self._content(step), names.locals.name(f"{step.key}#data")
        writer = TRANSFORMS[step.carrier.algorithm].writer
        self._shared.uses.add(writer)
        length = names.locals.name(step.extent.key)
        arguments = arguments_after(step.carrier)
        self._builder.views.append(WriteAssign(target=target, value=f"_{writer}({inner}{arguments})"))
        self._builder.views.append(WriteAssign(target=length, value=f"len({target})"))
        self._builder.settle(length)
        self._builder.piece(target, length=length)

    def _content(self, step: Carry) -> str:
        """Return the expression of the bytes that are transformed."""
        builder = self._builder
        before = (builder.is_flowing, builder.is_transformed)
        builder.is_flowing, builder.is_transformed = False, True
        block = builder.block(step.content)
        builder.is_flowing, builder.is_transformed = before
        self._builder.views += block.steps
        if len(block.pieces) == 1:
            return block.pieces[0]
        return f"b''.join(({', '.join(block.pieces)},))" if block.pieces else "b''"

    def _joined(self, step: Carry, carrier: m.Chunks) -> None:
        """Write one chunk, if its layout is a size, flags and the data."""
        names = self._names
        inner, target = self._content(step), names.locals.name(f"{step.key}#data")
        writer = f"{self._shared.inner_writer(carrier.struct)}_alone"
        self._shared.chunks[carrier.struct] = carrier
        self._builder.take_one()
        self._builder.views.append(WriteAssign(target=target, value=f"{writer}({inner})"))
        self._builder.piece(target)

    def option(self, step: OptionalField) -> None:
        names = self._names
        target = names.locals.name(f"{step.key}#data")
        if step.is_trailing:
            condition = f"n_absent < {len(step.row)}" if names.absent_of(step.prefix) else ""
            if not condition:
                raise UnsupportedError(step.key, "trailing fields like these, on writing")
            given: tuple[str, ...] = self._asked(step)
            present: set[str] = set()
        else:
            assert step.condition is not None
            condition = self._builder.text_here(step.condition, step.prefix)
            keys = [step.prefix + field.name for field in names.fields_of(step.field)]
            tests = (f"{names.attribute(key)} is not None" for key in keys)
            given = tuple(test for test in tests if test != condition.removeprefix("(").removesuffix(")"))
            present = set(keys) - names.present
        if condition == "False":  # of a message with another code
            self._builder.views.append(WriteChecks(checks=given))
            return
        if not given and is_apart(step):
            call = f"{self._shared.header_list_writer(names.frame, step)}({names.attribute(step.key)}, {names.state})"
            self._builder.views.append(
                WriteOption(data=target, condition=condition, steps=(), pieces=(call,), given=())
            )
            self._builder.piece(target)
            return
        is_flowing, self._builder.is_flowing = self._builder.is_flowing, False
        names.present |= present
        block = self._builder.block(step.steps)
        names.present -= present
        self._builder.is_flowing = is_flowing
        unasked = (WriteChecks(checks=(f"not {given[0]}",)),) if step.is_trailing and given else ()
        steps = (*unasked, *block.steps)
        self._builder.views.append(
            WriteOption(data=target, condition=condition, steps=steps, pieces=block.pieces, given=given)
        )
        self._builder.piece(target)

    def _asked(self, step: OptionalField) -> tuple[str, ...]:
        """Return the condition of a trailing field; () without one, or if it only tests for remaining bytes."""
        if step.condition is None or m.Position(what="remaining") in nested_expressions(step.condition):
            return ()
        return (self._builder.text_here(step.condition, step.prefix),)

    def choose(self, step: Choose) -> None:
        names = self._names
        subject = self._builder.text_here(step.subject, step.prefix)
        target = names.locals.name(f"{step.key}#data")
        is_flowing, self._builder.is_flowing = self._builder.is_flowing, False
        cases = []
        own = tuple(case for case in step.cases if not self._is_of_another(case, step))
        others = span_test(
            subject, tuple(span for case in step.cases if case not in own for span in case.spans)
        )
        for case in own:
            names.arms.append((case.key, step.key))
            block = self._builder.block(case.steps)
            names.arms.pop()
            steps = (*self._not_taken(step, case), *block.steps)
            condition = span_test(subject, case.spans) or ("" if not others else f"not ({others})")
            cases.append(WriteCase(condition=condition, steps=steps, pieces=block.pieces))
        self._builder.is_flowing = is_flowing
        has_else = not others and any(not case.spans for case in own)
        self._builder.views.append(WriteChoose(data=target, cases=tuple(cases), has_else=has_else))
        self._builder.piece(target)

    def _is_of_another(self, case: Case, step: Choose) -> bool:
        """Return whether a case is for a message other than the one that the function writes."""
        names = self._names
        if names.message is None or names.body is None or names.chosen(step.key) != FRAME + names.body:
            return False
        held = tuple(_named_messages(case.type))
        return bool(held) and names.message.name not in held and None not in held

    def _not_taken(self, step: Choose, case: Case) -> tuple[WriteChecks, ...]:
        """Return the check that the fields of blocks in the other arms have no value."""
        own = {field.name for field in block_fields(case.type)}
        others = [field.name for each in step.cases for field in block_fields(each.type) if is_shown(field)]
        keys = [step.prefix + name for name in dict.fromkeys(others) if name not in own]
        if is_flat(case.type) and not all(is_flat(each.type) for each in step.cases):
            keys.append(step.key)
        checks = tuple(f"{self._names.attribute(key)} is not None" for key in keys)
        return (WriteChecks(checks=checks),) if checks else ()


def _named_messages(type_: m.Type) -> Iterator[str | None]:
    """Yield the messages that an arm may hold, or None for all messages with codes."""
    match type_:
        case m.MessageReference(name=name):
            yield name
        case m.Region(content=content):
            yield from _named_messages(content)
        case m.Match(arms=arms):
            for arm in arms:
                yield from _named_messages(arm.type)
        case m.MessageMatch(only=only):
            yield from only or (None,)
