"""Values of a caller's own classes: what is written is what a reader reads, in all serializations and in both codecs, or is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from random import Random
from typing import Any

import pytest
from tests.property.odd_values import odd_forms
from tests.property.test_serializations import PROTOCOLS, Package
from tests.property.values import at, put, spots

from wireproto._runtime.codec.unknown import Unknown

N_FORMS = 500
"""Odd values of each protocol, of those in all places of all its messages."""


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


def odd_frames(package: Package) -> Iterator[tuple[str | None, str, Callable[[], Any]]]:
    """Yield the sender, the form of a value, and what makes a frame with it."""
    for role, frame in package.frames(1):
        if isinstance(outcome(package, partial(package.protobuf.encode, frame, **package.told(role))), str):
            continue  # no other serialization carries it, whatever its classes
        for index, place in enumerate(spots(frame)):
            for form, make in odd_forms(at(place)):
                yield role, form, partial(_with, frame, index, make)


def _with(frame: Any, index: int, make: Callable[[], Any]) -> Any:
    made = copy.deepcopy(frame)
    put(list(spots(made))[index], make())
    return made


def outcome(package: Package, encode: Callable[[], bytes]) -> bytes | str:
    """Return the bytes, or the code of the EncodeError. Any other exception fails the test."""
    try:
        return bytes(encode())
    except package.native.EncodeError as error:
        return str(error.code)


def test_odd_values_are_written_as_they_are_read_or_refused(package: Package) -> None:
    chosen = list(odd_frames(package))
    for role, form, make in Random(3).sample(chosen, min(len(chosen), N_FORMS)):
        native = _natively(package, role, make)
        if "turns" not in form:  # what is asked for another time is another value
            assert len(set(native)) == 1, (form, make, native)
        for written in native:
            if isinstance(written, bytes):
                assert package.native.decode(written, **package.told(role)).encode() == written, (form, make)
        for module in package.modules[1:]:
            _check_other(package, role, form, make, module, native[0])


def _natively(package: Package, role: str | None, make: Callable[[], Any]) -> list[bytes | str]:
    """Return what straight-line code, the reference codec, and both together within other limits make of a frame."""
    native, told = package.native, package.told(role)
    reference = import_module(f"{native.__name__}.messages")._encode_by_reference
    calls: tuple[Callable[[], bytes], ...] = (
        lambda: native.encode(make(), **told),
        lambda: make().encode(),
        lambda: native.encode(make(), limits=native.Limits(frame=10_000_000), **told),
        lambda: reference(make()),
    )
    return [outcome(package, call) for call in calls]


def _check_other(
    package: Package, role: str | None, form: str, make: Callable[[], Any], module: Any, native: bytes | str
) -> None:
    """Check that another serialization carries what is written natively, and refuses what is refused."""
    told = package.told(role)
    octets = outcome(package, lambda: module.encode(make(), **told))
    if isinstance(octets, bytes):
        again = outcome(package, module.decode(octets, **told).encode)
        assert again == native or "turns" in form, (form, make, again, native)
    elif isinstance(native, bytes):
        is_unknown = isinstance(package.native.decode(native, **told).message, Unknown)
        assert is_unknown or "raises" in form or "turns" in form, (form, make, octets)
    elif native != "missing_context":
        assert octets == native or octets == "unrepresentable", (form, make, octets, native)
