"""The state of one reading of one frame by the reference decoder: the window, the budgets, the record, and
how errors are made.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeAlias

from ...codec.errors import SEARCHED, DecodeError, NeedMoreData, within
from ...codec.options import Options
from ...schema.elements import Element
from ...schema.expressions import Call, Expression, FieldReference
from ...schema.node import nodes_in
from ..expressions import Undefined, evaluate
from ..layout import Layout, Type
from ..scope import RecordScope
from ..tree import MOST_SHOWN, Node, Value
from ..window import Place, Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...codec.compiled import ReadState
    from ...schema.literals import Code
    from ...schema.protocol import Schema

    Skimming: TypeAlias = Callable[[bytes, int, int, ReadState | None], tuple[Any, int]]

    class CompiledCode(Protocol):
        """Compiled code for frames that come in fragments."""

        def made(self, reader: Reader, data: bytes, splice: Any) -> Any:
            """Return the frame in `data`, or None if compiled code refuses it or cannot read it."""


__all__ = ["ReadType", "Reader", "Steps", "n_bytes"]

Steps: TypeAlias = Generator[int, bool, Node]
"""Yields the position in the buffer up to which bytes are needed; sent True: no further bytes come."""

ReadType: TypeAlias = Callable[["Reader", Type, Place], Steps]


class Reader:
    """The shared state of the functions that read types.

    Attributes:
        frame, record: The frame and the record being read, as expressions see them.
        item: The last item, for `until`.
        prefix: The first part of the path of a message of this frame.
        after: The number of bytes after the current element in the outermost frame, or None if unknown.
        known_end: The end of the outermost frame in the outer stream, once it is known.
        is_last: The current element is the last one in its region.
        is_bounded: The region's end is known and lies within the frame.
        only: The messages that the frame being entered may carry, and whether that is lenient.
        building: The open records, the outermost first; each with its name in the one before.
        is_faulty: Compiled code refused the frame; it does not conform unless it is a fragment, which has
            no such code.
        is_quick: The reader only searches for an error: valid items of lists need no nodes, and few need
            values.
        hidden_from: The number of records of `building` in an error if the current one is not part of them,
            else 0.
        is_kept: A condition on items needs the whole current item.
        items_left: The number of items of lists that may still be shown.
        has_dropped: Values were not kept: the result serves for errors only.
        has_items: The items of lists keep their nodes.
        compiled: Compiled code for frames, if a reassembled frame may be the object of that code.
        skim: Compiled code for nested frames, if the reader only searches for an error.
        shown_left: The number of nested frames that may still have values.
        work_left: The remaining budget of the search for an error in eighths of a value, or None without a
            search.
    """

    __slots__ = (
        "_asked", "after", "building", "compiled", "frame", "frame_offset", "has_dropped", "has_items", "hidden_from", "inflated_left", "is_bounded", "is_faulty", "is_kept",
        "is_last", "is_quick", "item", "items_left", "known_end", "layout",
        "level", "messages_left", "only", "options", "postponed", "prefix", "read", "record", "shown_left", "skim",
        "window", "work_left",
    )  # fmt: skip

    def __init__(self, layout: Layout, options: Options, window: Window, read: ReadType) -> None:
        self.layout = layout
        self.options = options
        self.window = window
        self.read = read
        self.frame: RecordScope | None = None
        self.record: RecordScope | None = None
        self.item: Node | None = None
        self.postponed: tuple[DecodeError, Callable[[], None]] | None = None
        """The error in reassembled bytes, raised when the end of the last fragment's frame is known, and
        the function that ends the reassembly.
        """
        self.prefix = ""
        self.after: int | None = None
        self.known_end: int | None = None
        self.is_last = False
        self.is_bounded = False
        self.only: tuple[tuple[str, ...] | None, bool] = (None, False)
        self.building: list[tuple[str, RecordScope | list[Value]]] = []
        self.level = 0
        self.frame_offset = window.here
        self.messages_left = layout.n_messages
        self.inflated_left = layout.inflated
        self.skim: Skimming | None = None
        self.compiled: CompiledCode | None = None
        self.is_quick = self.is_kept = self.has_dropped = False
        self.has_items = True
        self.hidden_from = 0
        self.items_left = MOST_SHOWN
        self._asked: frozenset[str] | None = None
        self.shown_left = 16
        self.work_left: int | None = None
        self.is_faulty = False

    def close(self) -> None:
        """Release the records, which refer to the reader: they are then freed without the garbage collector."""
        self.frame = self.record = self.item = None
        self.building.clear()

    def standing(self) -> Callable[[], None]:
        """Return a function that restores the current state of the reader: after an inner error, if reading
        is to continue.
        """
        names = (
            "after", "frame", "hidden_from", "is_bounded", "is_kept", "is_last", "item", "only", "prefix", "record", "window",
        )  # fmt: skip
        values = [getattr(self, name) for name in names]
        level, n_building = self.level, len(self.building)

        def restore() -> None:
            for name, value in zip(names, values, strict=True):
                setattr(self, name, value)
            self.level = level
            del self.building[n_building:]

        return restore

    # -- bytes ------------------------------------------------------------------------------------------------------

    def need(self, position: int, place: Place, blame: Node | None = None) -> Generator[int, bool, None]:
        """Continue when the window holds the bytes up to `position`, which `blame` (a length or count) requires."""
        window = self.window
        self.check(position, place, blame)
        while window.available < position:
            if (yield position):
                raise self._cut(position, place)

    def check(self, position: int, place: Place, blame: Node | None = None) -> None:
        """Refuse a position beyond the frame's limit or the region's end.

        Raises:
            DecodeError: limit_exceeded, truncated or partial_inner.
        """
        window = self.window
        if window.end is not None and position > window.end:
            expected, found = self._shortage(position, window.end)
            at = window.base + window.end
            raise self.fail(window.short, place, at, expected=expected, found=found, rule=window.short_rule)
        if position > window.frame_end:
            limit = window.frame_end - window.frame_start
            expected, found = f"at most {n_bytes(limit)}", n_bytes(position - window.frame_start)
            raise self.fail(
                "limit_exceeded", place, blame=blame, expected=expected, found=found, limit="frame"
            )

    def take(self, size: int, place: Place, blame: Node | None = None) -> Generator[int, bool, bytes]:
        """Return the next bytes."""
        window = self.window
        stop = window.position + size
        if (
            stop > window.available
            or stop > window.frame_end
            or (window.end is not None and stop > window.end)
        ):
            yield from self.need(stop, place, blame)
        data = bytes(window.data[window.position : stop])
        window.position = stop
        return data

    def node(
        self, place: Place, type_: Element, start: int, value: Value = None, children: tuple[Node, ...] = ()
    ) -> Node:
        """Return the node of the bytes from `start` (in the offsets of nodes) up to here."""
        window = self.window
        self.spend_work(8, place)
        node = Node(place.name, place.path, type_, start, window.here, value, children, inner=window.inner)
        node.is_part = place.is_part
        return node

    # -- budgets ----------------------------------------------------------------------------------------------------

    def spend_messages(self, count: int, place: Place, blame: Node | None = None) -> None:
        """Take `count` items from the frame's budget.

        Raises:
            DecodeError: limit_exceeded.
        """
        if count > self.messages_left:
            expected, found = f"at most {self.layout.n_messages} items in the frame", f"{_shown(count)} more"
            raise self.fail(
                "limit_exceeded", place, blame=blame, expected=expected, found=found, limit="messages"
            )
        self.messages_left -= count

    def begin_search(self) -> None:
        """Bound the cost of the search for an error from here on, if there must be one."""
        if self.is_faulty and self.work_left is None:
            self.work_left = 8 * self.layout.work
            self.is_quick = True

    def spend_work(self, eighths: int, place: Place) -> None:
        """Take from the frame's budget for the search for an error: 8 for each value that is read.

        Raises:
            DecodeError: limit_exceeded. The frame does not conform, and the place is unknown.
        """
        if self.work_left is None:
            return
        self.work_left -= eighths
        if self.work_left < 0:
            self.work_left, self.is_faulty = None, False
            expected = f"{SEARCHED} {self.layout.work} values of work"
            raise self.fail("limit_exceeded", place, expected=expected, found="none", limit="work")

    def enter(self, name: str, place: Place) -> None:
        """Enter a declaration, which counts if it can contain itself; `leave` undoes it.

        Raises:
            DecodeError: too_deep.
        """
        if name not in self.layout.circular:
            return
        if self.level > self.layout.depth:
            expected = f"nesting at most {self.layout.depth} deep"
            raise self.fail("too_deep", place, expected=expected, limit="depth")
        self.level += 1

    def leave(self, name: str) -> None:
        self.level -= name in self.layout.circular

    def asks_for(self, name: str) -> bool:
        """Return whether an expression of the protocol uses the value of a field of that name, and not only
        its length.
        """
        if self._asked is None:
            self._asked = _asked(self.layout.schema)
        return name in self._asked

    # -- expressions ------------------------------------------------------------------------------------------------

    def evaluate(self, expression: Expression, place: Place) -> Value:
        """Return the value of an expression.

        Raises:
            Undefined: A value other than a context is missing.
            DecodeError: missing_context.
        """
        try:
            value: Value = evaluate(expression, self.scope)
        except Undefined as error:
            if error.what == "context":
                raise self.fail("missing_context", place, expected=f"an entry of {error.name}") from None
            raise
        return value

    def number(self, expression: Expression, place: Place) -> int:
        """Return the value of an expression that gives a size or a count.

        Raises:
            DecodeError: missing_context, or invalid_value: negative, or not a number.
        """
        blame = self.blame(expression)
        try:
            value = self.evaluate(expression, place)
        except Undefined:
            value = None
        if not isinstance(value, int):
            raise self.fail("invalid_value", place, blame=blame, expected="a number", found="none")
        self.refuse_negative(value, place, blame, None if blame is None else self.scope.rules.get(blame.name))
        return value

    def refuse_negative(self, number: int, place: Place, blame: Node | None, rule: str | None = None) -> None:
        """Refuse a negative size or count, with the rule of the field that holds it, else of the element
        that it measures.
        """
        if number < 0:
            found, here = _shown(number), (
                place if blame is None else Place(blame.name, blame.path, place.rule)
            )
            raise self.fail("invalid_value", here, blame=blame, expected="0 or more", found=found, rule=rule)

    def blame(self, expression: Expression) -> Node | None:
        """Return the first field that the expression reads, if any."""
        asked = (
            each for each in nodes_in(expression) if isinstance(each, FieldReference) and each.scope == "own"
        )
        found = (self.scope.nodes.get(each.path[0]) for each in asked)
        return next((node for node in found if node is not None), None)

    @property
    def scope(self) -> RecordScope:
        return self.record if self.record is not None else RecordScope(self, "", Place("", ""))

    @property
    def sender(self) -> str | None:
        """The sender: as the caller says, else the only role that sends this frame."""
        if self.layout.role is not None or self.frame is None:
            return self.layout.role
        return self.layout.frames[self.frame.name].role

    def code_of(self, name: str) -> int | None:
        """Return the code of a message."""
        return self.layout.messages[name].code if name in self.layout.messages else None

    # -- errors -----------------------------------------------------------------------------------------------------

    def fail(
        self,
        code: Code,
        place: Place,
        at: int | None = None,
        *,
        blame: Node | None = None,
        expected: str = "",
        found: str = "",
        rule: str | None = None,
        limit: str | None = None,
    ) -> DecodeError:
        """Return an error at `at` (in the offsets of nodes), at the node to blame, or here; `limit` names
        the one that is exceeded.
        """
        window = self.window
        is_inner = window.inner if blame is None else blame.inner
        at = blame.start if blame is not None else window.here if at is None else at
        outer = window.outer_at if is_inner and window.outer_at is not None else at
        return DecodeError(
            code,
            rule=rule or self._rule(code, place, limit),
            path=place.path,
            frame_offset=self.frame_offset,
            at=outer,
            inner_at=at if is_inner else None,
            expected=expected if limit is None else within(expected, limit),
            found=found,
            recoverable=self.known_end is not None,
            end=self.known_end,
        )

    def _rule(self, code: Code, place: Place, limit: str | None) -> str | None:
        """Return the broken rule: that of a limit, empty if only bytes are missing, else that of the place."""
        if limit is not None:
            return self.layout.limit_rules.get(limit)
        return None if code in ("truncated", "partial_inner") else place.rule

    def _cut(self, position: int, place: Place) -> NeedMoreData:
        window = self.window
        expected, found = self._shortage(position, window.available)
        return NeedMoreData(
            position - window.available,
            path=place.path,
            frame_offset=self.frame_offset,
            at=window.base + window.available,
            expected=expected,
            found=found,
        )

    def _shortage(self, position: int, stop: int) -> tuple[str, str]:
        start = self.window.position
        return n_bytes(position - start), n_bytes(stop - start)


_MEASURES = ("code", "count", "present", "size")


def _asked(schema: Schema) -> frozenset[str]:
    """Return the names of fields whose values the expressions of a protocol use, other than code, count,
    presence or size.
    """
    found: dict[str, int] = {}
    for node in nodes_in(schema):
        if isinstance(node, FieldReference):
            for name in node.path:
                found[name] = found.get(name, 0) + 1
        elif isinstance(node, Call) and node.function in _MEASURES:
            (measured,) = node.arguments
            if isinstance(measured, FieldReference) and measured.path:
                found[measured.path[-1]] = found.get(measured.path[-1], 0) - 1
    return frozenset(name for name, n_times in found.items() if n_times)


def n_bytes(number: int) -> str:
    """Return a number of bytes as text."""
    return f"{_shown(number)} byte" + ("" if number == 1 else "s")


def _shown(number: int) -> str:
    return str(number) if abs(number) < 2**64 else "a number beyond 64 bits"
