"""Modbus as a stranger writes it: the two roles lay the same codes otherwise, each in a frame of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property.schemas import built

TEXT = (Path(__file__).parent / "modbus.wire").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def modbus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("modbus"), "unit_modbus") as codecs:
        yield codecs.module


def test_each_role_is_read_by_the_layouts_of_its_own(modbus: Any) -> None:
    m = modbus
    sent = {
        "client": [
            (m.ReadHolding(1, 2), "0007 0000 0006 01 03 0001 0002"),
            (m.WriteRegisters(1, [5, 6]), "0007 0000 000b 01 10 0001 0002 04 0005 0006"),
            (m.ReadFile([m.Group(1, 2, 3)]), "0007 0000 000a 01 14 07 06 0001 0002 0003"),
        ],
        "server": [
            (m.Holding([1, 2]), "0007 0000 0007 01 03 04 0001 0002"),
            (m.RegistersWritten(1, 2), "0007 0000 0006 01 10 0001 0002"),
            (m.HoldingRefused(m.Exception_.BUSY), "0007 0000 0003 01 83 06"),
        ],
    }
    for role, messages in sent.items():
        kind = m.Request if role == "client" else m.Reply
        for message, octets in messages:
            data = bytes.fromhex(octets)
            frame = kind(message, transaction=7, unit=1)
            assert m.encode(frame) == data
            assert list(m.Decoder(role).feed(data)) == [frame]
