"""The messages whose own `encode` writes them together with their frame."""

from __future__ import annotations

from wiregen.generate.steps import frame_layout
from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.python.frame_views import FrameView
from wiregen.generate.views.python.function_views import WriteFunction
from wiregen.generate.views.python.functions import FunctionBuilder
from wiregen.generate.views.python.layouts import laid, nested
from wiregen.generate.views.python.names import Locals, local_name
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import ANY, annotation
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.walk import compresses, frame_attributes

__all__ = ["MethodBuilder"]


def _are_keywords(headers: dict[str, str]) -> bool:
    """Return whether the parameters of a header have the same names as in `encode`, which a method is.

    A function names one differently if its own local variable has that name.
    """
    return all(parameter == local_name(field) for field, parameter in headers.items())


class MethodBuilder:
    """Builds the methods of one protocol's messages in one layout."""

    def __init__(self, shared: Shared, functions: FunctionBuilder) -> None:
        self._shared = shared
        self._protocol = shared.protocol
        self._functions = functions

    def needs_no_function(self, frame: m.Frame, message: m.Message, headers: dict[str, str]) -> bool:
        """Return whether a method alone is enough to write a message: it does not pass on a state."""
        if not _are_keywords(headers):
            return False
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        if isinstance(layout, UnsupportedError) or self._protocol.contexts or self._protocol.variants:
            return False
        kinds = {step.kind for step in nested(layout.steps)}
        stateful = {"invoke", "dispatch", "carry"}
        stateful |= {"repeat"} if self._functions.has_frames_inside else set()
        return self._state(frame, message) == "never" and not kinds & stateful

    def beside_function(
        self, frame: m.Frame, message: m.Message, headers: dict[str, str], view: FrameView
    ) -> WriteFunction | None:
        """Return the method of a message that the frame's function writes too: for large frames, which need a state."""
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        if (
            self._shared.parent is not None
            or isinstance(layout, UnsupportedError)
            or compresses(self._protocol)
        ):
            return None
        if not _are_keywords(headers):
            return None
        traits = self._functions.traits.of(message.name, "", is_frame=True)
        if traits.is_heavy or self._functions.state_of(layout, traits) == "always":
            return None
        arguments = "".join(f", {name}" for name in headers.values())
        again = f"{view.writer}({view.name}(self{arguments}), _WriteState(_LIMITS))"
        given = self._given(frame, headers)
        write = self._functions.write_message(
            frame, message, headers | given, "", is_method=True, again=again
        )
        locals_ = tuple((local, headers[name]) for name, local in given.items())
        return None if write.is_refused else replace(write, given=locals_)

    def _given(self, frame: m.Frame, headers: dict[str, str]) -> dict[str, str]:
        """Return a local variable for each header field whose parameter may be None and is not annotated as Any."""
        fields, taken = frame_attributes(frame, self._protocol), Locals(frozenset(headers.values()))
        return {
            each.field.name: taken.name(f"given_{each.field.name}")
            for each in fields
            if each.may_be_absent
            and each.field.name in headers
            and annotation(each.field.type, self._protocol) != ANY
        }

    def _state(self, frame: m.Frame, message: m.Message) -> str:
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        assert not isinstance(layout, UnsupportedError)
        return self._functions.state_of(layout, self._functions.traits.of(message.name, "", is_frame=True))
