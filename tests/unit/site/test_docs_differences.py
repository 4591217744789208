"""Pages that show two protocols side by side: only differences are reported, and all of them."""

from __future__ import annotations

from pathlib import Path

from tests.unit.docs_sites import chapter_of, files_of, shipped_site

HEAD = 'protocol {name} {{ source "None" endian big roles a, b }}\nlimits {{ frame = {frame} KiB }}\n'
FRAME = "frame Frame { type : u8 := code(body)  body : match type }\n"
OLD = (
    "message Same 1 from a { x : u8 }\nmessage Moved 2 from a { x : u8  y : u16 }\nmessage Gone 3 from b {}\n"
)
NEW = "message Same 1 from a { x : u8 }\nmessage Moved 4 from b { y : u32  x : u8  z : u8 where z > 1 }\nmessage Come 5 from b {}\n"


def site(folder: Path, doc: str) -> dict[str, bytes]:
    texts = {
        "old": HEAD.format(name="old", frame=1) + FRAME + OLD,
        "new": f"/// {doc}\n" + HEAD.format(name="new", frame=2) + FRAME + NEW,
    }
    for name, text in texts.items():
        (folder / f"{name}.wire").write_text(text)
    return files_of(*(chapter_of(folder / f"{name}.wire") for name in texts))


def test_what_differs_is_told_and_the_rest_is_not(tmp_path: Path) -> None:
    files = site(tmp_path, "Comes after `old`.")
    page = files["new/differences-old.md"].decode()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| | limits.frame | `2,048` | `1,024` |",
        "| Moved | code | `4` | `2` |",
        "| Moved | sent by | `b` | `a` |",
        "| Moved | y | `u32` | `u16` |",
        "| Moved | z | `u8 where z > 1` |  |",
        "| Moved | order | `y, x, z` | `x, y` |",
    ]
    assert "The same in both: Same, Frame." in page
    assert "Only in new: Come." in page and "Only in old: Gone." in page
    assert 'href="differences-old.html"' in files["new/index.html"].decode()
    assert "old/differences-new.html" not in files


def test_who_names_nobody_is_compared_with_nobody(tmp_path: Path) -> None:
    assert not [
        name for name in site(tmp_path, "Comes after old, and after `itself`.") if "differences" in name
    ]


def test_the_three_of_one_family_are_compared() -> None:
    found = {name for name in shipped_site() if "differences-" in name and name.endswith(".html")}
    assert {
        "pravega/differences-pravega_documented.html",
        "pravega/differences-pravega_proposal.html",
        "pravega_documented/differences-pravega.html",
    } <= found
