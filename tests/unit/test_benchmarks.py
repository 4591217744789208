"""The benchmarks run, and the calls that they compare return the same; their figures are for `make bench`."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NATIVE_SIZES = (155, 281, 19, 74)
SEGMENT = 1448
SCRIPT = ROOT / "benchmarks" / "bench_codecs.py"


def test_all_codecs_agree_and_every_table_is_printed() -> None:
    pytest.importorskip("construct")
    pytest.importorskip("google.protobuf")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    titles = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [title.split()[:2] for title in titles[:-1]] == [
        [verb, message] for message in ("M1", "M2", "M3", "M4") for verb in ("decode", "encode")
    ]
    assert titles[-1] == "goals"


def test_all_serializations_agree_and_their_sizes_are_printed() -> None:
    for library in ("construct", "google.protobuf", "msgspec", "msgpack"):
        pytest.importorskip(library)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    script = ROOT / "benchmarks" / "bench_serializations.py"
    done = subprocess.run(
        [sys.executable, script, "--quick"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    titles = [line for line in lines if not line.startswith(" ")]
    assert [title.split()[:2] for title in titles[:-1]] == [
        [verb, message] for message in ("M1", "M2", "M3", "M4") for verb in ("decode", "encode")
    ]
    sizes = lines[lines.index("bytes a frame") + 1 :]
    assert [line.split()[0] for line in sizes] == [
        "native",
        "protobuf",
        "msgpack",
        "protobuf",
        "msgspec",
        "msgpack-python",
    ]
    assert sizes[0].split()[1:5] == [str(size) for size in NATIVE_SIZES]


def test_a_commit_is_measured_beside_this_tree() -> None:
    for library in ("construct", "google.protobuf", "msgspec", "msgpack"):
        pytest.importorskip(library)
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        pytest.skip("the tree is not a repository: there is no commit to compare with")
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "against.py", "HEAD", "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured, _, goals = done.stdout.partition("goals\n")
    assert len(measured.splitlines()) == len(goals.splitlines()) - 1 > 15


def test_captures_of_every_mix_are_measured() -> None:
    pytest.importorskip("dpkt")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "bench_capture.py", "--quick"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(",")[0] for line in lines if not line.startswith(" ")] == [
        "full segments",
        "mixed segments",
        "small segments",
        "goals",
    ]
    assert sum("dpkt, headers, no streams" in line for line in lines) == 3


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="CPU and memory are read from /proc")
def test_the_receivers_run_under_load() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    script = ROOT / "benchmarks" / "bench_receiver.py"
    done = subprocess.run(
        [sys.executable, script, "--quick"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    in_segments = f"windows of 2000 events, segments of {SEGMENT} bytes, 10 connections"
    assert [line.rpartition(", ")[0] for line in lines if not line.startswith("  ")] == [
        "compressed windows of 2000 events, 1 connections",
        "compressed windows of 2000 events, 10 connections",
        "plain windows of 2000 events, 1 connections",
        "plain windows of 2000 events, 10 connections",
        f"compressed {in_segments}",
        f"plain {in_segments}",
    ]
    names = [line.split("  ")[1] for line in lines if line.startswith("  ")]
    assert names == ["by hand", "generated", "receiver, to disk"] * 6


def test_the_site_is_measured_against_its_own_pages() -> None:
    script = ROOT / "benchmarks" / "bench_docs.py"
    done = subprocess.run([sys.executable, script, "--quick"], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[0].startswith("site of 300 messages"), done.stderr
    [ratio] = re.findall(r"site / pages +([0-9.]+)", done.stdout)
    [largest] = re.findall(r"largest page +([0-9.]+) KiB", done.stdout)
    assert (
        float(ratio) > 1 and float(largest) < 60
    ), done.stdout  # the ratio is held to its goal by the benchmark alone


def test_sessions_are_measured_against_decoders() -> None:
    script = ROOT / "benchmarks" / "bench_sessions.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    done = subprocess.run(
        [sys.executable, script, "--quick"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("held to the sessions") == done.stdout.count("sent and received") == 4


def test_chunks_of_every_size_are_measured_for_every_protocol() -> None:
    pytest.importorskip("construct")
    pytest.importorskip("google.protobuf")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "bench_chunks.py", "--quick"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("a frame of ") == 7
    assert done.stdout.count("chunks of 1448 ") == 7
    assert done.stdout.count("microseconds a segment") == 6
    assert "events a second of CPU in segments of 1448 bytes" in done.stdout


@pytest.mark.parametrize(("measured", "is_quick", "code"), [(1.5, False, 0), (1.6, False, 1), (1.6, True, 0)])
def test_a_goal_that_is_missed_fails_the_benchmark(
    measured: float,
    is_quick: bool,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    harness = importlib.import_module("harness")
    goals = [
        harness.Goal(what="one", measured=1, bound=1),
        harness.Goal(what="other", measured=measured, bound=1.5),
    ]
    assert harness.told(goals, is_quick=is_quick) == code
    assert f"{1 + (measured <= 1.5)} of 2 met" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "benchmarks").glob("bench_*.py")))
def test_a_benchmark_with_goals_exits_by_them(name: str) -> None:
    text = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    assert ("Goal(" in text or "GOAL" in text) == ("sys.exit(main())" in text)


def test_the_proxy_is_measured_next_to_a_plain_relay() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generated" / "python")}
    script = ROOT / "benchmarks" / "bench_proxy.py"
    done = subprocess.run(
        [sys.executable, script, "--quick"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = [line[2:22].strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    assert names[:3] == ["a plain relay", "proxy", "proxy, recorded"]
