"""The interface between a decoder and the object that takes in its frames; the module is the same with and
without contexts.
"""

from __future__ import annotations

from typing import Any, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..codec.errors import DecodeError
    from ..reference.reading.reader import CompiledCode

__all__ = ["Updates"]


class Updates(Protocol):
    """Lets the context of a connection take in the frames of one sender, in order: `context_updates.Notes`."""

    quiet: set[type]

    def take(self, frame: Any, buffer: bytes, start: int, end: int, base: int = 0) -> Any: ...

    def damage(self) -> None: ...

    def unfinished(self, at: int) -> DecodeError | None: ...

    def compiled(self) -> CompiledCode | None: ...
