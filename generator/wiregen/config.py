"""The configuration: the nearest `wiregen.toml`, or `[tool.wiregen]` of a pyproject.toml.

Invariant: every folder of a Config lies inside its root, symbolic links followed, and the output folder holds no source.
"""

import keyword
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from wiregen.diagnostics import Report, did_you_mean
from wiregen.regular_files import read_regular_text

__all__ = ["Config", "load_config"]

CONFIG_NAME: Final = "wiregen.toml"
PROJECT_NAME: Final = "pyproject.toml"
NATIVE: Final = "native"

_UNREADABLE, _NOT_TOML, _UNKNOWN_KEY, _WRONG_VALUE = "WG6001", "WG6002", "WG6003", "WG6004"
_OUTSIDE, _OVERLAP, _LINK = "WG6005", "WG6006", "WG6007"
_MAX_SIZE: Final = 1 << 20  # bytes
_MAX_ITEMS: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """What a text is to be: in words, and as a pattern and a greatest number of characters."""

    words: str
    pattern: re.Pattern[str]
    max_size: int
    separator: str = ""
    """Between words that Python must not keep for itself; "" for text that never becomes Python."""

    def fits(self, value: object) -> bool:
        return (
            isinstance(value, str)
            and len(value) <= self.max_size
            and bool(self.pattern.fullmatch(value))
            and not (self.separator and any(map(keyword.iskeyword, value.split(self.separator))))
        )


_FOLDER: Final = _Kind(words="the path of a folder", pattern=re.compile(r"[^\x00]+"), max_size=1000)
_NAME: Final = _Kind(
    words="a name of small letters, digits and _", pattern=re.compile("[a-z][a-z0-9_]*"), max_size=64
)
_COMMAND: Final = _Kind(words="a command line", pattern=re.compile(r"[^\x00\r\n]+"), max_size=1000)
_PACKAGE: Final = _Kind(
    words="names of small letters, digits and _, with points between, none of them a word of Python",
    pattern=re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*"),
    max_size=200,
    separator=".",
)


_TIME: Final = _Kind(words="a time", pattern=re.compile(r"[1-9][0-9]{0,5} ?(ms|s|min)"), max_size=12)
_SIZE: Final = _Kind(words="a size", pattern=re.compile(r"[1-9][0-9]{0,5} ?(KiB|MiB|GiB)"), max_size=12)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Key:
    """A key of the table: its kind, one of it or a list of at least so many, and how it is written."""

    kind: _Kind
    default: str | tuple[str, ...] | None
    example: str
    is_list: bool = False
    min_items: int = 0

    def faults(self, value: object) -> Iterator[tuple[str, str]]:
        """Yield where below the key, and what should be there."""
        if not self.is_list:
            if not self.kind.fits(value):
                yield "", self.kind.words
        elif not isinstance(value, list) or not self.min_items <= len(value) <= _MAX_ITEMS:
            yield "", f"a list of {self.min_items} to {_MAX_ITEMS} items"
        else:
            yield from (
                (f"[{i}]", self.kind.words) for i, item in enumerate(value) if not self.kind.fits(item)
            )

    def value(self, written: object) -> str | tuple[str, ...] | None:
        """Return what was written without fault, as a Config has it."""
        return tuple(dict.fromkeys(written)) if isinstance(written, list) else cast(str, written)


_KEYS: Final[Mapping[str, _Key]] = {
    "sources": _Key(
        kind=_FOLDER,
        is_list=True,
        min_items=1,
        default=("idl",),
        example='a list of folders: sources = ["idl"]',
    ),
    "output": _Key(kind=_FOLDER, default="generated", example='a folder: output = "generated"'),
    "package": _Key(
        kind=_PACKAGE,
        default="wireproto",
        example='a Python package in lower case: package = "wireproto"',
    ),
    "backends": _Key(
        kind=_NAME,
        is_list=True,
        min_items=1,
        default=("native",),
        example='a list of names: backends = ["native"]',
    ),
    "plugins": _Key(
        kind=_COMMAND,
        is_list=True,
        default=(),
        example='a list of command lines: plugins = ["python tools/tables.py"]',
    ),
    "plugin_time": _Key(kind=_TIME, default="60 s", example='a time: plugin_time = "5 min"'),
    "plugin_output": _Key(kind=_SIZE, default="64 MiB", example='a size: plugin_output = "256 MiB"'),
    "protocols": _Key(
        kind=_NAME,
        is_list=True,
        min_items=1,
        default=None,
        example='a list of protocols: protocols = ["tide"]',
    ),
}


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
    plugins: tuple[str, ...] = ()  # command lines; they run only where whoever builds allows it
    plugin_time: str = "60 s"
    plugin_output: str = "64 MiB"


