"""Reading source files, finding imports, lines and columns; and the files that a stranger's project may not
reach.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.language.diagnostics import Diagnostic, Report, Span, render
from wiregen.language.source import (
    MAX_LISTED,
    MAX_SOURCE_SIZE,
    Source,
    Sources,
    available,
    find_import,
    load,
    report_cycle,
    require_import,
)

AT = Span(source="main.wire", start=7, end=11)


def source_of(text: str, path: Path = Path("main.wire")) -> Source:
    return Source(name=path.as_posix(), path=path, text=text)


def check_refused(
    path: Path, code: str, *, roots: tuple[Path, ...] | None = None
) -> tuple[Diagnostic, Sources]:
    """Hold a load to exactly one error of that code."""
    sources, report = Sources(), Report()
    assert load(path, sources, report, roots=roots, imported_at=AT) is None
    (diagnostic,) = report.diagnostics
    assert (diagnostic.code, diagnostic.severity) == (code, "error")
    return diagnostic, sources


def check_loaded(path: Path, *, roots: tuple[Path, ...] | None = None) -> Source:
    sources, report = Sources(), Report()
    source = load(path, sources, report, roots=roots)
    assert source is not None
    assert report.diagnostics == ()
    assert sources[path.as_posix()] is source
    return source


def write(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# --- lines and columns


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        pytest.param("", 0, (1, 1), id="empty"),
        pytest.param("ab\ncd", 1, (1, 2), id="first-line"),
        pytest.param("ab\ncd", 2, (1, 3), id="line-end"),
        pytest.param("ab\ncd", 3, (2, 1), id="line-start"),
        pytest.param("ab\n", 3, (2, 1), id="after-the-last-line-end"),
        pytest.param("漢é\U0001f600x", 3, (1, 4), id="characters-not-bytes"),
        pytest.param("ab", -7, (1, 1), id="before"),
        pytest.param("ab", 99, (1, 3), id="behind"),
    ],
)
def test_line_and_column(text: str, offset: int, expected: tuple[int, int]) -> None:
    assert source_of(text).line_and_column(offset) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [(-1, ""), (0, ""), (1, "one"), (2, ""), (3, "th\u2028ree\r"), (4, "four"), (5, "")],
)
def test_line_text(line: int, expected: str) -> None:
    assert source_of("one\r\n\nth\u2028ree\r\r\nfour").line_text(line) == expected


@given(text=st.text("ab\r\n\u2028"), offset=st.integers(0, 40))
def test_line_and_column_lead_back_to_the_offset(text: str, offset: int) -> None:
    source, inside = source_of(text), min(offset, len(text))
    line, column = source.line_and_column(offset)
    start, end = source.line_bounds(line)
    assert start + column - 1 == inside
    assert source.text[start:end] == source.line_text(line)
    assert "\n" not in source.line_text(line)


# --- reading


def test_load_reads_utf8_and_names_the_file_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "idl" / "tide.wire", "// é 漢\n".encode())
    monkeypatch.chdir(tmp_path)
    source = check_loaded(Path("idl/tide.wire"))
    assert (source.name, source.text) == ("idl/tide.wire", "// é 漢\n")


def test_load_makes_line_ends_one_character(tmp_path: Path) -> None:
    assert check_loaded(write(tmp_path / "a.wire", b"a\r\nb\rc\n\r\n")).text == "a\nb\rc\n\n"


def test_load_takes_a_file_of_exactly_the_bound(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wire", b"\n" * MAX_SOURCE_SIZE)
    assert check_loaded(path).line_and_column(MAX_SOURCE_SIZE) == (MAX_SOURCE_SIZE + 1, 1)


def test_load_refuses_a_larger_file(tmp_path: Path) -> None:
    diagnostic, sources = check_refused(write(tmp_path / "a.wire", b" " * (MAX_SOURCE_SIZE + 1)), "WG1006")
    assert diagnostic.span == AT
    assert len(sources) == 0


def test_load_refuses_a_missing_file(tmp_path: Path) -> None:
    diagnostic, _ = check_refused(tmp_path / "a.wire", "WG1001")
    assert diagnostic.message == f"there is no file `{(tmp_path / 'a.wire').as_posix()}`"
    assert diagnostic.span == AT


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_load_says_of_a_link_that_leads_nowhere_that_it_is_one(tmp_path: Path) -> None:
    link = tmp_path / "a.wire"
    link.symlink_to(tmp_path / "gone.wire")
    diagnostic, _ = check_refused(link, "WG1001")
    assert diagnostic.message == f"`{link.as_posix()}` is a broken link"
    assert diagnostic.help == "correct the link, or remove it"


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "\ud800"])
def test_load_refuses_a_name_no_file_can_have(tmp_path: Path, name: str) -> None:
    check_refused(tmp_path / name, "WG1001")


def test_load_refuses_a_folder(tmp_path: Path) -> None:
    check_refused(tmp_path, "WG1002" if sys.platform != "win32" else "WG1001")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_load_refuses_a_pipe_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.wire")
    check_refused(tmp_path / "a.wire", "WG1002")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no /dev/zero")
def test_load_refuses_a_device() -> None:
    check_refused(Path("/dev/zero"), "WG1002")


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        pytest.param(b"ab\xffc", "byte 0xff at offset 2 is not UTF-8", (2, 3), id="wild-byte"),
        pytest.param("é\r\n".encode() + b"\xe9", "byte 0xe9 at offset 4 is not UTF-8", (2, 3), id="cut-off"),
        pytest.param(b"\xed\xa0\x80", "byte 0xed at offset 0 is not UTF-8", (0, 1), id="surrogate"),
        pytest.param(b"\xc0\x80", "byte 0xc0 at offset 0 is not UTF-8", (0, 1), id="overlong"),
    ],
)
def test_load_places_the_first_byte_that_is_not_utf8(
    tmp_path: Path, data: bytes, message: str, place: tuple[int, int]
) -> None:
    path = write(tmp_path / "a.wire", data)
    diagnostic, sources = check_refused(path, "WG1003")
    assert diagnostic.message == message
    assert diagnostic.span == Span(source=path.as_posix(), start=place[0], end=place[1])
    assert path.as_posix() in sources


def test_a_line_that_is_not_utf8_can_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources, report = Sources(), Report()
    load(write(Path("a.wire"), b"one\r\ncaf\xe9 two\r\n"), sources, report)
    assert render(report, sources) == """\
