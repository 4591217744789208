"""A bug of ours names the declaration of the .wire file that a stage was working on, whatever the stage."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from click.testing import CliRunner

from wiregen.tools.cli.command import wiregen
from wiregen.tools.cli.declared_at import declared_at

TEXT = """\
protocol tide {
  source "a document"
  endian big
  roles client, server
}
frame Frame {
  type : u8 := code(body)
  length : u16 := size(body)
  body : match type in length
}
struct Pair { key : utf8[u8] }
message Data 1 {
  first : u8
  pairs : Pair[u8]
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(TEXT, encoding="utf-8")
    (tmp_path / "wiregen.toml").write_text(
        'backends = ["native", "protobuf", "msgpack", "wireshark"]\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WIREGEN_DEBUG", raising=False)
    monkeypatch.setattr("wiregen.tools.cli.parallel._n_cores", lambda: 1)
    return tmp_path


def _is_named(value: Any, name: str) -> bool:
    """Return whether an argument is a node or a place of that name, or the name of a filter."""
    if value == name:
        return True
    path = getattr(value, "path", None) or getattr(getattr(value, "name", None), "text", None)
    return isinstance(path, str) and path.endswith(name)


STAGES = [
    pytest.param("check", "wiregen.language.resolver.fields._field", "pairs", 14, "pairs", id="resolver"),
    pytest.param("check", "wiregen.schema.sizes._Ruler.field", "Data.pairs", 14, "Data.pairs", id="checker"),
    pytest.param("build", "wiregen.generate.steps.flattening.Flattener._field", "Data.pairs", 14, "Data.pairs", id="plan"),
    pytest.param("build", "wiregen.generate.views.python.classes.ClassBuilder.data", "Pair", 11, "Pair", id="classes"),
    pytest.param("build", "wiregen.generate.views.protobuf.builder.ProtobufBuilder._record", "Data", 12, "Data", id="protobuf"),
    pytest.param("build", "wiregen.generate.views.wireshark.types.LuaTypes.type", "data.pairs", 14, "Data.pairs", id="wireshark"),
    pytest.param("docs build", "wiregen.site.pages.layout_cells._Walk._field", "Data.pairs", 14, "Data.pairs", id="docs"),
    pytest.param("vectors build", "wiregen.conformance.samples.chosen_types.ChosenTypes.read", "Data.pairs", 14, "Data.pairs", id="vectors"),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "function", "name", "line", "declaration"), STAGES)
def test_a_bug_names_the_declaration_and_its_line(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    function: str,
    name: str,
    line: int,
    declaration: str,
) -> None:
    owner, _, attribute = function.rpartition(".")
    own = resolve_name(owner)
    before = getattr(own, attribute)

    def failing(*arguments: Any, **more: Any) -> Any:
        if any(_is_named(each, name) for each in arguments):
            raise KeyError("payload")
        return before(*arguments, **more)

    monkeypatch.setattr(own, attribute, failing)
    result = CliRunner().invoke(wiregen, verb.split())
    assert result.exit_code == 3, result.output
    assert re.search(
        rf"at idl/tide\.wire:{line}, declaration `{re.escape(declaration)}`", result.stderr
    ), result.stderr
    assert "KeyError" in result.stderr and "payload" not in result.stderr


def test_a_bug_outside_all_declarations_names_none() -> None:
    try:
        raise KeyError("payload")
    except KeyError as error:
        assert declared_at(error) == ""
