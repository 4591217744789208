"""The JSON record of a partially read frame, for an error."""

from __future__ import annotations

from collections.abc import Iterator

from ..records.frames import frame_record
from .reading.reader import Reader
from .tree import MOST_SHOWN, MOST_SHOWN_IN_ALL, FrameValue, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expressions import Value

__all__ = ["partial_record"]


def partial_record(reader: Reader) -> dict[str, object] | None:
    """Return the JSON record of the part that was read so far, or None if it is not a message or frame."""
    value = reader.partial()
    plan, variant = reader.schema.plan, reader.options.variant
    if isinstance(value, FrameValue) or (isinstance(value, Record) and value.name in reader.schema.preambles):
        record: dict[str, object] = _Shortening().of(frame_record(plan, value, variant=variant))
        return record
    return None


class _Shortening:
    """Keeps the first items of long lists, and of many lists, so that an error is about as long as its subject."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST_SHOWN_IN_ALL

    def of(self, shown: object) -> Value:
        """Return a part of a record, shortened."""
        match shown:
            case dict():
                return {name: self.of(part) for name, part in shown.items()}
            case list():
                return list(self._first(shown))
            case _:
                return shown

    def _first(self, items: list[object]) -> Iterator[object]:
        for item in items[:MOST_SHOWN]:
            if not self._left:
                return
            self._left -= 1
            yield self.of(item)
