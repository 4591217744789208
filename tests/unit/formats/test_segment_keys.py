"""The keys of segments, and the ends that both directions of a connection have in common."""

from hypothesis import given
from tests.unit.formats.test_capture_fast_readers import ENDS, batches, segments_of

from wiregen.formats.capture import Batch, IssueKind, Issues, ends_of, keys_in, keys_of


@given(batches())
def test_keys_are_those_of_the_segments(batch: Batch) -> None:
    segments, expected = segments_of(batch)
    issues = Issues()
    assert keys_in(batch, port=None, issues=issues) == {each.number: each.key for each in segments}
    assert list(issues) == expected
    port, of_port = ENDS[0][0].port, Issues()
    ports = port.to_bytes(2, "big")
    wanted = {each.number: each.key for each in segments if ports in (each.key[-4:-2], each.key[-2:])}
    assert keys_in(batch, port=port, issues=of_port) == wanted
    assert of_port.count(IssueKind.OTHER_PORT) == len(segments) - len(wanted)


def test_both_directions_have_the_same_ends() -> None:
    for source, target in ENDS:
        ports = source.port.to_bytes(2, "big"), target.port.to_bytes(2, "big")
        there = source.packed + target.packed + ports[0] + ports[1]
        back = target.packed + source.packed + ports[1] + ports[0]
        other = source.packed + target.packed + ports[1] + ports[0]
        assert ends_of(there) == ends_of(back) != ends_of(other)
        assert {there, back} == set(keys_of(ends_of(there)))
