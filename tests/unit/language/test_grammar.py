"""The parser's tables: as good as computed ones, and never those of another grammar."""

from pathlib import Path

import pytest
from lark import UnexpectedInput

from wiregen.language.parser import grammar as grammars

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "idl").glob("*.wire"))
WRONG = ["", "protocol a {", "protocol a { roles a b }", "protocol a {}\nstruct S { a : }\n", "protocol § {}"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "tables.json"
    grammars.write_tables(path)
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ready_tables_give_the_trees_of_computed_ones(path: Path, tables: Path) -> None:
    ready, text = grammars.ready(tables), path.read_text(encoding="utf-8")
    assert ready is not None
    assert ready.parse(text, start="file") == grammars.computed().parse(text, start="file")


@pytest.mark.parametrize("text", WRONG)
def test_ready_tables_stop_where_computed_ones_do(text: str, tables: Path) -> None:
    faults = []
    for parser in (grammars.ready(tables), grammars.computed()):
        assert parser is not None
        with pytest.raises(UnexpectedInput) as caught:
            parser.parse(text, start="file")
        error = caught.value
        expected = getattr(error, "accepts", None) or getattr(error, "allowed", None)
        faults.append((type(error), error.pos_in_stream, expected))
    assert faults[0] == faults[1]


def test_tables_of_another_lark_are_left_alone(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lark.__version__", "1.2.0")
    assert grammars.ready(tables) is None


def test_tables_of_another_grammar_are_left_alone(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "wire.lark"
    other.write_bytes(grammars._GRAMMAR.read_bytes() + b"\n")
    monkeypatch.setattr(grammars, "_GRAMMAR", other)
    assert grammars.ready(tables) is None


@pytest.mark.parametrize("tail", [b"", b"{", b"[]", b'{"data": {}, "memo": {}}', b"\xff"])
def test_broken_tables_are_left_alone(tables: Path, tmp_path: Path, tail: bytes) -> None:
    broken = tmp_path / "broken.json"
    broken.write_bytes(tables.read_bytes().partition(b"\n")[0] + b"\n" + tail)
    assert grammars.ready(broken) is None


def test_missing_tables_are_computed(tmp_path: Path) -> None:
    assert grammars.ready(tmp_path / "missing.json") is None
