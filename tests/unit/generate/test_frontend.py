"""Text to checked model: the process is left as it was found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wiregen.generate import frontend
from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse
from wiregen.language.source import Sources

TEXT = 'protocol p { source "x" endian big roles a, b }\nframe F { c : u8 := code(body)  body : match c }\nmessage M 1 {}\n'


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


@pytest.mark.parametrize(("own", "during"), [(700, 50_000), (90_000, 90_000), (0, 0)])
@pytest.mark.parametrize("text", [TEXT, "protocol"])
def test_cycles_are_searched_for_less_often_while_a_file_is_compiled(
    threshold: tuple[int, int, int],
    own: int,
    during: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, met = tmp_path / "p.wire", []
    path.write_text(text)

    def noting(source: Any, report: Report) -> object:
        met.append(gc.get_threshold()[0])
        return parse(source, report)

    monkeypatch.setattr(frontend, "parse", noting)
    gc.set_threshold(own, *threshold[1:])
    assert (frontend.load_protocol(path, Sources(), Report(), ()) is not None) == (text == TEXT)
    assert met == [during] and gc.get_threshold() == (own, *threshold[1:])
