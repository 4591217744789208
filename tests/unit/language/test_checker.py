"""The checker over whole protocols: the shipped ones are clean, large and mutated ones are answered."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiregen.language.checker import check, largest_memory
from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse
from wiregen.language.resolver import Resolved, resolve
from wiregen.language.source import Source, Sources, load

IDL = Path(__file__).resolve().parents[3] / "idl"
SHIPPED = sorted(IDL.glob("*.wire"))
HEAD = 'protocol p { source "made up"  endian big  roles client, server }\n'
FRAME = "frame Frame { type : u32 := code(body)  length : u32 := size(body)  body : match type in length }\n"
N = 1500


def resolved(source: Source, sources: Sources, report: Report) -> Resolved | None:
    file = parse(source, report)
    return None if file is None else resolve(file, sources, report, roots=(IDL,))


def codes(text: str) -> list[str]:
    """Return the codes of the findings in a text, each once."""
    source, report = Source(name="p.wire", path=IDL / "p.wire", text=text), Report()
    found = resolved(source, Sources(source), report)
    if found is not None:
        check(found.protocol, found.origins, report)
    return sorted({diagnostic.code for diagnostic in report.diagnostics})


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SHIPPED])
def test_a_shipped_protocol_has_no_error_and_no_warning(path: Path) -> None:
    report, sources = Report(), Sources()
    source = load(path, sources, report)
    assert source is not None
    found = resolved(source, sources, report)
    assert found is not None
    check(found.protocol, found.origins, report)
    assert [each for each in report.diagnostics if each.severity != "note"] == []


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SHIPPED])
def test_every_finding_of_a_shipped_protocol_has_a_place(path: Path) -> None:
    report, sources = Report(), Sources()
    source = load(path, sources, report)
    assert source is not None
    found = resolved(source, sources, report)
    assert found is not None
    check(found.protocol, found.origins, report)
    assert [each for each in report.diagnostics if each.span is None] == []


MANY: dict[str, Callable[[], tuple[str, list[str]]]] = {
    "a chain of structs": lambda: (
        "".join(f"struct S{i} {{ a : S{i + 1}  b : S{i + 1} }}\n" for i in range(N))
        + f"struct S{N} {{ x : u8 }}\nmessage A 1 {{ s : S0 }}\n",
        ["WG3079"],
    ),
    "a ring of structs": lambda: (
        "".join(f"struct S{i} {{ a : u8  b : S{(i - 1) % N} }}\n" for i in range(N))
        + "message A 1 { s : S0 }\n",
        ["WG3079"],
    ),
    "a ring with a way out": lambda: (
        "".join(f"struct S{i} {{ a : u8  b : S{(i + 1) % N} if a == 1 }}\n" for i in range(N))
        + "message A 1 { s : S0 }\n",
        ["WG3079"],
    ),
    "arms": lambda: (
        "message A 1 { k : u32  v : match k { " + "  ".join(f"{i} => u8" for i in range(N)) + " } }\n",
        [],
    ),
    "checksums over each other": lambda: (
        "message A 1 { " + "  ".join(f"f{i} : u32 := crc32(f0 .. f{N - 1})" for i in range(N)) + " }\n",
        ["WG3021"],
    ),
    "varieties of themselves": lambda: (
        "union V : u32 { " + "  ".join(f"V{i} {i} : V[u8]" for i in range(N)) + " }\nmessage A 1 { v : V }\n",
        [],
    ),
    "fields that come with bytes left": lambda: (
        "message A 1 { " + "  ".join(f"f{i} : u8 ?= 0" for i in range(N)) + "  last : u8 }\n",
        ["WG3010"],
    ),
    "states and rows": lambda: (
        "message A 1 { x : u32 }\nsession S { state any { "
        + "".join(f"any A when x == {i} => s1\n" for i in range(N))
        + "}\n"
        + "".join(f"state s{i} {{ any A => s{(i + 1) % N} }}\n" for i in range(N))
        + "}\n",
        [],
    ),
    "rows of any state behind those of each": lambda: (
        "message A 1 { x : u8 }\nsession S { "
        + "".join(f"state s{i} {{ any A => s{(i + 1) % N} }}\n" for i in range(N))
        + "state any { "
        + "".join(f"any A when x == {i % 256} => s1\n" for i in range(N))
        + "} }\n",
        ["WG4011"],
    ),
}


@pytest.mark.parametrize("name", MANY)
def test_a_large_file_is_answered(name: str) -> None:
    text, expected = MANY[name]()
    assert codes(HEAD + FRAME + text) == expected


def test_the_memory_of_a_message_follows_its_limits() -> None:
    source = Source(
        name="p.wire",
        path=IDL / "p.wire",
        text=HEAD
        + FRAME
        + "limits { frame = 1 KiB  inflated = 1 MiB  messages = 10 }\n"
        + "message Fixed 1 { x : u64 }\nmessage Long 2 { data : bytes[u32] }\n"
        + "message Many 3 { all : Pair[u32] }\nstruct Pair { key : u8  value : u8 }\n"
        + "message Packed 4 { frames : Frame[] in zlib[u32] }\n",
    )
    found = resolved(source, Sources(source), Report())
    assert found is not None
    memory = dict(largest_memory(found.protocol))
    assert memory["Fixed"] < 200
    assert 2 * 1024 < memory["Long"] < memory["Many"] < 10 * 1024
    assert memory["Packed"] > 2 * 2**20


LINES = [line for path in SHIPPED for line in path.read_text(encoding="utf-8").splitlines(keepends=True)]


@settings(max_examples=1000 if settings.get_current_profile_name() == "soak" else 40)
@given(data=st.data())
def test_a_mutated_protocol_never_brings_the_checker_down(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(SHIPPED))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["drop", "repeat", "swap", "other", "number", "type"])):
            case "drop":
                lines[place] = "\n"
            case "repeat":
                lines[place] *= 2
            case "swap":
                other = data.draw(st.integers(0, len(lines) - 1))
                lines[place], lines[other] = lines[other], lines[place]
            case "other":
                lines[place] = data.draw(st.sampled_from(LINES))
            case "number":
                lines[place] = lines[place].replace("1", "0").replace("2", "255")
            case _:
                lines[place] = (
                    lines[place].replace("i32", "bytes[]").replace("u8", "u1").replace("i64", "utf8[]")
                )
    source = Source(name=path.name, path=path, text="".join(lines))
    report = Report()
    found = resolved(source, Sources(source), report)
    if found is not None:
        check(found.protocol, found.origins, report)
    assert all(diagnostic.code.startswith("WG") for diagnostic in report.diagnostics)
