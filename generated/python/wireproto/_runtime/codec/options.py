"""How bytes are to be decoded: what the caller may say once per decoder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from ..schema.protocol import Schema

    class ContextSource(Protocol):
        """What earlier messages said about later layouts."""

        def lookup(self, name: str, keys: tuple[object, ...], sender: str | None) -> Any:
            """Return the entry of the context `name` under these keys, for what `sender` sends.

            Raises:
                KeyError: There is no such entry.
            """

else:
    ContextSource = object

__all__ = ["DEFAULT_LIMITS", "ContextSource", "Options"]

DEFAULT_LIMITS: dict[str, int | None] = {
    "frame": 16 * 1024 * 1024,
    "inflated": 64 * 1024 * 1024,
    "count": None,
    "messages": 65536,
    "depth": 32,
    "work": 65536,
}


class Options:
    """Who sends, how strictly, and within which limits.

    Attributes:
        from_role: Who sent the bytes; None where it does not matter or is not known.
        context: None: nothing is known, and whoever asks gets `missing_context`.
        limits: Replace the plan's of the same name.
        strict: Refuse what the .wire file tolerates as lenient.
        variant: The name of another layout of the same declarations.
    """

    __slots__ = ("context", "from_role", "limits", "strict", "variant")

    def __init__(
        self,
        from_role: str | None = None,
        *,
        context: ContextSource | None = None,
        limits: dict[str, int] | None = None,
        strict: bool = False,
        variant: str | None = None,
    ) -> None:
        self.from_role = from_role
        self.context = context
        self.limits = limits or {}
        self.strict = strict
        self.variant = variant

    def limit(self, plan: Schema, name: str) -> int | None:
        """Return a limit that is known to the codec; None: none."""
        value: int | None = self.limits.get(name, plan.limits.get(name, DEFAULT_LIMITS.get(name)))
        return value
