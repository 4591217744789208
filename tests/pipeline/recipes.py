"""The programs of `docs/recipes.md`, and processes of their own that run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "program", "run", "started"]

ROOT = Path(__file__).resolve().parents[2]
_PLACES = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline")]


def program(kind: str = "") -> str:
    """Return all blocks of a kind, in their order; the kind is the word after `python`, if any."""
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    first = f"```python {kind}".rstrip()
    blocks = re.findall(rf"^{first}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks, kind
    return "\n".join(blocks)


def started(text: str, folder: Path, *places: str) -> subprocess.Popen[str]:
    """Start a program in a folder, as the leader of all processes that it starts; `places` come first on its path."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    with (folder / "errors").open("a", encoding="utf-8") as errors:
        return subprocess.Popen(
            [sys.executable, "program.py"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((*places, *_PLACES))},
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            text=True,
            start_new_session=True,
        )


def run(text: str, folder: Path, *places: str) -> str:
    """Return the output of a program, which must not fail."""
    with started(text, folder, *places) as process:
        output, _ = process.communicate()
    assert process.returncode == 0, (folder / "errors").read_text(encoding="utf-8")[-4000:]
    return output
