"""`wiregen new`: a project that builds, with a small protocol to change and a test of it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.messages import tell

__all__ = ["verb"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_FILES: Final = {
    "wiregen.toml": "new/wiregen.toml.jinja",
    "pytest.ini": "new/pytest.ini.jinja",
    "idl/{name}.wire": "new/protocol.wire.jinja",
    "tests/test_{name}.py": "new/test_protocol.py.jinja",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewView:
    """The names in the files of a new project; `package` is that of all its protocols."""

    name: str
    package: str


@click.command("new")
@click.argument("name")
def verb(name: str) -> int:
    """Create the folder NAME with a project: its configuration, a commented protocol, and a test."""
    from wiregen.generate.emitter import render

    _check_name(name)
    folder = Path(name)
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir() or any(folder.iterdir())):
        raise Failure(f"`{name}` already exists, and is not an empty folder", "choose another name")
    view = NewView(name=name, package=f"{name}_wire")
    texts = {path.format(name=name): render(template, view) for path, template in _FILES.items()}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
        tell(f"{name}/{path}: written")
    tell(f"next: cd {name} && wiregen build && pytest")
    return DONE


def _check_name(name: str) -> None:
    """Refuse a name that is invalid for protocols, or that has a meaning in the language or in Python."""
    from wiregen.language.parser.keywords import RESERVED_WORDS
    from wiregen.schema.naming import Namespace, is_device, python_name

    if not _NAME.fullmatch(name):
        raise Failure(
            f"`{name}` cannot be the name of a protocol",
            "use a lower-case letter, then up to 39 lower-case letters, digits and _",
        )
    if is_device(name):
        raise Failure(f"`{name}` is the name of a device on Windows", "choose another name")
    if name == "pytest":
        raise Failure("`pytest` is imported by the test of a new project", "choose another name")
    if name in RESERVED_WORDS or python_name(name, Namespace.PACKAGE) != name:
        raise Failure(f"`{name}` is reserved in the language or in Python", "choose another name")
