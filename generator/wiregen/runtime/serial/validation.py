"""Whether the protocol allows a value: the native codec's judgement, whatever carried the value.

Ranges, lengths of text, enums, `where` and limits are checked by writing the value natively. So no serialization has
constraints of its own that could differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..codec.errors import EncodeError
from ..codec.options import Options
from ..reference.explain import explain
from ..reference.writing.frames import write_frame
from ..schema.protocol import Schema

__all__ = ["Judge"]


class _Nothing:
    """A context in which everything is 0: the quickest one that may do."""

    def lookup(self, name: str, keys: tuple[Any, ...], sender: str | None) -> int:
        return 0


_NOTHING = _Nothing()
_OF_SIZES = frozenset(("limit_exceeded", "length_mismatch", "constraint"))
"""What a value may be refused for because its regions are stored, and not compressed as a frame has them."""


class Judge:
    """The native codec of a generated package, seen from its other serializations.

    `encode` and `decode` are the package's own functions, with what the protocol does not have left out of their options.

    Attributes:
        limit_rules: The rules that limits name.
    """

    __slots__ = ("_askers", "_compressed", "_decode", "_encode", "_plan", "limit_rules")

    def __init__(
        self,
        plan: Schema,
        encode: Callable[[Any, int, Options], bytes],
        decode: Callable[[bytes, Options], Any],
        *,
        compressed: tuple[type, ...],
    ) -> None:
        """`compressed`: the messages that hold something compressed."""
        self._plan = plan
        self.limit_rules = plan.limit_rules
        self._askers: set[type] = set()  # messages that were seen to ask for a context
        self._encode = encode
        self._decode = decode
        self._compressed = frozenset(compressed)

    def accept(self, frame: Any, options: Options) -> bytes | None:
        """Return the native bytes of a frame; None where only a context that is not known could tell them.

        Raises:
            EncodeError: The protocol does not allow the value.
            DecodeError: So with these limits, or so strictly.
        """
        message = type(getattr(frame, "message", None))
        asks = options.context is None and message in self._askers
        try:
            data = None if asks else self._written(frame, message, options)
        except EncodeError as error:
            if error.code != "missing_context":
                raise
            data = None
        if data is None:
            self._accept_anyhow(frame, options)
            return None
        if options.strict:
            self._decode(data, options)
        return data

    def _accept_anyhow(self, frame: Any, options: Options) -> None:
        """Accept a frame that some context could have made; none that is known does.

        Raises:
            EncodeError: No context could.
            DecodeError: So with these limits, or so strictly.
        """
        self._askers.add(type(frame.message))
        nothing = Options(
            options.from_role,
            context=_NOTHING,
            limits=options.limits,
            strict=options.strict,
            variant=options.variant,
        )
        try:
            data = self._written(frame, type(frame.message), nothing)
        except EncodeError:  # this context could not have
            write_frame(self._plan, frame, options, compression=0, needs_context=False)
            return
        if options.strict:  # only the careful codec asks this context, which has no entries
            explain(self._plan, data, 0, len(data), nothing)

    def _written(self, frame: Any, message: type, options: Options) -> bytes:
        """Return the bytes, within the limits of the options; regions are stored uncompressed where the sizes allow it."""
        if message not in self._compressed or options.limits:
            return self._encode(frame, -1, options)
        try:
            return self._encode(frame, 0, options)
        except EncodeError as error:
            if error.code not in _OF_SIZES:
                raise
            return self._encode(frame, -1, options)

    def again(self, data: bytes, options: Options) -> Any:
        """Return a frame with plain values only, from its native bytes."""
        return self._decode(
            data,
            Options(
                options.from_role, context=options.context, limits=options.limits, variant=options.variant
            ),
        )
