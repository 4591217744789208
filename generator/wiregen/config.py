"""The configuration: the nearest `wiregen.toml`, or `[tool.wiregen]` of a pyproject.toml.

Invariant: every folder of a Config lies inside its root, symbolic links followed, and the output folder holds no source.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from wiregen.diagnostics import Report, did_you_mean

__all__ = ["Config", "load_config"]

CONFIG_NAME: Final = "wiregen.toml"
PROJECT_NAME: Final = "pyproject.toml"

_Name = Annotated[str, StringConstraints(pattern=r"\A[a-z][a-z0-9_]*\z", max_length=64)]
_Package = Annotated[
    str, StringConstraints(pattern=r"\A[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\z", max_length=200)
]
_FolderName = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"\A[^\x00]*\z")]
_UNREADABLE, _NOT_TOML, _UNKNOWN_KEY, _WRONG_VALUE = "WG6001", "WG6002", "WG6003", "WG6004"
_OUTSIDE, _OVERLAP = "WG6005", "WG6006"


class _Table(BaseModel):
    """The keys as written."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    sources: list[_FolderName] = Field(default=["idl"], min_length=1, max_length=100)
    output: _FolderName = "generated"
    package: _Package = "wireproto"
    backends: list[_Name] = Field(default=["native"], min_length=1, max_length=100)
    protocols: list[_Name] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """What a build is about; folders are absolute and resolved."""

    root: Path
    file: Path | None  # None: no configuration was found, all is default
    sources: tuple[Path, ...]
    output: Path
    package: str
    backends: tuple[str, ...]
    protocols: tuple[str, ...] | None  # None: all of the sources


def load_config(start: Path, report: Report) -> Config:
    """Return the configuration nearest to the folder `start`, going up; without one, the defaults rooted at `start`.

    What is wrong is reported, and its default taken.
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        for name in (CONFIG_NAME, PROJECT_NAME):
            table = _read(folder / name, report)
            if table is not None:
                return _config(_validated(table, folder / name, report), folder, folder / name, report)
    return _config(_Table(), here, None, report)


def _read(path: Path, report: Report) -> dict[str, object] | None:
    """Return wiregen's own table, empty where it could not be read; None if the file has none or is not there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        if path.name == PROJECT_NAME:  # some other program's affair
            return None
        report.error(_UNREADABLE, f"`{path}` cannot be read: {_reason(error)}", None)
        return {}
    if path.name == PROJECT_NAME and not re.search(r"wiregen", text):
        return None
    return _parsed(text, path, report)


def _parsed(text: str, path: Path, report: Report) -> dict[str, object] | None:
    try:
        table: dict[str, object] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        report.error(_NOT_TOML, f"`{path}` is not TOML: {_reason(error)}", None)
        return {}
    if path.name == CONFIG_NAME:
        return table
    tool = table.get("tool")
    own = tool.get("wiregen") if isinstance(tool, dict) else None
    return own if isinstance(own, dict) else None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or "unknown error").lower()
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error).rstrip(".").lower()


def _validated(table: dict[str, object], path: Path, report: Report) -> _Table:
    try:
        return _Table.model_validate(table)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
    for fault in faults:
        _report_fault(fault, path, report)
    wrong = {fault["loc"][0] for fault in faults}
    return _Table.model_validate({key: value for key, value in table.items() if key not in wrong})


def _report_fault(fault: ErrorDetails, path: Path, report: Report) -> None:
    key = str(fault["loc"][0])
    if fault["type"] == "extra_forbidden":
        known = tuple(_Table.model_fields)
        way_out = did_you_mean(key, known) or f"the keys are {', '.join(known)}"
        report.error(_UNKNOWN_KEY, f"unknown key `{key}` in `{path}`", None, help=way_out)
        return
    place = key + "".join(f"[{index}]" for index in fault["loc"][1:])
    what = fault["msg"].removeprefix("Input should be ").lower()
    report.error(_WRONG_VALUE, f"`{place}` in `{path}` should be: {what}", None, help=_EXAMPLES.get(key))


_EXAMPLES: Final = {
    "sources": 'a list of folders: sources = ["idl"]',
    "output": 'a folder: output = "generated"',
    "package": 'a Python package in lower case: package = "wireproto"',
    "backends": 'a list of names: backends = ["native"]',
    "protocols": 'a list of protocols: protocols = ["tide"]',
}


def _config(table: _Table, root: Path, file: Path | None, report: Report) -> Config:
    sources = tuple(_inside(name, "sources", root, report) for name in table.sources)
    output = _inside(table.output, "output", root, report)
    if output == root or any(_overlap(output, source) for source in sources):
        message = f"the output folder `{table.output}` holds the project or its sources"
        report.error(_OVERLAP, message, None, help="give it a folder of its own, such as `generated`")
    return Config(
        root=root,
        file=file,
        sources=sources,
        output=output,
        package=table.package,
        backends=tuple(dict.fromkeys(table.backends)),
        protocols=None if table.protocols is None else tuple(dict.fromkeys(table.protocols)),
    )


def _inside(name: str, key: str, root: Path, report: Report) -> Path:
    """Return the folder `name` below `root`; one that leaves it is reported, and the key's own default taken."""
    folder = (root / name).resolve()
    if folder.is_relative_to(root):
        return folder
    way_out = f"paths are relative to the folder of the configuration, `{root}`, and stay inside"
    report.error(_OUTSIDE, f"`{key}` leaves the project: `{name}`", None, help=way_out)
    return root / ("idl" if key == "sources" else "generated")


def _overlap(first: Path, second: Path) -> bool:
    return first.is_relative_to(second) or second.is_relative_to(first)
