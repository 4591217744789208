"""Templates compiled by Jinja, kept for the next process: to compile them takes longer than the rest of a small build."""

import contextlib
import os
import stat
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from wiregen.generate.caches import caches_folder

__all__ = ["compiled_templates"]


def compiled_templates() -> jinja2.BytecodeCache | None:
    """Return where compiled templates are kept, or None if the user's cache folder cannot be had."""
    try:
        folder = caches_folder() / f"templates-{jinja2.__version__}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = _is_ours(folder)
    except (OSError, RuntimeError):
        return None
    return _CompiledTemplates(folder) if is_ours else None


def _is_ours(folder: Path) -> bool:
    """Return whether only this user can write in a folder: what is in it is run."""
    if os.name == "nt":
        return True  # a folder of the user's profile is the user's alone
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


class _CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Files named by the path of the template, valid for its exact text and for one version of Python and Jinja."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder))

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - a damaged file may raise anything in pickle
            bucket.reset()  # the template is compiled again

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):  # a full disk, a folder without the right to write
            super().dump_bytecode(bucket)
