"""The configuration: the nearest `wiregen.toml`, or `[tool.wiregen]` of a pyproject.toml.

Invariant: every folder of a Config lies inside its root, symbolic links followed, and the output folder holds no source.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from wiregen.language.config_defaults import DEFAULTS, NATIVE
from wiregen.language.diagnostics import Report, did_you_mean
from wiregen.language.proto_options import NO_OPTIONS, ProtoOptions, proto_options
from wiregen.language.regular_files import read_regular_text

__all__ = ["Config", "WrittenSources", "load_config", "written_sources"]

CONFIG_NAME: Final = "wiregen.toml"
PROJECT_NAME: Final = "pyproject.toml"

_UNREADABLE, _NOT_TOML, _UNKNOWN_KEY, _WRONG_VALUE = "WG6001", "WG6002", "WG6003", "WG6004"
_OUTSIDE, _OVERLAP, _LINK = "WG6005", "WG6006", "WG6007"
_CONTRADICTION: Final = "WG6009"
_OF_RUNTIME: Final = frozenset(("runtime_package", "output", "formatter"))
"""The keys of a project that builds a runtime."""
_MAX_SIZE: Final = 1 << 20  # bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """The settings of a build; folders are absolute and resolved."""

    root: Path
    file: Path | None  # None: no configuration was found, and all settings are defaults
    sources: tuple[Path, ...]
    output: Path
    package: str
    backends: tuple[str, ...]
    protocols: tuple[str, ...] | None  # None: all of the sources
    plugins: tuple[str, ...] = DEFAULTS[
        "plugins"
    ]  # command lines; they run only where the user who builds allows it
    plugin_time: str = DEFAULTS["plugin_time"]
    plugin_output: str = DEFAULTS["plugin_output"]
    formatter: str = DEFAULTS["formatter"]  # of the generated Python: ruff or black
    sessions: bool = DEFAULTS["sessions"]  # whether packages have connections and sessions
    runtime: str | None = DEFAULTS["runtime"]  # the installed package that has it; None: a copy in the tree
    runtime_package: str | None = DEFAULTS["runtime_package"]  # what is built: the runtime, no protocol
    proto_options: ProtoOptions = NO_OPTIONS


def load_config(start: Path, report: Report) -> Config:
    """Return the configuration nearest to the folder `start`, going up; without one, the defaults rooted at `start`.

    An invalid setting is reported, and its default is taken.
    """
    found = _nearest(start, report)
    return _config(found.table, found.root, found.file, report)


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenSources:
    """The folders of the sources in a configuration that was not checked; `text` identifies all that is written in it."""

    folders: tuple[Path, ...]
    text: str


def written_sources(start: Path) -> WrittenSources | None:
    """Return the sources of the configuration nearest to a folder, or None if `load_config` would report an error about them.

    The other settings are not checked: for callers that know this text from an earlier run.
    """
    report = Report()
    found = _nearest(start, report)
    names = found.table.get("sources", DEFAULTS["sources"])
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        return None
    folders = tuple(_inside(name, "sources", found.root, report) for name in names)
    return None if report.has_errors else WrittenSources(folders=folders, text=repr(found))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    """A configuration as it is written; `file` is None if there is none."""

    table: Mapping[str, object]
    root: Path
    file: Path | None


def _nearest(start: Path, report: Report) -> _Written:
    here = start.resolve()
    for folder in (here, *here.parents):
        for name in (CONFIG_NAME, PROJECT_NAME):
            table = _read(folder / name, report)
            if table is not None:
                return _Written(table=table, root=folder, file=folder / name)
    return _Written(table={}, root=here, file=None)


def _read(path: Path, report: Report) -> dict[str, object] | None:
    """Return wiregen's own table, {} if it could not be read, or None if the file lacks it or does not exist."""
    try:
        text = read_regular_text(path, _MAX_SIZE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        if path.name == PROJECT_NAME:  # the file belongs to another program
            return None
        report.error(_UNREADABLE, f"`{path}` cannot be read: {_reason(error)}", None)
        return {}
    if not path.resolve().is_relative_to(path.parent.resolve()):
        return _refused_link(path, report)
    if path.name == PROJECT_NAME and not re.search(r"wiregen", text):
        return None
    return _parsed(text, path, report)


def _refused_link(path: Path, report: Report) -> dict[str, object] | None:
    if path.name == PROJECT_NAME:  # the file belongs to another program
        return None
    way_out = "copy the file into the project: messages show parts of a configuration"
    report.error(_LINK, f"`{path}` is a link that leads out of the project", None, help=way_out)
    return {}


def _parsed(text: str, path: Path, report: Report) -> dict[str, object] | None:
    try:
        table: dict[str, object] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        way_out = "write it as TOML: texts in quotes, a key and its value joined by `=`"
        report.error(_NOT_TOML, f"`{path}` is not TOML: {_reason(error)}", None, help=way_out)
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


def _config(table: Mapping[str, object], root: Path, file: Path | None, report: Report) -> Config:
    settings = _settings(table, file, report)
    sources = tuple(_inside(name, "sources", root, report) for name in settings.pop("sources"))
    output_name = settings.pop("output")
    output = _inside(output_name, "output", root, report)
    if output == root or any(_overlap(output, source) for source in sources):
        message = f"the output folder `{output_name}` holds the project or its sources"
        way_out = "use a folder of its own for each, such as `generated` for `output` and `idl` for `sources`"
        report.error(_OVERLAP, message, None, help=way_out)
    return Config(
        root=root,
        file=file,
        sources=sources,
        output=output,
        backends=_with_native(settings.pop("backends")),
        proto_options=proto_options(settings.pop("protobuf")),
        **settings,
    )


def _with_native(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the backends with the native one, whose classes all others encode and decode."""
    return names if NATIVE in names else (NATIVE, *names)


def _settings(table: Mapping[str, object], file: Path | None, report: Report) -> dict[str, Any]:
    """Return a value for every key: the written one, or the default if it is missing or wrong."""
    if not table:
        return dict(DEFAULTS)
    from pydantic import ValidationError  # only where there is a configuration to check

    from wiregen.language.settings import Settings, faults_of, schema, unknown_keys

    faults: dict[str, list[tuple[str, str]]] = {}
    wrong: set[str] = set()
    try:
        Settings.model_validate(table)
    except ValidationError as error:
        for each in unknown_keys(error):
            way_out = did_you_mean(each.name, each.known) or f"the known keys are {', '.join(each.known)}"
            report.error(_UNKNOWN_KEY, f"unknown key `{each.place}` in `{file}`", None, help=way_out)
            wrong.add(each.key)
        faults = faults_of(error)
    for name, places in faults.items():
        example = schema()["properties"][name]["examples"][0]
        for place, words in places:
            message = f"`{name}{place}` in `{file}` must be {words}"
            report.error(_WRONG_VALUE, message, None, help=example)
    right = {name: value for name, value in table.items() if name not in faults.keys() | wrong}
    settings = dict(Settings.model_validate(right))
    return _without_contradictions(settings, right, file, report)


def _without_contradictions(
    settings: dict[str, Any], written: Mapping[str, object], file: Path | None, report: Report
) -> dict[str, Any]:
    """Report keys that contradict others, and replace them by their defaults."""
    runtime, package = settings["runtime"], settings["package"]
    others = sorted(written.keys() - _OF_RUNTIME)
    if settings["runtime_package"] is not None and others:
        message = (
            f"`runtime_package` in `{file}` builds a runtime and no protocol, but `{others[0]}` is set too"
        )
        help_ = "build the runtime in a project of its own, with its own wiregen.toml"
    elif runtime is not None and f"{runtime}.".startswith(f"{package}."):
        message = f"`runtime` in `{file}` is in the package that is built: `{runtime}` in `{package}`"
        help_ = 'name a package of another project: runtime = "acme_runtime"'
    elif settings["protobuf"] is not None and "protobuf" not in settings["backends"]:
        message = f"`protobuf` in `{file}` sets options of .proto files, but `backends` lacks `protobuf`"
        help_ = 'build these files too: backends = ["native", "protobuf"]'
    else:
        return settings
    report.error(_CONTRADICTION, message, None, help=help_)
    return settings | {"runtime": None, "runtime_package": None, "protobuf": None}


def _inside(name: str, key: str, root: Path, report: Report) -> Path:
    """Return the folder `name` below `root`; a folder outside is reported, and the key's default returned."""
    folder = (root / name).resolve()
    if folder.is_relative_to(root):
        return folder
    way_out = f"use a path inside of the folder of the configuration, `{root}`"
    report.error(_OUTSIDE, f"`{key}` leaves the project: `{name}`", None, help=way_out)
    return root / ("idl" if key == "sources" else DEFAULTS["output"])


def _overlap(first: Path, second: Path) -> bool:
    return first.is_relative_to(second) or second.is_relative_to(first)
