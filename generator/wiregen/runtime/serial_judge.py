"""Whether the protocol allows a value: the native codec's judgement, whatever carried the value.

Ranges, lengths of text, enums, `where` and limits are checked by writing the value natively. So no serialization has
constraints of its own that could differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import EncodeError
from .options import Options
from .writing import write_frame

__all__ = ["Judge"]


class Judge:
    """The native codec of a generated package, seen from its other serializations.

    `encode` and `decode` are the package's own functions, with what the protocol does not have left out of their options.
    """

    __slots__ = ("_decode", "_encode", "_has_compression", "_plan")

    def __init__(
        self,
        plan: dict[str, Any],
        encode: Callable[[Any, int, Options], bytes],
        decode: Callable[[bytes, Options], Any],
        *,
        has_compression: bool,
    ) -> None:
        self._plan = plan
        self._encode = encode
        self._decode = decode
        self._has_compression = has_compression

    def accept(self, frame: Any, options: Options) -> bytes | None:
        """Return the native bytes of a frame; None where only a context that is not known could tell them.

        Raises:
            EncodeError: The protocol does not allow the value.
            DecodeError: So with these limits, or so strictly.
        """
        try:
            data = self._written(frame, options)
        except EncodeError as error:
            if error.code != "missing_context":
                raise
            write_frame(self._plan, frame, options, compression=0, needs_context=False)
            return None
        if options.strict or options.limits:
            self._decode(data, options)
        return data

    def _written(self, frame: Any, options: Options) -> bytes:
        """Return the bytes; regions are stored uncompressed where that is no larger than a frame may be."""
        if not self._has_compression or options.limits:
            return self._encode(frame, -1, options)
        try:
            return self._encode(frame, 0, options)
        except EncodeError as error:
            if error.code != "limit_exceeded":
                raise
            return self._encode(frame, -1, options)

    def again(self, data: bytes, options: Options) -> Any:
        """Return a frame with plain values only, from its native bytes."""
        return self._decode(
            data, Options(options.from_role, context=options.context, variant=options.variant)
        )
