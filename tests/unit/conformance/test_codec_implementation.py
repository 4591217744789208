"""A Python object as an implementation: its exception at the end of the bytes tells a frame that is cut off
from an open reassembly.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.implementations import generated_implementation

from wiregen.conformance.judge import CodecSetting, DecodedFrames, judge
from wiregen.conformance.judge.python_codec import PythonCodec
from wiregen.conformance.vectors.format import AnyVector, read_vectors

FOLDER = Path(__file__).resolve().parents[3] / "generated" / "vectors"
PROTOCOLS = ("reactive_streams", "geode", "pravega_proposal")


class RefusedError(ValueError):
    """The refusal of a question, in the form of an answer."""

    def __init__(self, fault: Any) -> None:
        super().__init__(fault.code)
        vars(self).update({name: getattr(fault, name) for name in ("code", "at", "recoverable")})


class Unfinished(EOFError):
    unfinished = True


class Codec:
    """Generated code as somebody's own codec; `left_open`: its exception for an open reassembly."""

    def __init__(self, protocol: str, left_open: type[EOFError] | None = Unfinished) -> None:
        self._implementation = generated_implementation(protocol)
        self._left_open = left_open

    def decode(self, chunks: list[bytes], setting: CodecSetting) -> Iterator[dict[str, Any]]:
        said: DecodedFrames = self._implementation.decode(setting, chunks)
        yield from said.frames
        if said.fault is not None:
            raise RefusedError(said.fault)
        if said.is_incomplete:
            raise EOFError
        if said.is_unfinished and self._left_open is not None:
            raise self._left_open


def joins_of(protocol: str) -> list[AnyVector]:
    vectors = read_vectors((FOLDER / f"{protocol}.json").read_bytes()).vectors
    return [vector for vector in vectors if "join-" in vector.id]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_left_open_is_told(protocol: str) -> None:
    vectors = joins_of(protocol)
    verdicts = [judge(vector, PythonCodec(Codec(protocol))) for vector in vectors]
    assert any(vector.id.endswith("left-open") for vector in vectors)
    assert [str(verdict) for verdict in verdicts if verdict.outcome != "passed"] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_who_does_not_tell_fails_what_is_left_open_and_nothing_else(protocol: str) -> None:
    implementation = PythonCodec(Codec(protocol, left_open=None))
    failed = [vector.id for vector in joins_of(protocol) if judge(vector, implementation).outcome == "failed"]
    assert failed
    assert all(id_.endswith(("left-open", "one-byte-short")) for id_ in failed)
