"""Packages in memory, of backends that print Python and of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

ROOT = Path(__file__).resolve().parents[3]


def test_a_backend_that_prints_no_python_has_no_serialization() -> None:
    report, path = Report(), ROOT / "idl" / "lumberjack.wire"
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None
    package = make(subject, ("msgpack", "wireshark", "columns"), report)
    assert package is not None
    assert [each.name for each in package.carriers()] == ["msgpack"]
    for name in ("wireshark", "columns", "protobuf"):
        with pytest.raises(ImportError, match="generates no code that encodes and decodes"):
            package.serialization(name)
