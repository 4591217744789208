"""Frames and messages of a caller's own subclasses: every function that takes one writes its values, or raises its own error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.property.odd_values import LIES, OwnError, odd_forms
from tests.property.test_odd_values import outcome
from tests.property.test_serializations import PROTOCOLS, Package


class _Hashless(type):
    """A metaclass whose classes cannot be keys of a table."""

    def __hash__(cls) -> int:
        raise OwnError("no hash")

    def __eq__(cls, other: object) -> bool:
        raise OwnError("no equality")


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


def _subclasses(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield subclasses of the class of a frame or message, with its values."""
    for form, make in odd_forms(value):
        if form not in ("raises", "foreign", "foreign-named") and "turns" not in form:
            yield form, make
    kind = type(value)
    for number, methods in enumerate((*LIES, _property("encode"), _property("replace"), _property("_NAME"))):
        yield f"methods {number}", lambda methods=methods: _copy(type("Odd", (kind,), methods), value)  # type: ignore[misc]
    yield "hashless", lambda: _copy(_Hashless("Odd", (kind,), {}), value)


def _property(name: str) -> dict[str, object]:
    return {name: property(LIES[0]["__eq__"])}


def _copy(kind: Any, value: Any) -> Any:
    made = object.__new__(kind)
    for name in type(value).__slots__:
        if hasattr(value, name):
            object.__setattr__(made, name, getattr(value, name))
    return made


def _header(frame: Any) -> dict[str, Any]:
    """Return the first field of a frame's header, as it is."""
    return {name: getattr(frame, name) for name in type(frame).__match_args__[1:2]}


def test_frames_of_subclasses_are_written_or_refused(package: Package) -> None:
    for role, frame in package.frames(2):
        for form, make in _subclasses(frame):
            for header in ({}, _header(frame)):
                _check(package, role, form, frame, make, header)


def test_messages_of_subclasses_are_written_or_refused(package: Package) -> None:
    for role, frame in package.frames(2):
        header = {name: getattr(frame, name) for name in type(frame).__match_args__[1:]}
        for form, make in _subclasses(frame.message):
            _check(package, role, form, frame, make, header)


def _check(
    package: Package, role: str | None, form: str, frame: Any, make: Callable[[], Any], header: dict[str, Any]
) -> None:
    told = package.told(role)
    native = outcome(package, lambda: package.native.encode(frame, **told))
    is_read_back = isinstance(native, bytes) and package.native.decode(native, **told) == frame
    refusals = ["invalid_value"] if is_read_back else ["invalid_value", "unrepresentable"]
    for module in package.modules:
        good = outcome(package, lambda: module.encode(frame, **told))  # noqa: B023 - called at once
        odd = outcome(package, lambda: module.encode(make(), **header, **told))  # noqa: B023 - called at once
        assert odd in (good, *refusals), (module.__name__, form, frame, odd, good)
    for side in package.schema.roles if role is None else (role,):
        good = _sent(package, side, frame, {})
        odd = _sent(package, side, make(), header)
        # A frame that cannot be written is refused before the sessions are asked about it.
        assert odd in (good, "invalid_value") or isinstance(good, str) and isinstance(odd, str), (
            side,
            form,
            frame,
        )


def _sent(package: Package, side: str, value: Any, header: dict[str, Any]) -> bytes | str:
    """Return the bytes, the code of the EncodeError or the violation. Any other exception fails the test."""
    connection = package.native.Connection(side)
    try:
        return outcome(package, lambda: connection.send(value, **header))
    except package.native.SessionError as error:
        return str(error.violation)


def test_values_of_subclasses_are_shown_or_refused(package: Package) -> None:
    for _, frame in package.frames(2):
        good = frame.message.to_dict()
        kind = type(frame.message)
        for form, make in _subclasses(frame.message):
            try:
                shown = kind.to_dict(make())
            except package.native.EncodeError as error:
                assert error.code == "invalid_value", (form, frame)
            else:
                assert shown == good, (form, frame)


def test_a_field_that_a_header_lacks_is_an_encode_error() -> None:
    geode = Package("geode").native
    message = geode.ServerConfigRequest(b"")
    frame, send = geode.Request(message, 1), geode.Connection("client").send
    for encode in (geode.encode, send):
        for value in (frame, message):
            with pytest.raises(
                geode.EncodeError,
                match="fields of its header: correlation_id, is_partial, metadata, found status",
            ):
                encode(value, correlation_id=1, status=3)
        with pytest.raises(geode.EncodeError, match=r"Request\.correlation_id: .* found nothing"):
            encode(message)
    for encode in (geode.encode, send):
        with pytest.raises(geode.EncodeError, match="expected no field of a header, found correlation_id"):
            encode(geode.Connect(geode.Mode.WHOLE), correlation_id=1)
