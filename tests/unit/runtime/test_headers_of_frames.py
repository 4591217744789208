"""Where the first numbers of a frame say its size, the header is the one that all steps of the frame give."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources, shipped_protocols
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.stream.extent_steps import ExtentSteps
from wiregen.runtime.stream.header import Header, header_of
from wiregen.runtime.stream.header_extents import header_of_frame
from wiregen.schema.lowering import lower

CONSTRUCTS = Path(__file__).resolve().parents[2] / "cases" / "constructs"
FILES = [*sorted(shipped_protocols().glob("*.wire")), *sorted(CONSTRUCTS.glob("*.wire"))]
PREFIXES = [bytes(range(start, start + 40)) for start in range(0, 216, 9)] + [
    bytes(size) for size in range(12)
]


def measured(header: Header, data: bytes) -> int | None:
    try:
        return header.measure(data, 0)
    except header.end_unknown:
        return None


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_a_header_is_that_of_all_steps(path: Path) -> None:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None and not report.has_errors
    schema = lower(subject.protocol)
    for variant in (None, *schema.variants):
        layout = Layout(schema, Options(variant=variant))
        for name in layout.frames:
            header = header_of_frame(layout, name)
            if header is not None:
                whole = header_of(ExtentSteps(layout).frame(name), layout.frame)
                assert whole is not None
                assert [measured(header, data) for data in PREFIXES] == [
                    measured(whole, data) for data in PREFIXES
                ]
