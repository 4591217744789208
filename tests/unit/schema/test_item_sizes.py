"""The number of msgpack values in an item, which is the base of the framer's bound."""

from __future__ import annotations

import pytest

from wiregen.generate.views.msgpack.sizes import ItemSize, item_size
from wiregen.schema.model import Notes
from wiregen.schema.value_shapes import (
    Carried,
    CarriedField,
    Form,
    FrameRecord,
    Many,
    Nullable,
    Octets,
    One,
    Record,
)

NOTES = Notes()
BYTES = Octets()


def struct(name: str, *forms: Form) -> Record:
    fields = tuple(
        CarriedField(name=f"f{n}", path=f"{name}.f{n}", doc="", notes=NOTES, form=form, presence="always")
        for n, form in enumerate(forms)
    )
    return Record(
        kind="message" if name == "M" else "struct",
        name=name,
        union=None,
        path=name,
        doc="",
        notes=NOTES,
        fields=fields,
        choices=(),
        code=1,
    )


def one(name: str) -> One:
    return One(kind="struct", name=name)


FRAME = FrameRecord(
    name="F", role=None, path="F", doc="", notes=NOTES, body="body", fields=(), choices=(), messages=("M",), is_coded=True
)  # fmt: skip
CASES = [
    pytest.param((struct("M"),), ItemSize(n_values=4), id="array and code of a frame and of its message"),
    pytest.param((struct("M", BYTES, Nullable(value=BYTES)),), ItemSize(n_values=7), id="fields"),
    pytest.param((struct("M", Many(item=BYTES)),), ItemSize(n_values=5), id="items are not its own"),
    pytest.param((struct("M", Many(item=one("A"))), struct("A", *[BYTES] * 9)), ItemSize(n_values=11), id="an item"),
    pytest.param((struct("M", one("A"), one("A")), struct("A", BYTES)), ItemSize(n_values=10), id="twice the same"),
    pytest.param(
        (struct("M", one("A")), struct("A", BYTES, one("A"))), ItemSize(n_values=8, n_loops=1), id="a chain"
    ),
    pytest.param(
        (struct("M", one("A")), struct("A", one("A"), one("A"))), ItemSize(n_values=8, n_loops=2), id="a tree"
    ),
    pytest.param(
        (struct("M", one("A"), one("B")), struct("A", one("B")), struct("B", one("A"))),
        ItemSize(n_values=12, n_loops=3), id="two that hold each other, met twice: no bound",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("records", "size"), CASES)
def test_the_largest_item_is_counted(records: tuple[Record, ...], size: ItemSize) -> None:
    assert item_size(Carried(records=records, frames=(FRAME,), unions=())) == size
