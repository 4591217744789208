"""An object with the attributes of a struct is not a struct, for the compiled codec as for the reference codec."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from wireproto import geode, lumberjack
from wireproto.lumberjack import msgpack, protobuf

_VALUE = geode.GeodeValue.StringBytes("x")


def test_items_of_lists() -> None:
    other: Any = SimpleNamespace(key="line", value="hello")
    frame = lumberjack.Frame(lumberjack.Data(1, [other]))
    by_reference = lumberjack.messages._encode_by_reference
    for encode in (lumberjack.encode, by_reference, protobuf.encode, msgpack.encode):
        with pytest.raises(
            lumberjack.EncodeError, match=r"Data\.pairs\[0\]: .* a Pair, found SimpleNamespace"
        ):
            encode(frame)
    with pytest.raises(lumberjack.EncodeError, match="expected a Pair, found SimpleNamespace"):
        lumberjack.Connection("writer").send(frame)


def test_items_next_to_values_with_codes() -> None:
    other: Any = SimpleNamespace(key=_VALUE, value=_VALUE)
    with pytest.raises(geode.EncodeError, match="expected a KeyValuePair, found SimpleNamespace"):
        geode.encode(geode.PutAllRequest("region", [other], _VALUE), correlation_id=1)
