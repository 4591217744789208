"""The rule of the field that holds a message's code is about which message it is."""

from __future__ import annotations

import pytest

from wireproto import reactive_streams as rs


@pytest.mark.parametrize(
    ("data", "strict", "code", "rule"),
    [
        pytest.param("0f", False, "unknown_code", "unknown_message_type", id="no message"),
        pytest.param("ff" * 10 + "01", False, "invalid_value", None, id="too many bits"),
        pytest.param("8d00 00", True, "not_canonical", None, id="longer than needed"),
    ],
)
def test_how_the_varint_of_a_code_is_written_is_not_its_rule(
    data: str, strict: bool, code: str, rule: str | None
) -> None:
    with pytest.raises(rs.DecodeError) as caught:
        rs.decode(bytes.fromhex(data), strict=strict)
    assert (caught.value.code, caught.value.rule, caught.value.path) == (code, rule, "Message.type")
