"""Finds the end of a frame while its bytes arrive, without reading it.

Invariant: each byte is examined once, whatever the sizes of chunks. Memory is bounded by the frame's limits: a
frame that needs more bytes is refused as soon as a length or count shows it. `Wrong` means that the frame is
invalid. Any other `EndUnknown` means that the frame may be invalid, or that only the reference codec can find its end.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import error as struct_error
from typing import TypeAlias

from ..reference.expressions import Undefined, Value, evaluate
from ..schema.expressions import Expression, FieldReference
from .extent_steps import (
    BITS,
    ENTER,
    FIND,
    FOREIGN,
    LIST,
    MATCH,
    MESSAGE,
    RUN,
    SIZED_VARIABLE,
    UNTIL,
    VARIABLE,
    WHEN,
)
from .number_steps import BYTES, NUMBER, SIZED, SKIP, EndUnknown, Step, Steps, Wrong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sender_extents import SenderExtents

__all__ = ["Extent", "Level", "natural"]

Buffer: TypeAlias = bytes | bytearray
_MOST_LEVELS = 256  # of nesting, before the reference codec checks the depth


class Level:
    """The progress in the steps of a record, or of the items of a list.

    Attributes:
        left: The number of items after the current one.
        n_lengths: The number of elements that remain in a run of bytes with lengths.
        until: The condition for the last item, or None if `left` counts the items.
    """

    __slots__ = ("index", "left", "n_lengths", "names", "steps", "until")

    def __init__(
        self, steps: Steps, names: dict[str, object], *, left: int = 0, until: Expression | None = None
    ) -> None:
        self.steps = steps
        self.index = 0
        self.names = names
        self.left = left
        self.n_lengths = 0
        self.until = until


class Extent:
    """The extent of one frame, found from the bytes that have arrived. The steps evaluate expressions in it.

    Attributes:
        is_known: The frame's size does not depend on bytes that have not arrived.
    """

    __slots__ = (
        "_extents", "_frame", "_has_begun", "_item", "_items_left", "_level", "_passed", "_searched", "_size", "_stack", "is_known",
    )  # fmt: skip
    end_unknown: type[Exception] = EndUnknown

    def __init__(self, extents: SenderExtents) -> None:
        self._extents = extents
        self._frame: dict[str, object] = {}
        self._items_left = extents.layout.n_messages
        if extents.head is None:
            self._level = Level(extents.steps, self._frame)
        self._stack: list[Level] = []
        self._size = self._searched = self._passed = 0
        self._has_begun = extents.head is None
        self.is_known = False

    def measure(self, data: Buffer, start: int) -> int:
        """Return the number of bytes needed from `start` on; the frame is whole if `data` has that many.

        In each call, `data` has the bytes of the previous call from `start` on, and possibly more.

        Raises:
            EndUnknown: The frame's end cannot be found, or lies beyond its limit.
        """
        end = len(data)
        if not self._has_begun:
            head = self._extents.head
            assert head is not None
            if end - start < head.size:
                return head.check_cut(data, start)
            self._level = self._extents.after_head(head.read(data, start), self._frame)
            self._size, self._has_begun = head.size, True
        position = start + self._size
        while not self.is_known:
            level = self._level
            steps, index = level.steps, level.index
            n_steps = len(steps)
            while True:
                if index == n_steps:
                    if not level.left:
                        self._leave(level)
                        break
                    level.left -= 1
                    index = 0
                    continue
                step = steps[index]
                if step[0] == SKIP:
                    position += step[1]
                elif step[0] == SIZED:
                    after = position + step[1]
                    if after > end:
                        level.index = index
                        return self._needed(position - start, after - start)
                    length = step[2](data, position)[0]
                    if length < 0:
                        raise Wrong
                    position = after + length * step[3]
                else:
                    level.index = index + 1
                    after = _RARE[step[0]](self, step, data, position, end)
                    if after < 0:
                        level.index = index
                        if step[0] == RUN:
                            position = self._passed
                        return self._needed(position - start, -after - start)
                    position = after
                    if level is not self._level:
                        break
                index += 1
        return self._needed(position - start, position - start)

    def next_look(self, size: int, need: int) -> int:
        """Return the number of bytes that the frame must have when it is measured again."""
        head = self._extents.head
        return need if self._has_begun or head is None else head.next_look(size, need)

    def _needed(self, size: int, need: int) -> int:
        """Store the progress of the steps, and return the number of needed bytes."""
        self._size = size
        if need > self._extents.most:
            raise Wrong
        return need

    def _leave(self, level: Level) -> None:
        """Continue after the last step of a level: with its next item, or with the enclosing level."""
        if level.until is not None and not self._holds(level):
            self._spend(1)
            level.index = 0
        elif self._stack:
            self._level = self._stack.pop()
        else:
            self.is_known = True

    def _holds(self, level: Level) -> bool:
        """Return whether a list ends with the item that was just passed; its condition belongs to the
        enclosing record.
        """
        assert level.until is not None
        self._item, self._level = level.names, self._stack[-1]
        holds = bool(self._evaluate(level.until))
        self._level = level
        return holds

    def _enter(self, level: Level) -> None:
        if len(self._stack) == _MOST_LEVELS:
            raise EndUnknown
        self._stack.append(self._level)
        self._level = level

    def _spend(self, count: int) -> None:
        """Take items from the frame's budget."""
        self._items_left -= count
        if count < 0 or self._items_left < 0:
            raise Wrong

    # ---- steps: each returns the position after it, or the negated position up to which bytes are needed

    def _number(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, name, size, unpack, allowed, _ = step
        after: int = position + size
        if after > end:
            return -after
        number = unpack(data, position)[0]
        if allowed is not None and number not in allowed:
            raise Wrong
        if name is not None:
            self._level.names[name] = number
        return after

    def _variable(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, name, read, allowed = step
        number, after = read(data, position, end)
        if after > end:
            return -int(after)
        if allowed is not None and number not in allowed:
            raise Wrong
        if name is not None:
            self._level.names[name] = number
        return int(after)

    def _sized_variable(self, step: Step, data: Buffer, position: int, end: int) -> int:
        length, after = step[1](data, position, end)
        if after > end:
            return -int(after)
        return int(after) if length is None else int(after) + natural(length) * int(step[2])

    def _bytes(self, step: Step, data: Buffer, position: int, end: int) -> int:
        return position + natural(self._evaluate(step[1])) * int(step[2])

    def _find(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, delimiter, unit = step
        searched = max(position, position + self._searched)
        while True:
            found = data.find(delimiter, searched, end)
            if found < 0:
                self._searched = max(searched, end - len(delimiter) + 1) - position
                return -max(end + 1, position + len(delimiter))
            if (found - position) % unit == 0:
                self._searched = 0
                return int(found + len(delimiter))
            searched = found + 1

    def _list(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, read, expression, smallest, steps, fixed, run = step
        if read is None:
            count = self._evaluate(expression)
        else:
            count, position = read(data, position, end)
            if position > end:
                return -position
            if count is None:
                return position
        if natural(count) > self._extents.layout.count or count * smallest > self._extents.most:
            raise Wrong
        self._spend(count)
        if fixed is not None:
            return int(position + count * fixed)
        if run is not None:
            self._enter(Level(run, self._frame))
            self._level.n_lengths = count * len(steps)
        elif count:
            self._enter(Level(steps, {}, left=count - 1))
        return position

    def _run(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, size, unpack = step
        level = self._level
        left = level.n_lengths
        try:
            while left:
                position += unpack(data, position)[0] + size
                left -= 1
        except (struct_error, OverflowError):  # no more bytes; faster than a comparison for each element
            pass
        level.n_lengths = left
        if left:
            self._passed = position
            return -int(position + size)
        return position

    def _until(self, step: Step, data: Buffer, position: int, end: int) -> int:
        self._spend(1)
        self._enter(Level(step[2], {}, until=step[1]))
        return position

    def _struct(self, step: Step, data: Buffer, position: int, end: int) -> int:
        self._enter(Level(self._extents.tables.struct(step[1]), {}))
        return position

    def _match(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, subject, arms = step
        names = self._level.names
        if not callable(subject):
            number = self._evaluate(subject)
        else:
            number, position = subject(data, position, end)
            if position > end:
                return -position
            names = {}
        for patterns, steps in arms:
            if not patterns or any(low <= number <= high for low, high in patterns):
                self._enter(Level(steps, names))
                return position
        raise Wrong

    def _message(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, subject, only = step
        choice = subject if type(subject) is str else self._evaluate(subject)
        self._enter(Level(self._extents.message(choice, only), {}))
        return position

    def _when(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, condition, names, steps = step
        if self._evaluate(condition):
            self._enter(Level(steps, self._level.names))
        else:
            self._level.names.update(dict.fromkeys(names))
        return position

    def _bits(self, step: Step, data: Buffer, position: int, end: int) -> int:
        _, size, order, parts = step
        after: int = position + size
        if after > end:
            return -after
        number = int.from_bytes(data[position:after], order)
        for name, shift, mask, is_flag in parts:
            value = number >> shift & mask
            self._level.names[name] = bool(value) if is_flag else value
        return after

    def _foreign(self, step: Step, data: Buffer, position: int, end: int) -> int:
        raise EndUnknown

    # ---- expressions

    def _evaluate(self, expression: Expression) -> Value:
        if isinstance(expression, FieldReference):
            return self.field(expression.path, expression.scope)
        try:
            return evaluate(expression, self)
        except Undefined as error:
            raise (Wrong if error.what == "context" else EndUnknown) from None

    def field(self, path: tuple[str, ...], scope: str) -> Value:
        names = self._level.names if scope == "own" else self._frame if scope == "frame" else self._item
        name = path[0] if path else ""
        if len(path) > 1 or name not in names:
            raise EndUnknown
        return names[name]

    def limit(self, name: str) -> int:
        value = self._extents.layout.limits.get(name)
        if value is None:
            raise EndUnknown
        return value

    def context(self, name: str, keys: tuple[object, ...]) -> Value:
        source = self._extents.options.context
        if source is None:
            raise Undefined("context", name)
        try:
            return source.lookup(name, keys, self._extents.sender)
        except KeyError:
            raise Undefined("context", name) from None

    def variable(self, name: str) -> Value:
        if name != "sender":
            raise EndUnknown
        return self._extents.sender

    def _unknown(self, *arguments: object) -> Value:
        raise EndUnknown

    size = count = present = code = checksum = remaining = offset = about_item = _unknown


def natural(number: object, least: int | None = 0) -> int:
    """Return a number that is valid as a size, a count or a choice."""
    if not isinstance(number, int):
        raise EndUnknown
    if least is not None and number < least:
        raise Wrong
    return number


_RARE: dict[int, Callable[[Extent, Step, Buffer, int, int], int]] = {
    NUMBER: Extent._number,
    VARIABLE: Extent._variable,
    SIZED_VARIABLE: Extent._sized_variable,
    BYTES: Extent._bytes,
    FIND: Extent._find,
    LIST: Extent._list,
    RUN: Extent._run,
    UNTIL: Extent._until,
    ENTER: Extent._struct,
    MATCH: Extent._match,
    MESSAGE: Extent._message,
    WHEN: Extent._when,
    BITS: Extent._bits,
    FOREIGN: Extent._foreign,
}
