"""From the names that the user gave to checked protocols: configuration, file, front end, diagnostics on stderr."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from wiregen.tools.cli.failure import FINDINGS, USAGE, Failure
from wiregen.tools.cli.messages import has_colour

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

    from wiregen.generate.backends import Subject
    from wiregen.generate.kept_packages import PackageInputs
    from wiregen.generate.packages import Package
    from wiregen.generate.serialization import Serialization
    from wiregen.language.config import Config
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Source, Sources
    from wiregen.runtime.schema.protocol import Schema

__all__ = [
    "Decodable",
    "carrier_of",
    "check_names",
    "chosen_names",
    "completions",
    "configuration",
    "decodable",
    "decodable_of",
    "exit_code",
    "load",
    "native_of",
    "package_of",
    "spoken",
    "standard_input",
    "stop",
    "subject_of",
]

_USAGE_CODES = ("WG5002", "WG5003", "WG5005", "WG5020", "WG5021", "WG6")
_FILE_CODES = ("WG1001", "WG1002")
_LARGE = 1 << 20
"""Bytes from which on a file is read by compiled code."""


def configuration(report: "Report") -> "Config":
    """Return the configuration nearest to the working folder; exit if it has errors."""
    from wiregen.language.config import load_config
    from wiregen.language.source import Sources

    config = load_config(Path.cwd(), report)
    if report.has_errors:
        stop(report, Sources())
    return config


def chosen_names(files: "Iterable[Path]", config: "Config") -> tuple[str, ...]:
    """Return the paths of .wire files as the user would write them.

    Raises:
        Failure: Files are missing: all of them, or that of a name in `protocols`. An empty run would look like a success.
    """
    from wiregen.generate.protocol_files import protocol_files
    from wiregen.language.source import as_shown

    known = {path.stem for path in protocol_files(config)}
    for name in config.protocols or ():
        if name not in known:
            way_out = "`protocols` in wiregen.toml must name .wire files of the sources, or protocols that wiregen ships"
            raise Failure(f"there is no protocol `{name}`", way_out)
    names = tuple(dict.fromkeys(str(as_shown(path)) for path in files))
    if not names:
        folders = " or ".join(
            f"`{as_shown(folder)}`{'' if folder.is_dir() else ' (no such folder)'}"
            for folder in config.sources
        )
        way_out = (
            "create a project with `wiregen new NAME`, or set other folders as `sources` in wiregen.toml"
        )
        raise Failure(f"there are no protocols: no .wire file in {folders}", way_out, code=FINDINGS)
    return names


def completions(context: click.Context, parameter: click.Parameter, typed: str) -> "list[CompletionItem]":
    """Return the protocols whose names begin as typed, of the configuration and shipped ones, and the wish for files."""
    from click.shell_completion import CompletionItem

    from wiregen.language.config import load_config
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import available, shipped_protocols

    sources = load_config(Path.cwd(), Report()).sources
    names = (name for name in available((*sources, shipped_protocols())) if name.startswith(typed))
    return [*map(CompletionItem, names), CompletionItem(typed, type="file")]


def subject_of(name: str) -> "Subject":
    """Return the protocol that the user named, checked; exit with its diagnostics if it has errors."""
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

    report, sources = Report(), Sources()
    subject = load(name, configuration(report), sources, report)
    if subject is None or report.has_errors:
        stop(report, sources)
    return subject


def package_of(name: str, backends: tuple[str, ...]) -> "Package":
    """Return the package of the protocol that the user named, built in memory with these serializations."""
    from wiregen.generate.packages import make
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

    report, sources = Report(), Sources()
    subject = load(name, configuration(report), sources, report)
    package = None
    if subject is not None and not report.has_errors:
        package = make(_checked_spoken(subject), backends, report)
    if package is None:
        stop(report, sources)
    for backend in backends:
        _check_installed(package, backend)
    return package


def spoken(name: str) -> "Subject":
    """Return the protocol that the user named; exit if it has no frames."""
    return _checked_spoken(subject_of(name))


def _checked_spoken(subject: "Subject") -> "Subject":
    if not subject.protocol.frames:
        way_out = "give a protocol that imports it, or declare `frame Frame { … }` in it"
        raise Failure(
            f"`{subject.protocol.name}` has no frame, so it cannot be decoded or encoded", way_out, code=USAGE
        )
    return subject


def carrier_of(name: str, backend: str) -> "tuple[Subject, Serialization | None]":
    """Return the protocol that the user named, and its serialization, or None for the native codec."""
    if backend == "native":
        return spoken(name), None
    package = package_of(name, (backend,))
    return package.subject, package.serialization(backend)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decodable:
    """A protocol as the reading of native bytes needs it: the schema, the declared ports, and the compiled code, if it is worth its time."""

    schema: "Schema"
    ports: tuple[int, ...]
    compiled: "Serialization | None" = None


def decodable(name: str, *files: str | None) -> Decodable:
    """Return the protocol that the user named, for these files; large ones are read by compiled code, of an earlier run if possible."""
    if sum(map(_size_of, files)) < _LARGE:
        return decodable_of(spoken(name))
    from wiregen.generate.kept_packages import find_kept, keep
    from wiregen.generate.serialization import NATIVE, Serialization

    inputs = None if name == "-" else _inputs_of(name)
    kept = None if inputs is None else find_kept(inputs)
    if kept is not None:
        compiled = Serialization(kept, NATIVE, kept.native)
        return Decodable(schema=kept.schema, ports=kept.ports, compiled=compiled)
    subject = spoken(name)
    package = _native_package(subject)
    found = Decodable(schema=package.schema, ports=_ports(subject), compiled=package.serialization(NATIVE))
    if inputs is not None:
        keep(inputs, package)
    return found


def _inputs_of(name: str) -> "PackageInputs | None":
    """Return the inputs of the package of a protocol, or None if it cannot be found; `spoken` tells why."""
    from wiregen.generate.kept_packages import inputs_of_package
    from wiregen.generate.protocol_files import protocol_path
    from wiregen.language.config import written_sources

    sources = written_sources(Path.cwd())
    path = None if sources is None else protocol_path(name, sources.folders)
    return None if sources is None or path is None else inputs_of_package(path, sources)


def decodable_of(subject: "Subject") -> Decodable:
    """Return the same of a checked protocol, without compiled code."""
    from wiregen.schema.lowering import lower

    return Decodable(schema=lower(subject.protocol), ports=_ports(subject))


def _ports(subject: "Subject") -> tuple[int, ...]:
    return tuple(port.number for port in subject.protocol.ports)


def _size_of(name: str | None) -> int:
    """Return the size of a file in bytes; 0 if it is not known."""
    try:
        return 0 if name in (None, "-") else os.stat(str(name)).st_size
    except OSError:
        return 0  # whoever opens it says why


def native_of(subject: "Subject") -> "Serialization":
    """Return the native serialization of a checked protocol as compiled code: quick, and built in memory within a second."""
    from wiregen.generate.serialization import NATIVE

    return _native_package(subject).serialization(NATIVE)


def _native_package(subject: "Subject") -> "Package":
    from wiregen.generate.packages import make
    from wiregen.language.diagnostics import Report

    package = make(subject, (), Report())
    assert package is not None  # a checked protocol has a native package
    return package


def _check_installed(package: "Package", backend: str) -> None:
    try:
        package.serialization(backend)
    except ImportError as error:
        message, _, way_out = str(error).partition(": ")
        raise Failure(message, way_out or "see the documentation of that backend") from None


def load(name: str, config: "Config", sources: "Sources", report: "Report") -> "Subject | None":
    """Return a protocol by name or path, or of stdin for `-`; report an error and return None if it cannot be loaded."""
    from wiregen.generate.frontend import as_shown, check_source, load_protocol
    from wiregen.generate.protocol_files import find_protocol

    if name == "-":
        source = standard_input(sources, report)
        return None if source is None else check_source(source, sources, report, config.sources)
    path = find_protocol(name, config, report)
    return None if path is None else load_protocol(as_shown(path), sources, report, config.sources)


def check_names(names: tuple[str, ...]) -> None:
    """Check that stdin is the only name, if it is one.

    Raises:
        Failure: There are others.
    """
    if "-" in names and len(names) > 1:
        raise Failure(
            "`-` means stdin, and cannot be combined with other names", "give the files in a run of their own"
        )


def standard_input(sources: "Sources", report: "Report") -> "Source | None":
    """Return the text of stdin as the source of a protocol; report an error and return None if it is none."""
    from wiregen.language.source import MAX_SOURCE_SIZE, decode

    data = sys.stdin.buffer.read(MAX_SOURCE_SIZE + 1)
    if len(data) > MAX_SOURCE_SIZE:
        report.error(
            "WG1006", "stdin is larger than 4 MiB", None, help="divide the file, and import the parts"
        )
        return None
    return decode("<stdin>", Path("stdin.wire"), data, sources, report)


def stop(report: "Report", sources: "Sources", *, code: int | None = None) -> NoReturn:
    """Show the diagnostics on stderr and exit, with the code of the diagnostics by default."""
    from wiregen.language.diagnostics import render

    sys.stderr.write(render(report, sources, colour=has_colour(sys.stderr)))
    raise click.exceptions.Exit(exit_code(report) if code is None else code)


def exit_code(report: "Report") -> int:
    """Return 0 without errors, 2 for errors in the user's arguments or configuration, else 1."""
    errors = [diagnostic for diagnostic in report.diagnostics if diagnostic.severity == "error"]
    for error in errors:
        is_named_file = error.span is None and error.code in _FILE_CODES
        if is_named_file or error.code.startswith(_USAGE_CODES):
            return USAGE
    return FINDINGS if errors else 0
