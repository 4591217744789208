"""The packages of all constructs, in one tree, hold to `mypy --strict`: every other one, in a soak all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import settings
from tests.once import mypy_cache
from tests.property.sample_schemas.batches import MYPY_SETTINGS
from tests.property.test_constructs import CASES

from wiregen.generate.build import build
from wiregen.generate.writer import write
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources

GENERATED = Path(__file__).resolve().parents[2] / "generated" / "python"


IS_SOAK = settings.get_current_profile_name() == "soak"


def test_the_packages_of_all_constructs_are_typed(tmp_path: Path) -> None:
    (tmp_path / "idl").mkdir()
    for path in sorted(CASES.glob("*.wire"))[:: 1 if IS_SOAK else 2]:
        text = path.read_text(encoding="utf-8").replace("protocol p {", f"protocol {path.stem}_p {{", 1)
        (tmp_path / "idl" / f"{path.stem}_p.wire").write_text(text, encoding="utf-8")
    report, sources = Report(), Sources()
    backends = ("native", "protobuf", "msgpack", "columns")
    config = Config(root=tmp_path, file=None, sources=(tmp_path / "idl",), output=tmp_path / "generated", package="constructs", backends=backends, protocols=None)  # fmt: skip
    outputs = build(config, (), sources, report)
    assert outputs, render(report, sources, colour=False)
    write(outputs, tmp_path / "generated")
    place = tmp_path / "generated" / "python"
    (place / "mypy.ini").write_text(MYPY_SETTINGS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--strict", "--cache-dir", mypy_cache(), "-p", "constructs"]  # fmt: skip
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_package_is_typed_where_nothing_is_installed_that_it_imports(tmp_path: Path) -> None:
    """Nor do pyarrow and protobuf bring types everywhere: with them, the test above has no settings of its own."""
    (tmp_path / "mypy.ini").write_text(MYPY_SETTINGS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini"), "--strict", "--no-site-packages"]  # fmt: skip
    command += ["--cache-dir", str(tmp_path / "mypy"), "-p", "wireproto.lumberjack"]
    done = subprocess.run(command, cwd=GENERATED, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
