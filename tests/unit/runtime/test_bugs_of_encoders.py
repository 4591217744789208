"""Exceptions from a bad value are handed over to the reference codec; those from a bug of an encoder propagate."""

from __future__ import annotations

import struct
import weakref
from typing import Any, NoReturn

import pytest

from wireproto import lumberjack as lj
from wireproto._runtime.codec.compiled import READ_FAULTS, WRITE_FAULTS
from wireproto.lumberjack import messages


class Refusing:
    """A value whose methods raise a given error."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __index__(self) -> NoReturn:
        raise self.error("by a value")


def _no_frame(*_: object) -> NoReturn:
    raise AssertionError("the reference codec was asked")


@pytest.mark.parametrize("bug", [AssertionError, NameError, UnboundLocalError, ImportError])
def test_no_bug_is_among_the_faults_of_values(bug: type) -> None:
    assert not issubclass(bug, (*WRITE_FAULTS, *READ_FAULTS))


@pytest.mark.parametrize("bug", [AssertionError, NameError, UnboundLocalError, ImportError])
def test_a_bug_in_an_encoder_is_not_swallowed(monkeypatch: pytest.MonkeyPatch, bug: type[Exception]) -> None:
    def broken(*_: object) -> NoReturn:
        raise bug("of an encoder")

    monkeypatch.setattr(messages, "_write_data", broken)
    monkeypatch.setattr(messages, "_encode_by_reference", _no_frame)
    with pytest.raises(bug, match="of an encoder"):
        lj.Data(sequence=1, pairs=[]).encode()


@pytest.mark.parametrize(
    "value",
    [
        "text",
        1 << 64,
        *map(Refusing, (TypeError, ValueError, AttributeError, KeyError, OverflowError, RuntimeError, RecursionError)),
        Refusing(BufferError),
        Refusing(struct.error),
    ],
)  # fmt: skip
def test_what_a_value_causes_is_an_encode_error(value: Any) -> None:
    with pytest.raises(lj.EncodeError):
        lj.Ack(value).encode()


def test_a_reference_to_a_value_that_is_gone_is_an_encode_error() -> None:
    with pytest.raises(lj.EncodeError):
        lj.Ack(weakref.proxy(Refusing(ValueError))).encode()
