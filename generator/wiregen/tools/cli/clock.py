"""The forms in which the times of a capture are shown."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

__all__ = ["TIME_FORMS", "Clock", "TimeForm"]

TimeForm: TypeAlias = Literal["epoch", "iso", "relative"]
TIME_FORMS: tuple[TimeForm, ...] = get_args(TimeForm)
_DIGITS = 6
"""Decimal places of a second: the resolution of most captures."""


class Clock:
    """Shows times: seconds since 1970, an ISO 8601 timestamp in UTC, or seconds since the first frame."""

    def __init__(self, form: TimeForm = "epoch") -> None:
        self._form = form
        self._first: float | None = None
        self._last: tuple[float, float | str] | None = None

    def saw(self, time: float | None) -> None:
        """Take note of a frame's time: the first one is the zero of relative times."""
        if self._first is None and time is not None:
            self._first, self._last = time, None

    def text(self, time: float | None) -> str:
        """Return a time as text of a fixed number of digits."""
        shown = self.shown(time or 0.0)
        return shown if isinstance(shown, str) else f"{shown:.{_DIGITS}f}"

    def shown(self, time: float) -> float | str:
        """Return a time as a number, or as text for ISO 8601; a time that no calendar has stays a number."""
        if self._last is None or self._last[0] != time:  # a packet may hold many frames
            self._last = time, self._shown(time)
        return self._last[1]

    def _shown(self, time: float) -> float | str:
        if self._form == "relative" and self._first is not None:
            return round(time - self._first, _DIGITS)
        if self._form == "iso":
            with suppress(OverflowError, ValueError, OSError):
                return f"{datetime.fromtimestamp(time, UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
        return round(time, _DIGITS)
