"""The packages of all constructs, in one tree, hold to `mypy --strict`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.property.sample_schemas.batches import MYPY_SETTINGS
from tests.property.test_constructs import CASES

from wiregen.generate.build import build
from wiregen.generate.writer import write
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, render
from wiregen.language.source import Sources


def test_the_packages_of_all_constructs_are_typed(tmp_path: Path) -> None:
    (tmp_path / "idl").mkdir()
    for path in CASES.glob("*.wire"):
        text = path.read_text(encoding="utf-8").replace("protocol p {", f"protocol {path.stem}_p {{", 1)
        (tmp_path / "idl" / f"{path.stem}_p.wire").write_text(text, encoding="utf-8")
    report, sources = Report(), Sources()
    backends = ("native", "protobuf", "msgpack")
    config = Config(root=tmp_path, file=None, sources=(tmp_path / "idl",), output=tmp_path / "generated", package="constructs", backends=backends, protocols=None)  # fmt: skip
    outputs = build(config, (), sources, report)
    assert outputs, render(report, sources, colour=False)
    write(outputs, tmp_path / "generated")
    place = tmp_path / "generated" / "python"
    (place / "mypy.ini").write_text(MYPY_SETTINGS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--strict", "--cache-dir", str(tmp_path / "mypy"), "-p", "constructs"]  # fmt: skip
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
