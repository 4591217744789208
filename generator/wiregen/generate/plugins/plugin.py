"""From a command line to the files of its answer; each kind of failure is a diagnostic of its own."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from wiregen.generate.plugins.process import Finished, OutOfBoundsError, PluginBounds, run
from wiregen.generate.writer import Output, WriteError, check_paths
from wiregen.language.diagnostics import Report, Span

if TYPE_CHECKING:
    from wiregen.generate.backends import Subject
    from wiregen.generate.plugins.exchange import Answer

__all__ = ["Plugin", "chosen_plugins", "files_of"]

_SHOWN_COMPLAINT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A program as the user wrote it, the folder that it runs in, and its bounds."""

    command: str
    folder: Path
    bounds: PluginBounds = field(default_factory=PluginBounds)


def chosen_plugins(
    named: Iterable[str],
    configured: tuple[str, ...],
    root: Path,
    report: Report,
    *,
    is_allowed: bool,
    bounds: PluginBounds,
) -> tuple[Plugin, ...]:
    """Return the plug-ins of the command line, then those of the configuration, which must be allowed."""
    if configured and not is_allowed:
        report.error(
            "WG5020",
            f"the configuration names the plug-in `{configured[0]}`, but plug-ins were not allowed",
            None,
            help="if you trust the project, add `--allow-plugins`",
        )
        return ()
    here = Path.cwd()
    own = (Plugin(command=command, folder=here, bounds=bounds) for command in named)
    return (*own, *(Plugin(command=command, folder=root, bounds=bounds) for command in configured))


def files_of(
    plugins: tuple[Plugin, ...],
    subjects: tuple[Subject, ...],
    others: tuple[Output, ...],
    package: str,
    report: Report,
) -> tuple[Output, ...]:
    """Return the files that the plug-ins make from the protocols; `others` are the other files of the tree."""
    from wiregen.generate.plugins.exchange import write_request

    request = write_request(package, tuple(subject.protocol for subject in subjects))
    origins = {path: span for subject in subjects for path, span in subject.origins.items()}
    taken = list(others)
    for plugin in plugins:
        answer = _answer(plugin, request, report)
        if answer is not None:
            _pass_on(plugin, answer, origins, report)
            taken.extend(_checked(plugin, answer, taken, report))
    return tuple(taken[len(others) :])


def _answer(plugin: Plugin, request: bytes, report: Report) -> Answer | None:
    finished = _finished(plugin, request, report)
    if finished is None:
        return None
    if finished.code:
        _complain(plugin, finished, report)
        return None
    from wiregen.generate.plugins.exchange import read_answer

    try:
        return read_answer(finished.output)
    except ValueError as error:
        report.error(
            "WG5024",
            f"the answer of plug-in `{plugin.command}` is invalid: {error}",
            None,
            help='print exactly one document to stdout: {"files": [{"path": …, "content": …}]} or {"errors": [{"message": …}]}',
        )
        return None


def _finished(plugin: Plugin, request: bytes, report: Report) -> Finished | None:
    """Run the program, and return None if it could not start or was ended."""
    try:
        arguments = tuple(shlex.split(plugin.command))
        if not arguments or any("\0" in argument for argument in arguments):
            raise ValueError("the program is missing")
        return run(arguments, request, plugin.folder, plugin.bounds)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.error(
            "WG5021",
            f"the plug-in `{plugin.command}` cannot be started: {reason.lower()}",
            None,
            help="give a program and its arguments; they are not read by a shell",
        )
    except OutOfBoundsError as error:
        report.error(
            "WG5022",
            f"the plug-in `{plugin.command}` was terminated: {error}",
            None,
            help="try it alone with the output of `wiregen ir NAME`; `--plugin-time` and `--plugin-output` give it more",
        )
    return None


def _complain(plugin: Plugin, finished: Finished, report: Report) -> None:
    said = finished.complaints.decode(errors="replace").strip()[-_SHOWN_COMPLAINT:]
    how = f"code {finished.code}" if finished.code > 0 else f"signal {-finished.code}"
    report.error(
        "WG5023",
        f"the plug-in `{plugin.command}` ended with {how}",
        None,
        help=f"it said: {said}" if said else "it wrote nothing to stderr",
    )


def _pass_on(plugin: Plugin, answer: Answer, origins: Mapping[str, Span], report: Report) -> None:
    """Report the errors in the plug-in's answer, at the places that it names."""
    for error in answer.errors:
        report.error(
            "WG5026",
            f"the plug-in `{plugin.command}` refuses the protocol: {error.message}",
            origins.get(error.path),
            label="here",
        )


def _checked(plugin: Plugin, answer: Answer, taken: list[Output], report: Report) -> Iterator[Output]:
    """Yield the files whose paths the writer accepts together with the other files."""
    paths = [output.path for output in taken]
    for file in answer.files or ():
        path = PurePosixPath(file.path)
        try:
            content = file.content.encode()
            if path in paths:
                raise WriteError(f"{file.path!r} already exists")
            check_paths([*paths, path])
        except (WriteError, UnicodeEncodeError) as error:
            reason = str(error) if isinstance(error, WriteError) else f"{file.path!r} is not Unicode text"
            report.error(
                "WG5025",
                f"the plug-in `{plugin.command}` returned a file that is not allowed: {reason}",
                None,
                help="return each path once, relative to the output folder, with slashes",
            )
        else:
            paths.append(path)
            yield Output(path=path, content=content)
