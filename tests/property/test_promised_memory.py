"""What decoding takes at most, against what `wiregen check --verbose` promises; with an error, at most twice as much."""

from __future__ import annotations

import copy
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property.test_serializations import PROTOCOLS, Package
from tests.property.values import put, spots

from wiregen.generate.frontend import load_protocol
from wiregen.language.checker import largest_memory
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

IDL = Path(__file__).resolve().parents[2] / "idl"
LIMITS = {"frame": 1 << 20, "inflated": 4 << 20, "messages": 4096}
"""Narrower than the protocols' own, so that this takes seconds; the promise follows them."""
SMALL = 1 << 20
"""Bytes below which nobody is promised anything: codecs load what they need, and make their tables."""
N_MESSAGES = 8
"""Of each protocol, those of the largest promises."""


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


def test_decoding_takes_what_is_promised_and_an_error_at_most_twice(package: Package) -> None:
    limits = package.native.Limits(**LIMITS)
    promises = promised(package)
    chosen = sorted(promises, key=lambda name: promises[name])[-N_MESSAGES:]
    n_large = 0
    for role, frame in package.frames(3):
        name = type(frame.message)._NAME or type(frame.message).__name__
        if name not in chosen:
            continue
        for data in grown(package, frame):
            told = package.told(role) | {"limits": limits}
            good, error = peak(package, data, told)
            if error is not None:  # more than the limits allow, though encoders have wider ones
                continue
            assert good < promises[name] + SMALL, name
            n_large += good > SMALL
            for bad in (data + b"\0", data[:-1], data[:-1] + bytes([data[-1] ^ 0xFF])):
                assert peak(package, bad, told)[0] < 2 * good + SMALL, name
    assert n_large


def promised(package: Package) -> dict[str, int]:
    report = Report()
    subject = load_protocol(IDL / f"{package.plan.name}.wire", Sources(), report, (IDL,))
    assert subject is not None, report
    return dict(largest_memory(subject.protocol, LIMITS))


def grown(package: Package, frame: Any) -> Iterator[bytes]:
    """Yield frames with one long list or one long text with a wide character each, as long as the limits allow."""
    for index, (owner, name) in enumerate(spots(frame)):
        value = owner[name] if isinstance(name, int) else getattr(owner, name, None)
        if not isinstance(value, str | bytes | list) or value == []:
            continue
        for size in (4096, 4000, 1000) if isinstance(value, list) else (1 << 20, (1 << 20) - 4096, 60_000):
            other = copy.deepcopy(frame)
            put(list(spots(other))[index], long(value, size))
            try:
                data = package.native.encode(other)
            except package.native.EncodeError:
                continue
            if len(data) <= LIMITS["frame"]:
                yield data
                break


def long(value: str | bytes | list[Any], size: int) -> str | bytes | list[Any]:
    """Return a value of the same kind and of that size."""
    if isinstance(value, str):
        return "a" * size + "\U0001f600"
    return b"a" * size if isinstance(value, bytes) else (value * size)[:size]


def peak(package: Package, data: bytes, told: dict[str, Any]) -> tuple[int, Exception | None]:
    """Return how many bytes decoding took at most, those of the frame included, and the error that it ended with."""
    error: Exception | None = None
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        frame = package.native.decode(data, **told)
        del frame
    except package.native.DecodeError as caught:
        error = caught
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most - before + len(data), error