def load_config(start: Path, report: Report) -> Config:
    """Return the configuration nearest to the folder `start`, going up; without one, the defaults rooted at `start`.

    What is wrong is reported, and its default taken.
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        for name in (CONFIG_NAME, PROJECT_NAME):
            table = _read(folder / name, report)
            if table is not None:
                return _config(table, folder, folder / name, report)
    return _config({}, here, None, report)


def _read(path: Path, report: Report) -> dict[str, object] | None:
    """Return wiregen's own table, empty where it could not be read; None if the file has none or is not there."""
    try:
        text = read_regular_text(path, _MAX_SIZE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        if path.name == PROJECT_NAME:  # some other program's affair
            return None
        report.error(_UNREADABLE, f"`{path}` cannot be read: {_reason(error)}", None)
        return {}
    if not path.resolve().is_relative_to(path.parent.resolve()):
        return _refused_link(path, report)
    if path.name == PROJECT_NAME and not re.search(r"wiregen", text):
        return None
    return _parsed(text, path, report)


def _refused_link(path: Path, report: Report) -> dict[str, object] | None:
    if path.name == PROJECT_NAME:  # some other program's affair
        return None
    way_out = "the messages about a configuration show parts of it: copy the file into the project"
    report.error(_LINK, f"`{path}` is a link that leads out of the project", None, help=way_out)
    return {}


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


def _config(table: Mapping[str, object], root: Path, file: Path | None, report: Report) -> Config:
    values = _values(table, file, report)
    written = cast(tuple[str, ...], values["sources"])
    sources = tuple(_inside(name, "sources", root, report) for name in written)
    output_name = cast(str, values["output"])
    output = _inside(output_name, "output", root, report)
    if output == root or any(_overlap(output, source) for source in sources):
        message = f"the output folder `{output_name}` holds the project or its sources"
        report.error(_OVERLAP, message, None, help="give it a folder of its own, such as `generated`")
    return Config(
        root=root,
        file=file,
        sources=sources,
        output=output,
        package=cast(str, values["package"]),
        backends=_with_native(cast(tuple[str, ...], values["backends"])),
        protocols=cast(tuple[str, ...] | None, values["protocols"]),
        plugins=cast(tuple[str, ...], values["plugins"]),
        plugin_time=cast(str, values["plugin_time"]),
        plugin_output=cast(str, values["plugin_output"]),
    )


def _with_native(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the backends with the one whose classes all others encode and decode."""
    return names if NATIVE in names else (NATIVE, *names)


def _values(
    table: Mapping[str, object], file: Path | None, report: Report
) -> dict[str, str | tuple[str, ...] | None]:
    """Return a value for every key: what was written, or the default where that is nothing or wrong."""
    values = {name: key.default for name, key in _KEYS.items()}
    for name, written in table.items():
        if name not in _KEYS:
            way_out = did_you_mean(name, tuple(_KEYS)) or f"the keys are {', '.join(_KEYS)}"
            report.error(_UNKNOWN_KEY, f"unknown key `{name}` in `{file}`", None, help=way_out)
            continue
        key = _KEYS[name]
        faults = tuple(key.faults(written))
        for place, words in faults:
            message = f"`{name}{place}` in `{file}` should be {words}"
            report.error(_WRONG_VALUE, message, None, help=key.example)
        if not faults:
            values[name] = key.value(written)
    return values


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
