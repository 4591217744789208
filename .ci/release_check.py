"""Builds the distributions `wiregen` and `wireproto`, and tests them as a stranger would: installed outside the repository.

The wheel of wiregen is made from its source distribution, so that both hold all files. twine reads the metadata and the long
descriptions.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = ("__pycache__", "tests/", ".venv", ".git/")
NEEDED = {
    "wiregen": ("wiregen/language/wire.lark", "wiregen/language/parser/tables.json", "wiregen/py.typed",
                "wiregen/templates/proto/protocol.proto.jinja", "wiregen/protocols/lumberjack.wire", "wiregen/handbook/guide/start.md"),
    "wireproto": ("wireproto/lumberjack/__init__.py", "wireproto/py.typed"),
}  # fmt: skip
SMOKE = """
import wireproto.lumberjack as lumberjack
data = lumberjack.encode(lumberjack.Ack(sequence=7))
assert lumberjack.decode(data, from_role="reader").message == lumberjack.Ack(sequence=7)
"""


def run(*command: object, cwd: Path) -> str:
    """Run a command and return its output; end with it if it fails."""
    done = subprocess.run(
        [str(each) for each in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"release-check: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def built(project: Path, target: Path) -> tuple[Path, Path]:
    """Return the source distribution and the wheel of a project; the wheel is made from the former."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", target, cwd=project)
    (sdist,) = target.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(target / "unpacked", filter="data")
    (unpacked,) = (target / "unpacked").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target, cwd=unpacked)
    (wheel,) = target.glob("*.whl")
    return sdist, wheel


def check_files(name: str, wheel: Path) -> None:
    """Check that a wheel holds the files that it needs, and none of the repository's own."""
    names = zipfile.ZipFile(wheel).namelist()
    missing = [each for each in NEEDED[name] if each not in names]
    more = [each for each in names if any(part in each for part in FORBIDDEN)]
    if missing or more:
        sys.exit(f"release-check: {wheel.name} lacks {missing} and should not hold {more[:5]}")
    print(f"{wheel.name}: {len(names)} files")


def main() -> None:
    """Build, read and install both distributions, and use them."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        made = {
            name: built(project, place / name)
            for name, project in (("wiregen", ROOT), ("wireproto", ROOT / "generated"))
        }
        for name, (_, wheel) in made.items():
            check_files(name, wheel)
        run(sys.executable, "-m", "venv", place / "env", cwd=place)
        python = place / "env" / "bin" / "python"
        run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "twine",
            *(wheel for _, wheel in made.values()),
            cwd=place,
        )
        print(
            run(
                python, "-m", "twine", "check", *(each for pair in made.values() for each in pair), cwd=place
            ).strip()
        )
        versions = {
            run(
                python, "-c", f"import importlib.metadata as m; print(m.version({name!r}))", cwd=place
            ).strip()
            for name in made
        }
        versions |= {run(python, "-m", "wiregen", "--version", cwd=place).split()[-1]}
        if len(versions) != 1:
            sys.exit(f"release-check: several versions: {sorted(versions)}")
        run(python, "-c", SMOKE, cwd=place)
        run(python, "-m", "wiregen", "new", "demo", cwd=place)
        run(python, "-m", "wiregen", "build", cwd=place / "demo")
        print(f"release-check: wiregen and wireproto {versions.pop()} install and work")


if __name__ == "__main__":
    main()
