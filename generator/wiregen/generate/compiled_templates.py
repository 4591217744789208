"""Templates compiled by Jinja, kept for the next process: to compile them takes longer than the rest of a small build."""

import contextlib
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from wiregen.generate.caches import folder_of_code

__all__ = ["compiled_templates"]


def compiled_templates() -> jinja2.BytecodeCache | None:
    """Return where compiled templates are kept, or None if the user's cache folder cannot be had."""
    folder = folder_of_code(f"templates-{jinja2.__version__}")
    return None if folder is None else _CompiledTemplates(folder)


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
