"""The options of `format("wire")`, checked once."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal, NamedTuple, TypeAlias, get_args

from wirespark.errors import WireSparkError
from wirespark.packages import Package, package_of

__all__ = [
    "LIMIT",
    "Kernel",
    "Mode",
    "NamedText",
    "ReadOptions",
    "Wishes",
    "among",
    "amount",
    "check_names",
    "has_numba",
    "settings",
    "truth",
    "wishes_of",
]

Mode: TypeAlias = Literal["PERMISSIVE", "DROPMALFORMED", "FAILFAST"]
Kernel: TypeAlias = Literal["auto", "on", "off"]

_UNITS = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
LIMIT = "limit."
_LEAST_SPLIT = 1 << 10
_LAST_PORT = 65_535
_HIDDEN = ("path", "paths")
"""The names under which Spark passes the arguments of `load`; users do not give them."""
_KNOWN = (
    "protocol", "message", "from", "backend", "mode", "path", "paths", "variant", "strict", "port", "capture",
    "split", "batch", "errorbytes", "index", "limits", "kernel", "growing", "idle", "pushdown", "maxbytespertrigger", "maxfilespertrigger",
    "maxfileage",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The options of decoding, whatever the source of the bytes.

    Attributes:
        backend: The serialization of the bytes: `native`, or another of the package's.
        error_bytes: How many bytes of a bad frame its row shows.
        messages: The only messages whose rows are wanted, or None for all rows.
        kernel: Whether compiled kernels decode the messages that they support: where numba is installed,
            always, or never.
        session_options: The options of the protocol's sessions that differ from their defaults.
    """

    protocol: str
    backend: str = "native"
    role: str | None = None
    variant: str | None = None
    strict: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    mode: Mode = "PERMISSIVE"
    error_bytes: int = 4096
    messages: tuple[str, ...] | None = None
    kernel: Kernel = "auto"
    session_options: Mapping[str, object] = field(default_factory=dict)

    @property
    def package(self) -> Package:
        return package_of(self.protocol)

    @property
    def codec(self) -> ModuleType:
        return self.package.codec(self.backend)

    @property
    def is_native(self) -> bool:
        return self.backend == "native"

    @property
    def largest_frame(self) -> int:
        size: int = self.limits.get("frame") or self.package.schema.limits["frame"]
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The options of one read.

    Attributes:
        message: The only message that is wanted; its fields are then the columns.
        capture: Whether the files are captures, or None to decide by their first bytes.
        split_size: Bytes of a file that one task reads.
        batch_size: Bytes that are decoded into one batch of rows.
        has_index: Whether the offsets of cuts are kept for the next read.
        is_growing: For streams: whether files may grow. Otherwise they are complete when they appear.
        idle: Seconds without a change after which a growing file counts as complete.
        most_age: For streams: by how many seconds a file that appears may be older than the newest one.
        most_bytes: The approximate maximum size of one batch of a stream, in bytes.
        most_files: The maximum number of files in one batch of a stream.
        takes_filters: Whether filters on message, code and offset are pushed down. Spark 4.3 then keeps them
            for all later queries of the same table, so use it only for a table that is queried once.
    """

    wishes: Wishes
    paths: tuple[str, ...]
    message: str | None = None
    capture: bool | None = None
    port: int | None = None
    split_size: int = 64 << 20
    batch_size: int = 1 << 20
    has_index: bool = True
    is_growing: bool = False
    idle: int = 60
    most_age: int = 7 * 86_400
    most_bytes: int | None = None
    most_files: int | None = None
    takes_filters: bool = False

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReadOptions:
        """Return the options that a user gave as text.

        Raises:
            WireSparkError: An option is unknown, or its value is invalid.
        """
        given = check_names(options, _KNOWN)
        wishes = wishes_of(given)
        capture = None if "capture" not in given else truth("capture", given["capture"])
        if capture and not wishes.is_native:
            raise WireSparkError(
                f"a capture contains native bytes, not {wishes.backend}: remove the option `backend`"
            )
        return cls(
            wishes=wishes,
            paths=_paths(given),
            message=among(given.get("message"), "message", wishes.package.messages),
            capture=capture,
            port=_port(given),
            split_size=_at_least(_LEAST_SPLIT, "split", given.get("split", "64MiB")),
            batch_size=_at_least(1, "batch", given.get("batch", "1MiB")),
            has_index=truth("index", given.get("index", "true")),
            is_growing=truth("growing", given.get("growing", "false")),
            idle=amount("idle", given.get("idle", "60")),
            most_age=_seconds("maxfileage", given.get("maxfileage", "7d")),
            most_bytes=_positive("maxbytespertrigger", given),
            most_files=_positive("maxfilespertrigger", given),
            takes_filters=truth("pushdown", given.get("pushdown", "false")),
        )


def check_names(
    options: Mapping[str, str], known: tuple[str, ...], prefixes: tuple[str, ...] = (LIMIT,)
) -> dict[str, str]:
    """Return options with their names in lower case.

    Raises:
        WireSparkError: An option is not in `known`, and begins with none of the prefixes.
    """
    given = {name.lower(): text for name, text in options.items()}
    for name in given:
        if name not in known and not name.startswith(prefixes):
            names = ", ".join(each for each in known if each not in _HIDDEN)
            others = " and ".join(f"{prefix}NAME" for prefix in prefixes)
            raise WireSparkError(f"unknown option {name!r}; the options are {names} and {others}")
    return given


def wishes_of(given: Mapping[str, str]) -> Wishes:
    """Return the options of decoding, from options whose names are checked.

    Raises:
        WireSparkError: The value of an option is invalid.
    """
    if not given.get("protocol"):
        raise WireSparkError(
            'the protocol is missing: give its name, for example .option("protocol", "lumberjack")'
        )
    mode = given.get("mode", "PERMISSIVE").upper()
    if mode not in get_args(Mode):
        raise WireSparkError(f"mode is {given['mode']!r}: give one of {', '.join(get_args(Mode))}")
    backend, package = given.get("backend", "native"), package_of(given["protocol"])
    schema = package.schema
    package.codec(backend)
    return Wishes(
        protocol=given["protocol"],
        backend=backend,
        role=among(given.get("from"), "role", schema.roles),
        variant=among(given.get("variant"), "variant", schema.variants),
        strict=truth("strict", given.get("strict", "false")),
        limits=_limits(given, package),
        mode=mode,  # type: ignore[arg-type]  # compared above
        error_bytes=amount("errorbytes", given.get("errorbytes", "4096")),
        kernel=_kernel(given.get("kernel", "auto").lower()),
    )


def _kernel(word: str) -> Kernel:
    if word not in get_args(Kernel):
        raise WireSparkError(f"kernel is {word!r}: give one of {', '.join(get_args(Kernel))}")
    if word == "on" and not has_numba():
        raise WireSparkError("numba is missing: pip install numba, or remove the option `kernel`")
    return word  # type: ignore[return-value]  # compared above


def has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def _limits(given: Mapping[str, str], package: Package) -> dict[str, int]:
    """Return the limits in `limits` (`frame=1MiB, count=10`) and in each `limit.NAME`."""
    found = {}
    for name, text in settings("limit", given, "limits", LIMIT, "NAME=VALUE, such as frame=1MiB"):
        found[among(name, "limit", package.schema.limits) or ""] = amount(f"limit {name}", text)
    if found.get("frame") == 0:
        raise WireSparkError("the limit frame is 0: give 1 or more")
    most: int = package.runtime("codec.values").MOST_NESTING
    if found.get("depth", 0) > most:
        raise WireSparkError(f"the limit depth is at most {most}, not {found['depth']}")
    return found


class NamedText(NamedTuple):
    """The name of a limit or of an option of sessions, and its value as the user wrote it."""

    name: str
    text: str


def settings(noun: str, given: Mapping[str, str], together: str, prefix: str, form: str) -> list[NamedText]:
    """Return the settings in the option `together`, which has them as `a=1, b=2`, and in each option with the prefix.

    Raises:
        WireSparkError: A text has no `=`; the message tells the form.
    """
    texts = [text.strip() for text in given.get(together, "").split(",") if text.strip()]
    for text in texts:
        if "=" not in text:
            raise WireSparkError(f"the {noun} {text!r} has no value: write {form}")
    pairs = [text.partition("=")[::2] for text in texts]
    pairs += [(name[len(prefix) :], text) for name, text in given.items() if name.startswith(prefix)]
    return [NamedText(name.strip(), text.strip()) for name, text in pairs]


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths of `load`: one as plain text, several as Spark's JSON."""
    import json

    found = json.loads(given["paths"]) if given.get("paths") else [given["path"]] if given.get("path") else []
    if not found:
        raise WireSparkError("the path is missing: give a file or a folder, .load(path)")
    return tuple(found)


