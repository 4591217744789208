"""The JSON record of a frame as far as it was read: an error takes it along."""

from __future__ import annotations

from typing import Any

from .reader import Reader
from .records import frame_record
from .tree import MOST_SHOWN, FrameValue, Record

__all__ = ["partial_record"]


def partial_record(reader: Reader) -> dict[str, Any] | None:
    """Return the JSON record of what was read so far; None where that is no message or frame."""
    value = reader.partial()
    plan, variant = reader.schema.plan, reader.options.variant
    if isinstance(value, FrameValue) or (isinstance(value, Record) and value.name in reader.schema.preambles):
        record: dict[str, Any] = _shortened(frame_record(plan, value, variant=variant))
        return record
    return None


def _shortened(shown: Any) -> Any:
    """Return a part of a record with the first items of long lists: an error is about as long as what it is about."""
    match shown:
        case dict():
            return {name: _shortened(part) for name, part in shown.items()}
        case list():
            return [_shortened(item) for item in shown[:MOST_SHOWN]]
        case _:
            return shown