error[WG1003]: byte 0xe9 at offset 8 is not UTF-8
 --> a.wire:2:4
  |
2 | caf\ufffd two
  |    ^ this byte
  = help: save the file as UTF-8

1 error
"""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_recognized_by_its_mark(tmp_path: Path, encoding: str) -> None:
    diagnostic, _ = check_refused(write(tmp_path / "a.wire", "\ufeffab".encode(encoding)), "WG1003")
    assert diagnostic.help == "save the file as UTF-8; it looks like UTF-16"


def test_load_refuses_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wire", b"\xef\xbb\xbfab")
    diagnostic, _ = check_refused(path, "WG1004")
    assert diagnostic.span == Span(source=path.as_posix(), start=0, end=1)


def test_load_places_a_nul_by_its_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wire", "é\r\n\0\0".encode())
    diagnostic, _ = check_refused(path, "WG1005")
    assert diagnostic.message == "NUL character at byte offset 4"
    assert diagnostic.span == Span(source=path.as_posix(), start=2, end=3)


def test_load_below_the_roots_only(tmp_path: Path) -> None:
    inside, outside = write(tmp_path / "in" / "a.wire"), write(tmp_path / "out" / "a.wire")
    roots = (tmp_path / "in",)
    check_loaded(inside, roots=roots)
    check_refused(outside, "WG1007", roots=roots)
    check_refused(tmp_path / "in" / ".." / "out" / "a.wire", "WG1007", roots=roots)
    (tmp_path / "in" / "link.wire").symlink_to(outside)
    check_refused(tmp_path / "in" / "link.wire", "WG1007", roots=roots)
    check_loaded(tmp_path / "in" / "link.wire")


# --- imports


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two source roots, `one` and `two`, and a folder outside them."""
    for name in ("one/main", "one/near", "one/sub/deep", "two/near", "two/far", "out/secret"):
        write(tmp_path / f"{name}.wire")
    return tmp_path


def check_import(project: Path, name: str, expected: str | None, *, importer: str = "one/main") -> None:
    found = find_import(name, source_of("", project / f"{importer}.wire"), (project / "one", project / "two"))
    assert found == (None if expected is None else project / expected)


def test_import_is_looked_for_beside_the_file_then_in_the_roots_in_order(project: Path) -> None:
    check_import(project, "near", "one/near.wire")
    check_import(project, "near", "two/near.wire", importer="two/far")
    check_import(project, "far", "two/far.wire")
    check_import(project, "deep", None)
    check_import(project, "deep", "one/sub/deep.wire", importer="one/sub/deep")
    check_import(project, "near", "one/near.wire", importer="one/sub/deep")


