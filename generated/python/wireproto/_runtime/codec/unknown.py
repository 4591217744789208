"""A message whose layout is not known. The module is small, as generated packages export the class."""

from __future__ import annotations

from .values import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Unknown"]


class Unknown(Shown):
    """A message whose layout is not known. `code` is None if only a context could have given it."""

    __slots__ = ("code", "data")
    __match_args__ = ("code", "data")

    def __init__(self, code: int | None, data: bytes) -> None:
        self.code = code
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and (other.code, other.data) == (self.code, self.data)

    __hash__ = None  # type: ignore[assignment]

    def _shown(self, spell: Callable[[object], str]) -> Iterator[str]:
        yield spell(self.code)
        yield f"{len(self.data)} bytes" if type(self.data) is bytes else spell(self.data)
