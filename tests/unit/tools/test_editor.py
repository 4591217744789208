"""What an editor asks about texts, without a server: positions, texts that are no protocols, and every name of the shipped files."""

import os
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol", reason="needs the extra `lsp`")

from lsprotocol.types import Position

from wiregen.language.source import Source
from wiregen.tools.editor.analysis import Analysis, analyse
from wiregen.tools.editor.code_actions import code_actions
from wiregen.tools.editor.completion import complete
from wiregen.tools.editor.declared_names import Declaring
from wiregen.tools.editor.hover import hover
from wiregen.tools.editor.inlay_hints import inlay_hints
from wiregen.tools.editor.kinds import KINDS
from wiregen.tools.editor.navigation import importers
from wiregen.tools.editor.outline import folding_ranges, symbols
from wiregen.tools.editor.positions import offset_of, position_of
from wiregen.tools.editor.problems import problems
from wiregen.tools.editor.semantic_tokens import semantic_tokens

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "idl").glob("*.wire"))
HOSTILE = {
    "nothing": "",
    "no protocol": "message A 1 { x : u8 }",
    "a NUL": "protocol p {\0}",
    "a byte order mark": "\ufeffprotocol p {}",
    "a surrogate": 'protocol p { source "\ud800" }',
    "brackets": "protocol p { roles a, b }\nstruct A { x : " + "{ y : " * 2000,
    "an expression": "protocol p { roles a, b }\nconst A = " + "(" * 5000 + "1",
    "one long line": "protocol p { roles a, b }\n//" + "x" * 1_000_000,
    "carriage returns": "protocol p {\r\n  roles a, b\r\n}\r\n\r\nstruct A {\r\n  x : u8\r\n}\r\n",
    "an import of itself": "protocol p { roles a, b }\nimport p: A\n",
}


def analysis_of(path: Path, text: str) -> Analysis:
    found = analyse(path, (), {path.as_posix(): text})
    assert found is not None
    return found


