"""Exceptions from a bad value are handed over to the reference codec; those from a bug of an encoder propagate."""

from __future__ import annotations

import struct
import weakref
from types import FunctionType
from typing import Any, NoReturn

import pytest

from wireproto import lumberjack as lj
from wireproto._runtime.codec.compiled import BUGS, READ_FAULTS
from wireproto.lumberjack import messages

KINDS_OF_BUGS = (AssertionError, NameError, UnboundLocalError, ImportError)


class OwnError(Exception):
    """An error that no handler knows by name."""


class Refusing:
    """A value whose methods raise a given error."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __index__(self) -> NoReturn:
        raise self.error("by a value")


def _no_frame(*_: object) -> NoReturn:
    raise AssertionError("the reference codec was asked")


@pytest.mark.parametrize("bug", KINDS_OF_BUGS)
def test_no_bug_is_among_the_faults_of_bytes(bug: type[Exception]) -> None:
    assert issubclass(bug, BUGS)
    assert not issubclass(bug, READ_FAULTS)


@pytest.mark.parametrize("bug", [*KINDS_OF_BUGS, MemoryError])
def test_a_bug_in_an_encoder_is_not_swallowed(monkeypatch: pytest.MonkeyPatch, bug: type[Exception]) -> None:
    def broken(*_: object, kind: type[Exception] = bug) -> NoReturn:
        raise kind("of an encoder")

    in_module = FunctionType(broken.__code__, vars(messages), argdefs=(), closure=broken.__closure__)
    in_module.__kwdefaults__ = broken.__kwdefaults__
    monkeypatch.setattr(messages, "_write_data", in_module)
    monkeypatch.setattr(messages, "_encode_by_reference", _no_frame)
    with pytest.raises(bug, match="of an encoder"):
        lj.Data(sequence=1, pairs=[]).encode()


@pytest.mark.parametrize(
    "value",
    [
        "text",
        1 << 64,
        *map(Refusing, (TypeError, ValueError, AttributeError, KeyError, OverflowError, RuntimeError, RecursionError)),
        *map(Refusing, (BufferError, struct.error, OwnError, OSError, StopIteration, *KINDS_OF_BUGS)),
    ],
)  # fmt: skip
def test_what_a_value_causes_is_an_encode_error(value: Any) -> None:
    with pytest.raises(lj.EncodeError):
        lj.Ack(value).encode()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_ends_a_program_passes_encoders(error: type[BaseException]) -> None:
    with pytest.raises(error, match="by a value"):
        lj.Ack(Refusing(error)).encode()  # type: ignore[arg-type]


def test_a_reference_to_a_value_that_is_gone_is_an_encode_error() -> None:
    with pytest.raises(lj.EncodeError):
        lj.Ack(weakref.proxy(Refusing(ValueError))).encode()
