"""The layout of generated Python: `ruff format`, which is called once for many files, or black.

Invariant: the layout does not depend on configuration files, nor on the files that are formatted together.
"""

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["blackened", "format_python", "formatter", "laid_out", "lay_out"]

LINE_LENGTH = 110
_known: dict[bytes, str] = {}
"""Formatted texts by the hash of the text before, and of whether it is a stub."""


def laid_out(text: str, *, is_stub: bool) -> str:
    """Return `text` as ruff formats it; a text is formatted once per process.

    Raises:
        ValueError: It is not Python.
    """
    key = _key(text, is_stub)
    if key not in _known:
        _known[key] = format_python(text, is_stub=is_stub)
    return _known[key]


def lay_out(texts: Iterable[str]) -> None:
    """Format Python modules in one process of ruff, so that `laid_out` knows them.

    A text that is not Python is skipped: `laid_out` tells the error.
    """
    new = {key: text for text in texts if (key := _key(text, is_stub=False)) not in _known}
    if len(new) < 2:
        return
    with TemporaryDirectory(prefix="wiregen-") as folder:
        files = {key: Path(folder, f"page{number}.py") for number, key in enumerate(new)}
        for key, file in files.items():
            file.write_bytes(new[key].encode(errors="surrogatepass"))
        command = (*formatter(), "--quiet", *map(str, files.values()))
        done = subprocess.run(command, capture_output=True, check=False, env=_without_ruffs_own())
        if done.returncode == 0:
            _known.update((key, file.read_bytes().decode()) for key, file in files.items())


def _key(text: str, is_stub: bool) -> bytes:
    return sha256(f"{is_stub} {text}".encode(errors="surrogatepass")).digest()


def format_python(text: str, *, is_stub: bool = False) -> str:
    """Return `text` as ruff formats it, independently of configuration files.

    Raises:
        ValueError: It is not Python.
        FileNotFoundError: ruff is not installed.
    """
    command = (*formatter(), "--stdin-filename", "page.pyi" if is_stub else "page.py", "-")
    done = subprocess.run(
        command, input=text.encode(), capture_output=True, check=False, env=_without_ruffs_own()
    )
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode()


def blackened(text: str, *, is_stub: bool = False) -> str:
    """Return Python as black formats it, for trees that are checked with black.

    Raises:
        ModuleNotFoundError: black is not installed.
    """
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY311}, is_pyi=is_stub)
    return black.format_str(text, mode=mode)


@cache
def formatter() -> tuple[str, ...]:
    """Return the command that formats Python, without its files.

    Raises:
        FileNotFoundError: ruff is not installed.
    """
    try:
        from ruff import find_ruff_bin  # from the package, never from PATH
    except ImportError:
        raise FileNotFoundError("ruff is missing: install wiregen again") from None
    settings = (f"line-length={LINE_LENGTH}", "target-version='py311'", "format.line-ending='lf'")
    options = (option for setting in settings for option in ("--config", setting))
    return find_ruff_bin(), "format", "--isolated", "--no-preview", "--no-cache", *options


def _without_ruffs_own() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("RUFF_")}
