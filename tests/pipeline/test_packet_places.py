"""Places of packets in columns are those of the tuples they came from."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from wiregen.formats.capture import Batch, Place
from wirespark.packet_places import places_of

PLACES: list[Place] = [(3, 1.5, 0, 10, 10), (4, 1.75, 26, 30, 1500), (7, 2.0, 46, 46, 0)]


def test_columns_have_the_places_of_a_batch() -> None:
    places = places_of(Batch(1, bytes(46), PLACES))
    assert list(places) == PLACES and len(places) == 3
    assert [places[index] for index in (0, 1, -1)] == [PLACES[0], PLACES[1], PLACES[2]]
    assert places[1:] == PLACES[1:]
    for place in (places[0], *places):
        assert [type(value) for value in place] == [int, float, int, int, int]  # not numbers of numpy
    with pytest.raises(IndexError):
        places[3]


def test_columns_of_a_batch_are_used_as_they_are() -> None:
    places = places_of(Batch(1, bytes(46), PLACES))
    assert places_of(Batch(1, bytes(46), places)) is places
