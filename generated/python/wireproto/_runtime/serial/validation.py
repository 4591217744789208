"""Whether the protocol allows a value: the native codec decides, for every serialization.

Ranges, lengths of text, enums, `where` and limits are checked by writing the value natively. So no serialization has
constraints of its own that could differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..codec.compiled import JUDGED, Bad, is_certain, release
from ..codec.errors import SEARCHED, EncodeError
from ..codec.options import Options
from ..reference.access import declared_name
from ..reference.explain import explain
from ..reference.layout import Layout
from ..reference.writing.frames import write_frame
from ..schema.protocol import Schema
from .context_use import asks_context

__all__ = ["Judge", "Unusual"]


class Unusual(bytes):
    """Native bytes of a frame that straight-line code refuses, while the protocol allows it: its values are of unusual classes."""

    __slots__ = ()


class _Nothing:
    """A context in which every entry is 0: the quickest one that may be accepted."""

    def lookup(self, name: str, keys: tuple[object, ...], sender: str | None) -> int:
        return 0


_NOTHING = _Nothing()
_OF_WRITERS = frozenset(("count", "depth", "frame", "inflated", "messages"))
"""The limits that a writer keeps to."""


def _plain_class(value: object) -> type:
    """Return the class of a value, or `object` for one of a metaclass, whose methods may raise where a hash is asked."""
    kind = type(value)
    return kind if type(kind) is type else object


class Judge:
    """The native codec of a generated package, seen from its other serializations.

    `encode` and `decode` are the package's own functions, without the options that the protocol does not have.

    Attributes:
        limit_rules: The rules that limits name.
    """

    __slots__ = ("_askers", "_compressed", "_decode", "_encode", "_schema", "limit_rules")

    def __init__(
        self,
        schema: Schema,
        encode: Callable[[Any, int, Options], bytes],
        decode: Callable[[bytes, Options], Any],
        *,
        compressed: tuple[type, ...],
    ) -> None:
        """`compressed`: the messages that hold a compressed part."""
        self._schema = schema
        self.limit_rules = schema.limit_rules
        self._askers: set[type] = set()  # messages that were seen to ask for a context
        self._encode = encode
        self._decode = decode
        self._compressed = frozenset(compressed)

    def accept(self, frame: object, options: Options, *, is_read: bool = False) -> bytes | None:
        """Return the native bytes of a frame, or None if they depend on a context that is not known.

        `is_read`: the frame was received, so the limit `work` bounds the search for its error.

        Raises:
            EncodeError: The protocol does not allow the value.
            DecodeError: The protocol does not allow it within these limits, or with this strictness.
        """
        message = _plain_class(getattr(frame, "message", None))
        asks = options.context is None and message in self._askers
        data = None if asks else self._written(frame, message, options, is_read=is_read)
        if data is None:
            self._accept_anyhow(frame, options)
        elif options.strict:
            self._decode(data, options)
        return data

    def _accept_anyhow(self, frame: Any, options: Options) -> None:
        """Accept a frame that is valid in some context, but in no known one.

        Only the reference codec can decide this, for valid frames too, so only the other limits bound its
        work.

        Raises:
            EncodeError: The frame is not valid in any context.
            DecodeError: The protocol does not allow it within these limits, or with this strictness.
        """
        message = _plain_class(frame.message)
        if message is not object:
            self._askers.add(message)
        nothing = self._native_options(
            options, context=_NOTHING, limits=options.limits, strict=options.strict
        )
        try:
            data = write_frame(self._schema, frame, nothing)
        except EncodeError:  # this context could not have
            write_frame(self._schema, frame, options, compression=0, needs_context=False)
            return
        if options.strict:  # only the reference codec uses this context, which has no entries
            explain(self._schema, data, 0, len(data), nothing)

    def _written(self, frame: object, message: type, options: Options, *, is_read: bool) -> bytes | None:
        """Return the bytes, within the limits of the options; regions are stored uncompressed where the sizes allow it.

        The result is None if they depend on a context that is not known.
        """
        is_stored = message in self._compressed and not options.limits
        JUDGED.is_on = True
        try:
            return self._encode(frame, 0 if is_stored else -1, options)
        except Bad as fault:
            is_refused = is_certain(fault)
            is_faulty = is_read and is_refused and not self._is_wider(options)
        finally:
            JUDGED.is_on = False
        data: bytes | Exception | None = None
        if is_stored or (is_read and options.limits):
            data = self._attempt(options, frame)
        if isinstance(data, Exception):
            is_faulty = is_faulty and is_certain(data)
        elif data is not None and self._is_within_limits(data, frame, options):
            return data
        data = self._explained(frame, options, is_faulty=is_faulty)
        return Unusual(data) if is_refused and data is not None else data

    def _is_wider(self, options: Options) -> bool:
        """Return whether limits allow values that straight-line code, which has the protocol's own limits,
        refuses to write.
        """
        usual = Options()
        for name in options.limits.keys() & _OF_WRITERS:
            most, own = options.limit(self._schema, name), usual.limit(self._schema, name)
            if own is not None and (most is None or most > own):
                return True
        return False

    def _is_within_limits(self, data: bytes, frame: Any, options: Options) -> bool:
        """Return whether bytes written without limits are read within them as the same message: thus an
        exceeded limit is found quickly.

        Raises:
            DecodeError: A limit is exceeded.
        """
        if not options.limits:
            return True
        return type(self.again(data, frame, options).message) is type(frame.message)

    def _attempt(self, options: Options, frame: object) -> bytes | Exception:
        """Return the bytes that straight-line code writes without limits, or its exception."""
        JUDGED.is_on = True
        try:
            return self._encode(frame, -1, self._native_options(options, context=options.context))
        except Exception as fault:  # noqa: BLE001 - a value inside a frame may be of any class
            release(fault)
            return fault
        finally:
            JUDGED.is_on = False

    def _skim(self, options: Options, frame: object) -> bytes | None:
        """Return the bytes that straight-line code writes, or None if it refuses the frame."""
        data = self._attempt(options, frame)
        return data if isinstance(data, bytes) else None

    def _explained(self, frame: object, options: Options, *, is_faulty: bool) -> bytes | None:
        """Return the bytes that the reference codec writes, or None if they depend on a context that is not known."""
        given = self._native_options(options, context=options.context, limits=options.limits)
        try:
            if is_faulty:  # this usually raises the error
                write_frame(self._schema, frame, given, is_faulty=True, skim=partial(self._skim, options))
            return write_frame(self._schema, frame, given, is_faulty=is_faulty)
        except EncodeError as error:
            is_lost = error.code == "limit_exceeded" and error.expected.startswith(SEARCHED)
            if error.code != "missing_context" and not (is_lost and self._may_ask(frame, options)):
                raise
            return None

    def _may_ask(self, frame: object, options: Options) -> bool:
        """Return whether a missing entry of a context may be the only error of a frame."""
        layout = Layout(self._schema, options)
        return asks_context(layout, declared_name(frame), declared_name(getattr(frame, "message", None)))

    def _native_options(self, options: Options, **more: Any) -> Options:
        """Return the options for the package's own functions; without contexts they do not include the sender."""
        role = options.from_role if self._schema.contexts else None
        return Options(role, variant=options.variant, **more)

    def again(self, data: bytes, frame: object, options: Options) -> Any:
        """Return a frame with plain values only, from its native bytes.

        Raises:
            DecodeError: A reader with these limits refuses it.
        """
        role = options.from_role or self._schema.frames[declared_name(frame)].role
        given = Options(role, context=options.context, limits=options.limits, variant=options.variant)
        return self._decode(data, given)
