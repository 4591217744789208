"""Which messages their own `encode` writes, frame and all."""

from __future__ import annotations

from wiregen import model as m
from wiregen.plan import frame_layout
from wiregen.plan.steps import UnsupportedError
from wiregen.views.python_function_views import WriteFunction
from wiregen.views.python_functions import FunctionBuilder
from wiregen.views.python_layouts import laid, nested
from wiregen.views.python_module_views import FrameView
from wiregen.views.python_shared import Shared
from wiregen.walk import nested_types

__all__ = ["MethodBuilder"]


class MethodBuilder:
    """Builds the methods of one protocol's messages in one layout."""

    def __init__(self, shared: Shared, functions: FunctionBuilder) -> None:
        self._shared = shared
        self._protocol = shared.protocol
        self._functions = functions

    def needs_no_function(self, frame: m.Frame, message: m.Message) -> bool:
        """Tell whether a method is all that writes a message: it hands no state on."""
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
        """Return the method of a message that the frame's function writes, too: with a state, where there is much of it."""
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        if self._shared.parent is not None or isinstance(layout, UnsupportedError) or self._inflates():
            return None
        traits = self._functions.traits_of(message.name, "", is_frame=True)
        if traits.is_heavy or self._functions.state_of(layout, traits) == "always":
            return None
        arguments = "".join(f", {name}" for name in headers.values())
        again = f"{view.writer}({view.name}(self{arguments}), _WriteState(_LIMITS))"
        write = self._functions.write_message(frame, message, headers, "", is_method=True, again=again)
        return None if write.is_refused else write

    def _state(self, frame: m.Frame, message: m.Message) -> str:
        layout = laid(lambda: frame_layout(self._protocol, frame, message))
        assert not isinstance(layout, UnsupportedError)
        return self._functions.state_of(layout, self._functions.traits_of(message.name, "", is_frame=True))

    def _inflates(self) -> bool:
        """Tell whether anything is compressed, at a level that a state holds."""
        protocol = self._protocol
        owners: list[m.Struct | m.Message | m.Frame | m.Variety] = [*protocol.structs, *protocol.messages]
        owners += [*protocol.frames, *(each for union in protocol.unions for each in union.varieties)]
        types = nested_types(*(field.type for owner in owners for field in owner.fields))
        return any(
            isinstance(type_, m.Region) and isinstance(type_.carrier, m.InCompressed) for type_ in types
        )
