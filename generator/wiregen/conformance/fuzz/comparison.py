"""Compare the answers of two codecs to the same request, and name the difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from wiregen.conformance.judge.checks import first_byte, is_same_code, told
from wiregen.conformance.judge.comparison import difference
from wiregen.conformance.judge.implementation import (
    TOLD,
    CodecSetting,
    DecodedFrames,
    Implementation,
    ImplementationError,
    Line,
    Refused,
    SkippedError,
    WrittenFrames,
)

__all__ = ["Differing", "Trial", "differing", "without_indexes"]

_INDEX = re.compile(r"\[\d+\]")
_NUMBER = re.compile(r"\d+")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Bytes, their setting, and the cuts between the chunks that the codec under test gets; () for whole."""

    setting: CodecSetting
    data: bytes
    cuts: tuple[int, ...] = ()

    @property
    def chunks(self) -> list[bytes]:
        places = [0, *self.cuts, len(self.data)]
        return [self.data[start:end] for start, end in pairwise(places)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """A difference. `key` is equal for differences that look like the same mistake."""

    key: tuple[str, ...]
    expected: str
    found: str


def differing(
    trial: Trial,
    reference: Implementation,
    implementation: Implementation,
    expected: DecodedFrames | None = None,
) -> Differing | None:
    """Return how the codec under test differs from the reference; None if it agrees or lacks the operation.

    `expected`: the answer of the reference codec, if it is known already.

    Raises:
        ImplementationError: The reference itself gives no answer.
    """
    expected = expected or asked(lambda: reference.decode(trial.setting, [trial.data]))
    try:
        found = asked(lambda: implementation.decode(trial.setting, trial.chunks))
        between = _between(_settled(expected, trial), _settled(found, trial), implementation)
        if between is None and expected.fault is None and expected.frames and "encode" in implementation.can:
            return _encoding(trial.setting, expected.frames, reference, implementation)
    except SkippedError:
        return None
    except ImplementationError as error:
        return _trouble(error, "an answer")
    return between


def asked(call: Callable[[], T]) -> T:
    """Return the answer of an adapter.

    Raises:
        SkippedError: The implementation does not support the request.
        ImplementationError: The implementation gives no answer, or raised any other exception.
    """
    try:
        return call()
    except (ImplementationError, SkippedError):
        raise
    except Exception as error:  # a implementation of this process has no other way to crash
        raise ImplementationError("crashed", f"{type(error).__name__}: {error}"[:200]) from error


def _settled(decoded: DecodedFrames, trial: Trial) -> DecodedFrames:
    """Return the answer as if the stream ended: incomplete frames become a `truncated` error."""
    if decoded.fault is None and (decoded.is_incomplete or decoded.is_unfinished):
        fault = Refused(code="truncated", at=len(trial.data), recoverable=False)
        return DecodedFrames(frames=decoded.frames, fault=fault)
    return decoded


def _between(
    expected: DecodedFrames, found: DecodedFrames, implementation: Implementation
) -> Differing | None:
    n_both = min(len(expected.frames), len(found.frames))
    between = difference(expected.frames[:n_both], found.frames[:n_both])
    if between is not None:
        key: tuple[str, ...] = (without_indexes(between.path), _message(expected, _frame(between.path)))
        return Differing(
            key=("frames", *key), expected=f"{between.path} {between.expected}", found=between.found
        )
    wanted, said = expected.fault, found.fault
    # Only the first frame that one codec has and the other lacks is reported: later ones follow from it.
    if len(expected.frames) > n_both:
        key = ("refuses", _message(expected, n_both), _code(said))
    elif len(found.frames) > n_both:
        key = ("accepts", _code(wanted), _path(wanted), _message(found, n_both))
    elif not _is_same(wanted, said, implementation):
        key = ("decode", _code(wanted), _code(said), _path(wanted, said))
    else:
        return _between_faults(wanted, said, implementation)
    return Differing(key=key, expected=_told(expected), found=_told(found))


def _between_faults(
    wanted: Refused | None, said: Refused | None, implementation: Implementation
) -> Differing | None:
    """Return how errors of the same code differ in the attributes that the codec under test reports."""
    if wanted is None or said is None:
        return None
    names = [name for name in sorted(TOLD - {"code"}) if name in implementation.tells]
    names += [name for name in ("rule", "path", "inner_at") if getattr(said, name) not in (None, "")]
    for name in names:
        if getattr(wanted, name) not in (None, getattr(said, name)):
            key = ("fault", name, wanted.code, _path(wanted, said))
            return Differing(key=key, expected=told(wanted), found=told(said))
    return None


def _encoding(
    setting: CodecSetting, frames: Sequence[Line], reference: Implementation, implementation: Implementation
) -> Differing | None:
    wanted = asked(lambda: reference.encode(setting, frames))
    said = asked(lambda: implementation.encode(setting, frames))
    if wanted == said or (wanted.code and is_same_code(wanted.code, said.code, implementation.tells)):
        return None
    name = str(frames[0].get("message"))
    if wanted.code is None and said.code is None:
        expected, found = first_byte(wanted.data, said.data)
    else:
        expected, found = _outcome(wanted), _outcome(said)
    return Differing(
        key=("encode", wanted.code or "", said.code or "", name),
        expected=f"encoded, {expected}",
        found=found,
    )


def _is_same(wanted: Refused | None, said: Refused | None, implementation: Implementation) -> bool:
    return is_same_code(_code(wanted) or None, _code(said) or None, implementation.tells)


def _outcome(written: WrittenFrames) -> str:
    return written.code or f"{len(written.data)} bytes"


def _trouble(error: ImplementationError, expected: str) -> Differing:
    return Differing(
        key=("trouble", error.trouble, _NUMBER.sub("0", error.text)[:80]), expected=expected, found=str(error)
    )


def _message(decoded: DecodedFrames, index: int) -> str:
    return str(decoded.frames[index].get("message"))


def _code(fault: Refused | None) -> str:
    return "" if fault is None else fault.code


def _path(*faults: Refused | None) -> str:
    paths = (fault.path for fault in faults if fault is not None and fault.path)
    return without_indexes(next(paths, ""))


def without_indexes(path: str) -> str:
    """Return a path without the places of items: an error at another item looks like the same mistake."""
    return _INDEX.sub("[]", path)


def _frame(path: str) -> int:
    found: Any = re.match(r"frames\[(\d+)\]", path)
    return int(found[1]) if found else 0


def _told(decoded: DecodedFrames) -> str:
    frames = f"{len(decoded.frames)} frame{'s' if len(decoded.frames) != 1 else ''}"
    return frames if decoded.fault is None else f"{frames}, then {told(decoded.fault)}"
