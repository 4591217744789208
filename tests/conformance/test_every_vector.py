"""Every vector, of other makers and our own: strict and lenient, with limits given and not, through all serializations."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from tests.built_schema import schema_of
from tests.conformance.converted import PROTOCOLS, converted
from tests.conformance.test_generated_vectors import IS_SOAK, Stand
from tests.unit.implementations import generated_implementation, reference_implementation

from wiregen.conformance.judge.implementation import CodecSetting, Step
from wiregen.conformance.vectors.format import Invalid, Trace, Valid, octets, read_vectors, size_of
from wiregen.tools.cli.protocols import package_of
from wiregen.tools.transcoding import LostBytes, StreamWishes, Transcoder
from wireproto._runtime.codec.errors import DecodeError, EncodeError

ROOT: Final = Path(__file__).resolve().parents[2]
MODES: Final = [(strict, given) for strict in (False, True) for given in (False, True)]
_LARGE: Final = 1 << 12
"""Bytes of the largest generated vectors outside of soaks."""
_SERIALIZATIONS: Final = ("protobuf", "msgpack")

Outcome = tuple[list[dict[str, Any]], tuple[Any, ...] | None]
"""The frames, and the error after them as code, rule, place and whether its frame's end is known."""


def independent(protocol: str) -> list[Any]:
    return [vector for vector in converted(protocol).vectors if isinstance(vector, Valid | Invalid)]


def generated(protocol: str) -> list[Any]:
    file = read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes())
    return [
        vector
        for vector in file.vectors
        if isinstance(vector, Valid | Invalid) and (IS_SOAK or size_of(vector) <= _LARGE)
    ]


def stand_of(module: Any, vector: Any, *, strict: bool, given: bool) -> Stand:
    """Return the package as a mode uses it; `given`: every limit is given, those of the protocol as they are."""
    plan = schema_of(module)
    limits = {**plan.limits, **vector.limits} if given else vector.limits
    return Stand(module, replace(vector, strict=strict, limits=limits))


def outcome(stand: Stand) -> Outcome:
    decoder, frames = stand.decoder(), []
    before = decoder.fed
    try:
        for frame in decoder.feed(octets(stand.vector.bytes)):
            frames.append(stand.line(frame))
        if decoder.pending or isinstance(stand.vector, Invalid):
            decoder.finish()  # pieces of something that is not whole are valid
    except DecodeError as error:
        return frames, (error.code, error.rule, error.at - before, error.inner_at, error.recoverable)
    return frames, None


def check_modes(module: Any, vector: Any) -> None:
    """Check that limits change nothing where they are the protocol's, and that strict refuses all that lenient does."""
    found = {mode: outcome(stand_of(module, vector, strict=mode[0], given=mode[1])) for mode in MODES}
    assert found[False, False] == found[False, True], vector.id
    assert found[True, False] == found[True, True], vector.id
    (lenient, refused), (strict, strictly) = found[False, False], found[True, False]
    if refused is not None:
        assert strictly is not None and len(strict) <= len(lenient), vector.id
    assert strict == lenient[: len(strict)], vector.id
    if strictly is None:
        assert strict == lenient, vector.id
    own = found[vector.strict, False]
    assert (own[1] is None) == isinstance(vector, Valid), vector.id


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_strict_refuses_what_lenient_refuses_and_given_limits_change_nothing(protocol: str) -> None:
    module = importlib.import_module(f"wireproto.{protocol}")
    vectors = [*independent(protocol), *generated(protocol)]
    assert len(vectors) > 30
    for vector in vectors:
        check_modes(module, vector)


# ---- the other serializations


def frames_with_context(stand: Stand) -> Iterator[tuple[Any, Any]]:
    """Yield each frame up to the first error, with the context before it."""
    decoder, context = stand.decoder(), stand.wishes["context"]
    items = iter(decoder.feed(octets(stand.vector.bytes)))
    while True:
        known = None if context is None else context.snapshot()
        try:
            frame = next(items)
        except (StopIteration, DecodeError):
            return
        yield frame, known


