"""Hostile streams in chunks of every size: the same frames and errors after the same bytes, and nothing else is raised."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.built_schema import schema_of
from tests.property.any_values import AnyValues
from tests.property.codecs import Codecs, Outcome, described
from tests.property.schemas import built
from tests.property.test_serializations import PROTOCOLS

from wiregen.conformance.fuzz.comparison import Trial
from wiregen.conformance.fuzz.mutations import Mutator
from wiregen.conformance.judge.implementation import CodecSetting
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

SIZES = (1, 2, 3, 7, 10_000)
CONSTRUCTS = ("every_construct", "joins", "hostile")
N_SEEDS = 5
N_STREAMS = 40
"""Streams of each protocol and construct."""
_MOST_SEED = 400


@pytest.fixture(scope="module", params=[*PROTOCOLS, *CONSTRUCTS])
def codecs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    if request.param in PROTOCOLS:
        module = importlib.import_module(f"wireproto.{request.param}")
        yield Codecs(module=module, schema=schema_of(request.param))
        return
    text = (Path(__file__).parent / f"{request.param}.wire").read_text(encoding="utf-8")
    with built(text, tmp_path_factory.mktemp("streams"), f"streams_of_{request.param}") as found:
        yield found


@cache
def frames(module: Any) -> dict[str, list[bytes]]:
    """Return the bytes of good frames, by who sends them."""
    plan = schema_of(module)
    values = AnyValues(module, plan)
    found: dict[str, list[bytes]] = {}
    for seed in range(N_SEEDS):
        for role, frame in values.frames(seed):
            try:
                data = bytes(module.encode(frame))
            except module.EncodeError:
                continue
            if len(data) <= _MOST_SEED:
                found.setdefault(role or plan.roles[0], []).append(data)
    return found


def streams(codecs: Codecs, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield streams with their senders: a damaged frame between good ones, whole or cut somewhere."""
    dice = Random(seed)
    mutator = Mutator(codecs.schema, dice)
    seeds = sorted(frames(codecs.module).items())
    for _ in range(N_STREAMS):
        role, good = dice.choice(seeds)
        trial, other = (Trial(setting=CodecSetting(role=role), data=dice.choice(good)) for _ in range(2))
        damaged = mutator.mutated(trial, trees(codecs, role, trial.data), other).data
        before, after = (b"".join(dice.choices(good, k=dice.randrange(3))) for _ in range(2))
        stream = before + damaged + after
        yield role, stream[: dice.randrange(len(before), len(stream) + 1)] if dice.random() < 0.5 else stream


def trees(codecs: Codecs, role: str, data: bytes) -> tuple[Node, ...]:
    try:
        return (explain(codecs.schema, data, 0, len(data), Options(role)),)
    except DecodeError:
        return ()


def compiled_decoder(codecs: Codecs, role: str, errors: str) -> Any:
    module = codecs.module
    known = {"context": module.Context()} if hasattr(module, "Context") else {}
    return module.Decoder(role, errors=errors, **known)


def interpreted_decoder(codecs: Codecs, role: str, errors: Any) -> Any:
    context = Context(codecs.schema) if codecs.schema.contexts or codecs.schema.joins else None
    return reference_decoder(codecs.schema, Options(role, context=context), errors, context=context)


def fed(decoder: Any, stream: bytes, size: int) -> Iterator[Any]:
    """Yield what `feed` yields, in chunks of a size."""
    for start in range(0, len(stream), size):
        yield from decoder.feed(stream[start : start + size])


def outcome(codecs: Codecs, item: Any) -> Outcome:
    if isinstance(item, DecodeError | codecs.module.DecodeError):
        return described(item)
    return codecs.line(item.value if isinstance(item, Node) else item)


def yielded(codecs: Codecs, decoder: Any, stream: bytes, size: int) -> tuple[list[Outcome], list[Any]]:
    """Return the items of `feed`, and the remaining ones at the end of the stream."""
    decoder.begin_inside()
    during = [outcome(codecs, item) for item in fed(decoder, stream, size)]
    end = [(place, n_bytes, outcome(codecs, item)) for place, n_bytes, item in decoder.finish_items()]
    return during, end


def raised(codecs: Codecs, decoder: Any, stream: bytes, size: int) -> list[Outcome]:
    """Return the items and errors of `feed`, where the caller continues after an error; check the decoder after each."""
    errors = (DecodeError, codecs.module.DecodeError)
    decoder.begin_inside()
    found: list[Outcome] = []
    for start in range(0, len(stream), size):
        chunk, is_over = stream[start : start + size], False
        while not is_over:
            try:
                found += (outcome(codecs, item) for item in decoder.feed(chunk))
                is_over = True
            except errors as error:
                found.append(described(error))
                check_goes_on(codecs, decoder, error, errors)
                if not error.recoverable:
                    return found
                chunk = b""
    return found


def check_goes_on(codecs: Codecs, decoder: Any, error: Any, errors: Any) -> None:
    """Check that a decoder continues after the frame of an error, or raises the error again if it gave up the stream."""
    if error.recoverable:
        assert decoder.offset == error.end
        return
    for chunk in (b"", b"more"):
        with pytest.raises(errors) as again:
            list(decoder.feed(chunk))
        assert described(again.value) == described(error)
    assert decoder.offset == error.frame_offset


@pytest.mark.parametrize("make", [compiled_decoder, interpreted_decoder])
def test_errors_are_yielded_after_the_same_bytes_in_chunks_of_any_size(
    codecs: Codecs, make: Callable[..., Any]
) -> None:
    n_errors = 0
    for role, stream in streams(codecs, 1):
        whole = yielded(codecs, make(codecs, role, "yield"), stream, len(stream) + 1)
        for size in SIZES:
            assert yielded(codecs, make(codecs, role, "yield"), stream, size) == whole, (size, stream.hex())
        n_errors += any(isinstance(item, dict) for item in whole[0])
    assert n_errors >= N_STREAMS / 8


@pytest.mark.parametrize("make", [compiled_decoder, interpreted_decoder])
def test_a_decoder_that_raises_goes_on_after_the_frame_or_repeats_the_error(
    codecs: Codecs, make: Callable[..., Any]
) -> None:
    for role, stream in streams(codecs, 2):
        expected = yielded(codecs, make(codecs, role, "yield"), stream, len(stream) + 1)[0]
        for size in SIZES:
            assert raised(codecs, make(codecs, role, "raise"), stream, size) == expected, (size, stream.hex())
