"""The frames in the examples of a file, by message: whole examples, steps of conversations, and frames inside of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from wiregen.language.examples.checking import examples_in_bytes
from wiregen.language.examples.construction import Constructs
from wiregen.language.examples.conversations import TracedConversation
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.schema import model as m

__all__ = ["ExampleFrame", "ExampleFrames"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFrame:
    """A frame of an example. `before`: the bytes sent before it, by role.

    `opened`: the roles whose preamble is among them.
    """

    origin: str
    role: str | None
    data: bytes
    before: tuple[tuple[str | None, bytes], ...] = ()
    opened: frozenset[str | None] = frozenset()


class ExampleFrames:
    """Finds the frames of one protocol.

    `conversations` returns its conversations. It is called only where the examples alone contain no frame of a
    message.
    """

    def __init__(
        self,
        protocol: m.Protocol,
        schema: Schema,
        conversations: Callable[[], tuple[TracedConversation, ...]],
    ) -> None:
        self._protocol = protocol
        self._schema = schema
        self._conversations = conversations
        self._constructs = Constructs(protocol)
        self._bodies = {frame.name: frame.message for frame in protocol.frames}

    def of(self, message: str) -> Iterator[ExampleFrame]:
        """Yield frames of a message as the file has them, those with the least bytes before them first."""
        own = [
            (example, frame) for example, frame in self._examples if self._message(example.value) == message
        ]
        yield from (frame for example, frame in own if example.form == "both" and not example.scene)
        yield from (frame for example, frame in own if example.form == "both" and example.scene)
        yield from (frame for name, frame in self._steps if name == message)
        for example, _ in own:
            if example.form == "read" and not example.scene and example.value is not None:
                origin = f"example “{example.name}”, as an encoder writes it"
                yield from self._written(example.value, self._constructs.sender(example.value), origin)
        yield from self._nested(message)

    @cached_property
    def _examples(self) -> tuple[tuple[m.Example, ExampleFrame], ...]:
        pairs = zip(self._protocol.examples, examples_in_bytes(self._protocol), strict=True)
        return tuple(
            (
                example,
                ExampleFrame(
                    origin=f"example “{example.name}”",
                    role=given["role"],
                    data=given["data"],
                    before=given["before"],
                    opened=self._openers(example.scene),
                ),
            )
            for example, given in pairs
            if example.value is not None and example.form != "violates" and example.variant is None
        )

    @cached_property
    def _steps(self) -> tuple[tuple[str, ExampleFrame], ...]:
        found: list[tuple[str, ExampleFrame]] = []
        for traced in self._conversations():
            if traced.trace.variant is None:
                found += self._steps_of(traced)
        return tuple(found)

    def _steps_of(self, traced: TracedConversation) -> Iterator[tuple[str, ExampleFrame]]:
        said: list[tuple[str | None, bytes]] = []
        values: list[m.Construct] = []
        for line, step in zip(traced.conversation.steps, traced.trace.steps, strict=True):
            if not isinstance(line, m.ConversationStep):
                continue
            if line.violation is None:
                frame = ExampleFrame(
                    origin=f"a step of the example “{traced.conversation.name}”",
                    role=step.role,
                    data=step.data,
                    before=tuple(said),
                    opened=self._openers(values),
                )
                yield self._message(line.value), frame
            said.append((step.role, step.data))
            values.append(line.value)

    def _nested(self, message: str) -> Iterator[ExampleFrame]:
        """Yield the frames of a message that are inside of another one, each by itself."""
        outer = [
            (example.name, example.value)
            for example in self._protocol.examples
            if example.value is not None and example.variant is None
        ]
        outer += [
            (conversation.name, line.value)
            for conversation in self._protocol.conversations
            for line in conversation.steps
            if isinstance(line, m.ConversationStep) and conversation.variant is None
        ]
        for name, whole in outer:
            sender = self._constructs.sender(whole)
            for inner in self._sent_in(whole):
                if self._message(inner) == message:
                    yield from self._written(inner, sender, f"from the example “{name}”")

    def _sent_in(self, whole: m.Construct) -> Iterator[m.Construct]:
        """Yield the frames and messages inside of a value, except its own message."""
        body = self._bodies.get(whole.name) if whole.what == "frame" else None
        for item in whole.fields:
            for each in _constructs_in(item.value):
                if each.what == "frame" or (each.what == "message" and item.name != body):
                    yield each
                yield from self._sent_in(each)

    def _written(self, value: m.Construct, sender: str | None, origin: str) -> Iterator[ExampleFrame]:
        """Yield the frame of a value, as an encoder with an empty context writes it; no frame where it cannot."""
        role = self._constructs.owner(value) or sender
        options = Options(role, context=Context(self._schema))
        try:
            data = write_frame(self._schema, self._constructs.frame(value, role), options, compression=0)
        except EncodeError:
            return
        yield ExampleFrame(origin=origin, role=role, data=data)

    def _message(self, value: m.Construct | None) -> str:
        """Return the name of the message that a value is, or contains."""
        if value is None or value.what != "frame":
            return "" if value is None else value.name
        body = self._bodies[value.name]
        inner = next((item.value for item in value.fields if item.name == body), None)
        return inner.name if isinstance(inner, m.Construct) else ""

    def _openers(self, said: tuple[m.Construct, ...] | list[m.Construct]) -> frozenset[str | None]:
        return frozenset(self._constructs.sender(each) for each in said if each.what == "preamble")


def _constructs_in(value: m.ExampleValue) -> Iterator[m.Construct]:
    match value:
        case m.Construct():
            yield value
        case m.Values(items=items):
            for each in items:
                yield from _constructs_in(each)
        case _:
            return
