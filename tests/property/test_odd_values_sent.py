"""Values of a caller's own classes in messages that a connection sends: the sessions see what is written, or the message is refused."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.property.test_odd_values import odd_frames, outcome
from tests.property.test_serializations import PROTOCOLS, Package

N_FORMS = 400
"""Odd values of each protocol, of those in all places of all its messages."""


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


def _sent(package: Package, connection: Any, frame: Any, split: int | None) -> bytes | str:
    """Return the bytes, or the name of the error. Any other exception fails the test."""
    more = {} if split is None else {"split": split}
    try:
        return bytes(connection.send(frame, **more))
    except (package.native.EncodeError, package.native.SessionError) as error:
        return str(error)


@pytest.mark.parametrize("split", [None, 3])
def test_the_sessions_see_what_is_written(package: Package, split: int | None) -> None:
    if split is not None and not package.schema.joins:
        pytest.skip("its frames are whole")
    chosen = list(odd_frames(package))
    for role, form, make in Random(5).sample(chosen, min(len(chosen), N_FORMS)):
        for side in package.schema.roles if role is None else (role,):
            _check(package, side, form, make, split)


def _check(package: Package, side: str, form: str, make: Callable[[], Any], split: int | None) -> None:
    first, second = package.native.Connection(side), package.native.Connection(side)
    sent = _sent(package, first, make(), split)
    told = package.told(side)
    written = outcome(package, lambda: package.native.encode(make(), **told))
    if isinstance(written, bytes) and "turns" not in form:
        good = package.native.decode(written, **told)
        assert sent == _sent(package, second, good, split), (side, form, make)
        assert _states(first) == _states(second), (side, form, make)
    else:
        assert isinstance(sent, str) or "turns" in form, (side, form, make)


def _states(connection: Any) -> list[object]:
    kept = connection._engine.instances.values()
    return [(each.place, each.state, each.values) for instances in kept for each in instances.all()]
