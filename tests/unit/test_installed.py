"""The packages that `make test` installs are there: tests skip without them, and would all be skipped after
a failed installation.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]  # fmt: skip


def needed(extra: str) -> dict[str, Requirement]:
    """Return the requirements of an extra, and of the extras of this project that it names, by the package."""
    found: dict[str, Requirement] = {}
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if canonicalize_name(requirement.name) == PROJECT["name"]:
            for name in requirement.extras:
                found |= needed(name)
        else:
            found[requirement.name] = requirement
    return found


def installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def test_all_packages_of_the_tests_are_installed() -> None:
    found = {name: installed(name) for name in needed("dev")}
    assert {"pyspark", "msgspec", "hypothesis"} <= found.keys()
    assert [
        str(each)
        for name, each in needed("dev").items()
        if not found[name] or found[name] not in each.specifier
    ] == []
