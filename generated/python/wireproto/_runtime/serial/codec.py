"""One serialization of one protocol: values checked, packed and framed; bytes framed, unpacked and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from ..codec.classes import Envelope
from ..codec.compiled import as_bytes
from ..codec.errors import DecodeError, EncodeError, NeedMoreData, within
from ..codec.given_header import in_frame, in_its_frame
from ..codec.options import Options
from ..codec.unknown import Unknown
from ..reference.access import as_bytes as as_octets
from ..reference.access import as_items, attribute, declared_name, extra, is_a, kind_of
from .conversion import Budget, Misfit
from .stream import Framer
from .validation import Judge, Unusual

__all__ = ["Format", "SerialCodec", "framed", "refuse_tails"]


class Format(Protocol):
    """The functions that differ between serializations."""

    def pack(self, frame: object) -> bytes:
        """Return a frame's bytes. Any exception means that it cannot carry a value; an EncodeError has the reason."""

    def unpack(self, body: bytes, role: str | None, budget: Budget) -> object:
        """Return the frame of a body.

        Raises:
            Misfit: The body is not of the form.
        """

    def frame(self, body: bytes) -> bytes:
        """Return a body with its frame in a stream."""

    def place(self, body: bytes, role: str | None, misfit: Misfit) -> int:
        """Return the place of a misfit in a body: its offset, its start, or that of its holder."""

    def framers(
        self, most: int, limits: Mapping[str, Any], budget: Callable[[], Budget]
    ) -> Callable[[], Framer]:
        """Return a factory of framers for frames of at most so many bytes; each framer reads one stream."""


class SerialCodec:
    """The implementation of `encode`, `decode` and `Decoder` of a generated serialization."""

    __slots__ = ("_format", "_framers", "_judge", "_limits", "_needs_role", "_swelling")

    def __init__(
        self,
        format_: Format,
        judge: Judge,
        limits: Mapping[str, Any],
        *,
        has_compression: bool,
        needs_role: bool = False,
    ) -> None:
        """`needs_role`: the sender of a frame decides how it is read."""
        self._needs_role = needs_role
        self._framers: dict[str | None, Callable[[], Framer]] = {}
        self._format = format_
        self._judge = judge
        self._limits = limits
        self._swelling = "inflated" if has_compression else None

    def encode(self, frame: object, options: Options) -> bytes:
        """Return the bytes of a frame.

        Raises:
            EncodeError: The protocol does not allow a value, or this serialization cannot carry it (`unrepresentable`).
        """
        native = self._judge.accept(frame, options)
        try:
            body = None if type(native) is Unusual else self._format.pack(frame)
        except Exception:  # noqa: BLE001 - values may be of any class, and raise anything
            body = None
        if body is None:
            body = self._pack_plain(frame, native, options)
        most = self._most({**self._limits, **options.limits})
        if len(body) > most:
            expected = within(f"a frame of at most {most} bytes", "frame")
            raise EncodeError("limit_exceeded", expected=expected, found=f"{len(body)} bytes")
        return self._format.frame(body)

    def _pack_plain(self, frame: object, native: bytes | None, options: Options) -> bytes:
        """Return the body of a frame whose values are of unusual classes."""
        refuse_tails(frame)
        try:
            plain = frame if native is None else self._judge.again(native, frame, options)
            return self._format.pack(plain)
        except EncodeError:  # the format has given the reason itself
            raise
        except Exception:  # noqa: BLE001 - as above
            path, expected, found = _obstacle(frame)
            raise EncodeError("unrepresentable", path=path, expected=expected, found=found) from None

    def decode(self, source: bytes | bytearray | memoryview, options: Options) -> Any:
        """Return the one whole frame that `source` is.

        Raises:
            NeedMoreData: The frame is not whole.
            DecodeError: It does not conform, or bytes follow it.
        """
        data = as_bytes(source)
        framer = self._framer(options)
        place = framer.find(data, 0) if data else None
        if place is None:
            raise NeedMoreData(framer.needed if data else 1, at=len(data), expected="a whole frame")
        body, end = place
        if end != len(data):
            found = f"{len(data) - end} bytes"
            raise DecodeError("trailing_bytes", at=end, expected="the end", found=found)
        return self._made(data[body:end], 0, end, options)

    def stream(self, options: Options) -> tuple[Framer, Callable[[bytes, int, int], Any]]:
        """Return the parts of a StreamDecoder; a given context is updated by every frame."""

        def read(body: bytes, start: int, end: int) -> Any:
            frame = self._made(body, start, end, options)
            apply = getattr(options.context, "apply", None)
            if apply is not None:
                apply(frame, options.from_role)
            return frame

        return self._framer(options), read

    def _made(self, body: bytes, start: int, end: int, options: Options) -> object:
        try:
            limits = {**self._limits, **options.limits} if options.limits else self._limits
            budget = Budget(limits, options, self._judge.limit_rules)
            frame = self._format.unpack(body, options.from_role, budget)
            self._judge.accept(frame, options, is_read=True)
            return frame
        except Misfit as misfit:
            fault = self._with_hint(misfit, options)
        except (EncodeError, DecodeError) as error:
            fault = Misfit(error.code, error.expected, error.found, error.path, error.rule)
        except RecursionError:
            fault = Misfit("too_deep", "fewer levels of nesting")
        if fault.at is None and fault.path:
            fault = fault.at_place(self._format.place(body, options.from_role, fault))
        raise fault.error(start, end - len(body), end)

    def _with_hint(self, misfit: Misfit, options: Options) -> Misfit:
        """Return a misfit with a hint, if the reader could only guess the sender of the frame."""
        if self._needs_role and options.from_role is None:
            misfit.expected += " (read without from_role)"
        return misfit

    def _framer(self, options: Options) -> Framer:
        role = options.from_role
        make = None if options.limits else self._framers.get(role)
        if make is None:
            limits = {**self._limits, **options.limits}
            budget = partial(Budget, limits, Options(role, limits=options.limits), self._judge.limit_rules)
            make = self._format.framers(self._most(limits), limits, budget)
            if not options.limits:
                self._framers[role] = make
        return make()

    def _most(self, limits: Mapping[str, Any]) -> int:
        """Return the maximum size of a frame in bytes: natively compressed parts are carried inflated."""
        most: int = limits["frame"] + (limits[self._swelling] if self._swelling else 0)
        return most


