"""The state of a frame that is written, in addition to its rows: layouts, budgets, contexts, and access to values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from ...codec.errors import SEARCHED, EncodeError, within
from ...codec.options import Options
from ...codec.text import decode_text
from ...lazy import Dispatch
from ...schema.protocol import Schema
from ...schema.types import (
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    Float,
    Integer,
    Span,
    Text,
    Type,
    UnionReference,
    Varint,
)
from ..access import (
    as_bytes,
    as_int,
    as_items,
    as_str,
    as_uuid,
    declared_name,
    extra,
    is_a,
    is_named,
    kind_of,
    unknown_of,
)
from ..expressions import Undefined, Value
from ..layout import Layout
from ..scalars import SCALARS, bit_number, number, real, scalar, text_bytes
from ..tree import FrameValue, Record, Variety
from .cells import Spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from ..scalars import Scalar

    Plain: TypeAlias = Scalar | Bits | Bytes | Text

__all__ = ["PLAIN", "Writer"]

PLAIN = (*SCALARS, Bits, Bytes, Text)
"""Types whose values have no parts."""

_MOST_SKIMS = 8
"""Nested frames that compiled code may refuse: each may hold the next one, whose content is then written
once for each.
"""


class Writer:
    """One outer frame that is written.

    Attributes:
        sender: The role that sends the frame, if known.
        frame: The frame that is written now; None in a preamble.
        compression: The level of compressed regions.
        is_tail_kept: Trailing bytes that were read after a message are written.
        unknowable: Kinds of values that expressions may lack, so that a value is written as given.
        work_left: The remaining budget of the search for an error in eighths of a value, or None without a search.
    """

    __slots__ = (
        "_given", "_inflated_left", "_level", "_messages_left", "_options", "_skim", "_skims_left", "_writers", "compression", "frame", "is_tail_kept",
        "is_to_be_read", "layout", "sender", "unknowable", "work_left",
    )  # fmt: skip

    def __init__(
        self,
        schema: Schema,
        options: Options,
        writers: Dispatch,
        *,
        compression: int,
        is_tail_kept: bool,
        needs_context: bool = True,
        is_faulty: bool = False,
        skim: Callable[[object], bytes | None] | None = None,
    ) -> None:
        self.layout = Layout(schema, options)
        self.sender = options.from_role
        self.frame: str | None = None
        self.is_to_be_read = False
        """Whether a condition used the number of remaining bytes, which only a reader knows."""
        self.compression = compression
        self.is_tail_kept = is_tail_kept
        self.unknowable = frozenset(("remaining",) if needs_context else ("remaining", "context"))
        self._options = options
        self._writers = writers
        self._messages_left = self.layout.n_messages
        self._inflated_left = self.layout.inflated
        self._skim = skim
        self._skims_left = _MOST_SKIMS
        self.work_left = 8 * self.layout.work if is_faulty else None
        self._level = 0
        self._given: dict[int, tuple[object, dict[str, Value]]] = {}

    def write(self, type_: Type, value: object, spot: Spot) -> bytes:
        """Return the bytes of a value."""
        if self.work_left is not None:
            self.spend_work(4 if isinstance(type_, PLAIN) and not spot.cell.is_declared else 8, spot.path)
        if isinstance(type_, SCALARS):
            return scalar(self.layout.schema, type_, value, spot.path)
        data: bytes = self._writers[type(type_)](self, type_, value, spot)
        return data

    def skimmed(self, frame: object) -> bytes | None:
        """Return the bytes of a nested frame from compiled code in the search for an error, or None to write it slowly."""
        data = None if self._skim is None or self._skims_left == 0 else self._skim(frame)
        if data is None:
            self._skims_left = max(0, self._skims_left - 1)
        return data

    # ---- budgets ----

    def spend_messages(self, count: int, path: str) -> None:
        if count > self._messages_left:
            expected = f"at most {self.layout.n_messages} items in the frame"
            raise self.over("messages", path, expected, "more")
        self._messages_left -= count

    def spend_inflated(self, size: int, path: str) -> None:
        if size > self._inflated_left:
            expected = f"at most {self.layout.inflated} inflated bytes"
            raise self.over("inflated", path, expected, "more")
        self._inflated_left -= size

    def spend_work(self, eighths: int, path: str) -> None:
        """Take from the budget of the search for an error: 8 for a value, 4 for a plain item. The budget is
        not restored on another attempt.

        Raises:
            EncodeError: limit_exceeded. The value is not allowed, and the reason is unknown.
        """
        if self.work_left is None:
            return
        self.work_left -= eighths
        if self.work_left < 0:
            raise self.over("work", path, f"{SEARCHED} {self.layout.work} values of work", "none")

    def refuse_long(self, size: int, path: str) -> None:
        """Refuse a size above the limit of a frame."""
        if size > self.layout.frame:
            expected = f"a frame of at most {self.layout.frame} bytes"
            raise self.over("frame", path, expected, f"{size} bytes")

    def over(self, limit: str, path: str, expected: str, found: str) -> EncodeError:
        """Return the error of a value that exceeds a limit, with the limit's own rule."""
        error = EncodeError("limit_exceeded", path=path, expected=within(expected, limit), found=found)
        return error.tied(self.layout.limit_rules.get(limit))

    def enter(self, name: str, path: str) -> None:
        """Enter a declaration, which counts if it can contain itself; `leave` undoes it."""
        if name not in self.layout.circular:
            return
        if self._level > self.layout.depth:
            expected = f"nesting at most {self.layout.depth} deep"
            error = EncodeError("too_deep", path=path, expected=within(expected, "depth"))
            raise error.tied(self.layout.limit_rules.get("depth"))
        self._level += 1

    def leave(self, name: str) -> None:
        self._level -= name in self.layout.circular

    def budgets(self) -> tuple[int, int, int]:
        """Return the remaining budgets, for `restore`."""
        return self._messages_left, self._inflated_left, self._level

    def restore(self, budgets: tuple[int, int, int]) -> None:
        """Restore the budgets after an attempt whose bytes are not used."""
        self._messages_left, self._inflated_left, self._level = budgets

    # ---- values for expressions ---- -

    def context(self, name: str, keys: tuple[object, ...]) -> Value:
        source = self._options.context
        try:
            if source is None:
                raise KeyError(name)
            return source.lookup(name, keys, self.sender)
        except (KeyError, TypeError):
            raise Undefined("context", name) from None

    def count(self, type_: Type, value: object, path: str) -> int | None:
        """Return the length of a value without prefix: bytes, for utf16 units of two, or items."""
        if value is None:
            return None
        if isinstance(type_, Bytes | Text):
            size = len(text_bytes(type_, value, path))
            return size // 2 if isinstance(type_, Text) and type_.encoding == "utf16" else size
        if is_a(value, list, tuple):
            return len(as_items(value, path))
        if is_a(value, bytes, bytearray, memoryview):
            return len(as_bytes(value, path))
        raise Undefined("count", path)

    def code(self, type_: Type, value: object, path: str) -> int | None:
        """Return the code of a message or of an alternative, or None."""
        if isinstance(type_, UnionReference):
            return self.variety(type_.name, value, path).code
        unknown = unknown_of(value, self.layout.messages, path)
        name = self.message_name(value)
        if unknown is not None:
            code = unknown.code
        elif name is not None:
            code = self.layout.messages[name].code
        else:
            raise EncodeError("invalid_value", path=path, expected="a message", found=kind_of(value))
        return code

    # ---- values ----

    def given_once(self, owner: object, name: str, read: Callable[[], Value]) -> Value:
        """Return an attribute of a given value, which is read once: a property may answer otherwise the next time."""
        if is_a(owner, Record, Variety, FrameValue):
            return read()
        known = self._given.setdefault(id(owner), (owner, {}))[1]
        if name not in known:
            known[name] = read()
        return known[name]

    def message_name(self, value: object) -> str | None:
        """Return the name of the message that a value is, or None."""
        name = declared_name(value)
        return name if name in self.layout.messages else None

    def variety(self, union: str, value: Value, path: str) -> Variety:
        """Return the alternative of a union that a value is; its fields are not copied.

        Raises:
            EncodeError: It is not an alternative, or lacks one of its several codes.
        """
        for variety in self.layout.schema.unions[union].varieties:
            if is_named(value, f"{union}.{variety.name}"):
                code = self.given_once(value, "code", partial(_variety_code, variety.spans, value, path))
                return Variety(union, variety.name, {}, code)
        raise EncodeError("invalid_value", path=path, expected=f"a {union}", found=kind_of(value))

    def coerce(self, type_: Plain, value: object, path: str) -> object:
        """Return a plain value of one of the PLAIN types."""
        match type_:
            case Integer() | Varint():
                return number(type_, value, path)
            case EnumReference(name):
                return number(self.layout.schema.enums[name].type, value, path)
            case CodingReference():
                return None if value is None else as_int(value, path)
            case Boolean():
                return bool(bit_number(Bits(1, True, "msb"), value, path))
            case Bits():
                return bit_number(type_, value, path)
            case Float():
                return real(type_, value, path)
            case Bytes():
                return None if value is None else as_bytes(value, path)
            case Text():
                text = None if value is None else as_str(value, path)
                if text is None or text.isascii() or not type_.is_rewritten:
                    return text
                data = text_bytes(type_, text, path)
                return decode_text(data, type_.encoding, type_.is_lenient, type_.endian)
            case _:
                return UUID(bytes=as_uuid(value, path))


def _variety_code(spans: tuple[Span, ...], value: object, path: str) -> int:
    if len(spans) == 1 and spans[0].low == spans[0].high:
        return spans[0].low
    code = extra(value, "code", None, path)
    plain = as_int(code, f"{path}.code")
    if not any(span.low <= plain <= span.high for span in spans):
        raise EncodeError(
            "unknown_code", path=f"{path}.code", expected="a code of the variety", found="another"
        )
    return plain
