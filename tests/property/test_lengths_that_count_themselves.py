"""Lengths whose value includes their own size, which their type tells: both codecs read and write them alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.property.codecs import Wishes
from tests.property.schemas import built, configuration

from wiregen.conformance.vectors.building import build_vectors
from wiregen.generate.build import build
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

HEAD = 'protocol p { source "no document"  endian big  roles a, b }\nlimits { frame = 4 KiB }\n'
PLAIN = "frame F { type : u8 := code(body)  body : match type in u8 }\n"
OF_FRAME = """
frame F {
  length : u32 := size(length) + size(type) + size(body)
  type : u8 := code(body)
  body : match type in length - 5
}
message A 1 { }
"""
OF_BLOCK = PLAIN + (
    "message A 1 { head : { length : u32 := size(head) + size(rest)  kind : u8 }  rest : bytes[length - 5] }"
)
OF_STRUCT = PLAIN + (
    "struct Head { length : u32 := size(length) + size(rest)  rest : bytes[length - 4] }\n"
    "message A 1 { head : Head }"
)
OF_CHECKSUM = """
frame F {
  length : u16 := size(body) + size(sum) + 1
  type : u8 := code(body)
  body : match type in length - 5
  sum : u32 := adler32(length .. body)
}
message A 1 { data : bytes[] }
"""
OF_CHECKSUM_IN_MESSAGE = PLAIN + (
    "message A 1 { length : u16 := size(data) + size(sum)  data : bytes[length - 4]  sum : u32 := adler32(length .. data) }"
)


@pytest.mark.parametrize(
    ("name", "text", "octets"),
    [
        pytest.param("frame", OF_FRAME, "00000005 01", id="of a frame"),
        pytest.param("block", OF_BLOCK, "01 08 00000008 05 78797a", id="of a block around it"),
        pytest.param("struct", OF_STRUCT, "01 07 00000007 78797a", id="of a struct"),
        pytest.param("checksum", OF_CHECKSUM, "0007 01 6869 015d00da", id="of a checksum that covers it"),
        pytest.param(
            "checksum_inside", OF_CHECKSUM_IN_MESSAGE, "01 08 0006 6869 014f00d8", id="of one in a message"
        ),
    ],
)
def test_a_length_that_counts_itself_is_read_and_written_by_both(
    name: str, text: str, octets: str, tmp_path: Path
) -> None:
    data = bytes.fromhex(octets)
    with built(HEAD + text, tmp_path, f"counts_itself_{name}") as codecs:
        assert codecs.compiled(data, Wishes()) == codecs.reference(data, Wishes())
        frame = codecs.module.decode(data)
        assert codecs.compiled_encode(frame) == codecs.reference_encode(frame) == data
        vectors = build_vectors(codecs.schema)
        assert vectors.kinds["valid"] > 0
        assert list(vectors.unheld()) == []


def test_a_length_of_varying_size_that_counts_itself_is_refused(tmp_path: Path) -> None:
    text = HEAD + (
        "frame F { length : varint := size(length) + size(body)  body : A in length - size(length) }\n"
        "message A { x : u8 }"
    )
    report = Report()
    build(configuration(text, tmp_path), (), Sources(), report)
    assert "WG3021" in [each.code for each in report.diagnostics]