def framed(message: Any, header: dict[str, object], frames: Mapping[type, type[Envelope]]) -> object:
    """Return a message in its frame with these header fields, None for the default; a frame with them changed.

    `frames`: the class of the frame of each message, and of each frame.

    Raises:
        EncodeError: It is neither, or a field of the header is missing or foreign.
    """
    given = {name: value for name, value in header.items() if value is not None}
    if is_a(message, Unknown):
        return in_frame(next(iter(frames.values())), message, given)
    frame = in_its_frame(message, given, frames)
    if frame is None:
        found = declared_name(message)[:64]
        raise EncodeError("unrepresentable", path=found, expected="a frame or a message", found=found)
    return frame


def refuse_tails(value: object, path: str = "") -> None:
    """Refuse a value with trailing bytes from a lenient reader.

    Raises:
        EncodeError: `unrepresentable`; `too_deep`, a value holds itself.
    """
    try:
        _refuse_tails(value, path)
    except RecursionError:
        expected = "fewer levels of nesting"
        raise EncodeError("too_deep", path=path or declared_name(value)[:64], expected=expected) from None


def _refuse_tails(value: object, path: str) -> None:
    place = f"{path or declared_name(value)[:64]}.tail"
    tail = extra(value, "tail", b"", place) if hasattr(type(value), "__match_args__") else b""
    if not is_a(tail, bytes, bytearray, memoryview):
        raise EncodeError("unrepresentable", path=place, expected="bytes", found=kind_of(tail))
    if n_left := len(as_octets(tail, place)):
        raise EncodeError(
            "unrepresentable", path=place, expected="no trailing bytes", found=f"{n_left} bytes"
        )
    for name, part in _parts(value, path):
        _refuse_tails(part, _joined(path, name))


def _obstacle(value: object, path: str = "") -> tuple[str, str, str]:
    """Return the place of a value that other serializations cannot carry, the expected kind, and its own."""
    for name, inner in _parts(value, path):
        where = _joined(path, name)
        if is_a(inner, str) and not _is_text(inner):
            return where, "text", "a lone surrogate"
        if is_a(inner, Unknown):
            return where, "a message that is known", "Unknown"
        found = _obstacle(inner, where)
        if found[1]:
            return found
    if path:
        return "", "", ""
    message = extra(
        value, "message", value, path
    )  # or a piece of one, which is of no message that is carried
    return declared_name(message)[:64], "a whole message that can be carried", kind_of(message)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and not name.startswith("[") else path + name


def _parts(value: object, path: str) -> Iterator[tuple[str, Any]]:
    if is_a(value, list, tuple):
        yield from ((f"[{index}]", item) for index, item in enumerate(as_items(value, path)))
    for name in getattr(type(value), "__match_args__", ()):
        part = attribute(value, name, _joined(path, name))
        yield (declared_name(part)[:64] if name == "message" and not path else name), part


def _is_text(value: str) -> bool:
    try:
        str.encode(value)
    except UnicodeEncodeError:
        return False
    return True
