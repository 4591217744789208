"""Sessions whose instances only senders or roles tell apart: all are there from the beginning, and so are their timers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.schemas import built

TEXT = """/// P.
protocol p { source "None"  endian big  roles asker, answerer }
limits { wait = 5 s  long = 60 s  open = 2 }
frame Frame { type : u8 := code(body)  body : match type }
message Say 1 { number : u8 }
message Buy 2 { }
message Sell 3 { }
message Grant 4 { id : u8  granted : u8 }
message Nested 5 { frames : Frame[u8] }
rule too_quiet "x" { source "None" }
rule not_sold "x" { source "None" }
rule above "x" { source "None" }

session Beats per sender {
  state on {
    any Say, Nested => {}
    after limits.wait violates too_quiet lenient
  }
}
session Sums per sender {
  var sum : u8 = 0
  state on {
    any Say => { sum = sum + number }
    after limits.long => { sum = 0 }
  }
}
session Sale {
  roles seller, buyer
  state open {
    seller Sell => {}
    buyer Buy => bought
    after limits.long violates not_sold lenient
  }
  state bought { any Sell, Buy => open }
}
/// Nothing leaves its only state, but that is no end.
session Room per id {
  var most : u8 = 9
  state on {
    any Grant when granted > 100 violates above
    any Grant when granted == 0 => { most = 9 }
    any Grant => { most = granted }
  }
}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("quiet"), "quiet") as codecs:
        yield codecs.module


def shown(events: list[Any]) -> list[tuple[Any, ...]]:
    return [(type(each).__name__, each.session, each.key, each.time) for each in events]


def test_the_timers_of_each_sender_begin_with_the_connection(package: Any) -> None:
    side = package.Connection("asker", now=100.0)
    assert (side.next_timeout(), side.tick(104.9)) == (105.0, [])
    assert repr(side.beats) == "<Beats: 2 kept>"
    assert shown(side.tick(105.0)) == [
        ("Violation", "Beats", "asker", 105.0),
        ("Violation", "Beats", "answerer", 105.0),
    ]


def test_a_timer_of_a_sender_is_begun_anew_by_what_that_one_sends(package: Any) -> None:
    side = package.Connection("asker")
    side.send(package.Say(0), 3.0)
    side.receive(package.encode(package.Say(0)), 4.0)
    assert shown(side.tick(8.5)) == [("Violation", "Beats", "asker", 8.0)]
    assert shown(side.tick(9.0)) == [("Violation", "Beats", "answerer", 9.0)]


def test_a_timer_stays_where_all_variables_have_their_first_values(package: Any) -> None:
    side = package.Connection("asker")
    for time, number in ((1.0, 4), (2.0, 252)):
        side.send(package.Say(number), time)
    assert side.sums["asker"].sum == 0
    events = [each for each in side.tick(100.0) if each.session == "Sums"]
    assert shown(events) == [("TimedOut", "Sums", "answerer", 60.0), ("TimedOut", "Sums", "asker", 62.0)]
    assert shown([each for each in side.tick(122.0) if each.session == "Sums"]) == [
        ("TimedOut", "Sums", "answerer", 120.0),
        ("TimedOut", "Sums", "asker", 122.0),
    ]


def test_sides_without_keys_are_there_from_the_beginning(package: Any) -> None:
    side = package.Connection("asker")
    side.send(package.Sell(), 10.0)
    events = [each for each in side.tick(100.0) if each.session == "Sale"]
    assert shown(events) == [("Violation", "Sale", "answerer", 60.0), ("Violation", "Sale", "asker", 70.0)]


def test_what_is_refused_leaves_the_timers_as_they_were(package: Any) -> None:
    side = package.Connection("asker")
    side.send(package.Say(1), 1.0)
    bad = package.Nested([package.Frame(package.Say(1)), package.Frame(package.Grant(1, 200))])
    with pytest.raises(package.SessionError, match="above"):
        side.send(bad, 2.0)
    assert side.sums["asker"].sum == 1
    assert shown([each for each in side.tick(6.0) if each.key == "asker"]) == [
        ("Violation", "Beats", "asker", 6.0)
    ]


def test_an_instance_that_still_changes_does_not_make_room(package: Any) -> None:
    side = package.Connection("asker")
    for number in (1, 2):
        side.send(package.Grant(number, 5))
    with pytest.raises(package.SessionError, match="limit_exceeded"):
        side.send(package.Grant(3, 5))
    assert (sorted(side.room), side.room.n_forgotten) == ([1, 2], 0)
    side.send(package.Grant(1, 0))
    side.send(package.Grant(3, 5))
    assert (sorted(side.room), side.room.n_forgotten) == ([2, 3], 0)
