"""The ends of a sender's frames if only some have their size in their first bytes: the others by all steps of `extent`."""

from __future__ import annotations

from struct import error as struct_error
from typing import TypeAlias

from ..codec.options import Options
from ..reference.expressions import Value
from ..reference.layout import Layout
from ..schema.protocol import Schema
from .extent import Extent, Level, natural
from .extent_steps import MESSAGE, ExtentSteps
from .header import Head, Header, head_of, header_of
from .number_steps import NUMBER, EndUnknown, Steps, Wrong

__all__ = ["SenderExtents"]

Buffer: TypeAlias = bytes | bytearray
_MOST_KNOWN = 1024  # messages that are found by their codes


class SenderExtents:
    """Finds the ends of one sender's frames.

    Attributes:
        most: The longest frame, in bytes.
        head: The first numbers of a frame, if they choose its message.
    """

    __slots__ = (
        "_choice", "_frame", "_header", "_headers", "_messages", "_only", "_subject", "head", "layout", "most", "options", "sender",
        "steps", "tables",
    )  # fmt: skip
    end_unknown: type[Exception] = EndUnknown
    wrong: type[Exception] = Wrong

    def __init__(self, schema: Schema, options: Options) -> None:
        self.options = options
        self.layout = Layout(schema, options)
        self.tables = ExtentSteps(self.layout)
        name = self.layout.frame_of(options.from_role)
        self.steps = self.tables.frame(name)
        self.sender: str | None = self.layout.role or self.layout.frames[name].role
        self._frame = name
        self.most = self.layout.frame
        self._messages: dict[tuple[object, tuple[str, ...] | None], Steps] = {}
        self._header = header_of(self.steps, self.most)
        self._headers: dict[int, Header | None] = {}
        self._choice = None
        self.head: Head | None = None
        if self._header is None and self.steps[-1][0] == MESSAGE:
            _, subject, self._only = self.steps[-1]
            self.head, self._subject = head_of(self.steps[:-1], subject)
            self._choice = None if self.head is None else self.head.unpack_one(self._subject)

    def begin(self, data: Buffer, start: int) -> Header | Extent:
        """Return the object that measures the frame at `start`."""
        if self._header is not None:
            return self._header
        header, choice = None, self._choice
        if choice is not None:
            try:
                header = self._headers[choice(data, start)[0]]
            except struct_error:  # cut before the choice
                pass
            except KeyError:
                header = self._header_of(choice(data, start)[0])
        return header or Extent(self)

    def _header_of(self, choice: int) -> Header | None:
        """Return the ends of a message's frames, if their first bytes give them."""
        try:
            steps = self.message(choice, self._only)
        except EndUnknown:
            return None
        if len(self._headers) >= _MOST_KNOWN:
            self._headers.clear()
        # Names of the frame are not those of its message.
        before = ((*step[:1], None, *step[2:]) if step[0] == NUMBER else step for step in self.steps[:-1])
        header = self._headers[choice] = header_of((*before, *steps), self.most)
        return header

    def after_head(self, numbers: tuple[int, ...], names: dict[Value, Value]) -> Level:
        """Return the steps of the message that the first numbers of a frame choose; they are added to
        `names`.

        Raises:
            EndUnknown: They do not choose a message.
        """
        assert self.head is not None
        names.update(zip(self.head.names, numbers, strict=True))
        return Level(self.message(numbers[self._subject], self._only), {})

    def message(self, choice: object, only: tuple[str, ...] | None) -> Steps:
        """Return the steps of a message, by its name or its code.

        Raises:
            EndUnknown: The message is unknown or not allowed.
        """
        steps = self._messages.get((choice, only))
        if steps is not None:
            return steps
        name: str | None
        if isinstance(choice, str):
            name = choice
        else:
            name = self.layout.message_of(natural(choice, least=None), self.sender, self._frame)
        if name is None or (only is not None and name not in only):
            raise EndUnknown
        if len(self._messages) >= _MOST_KNOWN:
            self._messages.clear()
        steps = self._messages[choice, only] = self.tables.message(name)
        return steps
