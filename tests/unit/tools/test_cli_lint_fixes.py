"""`wiregen lint --fix`: what it removes, what it leaves, and the files that it writes."""

from pathlib import Path

import pytest
from tests.commands import called

HEAD = """\
/// Tides.
protocol tide { source "Tide protocol" endian big roles client, server }
"""
BODY = """\
/// Everything.
frame Frame @source("Framing") {
  /// What follows.
  type : u8 := code(body)
  /// It.
  body : match type
}
/// A height.
message Height 1 @source("Heights") {
  /// Above the mean.
  metres : i16
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "idl").mkdir()
    (tmp_path / "wiregen.toml").write_text("")
    return tmp_path


def fixed(project: Path, middle: str, *options: str, end: str = "") -> str:
    """Return the file that has these declarations in its middle, after `lint --fix`."""
    path = project / "idl" / "tide.wire"
    path.write_text(HEAD + middle + BODY + end)
    done = called("lint", "--fix", *options, "tide", folder=project)
    assert done.exit_code in (0, 1), done.output
    return path.read_text()


@pytest.mark.parametrize(
    ("middle", "left"),
    [
        ('type Count = u16 @source("Types")\n', ""),
        (
            '/// Docs.\n/// More.\nenum Kind : u8 @source("Kinds") { HIGH = 1 }  // a comment of its line\n',
            "",
        ),
        ('const A = 1 @source("N")\nconst B = A + 1 @source("N")\n', ""),
        ('// A heading stays.\ntype Count = u16 @source("Types")\n', "// A heading stays.\n"),
        ('// wiregen: allow(unused) kept\ntype Count = u16 @source("Types")\n', None),
        ('// wiregen: allow(no-doc) goes too\nenum Kind : u8 @source("Kinds") { HIGH = 1 }\n', ""),
        (
            '// wiregen: allow(no-doc, unused, errata) one is used\nenum Kind : u8 @source("Kinds") {\n  HIGH = 1\n}\n',
            '// wiregen: allow(no-doc, unused) one is used\nenum Kind : u8 @source("Kinds") {\n  HIGH = 1\n}\n',
        ),
        (
            '// wiregen: allow(errata, assumed, unused) one is used\ntype Count = u16 @source("Types")\n',
            '// wiregen: allow(unused) one is used\ntype Count = u16 @source("Types")\n',
        ),
        (
            '// wiregen: allow(unused, errata, assumed) one is used\ntype Count = u16 @source("Types")\n',
            '// wiregen: allow(unused) one is used\ntype Count = u16 @source("Types")\n',
        ),
        ("// wiregen: allow(no-source) not needed\n", ""),
        (
            "// wiregen: allow(unsued) unknown names stay\n",
            "// wiregen: allow(unsued) unknown names stay\n",
        ),
    ],
)
def test_it_removes_what_has_no_use_and_leaves_the_rest(project: Path, middle: str, left: str | None) -> None:
    assert fixed(project, middle) == HEAD + (middle if left is None else left) + BODY


def test_the_last_declaration_and_the_comments_after_it(project: Path) -> None:
    end = 'type Count = u16 @source("T")  // its comment\n// the end\n'
    assert fixed(project, "", end=end) == f"{HEAD}{BODY}// the end\n"


def test_only_the_chosen_rules_are_fixed(project: Path) -> None:
    middle = 'type Count = u16 @source("Types")\n// wiregen: allow(no-source) not needed\n'
    assert fixed(project, middle, "--rule", "unused-allow") == HEAD + middle.splitlines(True)[0] + BODY


def test_names_of_imports_are_removed_and_whole_imports(project: Path) -> None:
    (project / "idl" / "base.wire").write_text(
        HEAD.replace("tide", "base") + "".join(f'type {name} = u8 @source("T")\n' for name in "ABC")
    )
    use = BODY.replace("i16", "B")
    path = project / "idl" / "tide.wire"
    for names, left in (("A, B, C", "B"), ("A, B", "B"), ("B, C", "B"), ("C, A, B", "B"), ("B", "B")):
        path.write_text(f"{HEAD}import base : {names}\n{use}")
        called("lint", "--fix", "tide", folder=project)
        assert path.read_text() == f"{HEAD}import base : {left}\n{use}", names
    assert fixed(project, "import base : A, B\n") == HEAD + BODY


def test_declarations_that_another_file_imports_stay(project: Path) -> None:
    (project / "idl" / "other.wire").write_text(HEAD.replace("tide", "other") + "import tide : Count\n")
    middle = 'type Count = u16 @source("Types")\n'
    unused = 'type Sum = u16 @source("Types")\n'
    assert fixed(project, middle + unused) == HEAD + middle + BODY
    done = called("lint", "tide", folder=project)
    assert done.exit_code == 0 and "no findings" in done.stderr


def test_the_file_is_written_in_canonical_form_only_if_something_is_fixed(project: Path) -> None:
    ugly = "type  Unused=u16\n"
    assert fixed(project, ugly.replace("Unused", "Height2")) == HEAD + BODY
    odd = "const   LEAST=1 // wiregen: allow(unused, no-source) ours\n"
    assert fixed(project, odd) == HEAD + odd + BODY


def test_windows_line_ends_stay(project: Path) -> None:
    path = project / "idl" / "tide.wire"
    path.write_bytes((HEAD + "type Count = u16\n" + BODY).replace("\n", "\r\n").encode())
    called("lint", "--fix", folder=project)
    assert path.read_bytes() == (HEAD + BODY).replace("\n", "\r\n").encode()


def test_what_cannot_be_fixed_is_reported_with_places_of_the_new_text(project: Path) -> None:
    path = project / "idl" / "tide.wire"
    path.write_text(HEAD + "type Count = u16\n" + BODY.replace("/// A height.\n", ""))
    done = called("lint", "--fix", "--output-format", "concise", folder=project)
    assert done.exit_code == 1
    assert done.stdout == "idl/tide.wire:10:9: warning[WG7012] message `Height` has no description\n"
    assert "1 finding" in done.stderr


def test_diff_shows_and_writes_nothing(project: Path) -> None:
    path = project / "idl" / "tide.wire"
    text = HEAD + "type Count = u16\n" + BODY
    path.write_text(text)
    done = called("lint", "--diff", folder=project)
    assert done.exit_code == 1
    assert "-type Count = u16\n" in done.stdout and "--- idl/tide.wire" in done.stdout
    assert path.read_text() == text
    path.write_text(HEAD + BODY)
    done = called("lint", "--diff", folder=project)
    assert (done.exit_code, done.stdout) == (0, "")
