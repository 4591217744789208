"""JSON as text: compact, of printed ASCII, and with the values that Python's encoder writes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.formats import json_text
from wiregen.formats.json_text import compact, compact_checked

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Level(IntEnum):
    HIGH = 3


@pytest.fixture(params=["msgspec", "python"])
def write(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], str]:
    """Return `compact` with msgspec, and as it is where msgspec is not installed."""
    if request.param == "python":
        monkeypatch.setattr(json_text, "_encoder", lambda: None)
    return compact


def by_python(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, None, True, "x"], "b": {}}, id="plain"),
        pytest.param([2**64, 2**64 - 1, -(2**63) - 1, 10**40], id="integers above 64 bits"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param({"\udc00": ["\ude00é"]}, id="lone surrogate in a key"),
        pytest.param("\U0001f600é€ß", id="other characters than ASCII"),
        pytest.param("\x00\x1b\x7f\x80\u2028\u202e", id="control characters"),
        pytest.param('"\\/', id="quotes"),
        pytest.param({"level": Level.HIGH, "pair": (1, 2), 3: 4}, id="values of other classes"),
    ],
)
def test_the_text_is_that_of_python(write: Callable[[Any], str], value: object) -> None:
    assert write(value) == compact_checked(value) == by_python(value)


@pytest.mark.parametrize("value", [1e16, 1e22, -1e-7, 1e-5, 5e-324, 1.7976931348623157e308, 0.1, 100.0, -0.0])
def test_a_float_is_read_as_it_was(write: Callable[[Any], str], value: float) -> None:
    read = json.loads(write([value]))[0]
    assert (read, math.copysign(1, read)) == (value, math.copysign(1, value))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_floats_that_json_does_not_have_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        compact_checked({"a": [None, value]})


def test_null_is_written() -> None:
    assert compact_checked({"a": None, "b": "null"}) == '{"a":null,"b":"null"}'


def test_a_deep_value_is_refused_as_python_refuses_it() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(RecursionError):
        compact(value)


@given(value=VALUES)
def test_any_value_is_printed_ascii_and_read_as_it_was(value: object) -> None:
    text = compact(value)
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text) == json.loads(by_python(value))
    assert repr(json.loads(text)) == repr(json.loads(by_python(value)))
