"""`wiregen build`: .wire files to the generated tree; with --check or --diff only the comparison."""

import difflib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, USAGE, Failure
from wiregen.tools.cli.messages import UNFINISHED, has_colour, tell
from wiregen.tools.cli.protocols import chosen_names, configuration, stop

if TYPE_CHECKING:
    from wiregen.generate.plugins import Plugin
    from wiregen.generate.writer import Output, TreeDifference
    from wiregen.language.config import Config
    from wiregen.language.diagnostics import Report

__all__ = ["verb"]

_MOVE_AWAY = "remove the obstacle that the message names; no file was changed"


_OLD_SIZE = 1 << 20
"""The most bytes of an old file, beyond four times those of the new one, for which the difference is shown."""


@click.command("build")
@shared_options.protocols
@shared_options.only_check
@click.option("--watch", is_flag=True, help="Build again at each change of a source, until Ctrl-C.")
@click.option(
    "--diff",
    is_flag=True,
    help="Write no files. Print the changes that a build would make, and exit with 1 if there are any.",
)
@click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="COMMAND",
    help="Run this program too. It reads the schemas on stdin and returns files on stdout. May be repeated.",
)
@click.option("--allow-plugins", is_flag=True, help="Run the plug-ins that the configuration names.")
@click.option(
    "--plugin-time",
    metavar="TIME",
    help="Time that each plug-in may take, for example `90 s` or `5 min`. Default: 60 s.",
)
@click.option(
    "--plugin-output",
    metavar="SIZE",
    help="Size that each plug-in may write to stdout, for example `256 MiB`. Default: 64 MiB.",
)
def verb(
    names: tuple[str, ...],
    check: bool,
    diff: bool,
    watch: bool,
    plugins: tuple[str, ...],
    allow_plugins: bool,
    plugin_time: str | None,
    plugin_output: str | None,
) -> int:
    """Build the generated packages of the protocols NAME. Without NAME, build all protocols of the configuration."""
    wishes = _Wishes(
        names=names,
        plugins=plugins,
        allows_plugins=allow_plugins,
        plugin_time=plugin_time,
        plugin_output=plugin_output,
    )
    if not watch:
        return _compared(wishes, with_text=diff) if check or diff else _built(wishes)
    if check or diff:
        raise Failure("--watch writes files, but --check and --diff do not", "give only one of them")
    from wiregen.tools.cli.watch import watch_sources

    return watch_sources(lambda: _built(wishes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wishes:
    """The parts to build, and the allowed plug-ins with their bounds of time and output (None: as configured)."""

    names: tuple[str, ...]
    plugins: tuple[str, ...]
    allows_plugins: bool
    plugin_time: str | None
    plugin_output: str | None


def _built(wishes: _Wishes) -> int:
    """Build and write; report only that the tree is up to date if it is as the last build left it."""
    from wiregen.generate.freshness import built_code, inputs_of, is_fresh, remember
    from wiregen.language.diagnostics import Report

    config = configuration(Report())
    is_partial = bool(wishes.names)
    has_plugins = bool(wishes.plugins or config.plugins)  # the inputs of plug-ins are not known
    inputs = None if is_partial or has_plugins else inputs_of(config)
    if is_fresh(built_code(config), inputs):
        return _say_fresh(config)
    made = _make(config, wishes)

    code = _guarded(lambda: _write(made, config, is_partial=is_partial))
    if made.is_silent and inputs == inputs_of(
        config
    ):  # otherwise an input changed during the build, or a message has to be repeated
        remember(built_code(config), inputs)
    return code


def _compared(wishes: _Wishes, *, with_text: bool) -> int:
    """Build, and show the changes that a build would make; the stored result of the last build is not used."""
    from wiregen.language.diagnostics import Report

    config = configuration(Report())
    made = _make(config, wishes)
    is_partial = bool(wishes.names)
    stale = _stale_locks(made.locks)
    return _guarded(
        lambda: max(stale, _compare(made.outputs, config, is_partial=is_partial, with_text=with_text))
    )


def _guarded(action: Callable[[], int]) -> int:
    from wiregen.generate.writer import WriteError
    from wiregen.language.locks import LockError

    try:
        return action()
    except (WriteError, LockError) as error:
        raise Failure(str(error), _MOVE_AWAY, code=USAGE) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """The result of a build: the new files, the new locks, and whether it had no diagnostics."""

    outputs: "tuple[Output, ...]"
    locks: "Mapping[Path, bytes]"
    is_silent: bool


def _make(config: "Config", wishes: _Wishes) -> _Made:
    """Build in memory; exit if there are errors."""
    from wiregen.generate.build import build
    from wiregen.generate.protocol_files import protocol_files
    from wiregen.language.diagnostics import Report, render
    from wiregen.language.source import Sources
    from wiregen.tools.cli.progress import progress_of_pages

    report, sources = Report(), Sources()
    locks: dict[Path, bytes] = {}
    plugins = _plugins(config, wishes, report)
    if report.has_errors:
        stop(report, sources)
    if not (wishes.names or config.protocols or config.runtime_package):
        chosen_names(protocol_files(config), config)
    with progress_of_pages() as at_page:
        outputs = build(
            config, wishes.names, sources, report, at_page=at_page, at_lock=locks.__setitem__, plugins=plugins
        )
    if report.has_errors:
        stop(report, sources)
    is_silent = all(
        diagnostic.severity == "note" for diagnostic in report.diagnostics
    )  # they are for `check`
    if not is_silent:
        sys.stderr.write(render(report, sources, colour=has_colour(sys.stderr)))
    return _Made(outputs=outputs, locks=locks, is_silent=is_silent)


def _plugins(config: "Config", wishes: _Wishes, report: "Report") -> "tuple[Plugin, ...]":
    if not (wishes.plugins or config.plugins):
        return ()
    from wiregen.generate.plugins import bounds_of, chosen_plugins

    try:
        bounds = bounds_of(
            config.plugin_time if wishes.plugin_time is None else wishes.plugin_time,
            config.plugin_output if wishes.plugin_output is None else wishes.plugin_output,
        )
    except ValueError as error:
        raise Failure(
            f"invalid bound for the plug-ins: {error}", "give a number and its unit", code=USAGE
        ) from None
    return chosen_plugins(
        wishes.plugins,
        config.plugins,
        config.root,
        report,
        is_allowed=wishes.allows_plugins,
        bounds=bounds,
    )


def _say_fresh(config: "Config") -> int:
    from wiregen.language.source import as_shown

    tell(f"{as_shown(config.output)}: up to date")
    return DONE


def _write_locks(locks: "Mapping[Path, bytes]") -> None:
    """Write the locks first, so that a tree never exists without them."""
    from wiregen.language.locks import write_lock
    from wiregen.language.source import as_shown

    for path, content in locks.items():
        if write_lock(path, content):
            tell(f"{as_shown(path)}: written; add it to version control")


def _stale_locks(locks: "Mapping[Path, bytes]") -> int:
    """List the locks that a build would change; return the exit code."""
    from wiregen.generate.writer import holds, is_regular
    from wiregen.language.source import as_shown

    stale = [path for path, content in locks.items() if not holds(path, content)]
    sys.stdout.writelines(
        f"{'stale' if is_regular(path) else 'missing'} {as_shown(path)}\n" for path in stale
    )
    return FINDINGS if stale else DONE


def _write(made: _Made, config: "Config", *, is_partial: bool) -> int:
    """Write the locks, then the tree, while no other process writes either."""
    from wiregen.generate.writer import write
    from wiregen.language.source import as_shown

    written = write(
        made.outputs,
        config.output,
        partial=is_partial,
        at_wait=tell,
        first=lambda: _write_locks(made.locks),
    )
    folder = as_shown(config.output)
    for path in written.kept:
        tell(
            f"kept {folder / path}: it was changed by hand after it was generated; delete it if it is not needed"
        )
    counts = f"{_files(len(written.changed))} written, {len(written.deleted)} deleted"
    tell(f"{folder}: {counts if written.changed or written.deleted else 'up to date'}")
    return DONE


def _compare(outputs: "tuple[Output, ...]", config: "Config", *, is_partial: bool, with_text: bool) -> int:
    from wiregen.generate.writer import compare
    from wiregen.language.source import as_shown

    difference = compare(outputs, config.output, partial=is_partial)
    folder = as_shown(config.output)
    rows = _changes(outputs, difference, config.output) if with_text else _listing(difference, folder)
    sys.stdout.writelines(f"{row}\n" for row in rows)
    _tell_ways_out(difference, folder)
    return FINDINGS if difference else DONE


def _tell_ways_out(difference: "TreeDifference", folder: Path) -> None:
    """Report the actions of a build, and those that are left to the user."""
    n_kept = len(difference.kept)
    n_files = len(difference.stale) + len(difference.missing) + len(difference.extra) - n_kept
    if not difference:
        tell(f"{folder}: up to date")
    if difference.is_unfinished:
        tell(f"{folder}: {UNFINISHED}")
    if n_files:
        tell(f"{folder}: {_files(n_files)} not up to date; run `wiregen build`")
    if n_kept:
        them = "it" if n_kept == 1 else "them"
        tell(f"{folder}: {_files(n_kept)} extra; remove {them}, or move {them} out of {folder}")


def _listing(difference: "TreeDifference", folder: Path) -> Iterator[str]:
    for word in ("stale", "missing", "extra"):
        paths: tuple[PurePosixPath, ...] = getattr(difference, word)
        yield from (f"{word} {folder / path}" for path in paths)


def _changes(outputs: "tuple[Output, ...]", difference: "TreeDifference", folder: Path) -> Iterator[str]:
    """Yield a unified diff from the tree to the output of a build, without the manifest, which only holds hashes."""
    from wiregen.language.source import as_shown

    wanted = {output.path: output.content for output in outputs}
    for path in sorted((*difference.stale, *difference.missing, *difference.extra)):
        if path in difference.kept:
            yield f"extra {as_shown(folder) / path}"
        elif path in wanted or path in difference.extra:
            new = wanted.get(path, b"")
            old = b"" if path in difference.missing else _old(folder / path, len(new))
            if old is None:
                yield f"stale {as_shown(folder) / path} (not a file that a build wrote)"
            else:
                yield from _unified(str(path), old, new)


def _old(path: Path, size: int) -> bytes | None:
    """Return the content of a file whose new content has `size` bytes.

    Return None for a link, for a file that is not regular, and for one that is far larger.
    """
    from wiregen.language.regular_files import read_regular

    try:
        return read_regular(path, 4 * size + _OLD_SIZE, follow_links=False)
    except OSError:
        return None


def _unified(name: str, old: bytes, new: bytes) -> Iterator[str]:
    before, after = (text.decode(errors="replace").splitlines() for text in (old, new))
    return difflib.unified_diff(before, after, f"old/{name}", f"new/{name}", lineterm="")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