def check_carried(stand: Stand, frame: Any, known: Any) -> bool:
    """Carry a frame through protobuf and msgpack and back; return whether both can."""
    module = stand.module

    def called(function: Any, value: Any) -> Any:
        if known is not None:
            stand.wishes["context"] = module.Context(limits=stand.wishes["limits"])
            stand.wishes["context"].restore(known)
        return stand.called(function, value)

    protobuf, msgpack = (importlib.import_module(f"{module.__name__}.{name}") for name in _SERIALIZATIONS)
    codes = set()
    for way in (protobuf, msgpack):
        try:
            called(way.encode, frame)
        except EncodeError as error:
            codes.add(error.code)
    if codes:
        assert codes == {"unrepresentable"}, stand.vector.id
        return False
    packed = called(msgpack.encode, called(protobuf.decode, called(protobuf.encode, frame)))
    again = called(msgpack.decode, packed)
    shown = [
        {key: part for key, part in stand.line(each).items() if key not in ("part", "joined")}
        for each in (again, frame)
    ]
    assert shown[0] == shown[1], stand.vector.id
    assert called(module.encode, again) == called(module.encode, frame), stand.vector.id
    return True


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_serializations_carry_what_others_wrote_in_every_mode(protocol: str) -> None:
    module, n_carried = importlib.import_module(f"wireproto.{protocol}"), 0
    opens = schema_of(module).opens
    for vector in independent(protocol):
        for strict, given in MODES:
            stand = stand_of(module, vector, strict=strict, given=given)
            for frame, known in frames_with_context(stand):
                if hasattr(frame, "message"):
                    n_carried += check_carried(stand, frame, known)
                else:
                    assert vector.from_role in opens  # a preamble, which no other serialization has
    assert n_carried > 20


@pytest.mark.parametrize("serialization", _SERIALIZATIONS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_transcoder_keeps_the_verdict_of_invalid_bytes(protocol: str, serialization: str) -> None:
    package, n_kept = package_of(protocol, _SERIALIZATIONS), 0
    module = importlib.import_module(f"wireproto.{protocol}")
    for vector in filter(lambda each: isinstance(each, Invalid), independent(protocol)):
        stand = stand_of(module, vector, strict=vector.strict, given=False)
        _, error = outcome(stand)
        assert error is not None
        wishes = StreamWishes(
            role=vector.from_role, variant=vector.variant, limits=vector.limits, is_strict=vector.strict
        )
        transcoder = Transcoder(package, "native", serialization, wishes)
        before = 0
        for sent in vector.before:
            transcoder.receive_earlier(sent.from_role, octets(sent.bytes))
            before += len(octets(sent.bytes)) if sent.from_role == vector.from_role else 0
        pieces = [*transcoder.feed(octets(vector.bytes)), *transcoder.finish()]
        faults = [piece.error for piece in pieces if isinstance(piece, LostBytes)]
        found = [(each.code, each.rule) for each in faults if type(each).__name__ != "EncodeError"]
        assert found[:1] == [error[:2]], vector.id
        n_kept += 1
    assert n_kept or protocol.startswith("pravega")


# ---- sessions


def steps_of(trace: Trace) -> list[Step]:
    return [
        Step(role=step.from_role, data=octets(step.bytes), at=step.at, is_end=step.eof)
        for step in trace.steps
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_strict_sessions_refuse_what_lenient_ones_refuse(protocol: str) -> None:
    file = read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes())
    traces = [each for each in (*converted(protocol).vectors, *file.vectors) if isinstance(each, Trace)]
    assert traces
    for trace in traces:
        for implementation in (reference_implementation(protocol), generated_implementation(protocol)):
            lenient, strict = (
                implementation.trace(
                    CodecSetting(variant=trace.variant, limits=trace.limits, is_strict=is_strict),
                    steps_of(trace),
                    trace.options,
                )
                for is_strict in (False, True)
            )
            assert lenient.violation is None or strict.violation is not None, (trace.id, lenient.violation)
