"""Work grows as the input does: counted in calls, not in seconds; both bounds of nesting at their most."""

import importlib.util
import os
from collections.abc import Callable, Mapping
from cProfile import Profile
from pathlib import Path

import pytest

from wiregen.generate.backends import Subject
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.generate.steps.declaration_layouts import frame_layout, layout_of
from wiregen.language.checker.nesting import MAX_DECLARATIONS, MAX_TYPES
from wiregen.language.diagnostics import Report
from wiregen.language.diagnostics.report import MAX_OF_A_SEVERITY
from wiregen.language.source import Sources
from wiregen.schema.field_facts import MAX_UNFOLDED
from wiregen.tools.cli.command import wiregen

ROOT = Path(__file__).resolve().parents[3]
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
HEAD = (
    "protocol deep { endian big  roles client, server }\nlimits { frame = 1 MiB }\n"
    "frame Frame { type : u16 := code(body)  body : match type }\n"
)
CHECKED = (
    "structs", "enum members", "messages", "alternatives", "fields", "rows of messages", "states", "sessions",
    "contexts", "arms", "reserved", "codings", "examples", "expression",
)  # fmt: skip


def families() -> Mapping[str, Callable[[int], str]]:
    """Return the protocols of the benchmark, which are large in one way each."""
    spec = importlib.util.spec_from_file_location(
        "large_protocols", ROOT / "benchmarks" / "large_protocols.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Mapping[str, Callable[[int], str]] = module.FAMILIES
    return found


def n_calls(work: Callable[[], object]) -> int:
    """Return how many functions, generators and builtins `work` calls."""
    calls = Profile()
    calls.enable()
    try:
        work()
    finally:
        calls.disable()
    return sum(each.callcount for each in calls.getstats())


def check(path: Path) -> None:
    report = Report()
    assert load_protocol(path, Sources(), report, ()) is not None, report.diagnostics[:1]


@pytest.mark.parametrize("family", CHECKED)
def test_four_times_the_declarations_are_at_most_five_times_the_calls(family: str, tmp_path: Path) -> None:
    path = tmp_path / "large.wire"
    calls = []
    for n in (10, 100, 400):  # the first makes what is made once
        path.write_text(families()[family](n), encoding="utf-8")
        calls.append(n_calls(lambda: check(path)))
    assert calls[2] <= 5 * calls[1], calls


@pytest.mark.parametrize("is_chain", [False, True], ids=["alone", "chain"])
def test_imports_go_over_the_imported_file_once(is_chain: bool, tmp_path: Path) -> None:
    path = tmp_path / "deep.wire"
    calls = []
    for n in (30, 150, 600):
        inner = [f"S{i + 1}[1]" if is_chain and i % 30 != 29 else "u8" for i in range(n)]
        structs = "".join(f"struct S{i} {{ a : {name} @rule(r{i}) }}\n" for i, name in enumerate(inner))
        rules = "".join(f'rule r{i} "Rule {i}." {{ source "here" }}\n' for i in range(n))
        base = f"{HEAD.replace('protocol deep', 'protocol base')}message Z 1 {{ x : u8 }}\n{structs}{rules}"
        (tmp_path / "base.wire").write_text(f"wire 1\n{base}", encoding="utf-8")
        imports = "".join(f"import base : S{i}\n" for i in range(n))
        fields = "".join(f"  f{i} : S{i}\n" for i in range(n))
        path.write_text(f"wire 1\n{HEAD}{imports}message M 1 {{\n{fields}}}\n", encoding="utf-8")
        calls.append(n_calls(lambda: check(path)))
    assert calls[2] <= 5 * calls[1], calls


def doubled(n: int, innermost: str = "u8") -> str:
    """Return `n` structs, each with two fields of the next; the last one's have the innermost type."""
    inner = [*(f"S{i + 1}" for i in range(n - 1)), innermost]
    structs = "".join(f"struct S{i} {{ a : {name}  b : {name} }}\n" for i, name in enumerate(inner))
    return f"{HEAD}{structs}message M 1 {{ x : S0 }}\n"


def chained(n: int, innermost: str) -> str:
    """Return `n` structs, each with one field of the next."""
    inner = [*(f"S{i + 1}" for i in range(n - 1)), innermost]
    structs = "".join(f"struct S{i} {{ a : {name}  b : u8 }}\n" for i, name in enumerate(inner))
    return f"{HEAD}{structs}message M 1 {{ x : S0 }}\n"


def loaded(text: str, tmp_path: Path) -> Subject:
    path = tmp_path / "deep.wire"
    path.write_text(text, encoding="utf-8")
    report = Report()
    subject = load_protocol(path, Sources(), report, ())
    assert subject is not None, report.diagnostics[:1]
    return subject


def test_structs_with_two_fields_of_the_next_are_not_laid_out_without_bound(tmp_path: Path) -> None:
    protocol = loaded(doubled(14), tmp_path).protocol
    layout = frame_layout(protocol, protocol.frames[0], protocol.messages[0])
    structs = [layout_of(protocol, struct.fields) for struct in protocol.structs]
    assert max(len(each.steps) for each in (layout, *structs)) <= 3 * MAX_UNFOLDED


def test_a_struct_that_functions_read_for_its_size_goes_out_and_comes_back(tmp_path: Path) -> None:
    report = Report()
    package = make(loaded(doubled(8), tmp_path), ("native",), report)
    assert package is not None, report.diagnostics[:1]
    data = bytes((0, 1, *range(256)))
    [frame] = package.native.Decoder("server").feed(data)
    assert package.native.encode(frame) == data


def worked(
    verb: tuple[str, ...],
    text: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    codes: tuple[int, ...] = (0,),
) -> int:
    """Return how many calls a command takes for a protocol; fail unless it exits with one of the codes."""
    (folder / "idl").mkdir(parents=True, exist_ok=True)
    (folder / "idl" / "deep.wire").write_text(f"wire 1\n{text}", encoding="utf-8")
    monkeypatch.chdir(folder)

    def work() -> None:
        with pytest.raises(SystemExit) as done:
            wiregen.main(list(verb), standalone_mode=False)
        assert done.value.code in codes

    return n_calls(work)


VERBS = pytest.mark.parametrize(
    "verb", [("check",), ("build",), ("vectors", "build"), ("docs", "build")], ids=" ".join
)


@VERBS
def test_lists_as_deep_as_they_may_be_are_worked_on(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{HEAD}message M 1 {{ x : u8{'[u8]' * MAX_TYPES} }}\n"
    worked(verb, text, tmp_path, monkeypatch)


@VERBS
def test_lists_below_structs_as_deep_as_they_may_be_are_worked_on(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = chained(MAX_DECLARATIONS - MAX_TYPES - 1, f"u8{'[u8]' * MAX_TYPES}")
    assert worked(verb, text, tmp_path, monkeypatch) < 25_000_000


@pytest.mark.parametrize("innermost", ["u8", "u8[u8]", "u8[u8][u8][u8]"] if IS_SOAK else ["u8[u8]"])
def test_vectors_of_structs_with_two_fields_of_the_next_are_bounded(
    innermost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each further level doubles the fields of a value: of the longer chain no value is found, and this is reported."""
    verb = ("vectors", "build")
    calls = [
        worked(verb, doubled(n, innermost), tmp_path / str(n), monkeypatch, codes)
        for n, codes in ((7, (0,)), (16, (1,)))
    ]
    assert max(calls) < 40_000_000, calls


def imports_of_nothing(count: int, folder: Path) -> int:
    """Return how many calls it takes to check a file with so many imports of nothing, in a folder with 500 others."""
    folder.mkdir()
    for index in range(500):
        (folder / f"nearly_{index}.wire").write_text("wire 1", encoding="utf-8")
    lines = "".join(f"import nearly{index}x : A\n" for index in range(count))
    path = folder / "main.wire"
    path.write_text(f"wire 1\n{HEAD}{lines}message M 1 {{ x : u8 }}\n", encoding="utf-8")
    report = Report()
    calls = n_calls(lambda: load_protocol(path, Sources(), report, (folder,)))
    assert {each.code for each in report.diagnostics} == {"WG1008"}
    assert len(report.diagnostics) == min(count, MAX_OF_A_SEVERITY)
    return calls


def test_thousands_of_imports_of_nothing_are_looked_for_in_time(tmp_path: Path) -> None:
    times = 40 if IS_SOAK else 10
    few, many = (imports_of_nothing(count, tmp_path / str(count)) for count in (500, 500 * times))
    assert many < times * few
    assert many / (500 * times) < 1_000