def views(analysis: Analysis) -> None:
    """Ask for everything that an editor shows without a place."""
    problems(analysis)
    symbols(analysis)
    folding_ranges(analysis)
    semantic_tokens(analysis)
    inlay_hints(analysis, 0, len(analysis.source.text))
    code_actions(analysis, 0, len(analysis.source.text))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_has_views_at_any_place(tmp_path: Path, text: str) -> None:
    def again(changed: str) -> Analysis:
        return analysis_of(tmp_path / "p.wire", changed)

    analysis = again(text)
    views(analysis)
    for offset in (0, len(analysis.source.text) // 2, len(analysis.source.text)):
        complete(analysis, offset, again)
        placed = analysis.name_at(offset)
        assert placed is None or hover(analysis, placed) is not None or not analysis.declared_at(placed)


def test_columns_are_counted_in_utf16_units() -> None:
    source = Source(name="p.wire", path=Path("p.wire"), text="// é\n/// 🛩️ x\nend")
    assert position_of(source, 4) == Position(line=0, character=4)
    plane, x = source.text.index("🛩"), source.text.index("x")
    assert position_of(source, x) == Position(line=1, character=x - plane + 4 + 1)
    for offset in range(len(source.text) + 1):
        assert offset_of(source, position_of(source, offset)) == offset
    assert offset_of(source, Position(line=0, character=99)) == 4
    assert offset_of(source, Position(line=99, character=0)) == len(source.text)


def test_uses_are_not_searched_outside_of_the_folders(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    folder.mkdir()
    user = "protocol user {{ endian big }}\nimport shared : Point\nstruct {} {{ at : Point }}\n"
    (outside / "user.wire").write_text(user.format("Outside"), encoding="utf-8")
    (folder / "shared.wire").write_text(
        "protocol shared { endian big }\nstruct Point { x : u8 }\n", encoding="utf-8"
    )
    (folder / "user.wire").write_text(user.format("Inside"), encoding="utf-8")
    (folder / "link.wire").symlink_to(outside / "user.wire")
    (folder / "circle.wire").symlink_to(folder / "circle.wire")
    os.mkfifo(folder / "pipe.wire")
    read: list[str] = []

    def analysed(path: Path) -> Analysis | None:
        read.append(path.name)
        return analyse(path, (), {})

    shared = analysed(folder / "shared.wire")
    assert shared is not None
    point = next(place for place, each in shared.names.declared.items() if each.name.text == "Point")
    found = [each.source.path.name for each in importers(shared, [point], analysed)]
    assert found == ["shared.wire", "user.wire"]
    assert read == ["shared.wire", "shared.wire", "user.wire"]


def test_only_files_with_the_name_are_analysed_for_its_uses(tmp_path: Path) -> None:
    (tmp_path / "shared.wire").write_text(
        "protocol shared { endian big }\nstruct Point { x : u8 }\nstruct Line { x : u8 }\n", encoding="utf-8"
    )
    for name, used in (("one", "Point"), ("two", "Line"), ("three", "Line")):
        text = f"protocol {name} {{ endian big }}\nimport shared : {used}\nstruct A {{ at : {used} }}\n"
        (tmp_path / f"{name}.wire").write_text(text, encoding="utf-8")
    unsaved = {
        (tmp_path / "three.wire").as_posix(): (tmp_path / "one.wire").read_text().replace("one", "three")
    }
    read: list[str] = []

    def analysed(path: Path) -> Analysis | None:
        read.append(path.name)
        return analyse(path, (), unsaved)

    shared = analyse(tmp_path / "shared.wire", (), {})
    assert shared is not None
    point = next(place for place, each in shared.names.declared.items() if each.name.text == "Point")
    found = [each.source.path.name for each in importers(shared, [point], analysed, unsaved)]
    assert found == read == ["shared.wire", "one.wire", "three.wire"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_declared_name_of_a_shipped_file_has_a_hover_and_a_declaration(path: Path) -> None:
    analysis = analysis_of(path, path.read_text(encoding="utf-8"))
    assert [each.severity for each in analysis.findings if each.severity == "error"] == []
    for place, declared in analysis.names.declared.items():
        placed = analysis.name_at(place.start) if place.source == analysis.source.name else None
        if placed is not None:
            assert {analysis.names.declared[each].name.text for each in analysis.declared_at(placed)} == {
                declared.name.text
            }
            text = hover(analysis, placed)
            assert text is not None and f"{declared.name.text}" in text
    views(analysis)


def test_every_declaring_node_has_a_kind() -> None:
    assert set(KINDS) == set(Declaring.__args__)


PLAIN = """protocol plain { source "x" endian big roles a, b }
rule odd "Odd" { source "s" }
message M 1 from a { x : u8 }
frame F { type : u8 := code(body) body : match type }
"""


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        pytest.param(PLAIN + "struct S { x : u8 y : u16 if | }", {"x", "count", "present"}, id="condition"),
        pytest.param(PLAIN + "struct S { n : u8 x : bytes[|] }", {"n", "size", "until"}, id="length"),
        pytest.param(PLAIN + "const A = |", {"max"}, id="constant"),
        pytest.param(PLAIN + "session S { state A { a M violates | } }", {"odd"}, id="violation"),
        pytest.param(PLAIN + 'example "e" x"00" violates |', {"odd", "unknown_code"}, id="refused example"),
        pytest.param(PLAIN + "limits { | }", {"frame", "count"}, id="limit"),
        pytest.param(PLAIN.replace("big", "|"), {"big", "little"}, id="byte order"),
        pytest.param(PLAIN.replace("big", "big on error |"), {"close", "continue"}, id="on error"),
        pytest.param(PLAIN + "import |", {"lumberjack", "pravega"}, id="import"),
        pytest.param(PLAIN + 'example "e" |', {"M", "F"}, id="example"),
        pytest.param(
            PLAIN + 'session S { state A { a M => A } }\nexample "e" {\n  |\n}', {"a", "b", "with"}, id="step"
        ),
        pytest.param(
            PLAIN + 'session S { state A { a M => A } }\nexample "e" {\n  a |\n}', {"M"}, id="step of a role"
        ),
    ],
)
def test_completion_knows_what_may_come(text: str, offered: set[str]) -> None:
    path, place = Path("plain.wire").absolute(), text.index("|")

    def again(changed: str) -> Analysis:
        found = analyse(path, (SHIPPED[0].parent,), {path.as_posix(): changed})
        assert found is not None
        return found

    found = {each.label for each in complete(again(text.replace("|", "")), place, again)}
    assert offered <= found
