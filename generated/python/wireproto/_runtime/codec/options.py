"""Options of decoding, which the caller gives once per decoder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from ..schema.protocol import Schema

    class ContextSource(Protocol):
        """A source of entries that earlier messages set and later layouts need."""

        def lookup(self, name: str, keys: tuple[object, ...], sender: str | None) -> Any:
            """Return the entry of the context `name` under these keys, for bytes that `sender` sends.

            Raises:
                KeyError: The context does not have the entry.
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
    "open": 65536,
    "joined": None,
    "work": 65536,
}
"""The limits that codecs enforce, or None for limits without a bound; `joined` without one is bounded by `frame`."""


class Options:
    """The sender, the strictness, and the limits of decoding.

    Attributes:
        from_role: The role that sent the bytes, or None if it does not matter or is unknown.
        context: The entries of contexts. Without a context, a layout that needs one fails with
            `missing_context`.
        limits: Limits that replace those of the schema with the same names.
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

    def limit(self, schema: Schema, name: str) -> int | None:
        """Return a limit that the codec knows, or None."""
        value: int | None = self.limits.get(name, schema.limits.get(name, DEFAULT_LIMITS.get(name)))
        return value
