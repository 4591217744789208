"""Check one vector against one implementation: whole, in every two chunks, and byte by byte.

Of long vectors only some of the cuts are tried, always the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, assert_never

from wiregen.conformance.judge.comparison import difference
from wiregen.conformance.judge.implementation import (
    CodecSetting,
    DecodedFrames,
    Implementation,
    ImplementationError,
    Line,
    Move,
    Refused,
    SkippedError,
    Step,
    Traced,
)
from wiregen.conformance.judge.verdict import Finding, Verdict
from wiregen.conformance.vectors.format import (
    AnyVector,
    Fault,
    Invalid,
    Octets,
    Trace,
    Unwritable,
    Valid,
    expanded,
    octets,
    size_of,
)

__all__ = ["AnyVector", "first_byte", "is_same_code", "judge", "judge_at_once", "setting_of", "told"]

_MANY: Final = 256
"""Vectors of up to this many bytes are cut at every place."""
_FEW: Final = 16
_LARGE: Final = 1 << 20
_MOST_CUT: Final = 1 << 20
"""Most bytes that are sent again in order to try other cuts; a vector of megabytes is cut at two places."""
_MOST_CHUNKS: Final = 4096
_SERIALIZATIONS: Final = ("protobuf", "msgpack")


def judge(
    vector: AnyVector, implementation: Implementation, *, is_thorough: bool = True, with_large: bool = False
) -> Verdict:
    """Return the verdict of a vector; it is skipped if the implementation lacks the operation that it needs.

    Not `is_thorough`: only some of the places where the bytes can be cut are tried, for callers that check
    the vector and not the implementation. Not `with_large`: a vector of more than 1 MiB is skipped.
    """
    if not with_large and size_of(vector) > _LARGE:
        return Verdict(id=vector.id, outcome="skipped", reason=f"more than {_LARGE >> 10} KiB")
    try:
        findings = tuple(_findings(vector, implementation, _MANY if is_thorough else _FEW))
    except SkippedError as error:
        return Verdict(id=vector.id, outcome="skipped", reason=str(error))
    return Verdict(id=vector.id, outcome="failed" if findings else "passed", findings=findings)


def judge_at_once(vector: AnyVector, implementation: Implementation) -> tuple[Finding, ...]:
    """Return the findings of a vector whose bytes arrive in one chunk; conversations keep their steps."""
    match vector:
        case Valid():
            setting, data, frames = setting_of(vector), octets(vector.bytes), expanded(list(vector.frames))
            found = _checked(
                "decoded whole", lambda: _differs(frames, implementation.decode(setting, [data]))
            )
            if vector.encodes != "no":
                found += _checked("encoded", lambda: _encoded(vector, implementation, setting, data, frames))
            return tuple(found)
        case Invalid():
            data = octets(vector.bytes)
            return tuple(_checked("decoded whole", lambda: _refused(vector, implementation, [data])))
        case Unwritable():
            return tuple(_of_unwritable(vector, implementation))
        case Trace():
            return tuple(_of_trace(vector, implementation))
        case _:
            assert_never(vector)


def setting_of(vector: AnyVector) -> CodecSetting:
    """Return the setting with which the bytes of a vector are decoded or encoded."""
    before = () if isinstance(vector, Trace) else vector.before
    return CodecSetting(
        role=None if isinstance(vector, Trace) else vector.from_role,
        before=tuple((each.from_role or "", octets(each.bytes)) for each in before),
        variant=vector.variant,
        limits={} if isinstance(vector, Unwritable) else vector.limits,
        is_strict=False if isinstance(vector, Unwritable) else vector.strict,
    )


def _findings(vector: AnyVector, implementation: Implementation, many: int) -> Iterator[Finding]:
    match vector:
        case Valid():
            needed, findings = ("decode",), _of_valid(vector, implementation, many)
        case Invalid():
            needed, findings = ("decode",), _of_invalid(vector, implementation, many)
        case Unwritable():
            needed, findings = ("encode",), _of_unwritable(vector, implementation)
        case Trace():
            needed, findings = ("trace",), _of_trace(vector, implementation)
        case _:
            assert_never(vector)
    if not implementation.can.issuperset(needed):
        raise SkippedError(f"it does not {needed[0]}")
    return findings


# ---- what holds of each kind


def _of_valid(vector: Valid, implementation: Implementation, many: int) -> Iterator[Finding]:
    setting, data = setting_of(vector), octets(vector.bytes)
    frames = expanded(list(vector.frames))
    first = _checked("decoded whole", lambda: _differs(frames, implementation.decode(setting, [data])))
    yield from first
    if not first:
        places = places_within(len(data), many)
        yield from _in_pieces(implementation, setting, data, places, lambda found: _differs(frames, found))
        yield from _prefixes(implementation, setting, data, places, frames)
    if "encode" in implementation.can and vector.encodes != "no":
        yield from _checked("encoded", lambda: _encoded(vector, implementation, setting, data, frames))
    for name in _SERIALIZATIONS:
        other: Octets | None = getattr(vector, name)
        if other is not None and name in implementation.serializations:
            yield from _other(implementation, setting, name, octets(other), frames)
    spans = getattr(implementation, "spans", None)
    if spans is not None and vector.spans and not first:
        yield from _checked("spans", lambda: _spans(vector, spans(setting, data)))


def _of_invalid(vector: Invalid, implementation: Implementation, many: int) -> Iterator[Finding]:
    setting, data = setting_of(vector), octets(vector.bytes)

    def differs(found: DecodedFrames) -> tuple[str, str] | None:
        return _refusal_differs(vector, found, len(data), implementation.tells)

    first = _checked("decoded whole", lambda: _refused(vector, implementation, [data]))
    yield from first or _in_pieces(implementation, setting, data, places_within(len(data), many), differs)


def _refused(vector: Invalid, implementation: Implementation, chunks: list[bytes]) -> tuple[str, str] | None:
    found = implementation.decode(setting_of(vector), chunks)
    return _refusal_differs(vector, found, sum(map(len, chunks)), implementation.tells)


def _of_unwritable(vector: Unwritable, implementation: Implementation) -> Iterator[Finding]:
    def differs() -> tuple[str, str] | None:
        written = implementation.encode(setting_of(vector), expanded(list(vector.frames)))
        if is_same_code(vector.error.code, written.code, implementation.tells):
            return None
        found = f"{len(written.data)} bytes" if written.code is None else written.code
        return vector.error.code, found

    yield from _checked("encoded", differs)


def _of_trace(vector: Trace, implementation: Implementation) -> Iterator[Finding]:
    def differs() -> tuple[str, str] | None:
        steps = [
            Step(role=each.from_role, data=octets(each.bytes), at=each.at, is_end=each.eof)
            for each in vector.steps
        ]
        traced = implementation.trace(setting_of(vector), steps, vector.options)
        if not is_same_code(vector.violation, traced.violation, implementation.tells):
            return vector.violation or "no violation", traced.violation or "no violation"
        return _moves_differ(vector, traced)

    yield from _checked("traced", differs)


def _moves_differ(vector: Trace, traced: Traced) -> tuple[str, str] | None:
    """Return the first step whose state transitions differ, expected and found.

    A vector that lists no transitions is satisfied by any.
    """
    if traced.moves is None or not any(step.moves for step in vector.steps):
        return None
    for number, (step, found) in enumerate(zip(vector.steps, traced.moves, strict=False), 1):
        if step.moves != found:
            return _moved(number, step.moves), _moved(number, found)
    return None


def _moved(number: int, moves: tuple[Move, ...]) -> str:
    told = ", ".join(f"{session} {before} -> {after}" for session, before, after in moves)
    return f"step {number}: {told or 'no other state'}"


# ---- pieces


def _in_pieces(
    implementation: Implementation, setting: CodecSetting, data: bytes, places: Sequence[int], differs: Any
) -> Iterator[Finding]:
    if len(data) < 2:
        return
    size = -(-len(data) // _MOST_CHUNKS)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    how = "byte by byte" if size == 1 else f"in pieces of {size} bytes"
    yield from _checked(how, lambda: differs(implementation.decode(setting, chunks)))
    for at in places:
        found = _checked(
            f"split at {at}", lambda at=at: differs(implementation.decode(setting, [data[:at], data[at:]]))
        )
        if found:
            yield from found
            return


def _prefixes(
    implementation: Implementation,
    setting: CodecSetting,
    data: bytes,
    places: Sequence[int],
    frames: Sequence[Line],
) -> Iterator[Finding]:
    for size in places:
        found = _checked(
            f"the first {size} bytes alone",
            lambda size=size: _prefix_differs(frames, implementation.decode(setting, [data[:size]])),
        )
        if found:
            yield from found
            return


def places_within(size: int, many: int = _MANY) -> list[int]:
    """Return the places from 1 to `size` - 1; of more than `many` only the first, some, and the last."""
    if size <= many:
        return list(range(1, size))
    if size > _MOST_CUT // _FEW:
        return [1, size - 1]
    some = range(many // 4, size - many // 8, max(1, size // (many // 8)))
    return [*range(1, many // 4), *some, *range(size - many // 8, size)]


# ---- one answer against what it is to be


def _checked(check: str, differs: Any) -> list[Finding]:
    try:
        found = differs()
    except ImplementationError as error:
        found = ("an answer", str(error))
    return [] if found is None else [Finding(check=check, expected=found[0], found=found[1])]


def _differs(frames: Sequence[Line], found: DecodedFrames) -> tuple[str, str] | None:
    differing = difference(frames, found.frames)
    if found.fault is not None:
        return _count(frames), f"{len(found.frames)}, then {told(found.fault)}"
    if found.is_incomplete:
        return _count(frames), f"{len(found.frames)}, and the rest incomplete"
    if differing is None:
        return None
    return f"{differing.path} {differing.expected}", differing.found


def _prefix_differs(frames: Sequence[Line], found: DecodedFrames) -> tuple[str, str] | None:
    """Return the expected and the found answer to a strict prefix, or None if the answer is right.

    Right is: some of the first frames, and no error.
    """
    if found.fault is not None:
        return "incomplete", told(found.fault)
    if len(found.frames) >= len(frames) or not (found.frames or found.is_incomplete):
        return "incomplete", f"{_count(found.frames)}{', and nothing incomplete' * (not found.is_incomplete)}"
    differing = difference(frames[: len(found.frames)], found.frames)
    return None if differing is None else (f"{differing.path} {differing.expected}", differing.found)


def _refusal_differs(
    vector: Invalid, found: DecodedFrames, size: int, tells: frozenset[str]
) -> tuple[str, str] | None:
    expected = vector.error
    fault = found.fault
    if fault is None and (found.is_incomplete or found.is_unfinished):
        fault = Refused(code="truncated", at=size, recoverable=False)
    if len(found.frames) != vector.frames_before or fault is None:
        after = "" if fault is None else f", then {told(fault)}"
        return (
            f"{_count_of(vector.frames_before)}, then {told(expected)}",
            f"{_count_of(len(found.frames))}{after}",
        )
    is_equal = is_same_code(expected.code, fault.code, tells) and all(
        _agrees(expected, fault, name, tells) for name in ("at", "recoverable", "rule", "path", "inner_at")
    )
    return None if is_equal else (told(expected), told(fault))


def is_same_code(expected: str | None, found: str | None, tells: frozenset[str]) -> bool:
    """Return whether error codes agree; None means "no error".

    Without `code` in `tells`, any error agrees with any other.
    """
    return expected == found if "code" in tells else (expected is None) == (found is None)


def _agrees(expected: Fault, found: Refused, name: str, tells: frozenset[str]) -> bool:
    """Return whether one attribute of an error is as expected.

    An attribute that an implementation may omit is compared only if the implementation reports it.
    """
    wanted, said = getattr(expected, name), getattr(found, name)
    is_told = name in tells or (said not in (None, "") and name not in ("at", "recoverable"))
    return wanted in (None, "") or not is_told or wanted == said


def _encoded(
    vector: Valid, implementation: Implementation, setting: CodecSetting, data: bytes, frames: Sequence[Line]
) -> tuple[str, str] | None:
    written = implementation.encode(setting, frames)
    if written.code is not None:
        return f"{len(data)} bytes", written.code
    if vector.encodes == "exact":
        return None if written.data == data else first_byte(data, written.data)
    return _differs(frames, implementation.decode(setting, [written.data]))


def _other(
    implementation: Implementation, setting: CodecSetting, name: str, data: bytes, frames: Sequence[Line]
) -> Iterator[Finding]:
    other = CodecSetting(
        role=setting.role,
        before=setting.before,
        variant=setting.variant,
        limits=setting.limits,
        is_strict=setting.is_strict,
        serialization=name,
    )
    yield from _checked(f"{name} decoded", lambda: _differs(frames, implementation.decode(other, [data])))
    if "encode" in implementation.can:
        yield from _checked(f"{name} encoded", lambda: _other_written(implementation, other, data, frames))


def _other_written(
    implementation: Implementation, setting: CodecSetting, data: bytes, frames: Sequence[Line]
) -> tuple[str, str] | None:
    written = implementation.encode(setting, frames)
    if written.code is not None:
        return f"{len(data)} bytes", written.code
    return None if written.data == data else first_byte(data, written.data)


def _spans(vector: Valid, found: frozenset[tuple[str, int, int]]) -> tuple[str, str] | None:
    missing = next((span for span in vector.spans if span not in found), None)
    if missing is None:
        return None
    name, start, end = missing
    others = [(first, last) for each, first, last in found if each == name]
    if not others:
        return f"{name} from {start} to {end}", "none"
    first, last = min(others, key=lambda place: (place[0], -place[1]))  # of equal names the outermost
    return f"{name} from {start} to {end}", f"it from {first} to {last}"


# ---- in words


def told(fault: Refused | Fault) -> str:
    """Return an error in words."""
    at = "" if fault.at is None else f" at {fault.at}"
    rule = f" ({fault.rule})" if fault.rule else ""
    path = f" in {fault.path}" if fault.path else ""
    goes_on = {True: ", recoverable", False: ", not recoverable", None: ""}[fault.recoverable]
    return f"{fault.code}{rule}{at}{path}{goes_on}"


def _count(frames: Sequence[Line]) -> str:
    return _count_of(len(frames))


def _count_of(n_frames: int) -> str:
    return f"{n_frames} frame{'s' if n_frames != 1 else ''}"


def first_byte(expected: bytes, found: bytes) -> tuple[str, str]:
    pairs = zip(expected, found, strict=False)
    at = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(found)))
    return f"{_byte(expected, at)} at byte {at}", f"{_byte(found, at)} ({len(found)} bytes)"


def _byte(data: bytes, at: int) -> str:
    return f"0x{data[at]:02x}" if at < len(data) else f"the end ({len(data)} bytes)"
