"""An older state of a project: its .wire files, locks and vectors from git, or from a folder."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from wiregen.tools.cli.failure import Failure

if TYPE_CHECKING:
    from wiregen.language.config import Config
    from wiregen.schema.model import Protocol

__all__ = ["OldState", "old_state"]

_KEPT: Final = (".wire", ".lock")
_PLAIN_FILES: Final = ("100644", "100755")
_LARGEST: Final = 64 << 20  # bytes of a saved model
_TIME: Final = 60.0  # seconds that git may take
_DECLARED: Final = re.compile(r"(?:\s|//[^\n]*\n|wire\s+\d+)*protocol\s+`?([A-Za-z_]\w*)", re.ASCII)
"""The beginning of a .wire file, to the name of its protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldState:
    """The .wire files of an older state by the name that each declares, and its folder of vectors, which may not exist.

    Attributes:
        name: As the user gave it.
        sources: The folders that imports may lead into.
        saved: The only protocol of a saved model, which has no sources.
        is_one: The user gave one protocol: a file or a saved model. It says nothing about others.
    """

    name: str
    files: Mapping[str, Path]
    sources: tuple[Path, ...]
    vectors: Path
    saved: "Protocol | None" = None
    is_one: bool = False

    @property
    def protocols(self) -> tuple[str, ...]:
        """The names of all protocols, sorted; a saved model is never told as removed."""
        return tuple(sorted(self.files))


@contextmanager
def old_state(against: str, config: "Config") -> Iterator[OldState]:
    """Provide the state that a user named: a folder, .wire file or saved model if it exists, else a revision of git.

    Raises:
        Failure: It is neither.
    """
    path = Path(against)
    if path.is_dir():
        yield _of_folder(path)
    elif path.is_file() and path.suffix == ".json":
        saved, vectors = _saved(path), path.parent / "vectors"
        yield OldState(name=against, files={}, sources=(), vectors=vectors, saved=saved, is_one=True)
    elif path.is_file():
        files, vectors = _declared(path), path.parent / "vectors"
        yield OldState(name=against, files=files, sources=(path.parent,), vectors=vectors, is_one=True)
    else:
        with TemporaryDirectory(prefix="wiregen-") as folder:
            yield _of_git(against, config, Path(folder))


def _of_folder(path: Path) -> OldState:
    """Return the state in a folder of .wire files, or in the folder of a project."""
    from wiregen.language.config import load_config
    from wiregen.language.diagnostics import Report

    if any(path.glob("*.wire")):
        return _of_sources(str(path), (path,), path / "vectors")
    report = Report()
    config = load_config(path, report)
    if report.has_errors or not any(folder.is_dir() for folder in config.sources):
        raise Failure(
            f"there is no .wire file in `{path}`",
            "give a folder of .wire files, the folder of a project, or a revision of git",
        )
    return _of_sources(str(path), config.sources, config.output / "vectors")


def _of_sources(name: str, folders: tuple[Path, ...], vectors: Path) -> OldState:
    """Return the state of all .wire files in folders; of files that declare the same name, that of the first folder."""
    paths = [path for folder in folders for path in sorted(folder.glob("*.wire"))]
    files = {key: file for path in reversed(paths) for key, file in _declared(path).items()}
    return OldState(name=name, files=files, sources=folders, vectors=vectors)


def _declared(path: Path) -> dict[str, Path]:
    """Return a file by the name of the protocol that it declares; by its own name, if that cannot be read."""
    from wiregen.language.regular_files import read_regular_text
    from wiregen.language.source import MAX_SOURCE_SIZE

    try:
        found = _DECLARED.match(read_regular_text(path, MAX_SOURCE_SIZE))
    except (OSError, ValueError):  # the loader says why
        found = None
    return {path.stem if found is None else found[1]: path}


def _saved(path: Path) -> "Protocol":
    """Return the model that `wiregen ir` printed into a file."""
    from wiregen.language.regular_files import read_regular_text
    from wiregen.schema.json_reader import protocol_from_json

    try:
        return protocol_from_json(json.loads(read_regular_text(path, _LARGEST)))
    except (ValueError, RecursionError) as error:
        raise Failure(
            f"`{path}` is not a saved model: {error}", "save one with `wiregen ir NAME > NAME.json`"
        ) from None


# ---- git


def _of_git(revision: str, config: "Config", into: Path) -> OldState:
    """Copy the sources and vectors of a revision into a folder."""
    top = Path(_git(config.root, "rev-parse", "--show-toplevel", missing=revision).decode().strip())
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _git(top, *arguments, missing=revision).decode().strip()
    sources = tuple(each.relative_to(top.resolve()) for each in config.sources)
    vectors = config.output.relative_to(top.resolve()) / "vectors"
    listed = _git(top, "ls-tree", "-r", "-z", commit, "--", *map(str, (*sources, vectors)), missing=revision)
    for entry in filter(None, listed.decode().split("\0")):
        about, _, name = entry.partition("\t")
        path = Path(name)
        is_source = path.suffix in _KEPT and path.parent in sources
        is_vector = path.suffix == ".json" and path.parent == vectors
        if about.split(" ")[0] in _PLAIN_FILES and (is_source or is_vector):
            target = into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_git(top, "show", f"{commit}:{name}", missing=revision))
    return _of_sources(revision, tuple(into / each for each in sources), into / vectors)


def _git(folder: Path, *arguments: str, missing: str) -> bytes:
    """Return the output of git, which runs without a shell.

    Raises:
        Failure: There is no git, no repository, or no revision `missing`.
    """
    way_out = "give a folder of .wire files, a .wire file, a saved `wiregen ir` file, or a revision that `git rev-parse` finds"
    try:
        done = subprocess.run(
            ("git", "-C", str(folder), *arguments), capture_output=True, timeout=_TIME, check=True
        )
    except FileNotFoundError:
        raise Failure(f"`{missing}` is not a path, and there is no git", way_out) from None
    except subprocess.TimeoutExpired:
        raise Failure(f"git does not answer about `{missing}`", way_out) from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        text = f"`{missing}` is neither a path nor a revision"
        raise Failure(f"{text}: {reason}" if reason else text, way_out) from None
    return done.stdout
