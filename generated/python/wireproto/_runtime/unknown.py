"""A message whose layout is not known: light to import, for generated packages offer it."""

from __future__ import annotations

__all__ = ["Unknown"]


class Unknown:
    """A message whose layout is not known. `code` is None where only a context could have told it."""

    __slots__ = ("code", "data")
    __match_args__ = ("code", "data")

    def __init__(self, code: int | None, data: bytes) -> None:
        self.code = code
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and (other.code, other.data) == (self.code, self.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Unknown({self.code}, {len(self.data)} bytes)"
