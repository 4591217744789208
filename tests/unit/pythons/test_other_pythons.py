"""Generated packages on each other Python of this machine, with its standard library only: modules, vectors, sessions, a connection."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_generated_vectors import lines_of
from tests.unit.pythons.interpreters import GENERATED, other_pythons

from wiregen.conformance.vectors.format import (
    AnyVector,
    Invalid,
    Trace,
    Unwritable,
    Valid,
    octets,
    read_vectors,
    size_of,
)

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
KINDS = (Valid, Invalid, Unwritable, Trace)
VECTORS = GENERATED / "vectors"
PROTOCOLS = [path.stem for path in sorted(VECTORS.glob("[a-z]*.json")) if "schema" not in path.stem]
ROOT = GENERATED.parent
SCRIPT = Path(__file__).with_name("checked_package.py")
STEP = 1 if IS_SOAK else 8
"""Of so many small vectors one is checked."""
MOST = 1 << (20 if IS_SOAK else 10)
"""Bytes of the largest vectors, written out. The larger ones are 8 GB of repetitions, which the Python of the tests reads."""
OTHERS = list(other_pythons())
pytestmark = pytest.mark.skipif(
    not OTHERS, reason="there is no other Python: neither `python3.x` in PATH nor one of pyenv"
)


def vectors_of(protocol: str) -> list[AnyVector]:
    found = read_vectors((VECTORS / f"{protocol}.json").read_bytes()).vectors
    small = [each for each in found if size_of(each) <= MOST]
    return [each for kind in KINDS for each in [one for one in small if isinstance(one, kind)][::STEP]]


def told(protocol: str, vector: AnyVector) -> dict[str, Any]:
    """Return a vector as the script reads it."""
    common: dict[str, Any] = {
        "protocol": protocol,
        "kind": vector.kind,
        "id": vector.id,
        "variant": vector.variant,
    }
    common |= {"limits": getattr(vector, "limits", {}), "strict": getattr(vector, "strict", False)}
    if isinstance(vector, Trace):
        steps = [{"at": each.at, "eof": each.eof, **sent(each)} for each in vector.steps]
        more = {"from": None, "steps": steps, "options": vector.options, "violation": vector.violation}
        return common | more
    common |= {"from": vector.from_role, "before": [sent(each) for each in vector.before]}
    if isinstance(vector, Invalid):
        common |= {"bytes": octets(vector.bytes).hex(), "frames_before": vector.frames_before}
        return common | {"error": asdict(vector.error)}
    common |= {"frames": lines_of(vector)}
    if isinstance(vector, Unwritable):
        return common | {"error": asdict(vector.error)}
    others = {"protobuf": vector.protobuf, "msgpack": vector.msgpack}
    carried = {name: None if data is None else octets(data).hex() for name, data in others.items()}
    return common | carried | {"bytes": octets(vector.bytes).hex(), "encodes": vector.encodes}


def sent(each: Any) -> dict[str, Any]:
    return {"from": each.from_role, "bytes": octets(each.bytes).hex()}


def expected(chosen: list[AnyVector], libraries: tuple[str, ...]) -> dict[str, int]:
    """Return how many checks of each kind there are; those of vectors are done with the native and the reference codec."""
    n = Counter(each.kind for each in chosen)
    carried = [each for each in chosen if isinstance(each, Valid) and len(each.frames) == 1]
    counts = {
        "connections": 1,
        "decoded": 2 * n["valid"],
        "refused": 2 * n["invalid"],
        "refused values": 2 * n["unwritable"],
        "traces": n["trace"],
    }
    return counts | {name: sum(getattr(each, name) is not None for each in carried) for name in libraries}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The vectors to check, and the file of them that the script reads."""

    vectors: list[AnyVector]
    file: Path


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Chosen:
    vectors = {name: vectors_of(name) for name in PROTOCOLS}
    path = tmp_path_factory.mktemp("vectors") / "vectors.jsonl"
    with path.open("w", encoding="ascii") as file:
        file.writelines(
            f"{json.dumps(told(name, each))}\n" for name, found in vectors.items() for each in found
        )
    return Chosen(vectors=[each for found in vectors.values() for each in found], file=path)


def check(python: Path, chosen: Chosen, *libraries: str) -> dict[str, int]:
    """Run the script in a Python; return the number of checks of each kind."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # Warnings are errors: of what a newer Python has deprecated, too.
    command = [str(python), "-W", "error", "-B", "-s", str(SCRIPT)]
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "generator", GENERATED / "python")))
    with chosen.file.open("rb") as file:
        done = subprocess.run(
            command, stdin=file, capture_output=True, text=True, check=False, env=environment
        )
    assert done.returncode == 0, done.stderr[-4000:]
    counts: dict[str, int] = json.loads(done.stdout)
    print(counts)
    known = expected(chosen.vectors, libraries)
    assert {name: counts.get(name, 0) for name in known} == known
    assert min(known.values()) > 0 < counts["encoded"] and counts["imported"] > 100
    return counts


@pytest.mark.parametrize("version", OTHERS)
def test_packages_need_nothing_but_the_standard_library(version: str, chosen: Chosen) -> None:
    check(other_pythons()[version], chosen)


@pytest.mark.skipif(not IS_SOAK, reason="it installs packages; soaks do it")
@pytest.mark.parametrize("version", OTHERS)
def test_serializations_with_their_libraries(version: str, chosen: Chosen, tmp_path: Path) -> None:
    subprocess.run([str(other_pythons()[version]), "-m", "venv", str(tmp_path)], check=True, timeout=300)
    python = tmp_path / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--only-binary=:all:", "protobuf", "msgspec"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        pytest.skip(f"pip cannot install protobuf and msgspec for Python {version}")
    counts = check(python, chosen, "protobuf", "msgpack")
    assert not {"without google", "without msgspec"} & counts.keys()
