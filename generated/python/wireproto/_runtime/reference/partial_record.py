"""The JSON record of a partially read frame, for an error."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ..records.frames import frame_record
from .reading.reader import Reader
from .scope import RecordScope
from .tree import MOST_SHOWN, Cut, FrameValue, Record, Variety

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expressions import Value

__all__ = ["partial_header", "partial_record"]


def partial_record(reader: Reader) -> dict[str, object] | None:
    """Return the JSON record of the part that was read so far, or None if it is not a message or frame."""
    value = _outermost(reader)
    schema, variant = reader.layout.schema, reader.options.variant
    if isinstance(value, FrameValue) or (isinstance(value, Record) and value.name in reader.layout.preambles):
        record = frame_record(schema, _Shortening().of(value), variant=variant)
        return _Shortening().of(record) if schema.views else record  # JSON in a field may be a longer list
    return None


def partial_header(reader: Reader) -> dict[str, int] | None:
    """Return the integers read so far of the outermost record, derived ones too; None without a record."""
    outermost = reader.building[0][1] if reader.building else None
    if not isinstance(outermost, RecordScope):
        return None
    return {name: node.value for name, node in outermost.nodes.items() if isinstance(node.value, int)}


def _outermost(reader: Reader) -> Value:
    """Return the outermost record as far as it is read."""
    child: tuple[str, Value] | None = None
    for name, container in reversed(reader.building):
        if isinstance(container, list):
            value: Value = container if child is None or type(container) is Cut else [*container, child[1]]
        else:
            if child is not None:
                container.put(*child)
            value = container.value()
        child = (name, value)
    return None if child is None else child[1]


class _Shortening:
    """Keeps the first items of a long list, or of many lists, so that an error takes little beside its subject."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST_SHOWN

    def of(self, shown: object) -> Value:
        """Return a value or a part of its record, shortened."""
        match shown:
            case dict():
                return {name: self.of(part) for name, part in shown.items()}
            case list():
                return list(self._first(shown))
            case FrameValue() | Record() | Variety():
                part = copy(shown)
                part.fields = self.of(shown.fields)
                if isinstance(part, FrameValue):
                    part.message = self.of(part.message)
                return part
            case _:
                return shown

    def _first(self, items: list[object]) -> Iterator[object]:
        for item in items:
            if not self._left:
                return
            self._left -= 1
            yield self.of(item)
