"""Adapter for a Python object with `decode` and `encode`, as a test of a hand-written codec has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wiregen.conformance.judge.implementation import (
    NATIVE,
    TOLD,
    UNTOLD,
    Capability,
    CodecSetting,
    DecodedFrames,
    ImplementationError,
    Line,
    Refused,
    Step,
    Traced,
    WrittenFrames,
)

__all__ = ["PythonCodec"]

_SAID: Final = ("at", "recoverable", "rule", "path", "inner_at")


class PythonCodec:
    """Calls the methods of a codec object.

    - `decode(chunks, setting)` returns an iterable of decoded lines.
    - `encode(frames, setting)` returns bytes.
    - `trace(steps, setting, options)`, if present, returns the name of a violation or None.

    To refuse, a method raises an exception with a `code`, and with `at` and `recoverable` if it reports
    them. If `tells` leaves out `code`, any ValueError is a refusal. Bytes that end within a frame raise
    EOFError. If no frame is cut but the last fragment of a message is missing, the EOFError has a true
    `unfinished`. `serializations` names the serializations that the codec supports next to the native one.
    """

    def __init__(self, codec: Any) -> None:
        self._codec = codec
        self.name = type(codec).__name__
        named = ("decode", "encode", "trace")
        self.can: frozenset[Capability] = frozenset(
            name for name in named if callable(getattr(codec, name, None))  # type: ignore[misc]
        )
        self.tells: frozenset[str] = frozenset(getattr(codec, "tells", TOLD))
        self.serializations: frozenset[str] = frozenset((NATIVE, *getattr(codec, "serializations", ())))

    def decode(self, setting: CodecSetting, chunks: Sequence[bytes]) -> DecodedFrames:
        frames: list[Line] = []
        try:
            for line in self._codec.decode(list(chunks), setting):
                frames.append(line)  # noqa: PERF402 - those before a fault are kept
        except EOFError as error:
            is_unfinished = bool(getattr(error, "unfinished", False))
            return DecodedFrames(
                frames=tuple(frames), is_incomplete=not is_unfinished, is_unfinished=is_unfinished
            )
        except Exception as error:  # noqa: BLE001 - whatever a codec raises says something about it
            return DecodedFrames(frames=tuple(frames), fault=self._fault(error))
        return DecodedFrames(frames=tuple(frames))

    def encode(self, setting: CodecSetting, frames: Sequence[Line]) -> WrittenFrames:
        try:
            return WrittenFrames(data=bytes(self._codec.encode(list(frames), setting)))
        except Exception as error:  # noqa: BLE001 - as above
            return WrittenFrames(code=self._code(error))

    def trace(self, setting: CodecSetting, steps: Sequence[Step], options: Mapping[str, object]) -> Traced:
        return Traced(violation=self._codec.trace(list(steps), setting, dict(options)))

    def _fault(self, error: Exception) -> Refused:
        return Refused(code=self._code(error), **{name: getattr(error, name, None) for name in _SAID})

    def _code(self, error: Exception) -> str:
        code = getattr(error, "code", None)
        if isinstance(code, str):
            return code
        if isinstance(error, ValueError) and "code" not in self.tells:
            return UNTOLD
        raise ImplementationError("crashed", f"{type(error).__name__}: {error}"[:200]) from error
