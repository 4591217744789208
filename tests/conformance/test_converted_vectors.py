"""Vectors of other makers, as files of ours: they hold for the reference codec and for generated code."""

from __future__ import annotations

import pytest
from tests.conformance.converted import PROTOCOLS, converted
from tests.unit.implementations import generated_implementation, reference_implementation

from wiregen.conformance.judge import judge
from wiregen.conformance.vectors.format import Valid

CASES = [
    pytest.param(protocol, vector, id=f"{protocol}-{vector.id}")
    for protocol in PROTOCOLS
    for vector in converted(protocol).vectors
]


@pytest.mark.parametrize(("protocol", "vector"), CASES)
def test_a_vector_of_others_holds(protocol: str, vector: Valid) -> None:
    verdicts = [
        judge(vector, implementation(protocol))
        for implementation in (reference_implementation, generated_implementation)
    ]
    assert [finding for verdict in verdicts for finding in verdict.findings] == []
    assert "passed" in {verdict.outcome for verdict in verdicts}


def test_all_that_others_wrote_is_converted() -> None:
    counted = {protocol: len(converted(protocol).vectors) for protocol in PROTOCOLS}
    assert counted["geode"] == 60
    assert counted["reactive_streams"] == 48
    pravega = [counted[name] for name in PROTOCOLS if name.startswith("pravega")]
    assert sum(pravega) == 76 and all(pravega)
