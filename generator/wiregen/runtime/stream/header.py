"""Frames whose first bytes give their size: one `struct.Struct` reads them, and `Header` refuses a size over the limit.

Invariant: a header has no state of a frame, so that one serves all of them, and measuring again costs the same.
"""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Any, TypeAlias

from ..schema.expressions import FieldReference
from .number_steps import BYTES, NUMBER, SIZED, SKIP, EndUnknown, Step, Steps, Wrong

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Head", "Header", "head_of", "header_of"]

Buffer: TypeAlias = bytes | bytearray
_LENGTH = 0
"""The name of a length before the element that it measures; names of fields are texts."""


class Head:
    """The numbers of fixed widths that frames begin with.

    Attributes:
        allowed: The valid values of a restricted number, with its index and the position after it.
        names: The names of the numbers in expressions.
        size: The size of the numbers in bytes.
        unpack: Reads the numbers.
    """

    __slots__ = ("_forms", "allowed", "names", "size", "unpack")

    def __init__(self, forms: tuple[str, ...], names: tuple[object, ...], allowed: tuple[Any, ...]) -> None:
        """`forms`: the formats of `struct`, the byte order first."""
        form = Struct("".join(forms))
        self.size = form.size
        self.names = names
        self.unpack = form.unpack_from
        self.allowed = allowed
        self._forms = forms

    def unpack_one(self, index: int) -> Callable[[Buffer, int], tuple[int, ...]]:
        """Return a function that reads one of the numbers from the start of a head."""
        order, *forms = self._forms
        places = [at for at, form in enumerate(forms) if not form.endswith("x")]
        before = Struct(order + "".join(forms[: places[index]])).size
        return Struct(f"{order}{before}x{forms[places[index]]}").unpack_from

    def read(self, data: Buffer, start: int) -> tuple[int, ...]:
        """Return the numbers.

        Raises:
            Wrong: A number is invalid.
        """
        numbers = self.unpack(data, start)
        for index, allowed, _ in self.allowed:
            if numbers[index] not in allowed:
                raise Wrong
        return numbers

    def check_cut(self, data: Buffer, start: int) -> int:
        """Check the numbers of an incomplete head; return the size of all in bytes.

        Raises:
            Wrong: A number is invalid.
        """
        if self.allowed:
            size = len(data) - start
            numbers = self.unpack(data[start:].ljust(self.size, b"\0"))
            if any(end <= size and numbers[index] not in allowed for index, allowed, end in self.allowed):
                raise Wrong
        return self.size

    def next_look(self, size: int, need: int) -> int:
        """Return the end of the next number that may be wrong, or `need` without one."""
        if size >= self.size or not self.allowed:
            return need
        return min((end for _, _, end in self.allowed if end > size), default=need)


class Header:
    """Finds the ends of frames whose first bytes give their size."""

    __slots__ = ("_after", "_allowed", "_head", "_index", "_most", "_unit", "_unpack", "next_look")
    end_unknown: type[Exception] = EndUnknown
    is_known = True  # as soon as the first bytes are there

    def __init__(self, head: Head, index: int, unit: int, after: int, most: int) -> None:
        """`index`: of the length among the numbers; `unit`: bytes that it counts as one; `after`: bytes
        that it does not count; `most`: the limit of a frame in bytes.
        """
        self._head, self._unpack, self._allowed = head, head.unpack, head.allowed  # asked once a chunk
        self.next_look = head.next_look
        self._index = index
        self._unit = unit
        self._after = after
        self._most = most

    def measure(self, data: Buffer, start: int) -> int:
        """Return the number of bytes needed from `start` on; the frame is whole if `data` holds so many.

        Raises:
            Wrong: A number is wrong, or the frame longer than its limit.
        """
        unpack = self._unpack
        try:
            numbers = unpack(data, start)
        except struct_error:
            return self._head.check_cut(data, start)
        for index, allowed, _ in self._allowed:
            if numbers[index] not in allowed:
                raise Wrong
        length: int = numbers[self._index]
        size = length * self._unit + self._after
        if length < 0 or size > self._most:
            raise Wrong
        return size


def header_of(steps: Steps, most: int) -> Header | None:
    """Return how the first bytes give the size: numbers, then as many bytes as one of them counts, then a
    fixed number of bytes.
    """
    at = next((index for index, step in enumerate(steps) if step[0] in (BYTES, SIZED)), len(steps))
    rest = steps[at + 1 :]
    if at == len(steps) or any(step[0] != SKIP for step in rest):
        return None
    before, sized = steps[:at], steps[at]
    subject: object = sized[1]
    unit = sized[2]
    if sized[0] == SIZED:
        _, size, unpack, unit, _, form = sized
        before, subject = (*before, (NUMBER, _LENGTH, size, unpack, None, form)), None
    head, index = head_of(before, subject)
    after = sum(step[1] for step in rest)
    return None if head is None else Header(head, index, unit, head.size + after, most)


def head_of(steps: Steps, subject: object) -> tuple[Head | None, int]:
    """Return the numbers that the steps read, and the index of the one that `subject` names; no head if they read more.

    Without a `subject`, it is the last number.
    """
    forms: list[str] = []
    names: list[object] = []
    allowed = []
    size = 0
    for step in steps:
        size += _size(step)
        if step[0] == SKIP:
            forms.append(f"{step[1]}x")
        elif step[0] == NUMBER and step[5]:
            if step[4] is not None:
                allowed.append((len(names), step[4], size))
            forms.append(step[5])
            names.append(step[1])
        else:
            return None, 0
    orders = {form[0] for form in forms if form[0] in "<>"}
    name = _LENGTH if subject is None else _name(subject)
    if len(orders) != 1 or name is None or name not in names:
        return None, 0
    plain = (orders.pop(), *(form.lstrip("<>") for form in forms))
    return Head(plain, tuple(names), tuple(allowed)), names.index(name)


def _size(step: Step) -> int:
    """Return the size in bytes of a step that is a number, or is skipped."""
    size: int = step[1] if step[0] == SKIP else step[2] if step[0] == NUMBER else 0
    return size


def _name(subject: Any) -> str | None:
    """Return the name if an expression is one field of the same record."""
    is_own = isinstance(subject, FieldReference) and subject.scope == "own"
    return subject.path[0] if is_own and len(subject.path) == 1 else None