def among(name: str | None, noun: str, names: Collection[str]) -> str | None:
    if name is None or name in names:
        return name
    raise WireSparkError(
        f"unknown {noun} {name!r}: expected one of {', '.join(names)}"
        if names
        else f"unknown {noun} {name!r}: remove the option"
    )


def truth(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise WireSparkError(f"{name} is {text!r}: give true or false")
    return text.lower() == "true"


def _positive(name: str, given: Mapping[str, str]) -> int | None:
    return _at_least(1, name, given[name]) if name in given else None


def _port(given: Mapping[str, str]) -> int | None:
    if "port" not in given:
        return None
    digits = given["port"].strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18 and 1 <= int(digits) <= _LAST_PORT):
        raise WireSparkError(f"port is {given['port']!r}: give a number from 1 to {_LAST_PORT}")
    return int(digits)


def _at_least(least: int, name: str, text: str) -> int:
    number = amount(name, text)
    if number < least:
        raise WireSparkError(f"{name} is {text!r}: give {least} or more")
    return number


def _seconds(name: str, text: str) -> int:
    """Return a duration in seconds; its text may end with a unit."""
    digits = text.strip().lower()
    unit = _SECONDS.get(digits[-1:], 0)
    number = digits[:-1].strip() if unit else digits
    if not (number.isascii() and number.isdigit() and len(number) <= 9):
        raise WireSparkError(f"{name} is {text!r}: give a duration, such as 3600, 12h or 7d")
    return int(number) * (unit or 1)


def amount(name: str, text: str) -> int:
    digits = text.strip().lower()
    unit = next((unit for unit in _UNITS if unit and digits.endswith(unit)), "")
    number = digits.removesuffix(unit).strip()
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise WireSparkError(f"{name} is {text!r}: give a number, such as 1000 or 64MiB")
    return int(number) * _UNITS[unit]