@pytest.mark.parametrize(
    "name",
    [
        "../out/secret",
        "/etc/passwd",
        "sub/deep",
        "..",
        "",
        "near\0",
        "near.wire",
        "near\n",
        "n" * 5000,
        "néar",
    ],
)
def test_import_takes_identifiers_only(project: Path, name: str) -> None:
    check_import(project, name, None)


def test_import_follows_no_link_out_of_the_roots(project: Path) -> None:
    (project / "one" / "leak.wire").symlink_to(project / "out" / "secret.wire")
    (project / "one" / "across.wire").symlink_to(project / "two" / "far.wire")
    (project / "one" / "linked").symlink_to(project / "out")
    check_import(project, "leak", None)
    check_import(project, "secret", None, importer="one/linked/main")
    check_import(project, "secret", None, importer="out/secret")
    check_import(project, "across", "one/across.wire")


def test_import_passes_over_what_is_no_file(project: Path) -> None:
    (project / "one" / "far.wire").mkdir()
    (project / "one" / "round.wire").symlink_to(project / "one" / "round.wire")
    check_import(project, "far", "two/far.wire")
    check_import(project, "round", None)


def test_import_finds_a_root_that_is_itself_a_link(project: Path) -> None:
    (project / "link").symlink_to(project / "two")
    importer = source_of("", project / "one" / "main.wire")
    assert find_import("far", importer, (project / "link",)) == project / "link" / "far.wire"


@pytest.mark.parametrize(
    ("name", "code", "help_"),
    [
        ("neer", "WG1008", "did you mean `near`?"),
        ("fra", "WG1008", "did you mean `far`?"),
        (
            "nothing",
            "WG1008",
            "an import looks for `nothing.wire` in the folder of this file, then in the source roots",
        ),
        (
            "../x",
            "WG1008",
            "an import looks for `../x.wire` in the folder of this file, then in the source roots",
        ),
        ("leak", "WG1007", "move the file below a source root, or add its folder to the source roots"),
    ],
)
def test_require_import_says_why_there_is_nothing(project: Path, name: str, code: str, help_: str) -> None:
    (project / "one" / "leak.wire").symlink_to(project / "out" / "secret.wire")
    importer, report = source_of("", project / "one" / "main.wire"), Report()
    assert require_import(name, AT, importer, (project / "one", project / "two"), report) is None
    (diagnostic,) = report.diagnostics
    assert (diagnostic.code, diagnostic.span, diagnostic.help) == (code, AT, help_)


def test_require_import_reports_nothing_when_it_finds(project: Path) -> None:
    importer, report = source_of("", project / "one" / "main.wire"), Report()
    found = require_import("far", AT, importer, (project / "one", project / "two"), report)
    assert found == project / "two" / "far.wire"
    assert report.diagnostics == ()


def test_available_lists_names_once_and_sorted(project: Path) -> None:
    write(project / "one" / "not a name.wire")
    write(project / "one" / "notes.txt")
    roots = (project / "two", project / "one", project / "missing")
    assert available(roots) == ("far", "main", "near")


def test_available_looks_at_a_bounded_number_of_entries(tmp_path: Path) -> None:
    for number in range(MAX_LISTED + 3):
        write(tmp_path / f"p{number}.wire")
    assert len(available((tmp_path,))) == MAX_LISTED


def test_a_circle_of_imports_is_shown_whole() -> None:
    texts = {"tide": "import shore : Wave\n", "shore": "import tide : Frame\n"}
    sources = Sources(*(source_of(text, Path(f"{name}.wire")) for name, text in texts.items()))
    report = Report()
    first, second = Span(source="tide.wire", start=7, end=12), Span(source="shore.wire", start=7, end=11)
    report_cycle((("shore", first), ("tide", second)), report)
    assert render(report, sources) == """\
error[WG1009]: the imports form a cycle: `shore` -> `tide` -> `shore`
 --> tide.wire:1:8
  |
1 | import shore : Wave
  |        ^^^^^ imports `shore`
 --> shore.wire:1:8
  |
1 | import tide : Frame
  |        ---- which imports `tide`
  = help: move the shared declarations into a third file, and import it

1 error
"""


def test_a_file_that_imports_itself_is_told_so() -> None:
    report = Report()
    report_cycle((("main", AT),), report)
    (diagnostic,) = report.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("WG1009", "`main` imports itself")
    assert diagnostic.help == "remove the import: all names of a file are visible everywhere in it"


def test_sources_are_a_mapping_where_the_last_of_a_name_stands() -> None:
    sources = Sources(source_of("old"))
    sources.add(source_of("new"))
    assert list(sources) == ["main.wire"]
    assert sources["main.wire"].text == "new"
