"""Backends by name, protocols by name, and the refusals of the native backend."""

from dataclasses import replace
from pathlib import Path

import pytest

from wiregen.generate.backends import load_backends
from wiregen.generate.build import build
from wiregen.generate.protocol_files import find_protocol
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

HEAD = """protocol tide { endian big  roles ship, port }
frame Frame { type : u8 := code(body)  body : match type }
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "idl").mkdir()
    return Config(
        root=tmp_path,
        file=None,
        sources=(tmp_path / "idl",),
        output=tmp_path / "generated",
        package="wireproto",
        backends=("native",),
        protocols=None,
    )


def built(config: Config, text: str, *names: str) -> tuple[list[str], int]:
    """Return the codes and help texts that a build of one file gives, and how many files."""
    (config.sources[0] / "tide.wire").write_text(text)
    report = Report()
    outputs = build(config, names, Sources(), report)
    return [f"{one.code} {one.message} | {one.help}" for one in report.diagnostics], len(outputs)


def test_a_backend_that_is_not_installed_is_named_with_those_that_are(config: Config) -> None:
    report = Report()
    assert load_backends(("natve",), report) == ()
    [finding] = report.diagnostics
    assert (finding.code, finding.help) == ("WG5002", "did you mean `native`?")
    findings, n_files = built(replace(config, backends=("natve",)), HEAD + "message A 1 {}")
    assert [finding.split()[0] for finding in findings] == ["WG5002"]
    assert n_files == 0


def test_a_protocol_that_is_not_there_is_named_with_those_that_are(config: Config) -> None:
    findings, n_files = built(config, HEAD + "message A 1 {}", "tied")
    assert findings == ["WG5003 there is no protocol `tied` | did you mean `tide`?"]
    assert n_files == 0


def test_a_protocol_is_found_by_path_in_the_sources_or_among_those_shipped(config: Config) -> None:
    (config.sources[0] / "tide.wire").write_text(HEAD)
    report = Report()
    assert find_protocol("./elsewhere/tide.wire", config, report) == Path("elsewhere/tide.wire")
    assert find_protocol("tide", config, report) == config.sources[0] / "tide.wire"
    shipped = find_protocol("lumberjack", config, report)
    assert shipped is not None and shipped.is_file()
    assert not report.has_errors
    assert find_protocol("lumberjak", config, report) is None
    assert report.diagnostics[0].help == "did you mean `lumberjack`?"
