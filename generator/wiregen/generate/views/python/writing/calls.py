"""Calls of the functions that write structs, unions, frames and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wiregen.generate.steps.step import FRAME, CodeDispatch, Invoke, UnsupportedError
from wiregen.generate.views.python.shared import variety_class
from wiregen.generate.views.python.text import class_name
from wiregen.generate.views.python.writing.names import Test
from wiregen.generate.views.python.writing.step_views import WriteAssign, WriteChecks
from wiregen.schema import model as m

if TYPE_CHECKING:
    from wiregen.generate.views.python.writing.steps import WriteBuilder

__all__ = ["CallWriter"]


class CallWriter:
    """Writes values whose bytes are made by functions of their own.

    Attributes:
        counted: The unions whose nesting the caller counts, by `limits.depth`.
    """

    def __init__(self, builder: WriteBuilder, counted: frozenset[str]) -> None:
        self._builder = builder
        self._names = builder.names
        self._shared = builder.names.shared
        self.counted = counted

    def invoke(self, step: Invoke, checks: list[Test]) -> None:
        """Write a struct, union, frame or named message."""
        names = self._names
        value, target = (
            names.value(step.key, step.field, "", self._builder.pieces),
            names.locals.name(f"{step.key}#data"),
        )
        is_counted = step.target == "union" and step.name in self.counted and names.state != "None"
        if is_counted and not self._builder.is_depth_checked:
            self._builder.is_depth_checked = True
            allow = "state.allow()" if self._builder.has_state else "if state is not None:\n    state.allow()"
            self._builder.views.append(WriteAssign(target="", value=allow))
        if step.only is not None:
            checks += self._only(step, value)
        self._builder.views.append(WriteAssign(target=target, value=self._call(step, value)))
        self._builder.piece(target)

    def _call(self, step: Invoke, value: str) -> str:
        names = self._names
        match step.target:
            case "union":
                table = self._shared.union_table(step.name, "writers")
                return f"{table}[type({value})]({value}, {names.state}, {self._is_last(step)})"
            case "message":
                return (
                    f"{self._shared.body_writer(step.name)}({self._exact(step.name, value)}, {names.state})"
                )
            case _:
                if step.target == "frame" and not step.key.endswith("[]"):
                    self._builder.take_one()
                is_frame = step.target == "frame"
                writer = self._shared.writer if is_frame else self._shared.inner_writer
                return f"{writer(step.name)}({self._exact(step.name, value)}, {names.state})"

    def _is_last(self, step: Invoke) -> str:
        """Return the expression that the value is the last one; in a region of this function's own that is certain."""
        is_within = self._names.open_regions or self._builder.is_transformed
        return ("True" if is_within else self._builder.last) if step.is_last else "False"

    def _exact(self, name: str, value: str) -> str:
        """Return the value, after adding a check that it is of exactly this class."""
        self._builder.views.append(WriteChecks(checks=(f"type({value}) is not {class_name(name)}",)))
        return value

    def _only(self, step: Invoke, value: str) -> list[str]:
        assert step.only is not None
        if step.target == "union":
            classes = tuple(variety_class(step.name, each) for each in step.only)
            return [f"type({value}) not in {self._shared.only(classes)}"]
        classes = tuple(class_name(each) for each in step.only)
        return [f"type({value}.message) not in {self._shared.only(classes)}"]

    def dispatch(self, step: CodeDispatch, checks: list[Test]) -> None:
        """Write the message of a frame; of one inside a message, only the reference codec knows who may send it."""
        if step.prefix != FRAME:
            raise UnsupportedError(step.key, "a message that a code chooses inside another one, on writing")
        names, target = self._names, self._names.locals.name(f"{step.key}#data")
        value = names.value(step.key, step.field, "", self._builder.pieces)
        writers = f"_BODY_WRITERS{self._shared.inner_suffix.upper()}"
        self._builder.views.append(
            WriteAssign(target=target, value=f"{writers}[type({value})]({value}, {names.state})")
        )
        if step.only is not None:
            classes = tuple(class_name(each) for each in step.only)
            checks.append(f"type({value}) not in {self._shared.only(classes)}")
        if isinstance(step.subject, m.ContextReference):
            checks.append(f"{names.codes_table}.get(type({value})) is None")
        else:
            subject = names.text(step.subject, step.prefix, self._builder.pieces)
            own = f"{names.codes_table}[type({value})]"
            checks += [f"{subject} != {own}"] if subject != own else []
        self._builder.piece(target)
