"""The exceptions of codecs and sessions for wrong bytes, values or moments.

Texts are short, in lower case, and hold no payload except a byte that is not valid text; `partial` has the
fields decoded so far.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..schema.literals import Code

__all__ = ["SEARCHED", "DecodeError", "EncodeError", "NeedMoreData", "check_end", "restore", "within"]

SEARCHED = "a fault within"
"""Prefix of the expectation if the search for an error has used its budget."""


def within(allowed: str, limit: str) -> str:
    """Return the expectation for an exceeded limit: its value, and its name."""
    return f"{allowed} (limits.{limit})"


def _expectation(expected: str, found: str) -> str:
    parts = [f"expected {expected}" if expected else "", f"found {found}" if found else ""]
    text = ", ".join(part for part in parts if part)
    return f": {text}" if text else ""


class DecodeError(ValueError):
    """Bytes that do not conform.

    Attributes:
        code: One of the closed list of codes.
        rule: The name that the .wire file gives the broken rule.
        path: The field in error, `Data.pairs[1].value`; it begins with the message, or with the frame for
            its header.
        frame_offset: Where the frame begins, in the outer stream.
        at: The byte in error in the outer stream. `truncated`: the first missing one. Inside transformed
            bytes (inflated, reassembled): the start of the outermost of them.
        inner_at: Inside transformed bytes, the offset in the innermost of them.
        partial: The record as far as it was decoded, as in a JSON line; it may hold payload.
        header: The integers of the frame's header as far as they were read, derived ones too; it may hold
            payload.
        recoverable: Whether the frame's end is known, so that decoding may continue there.
        end: That end in the outer stream, one after the frame's last byte.
    """

    def __init__(
        self,
        code: Code,
        *,
        rule: str | None = None,
        path: str = "",
        frame_offset: int = 0,
        at: int = 0,
        inner_at: int | None = None,
        expected: str = "",
        found: str = "",
        partial: dict[str, Any] | None = None,
        recoverable: bool = False,
        end: int | None = None,
    ) -> None:
        self.code: Code = code
        self.rule = rule
        self.path = path
        self.frame_offset = frame_offset
        self.at = at
        self.inner_at = inner_at
        self.expected = expected
        self.found = found
        self.partial = partial
        self.header: dict[str, int] | None = None
        self.recoverable = recoverable
        self.end = end
        super().__init__(self._text())

    def _text(self) -> str:
        where = f"{self.path}: " if self.path else ""
        inner = "" if self.inner_at is None else f" (inner {self.inner_at})"
        return f"{where}{self.code} at {self.at}{inner}{_expectation(self.expected, self.found)}"

    def copy(self) -> DecodeError:
        """Return an equal error without a traceback, to be raised once more."""
        error = type(self).__new__(type(self), *self.args)
        error.__dict__.update(self.__dict__)
        return error

    def moved(self, by: int) -> DecodeError:
        """Return the same error, with its bytes `by` later in the stream."""
        error = self.copy()
        error.frame_offset += by
        error.at += by
        if error.end is not None:
            error.end += by
        error.args = (error._text(),)
        return error

    def without_found(self) -> DecodeError:
        """Return the error without the found value, for a field whose bytes must stay secret."""
        error = self.copy()
        error.found = ""
        error.args = (error._text(),)
        return error

    def settled(self) -> DecodeError:
        """Return the final form of this error if no further bytes come."""
        state = {name: value for name, value in self.__dict__.items() if name != "needed"}
        error = DecodeError(self.code)
        error.__dict__.update(state)
        error.args = self.args
        return error

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.code, self.path, self.at))

    def __reduce__(self) -> tuple[object, ...]:
        return restore, (type(self), self.args, self.__dict__)


class NeedMoreData(DecodeError):
    """The bytes end inside a frame; with code `truncated`.

    Attributes:
        needed: The minimum number of missing bytes.
    """

    def __init__(
        self,
        needed: int = 1,
        *,
        path: str = "",
        frame_offset: int = 0,
        at: int = 0,
        expected: str = "",
        found: str = "",
        partial: dict[str, Any] | None = None,
    ) -> None:
        self.needed = needed
        super().__init__(
            "truncated",
            path=path,
            frame_offset=frame_offset,
            at=at,
            expected=expected,
            found=found,
            partial=partial,
        )


class EncodeError(ValueError):
    """A value that cannot be encoded.

    Attributes:
        code: One of the closed list of codes.
        rule: The rule of the protocol's file that the value breaks, if the field names one.
        path: The field in error, `Data.pairs[1].value`.
    """

    def __init__(
        self, code: Code, *, rule: str | None = None, path: str = "", expected: str = "", found: str = ""
    ) -> None:
        self.code: Code = code
        self.rule = rule
        self.path = path
        self.expected = expected
        self.found = found
        self._is_tied = False
        where = f"{path}: " if path else ""
        super().__init__(f"{where}{code}{_expectation(expected, found)}")

    def tied(self, rule: str | None) -> EncodeError:
        """Return the error as that of a field with this rule, or without one; only the innermost field counts."""
        if not self._is_tied:
            self.rule = rule or self.rule
            self._is_tied = True
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return restore, (type(self), self.args, self.__dict__)


def restore(class_: type[BaseException], args: tuple[object, ...], state: dict[str, object]) -> BaseException:
    """Return a pickled error with its attributes."""
    error = class_.__new__(class_, *args)
    error.__dict__.update(state)
    return error


def check_end(end: int, size: int, offset: int = 0, base: int = 0) -> None:
    """Refuse bytes after the single frame.

    Raises:
        DecodeError: trailing_bytes, at the first of them.
    """
    if end != size:
        raise DecodeError(
            "trailing_bytes",
            frame_offset=base + offset,
            at=base + end,
            expected="the end",
            found=f"{size - end} bytes",
        )
