"""`wiregen build`: .wire files to the generated tree; with --check or --diff only the comparison."""

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from wiregen.cli.failure import DONE, FINDINGS, USAGE, Failure
from wiregen.cli.protocols import configuration, stop
from wiregen.cli.talk import has_colour, tell

if TYPE_CHECKING:
    from wiregen.config import Config
    from wiregen.writer import Difference, Output

__all__ = ["verb"]

_MOVE_AWAY = "the message names the place; nothing was changed"


@click.command("build")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--check", is_flag=True, help="Write nothing; list stale, missing and extra files, exit 1 if any."
)
@click.option(
    "--diff", is_flag=True, help="Write nothing; print the changes that a build would make, exit 1 if any."
)
def verb(names: tuple[str, ...], check: bool, diff: bool) -> int:
    """Write the generated packages of the protocols NAME, or of all that the configuration names."""
    from wiregen.build import build
    from wiregen.cli.progress import progress_of_pages
    from wiregen.diagnostics import Report, render
    from wiregen.locks import LockError
    from wiregen.source import Sources
    from wiregen.writer import WriteError

    report, sources = Report(), Sources()
    config = configuration(report)
    locks: dict[Path, bytes] = {}
    with progress_of_pages() as at_page:
        outputs = build(config, names, sources, report, at_page=at_page, at_lock=locks.__setitem__)
    if report.has_errors:
        stop(report, sources)
    if any(diagnostic.severity != "note" for diagnostic in report.diagnostics):  # notes are for `check`
        sys.stderr.write(render(report, sources, colour=has_colour(sys.stderr)))
    try:
        if check or diff:
            stale = _stale_locks(locks)
            return max(stale, _compare(outputs, config, is_partial=bool(names), with_text=diff))
        _write_locks(locks)
        return _write(outputs, config, is_partial=bool(names))
    except (WriteError, LockError) as error:
        raise Failure(str(error), _MOVE_AWAY, code=USAGE) from None


def _write_locks(locks: dict[Path, bytes]) -> None:
    """Write the locks first: whoever has the tree then has them."""
    from wiregen.frontend import as_shown
    from wiregen.locks import write_lock

    for path, content in locks.items():
        if write_lock(path, content):
            tell(f"{as_shown(path)}: written; it belongs into the repository")


def _stale_locks(locks: dict[Path, bytes]) -> int:
    """List the locks that a build would write."""
    from wiregen.frontend import as_shown

    stale = [path for path, content in locks.items() if not path.is_file() or path.read_bytes() != content]
    sys.stdout.writelines(f"{'stale' if path.is_file() else 'missing'} {as_shown(path)}\n" for path in stale)
    return FINDINGS if stale else DONE


def _write(outputs: "tuple[Output, ...]", config: "Config", *, is_partial: bool) -> int:
    from wiregen.frontend import as_shown
    from wiregen.writer import write

    written = write(outputs, config.output, partial=is_partial)
    folder = as_shown(config.output)
    for path in written.kept:
        tell(f"kept {folder / path}: it was changed by hand since it was generated; delete it yourself")
    counts = f"{_files(len(written.changed))} written, {len(written.deleted)} deleted"
    tell(f"{folder}: {counts if written.changed or written.deleted else 'up to date'}")
    return DONE


def _compare(outputs: "tuple[Output, ...]", config: "Config", *, is_partial: bool, with_text: bool) -> int:
    from wiregen.frontend import as_shown
    from wiregen.writer import compare

    difference = compare(outputs, config.output, partial=is_partial)
    folder = as_shown(config.output)
    rows = _changes(outputs, difference, config.output) if with_text else _listing(difference, folder)
    sys.stdout.writelines(f"{row}\n" for row in rows)
    _tell_ways_out(difference, folder)
    return FINDINGS if difference else DONE


def _tell_ways_out(difference: "Difference", folder: Path) -> None:
    """Say what a build would do, and what it leaves to the user."""
    n_kept = len(difference.kept)
    n_files = len(difference.stale) + len(difference.missing) + len(difference.extra) - n_kept
    if not difference:
        tell(f"{folder}: up to date")
    if n_files:
        tell(f"{folder}: {_files(n_files)} not up to date; `wiregen build` mends that")
    if n_kept:
        them = "it" if n_kept == 1 else "them"
        tell(f"{folder}: {_files(n_kept)} extra; remove {them}, or move {them} out of {folder}")


def _listing(difference: "Difference", folder: Path) -> Iterator[str]:
    for word in ("stale", "missing", "extra"):
        paths: tuple[PurePosixPath, ...] = getattr(difference, word)
        yield from (f"{word} {folder / path}" for path in paths)


def _changes(outputs: "tuple[Output, ...]", difference: "Difference", folder: Path) -> Iterator[str]:
    """Return a unified diff from the tree to what a build writes; the manifest, which only holds hashes, is left out."""
    from wiregen.frontend import as_shown

    wanted = {output.path: output.content for output in outputs}
    for path in sorted((*difference.stale, *difference.missing, *difference.extra)):
        if path in difference.kept:
            yield f"extra {as_shown(folder) / path}"
        elif path in wanted or path in difference.extra:
            old = (folder / path).read_bytes() if path not in difference.missing else b""
            yield from _unified(str(path), old, wanted.get(path, b""))


def _unified(name: str, old: bytes, new: bytes) -> Iterator[str]:
    before, after = (text.decode(errors="replace").splitlines() for text in (old, new))
    return difflib.unified_diff(before, after, f"old/{name}", f"new/{name}", lineterm="")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
