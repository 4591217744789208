"""The extension for Visual Studio Code: its colours by the tokenizer of the editor itself, and its package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.npm import AT_ONCE, npm_modules

from wiregen import __version__
from wiregen.language.lexical.textmate import SCOPE, scope_of
from wiregen.language.lexical.token_rules import TokenKind
from wiregen.language.lexical.wire_lexer import WireLexer, token_type

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
FILES = sorted(path for folder in ("idl", "docs", "tests") for path in (ROOT / folder).rglob("*.wire"))
TOKENIZER = ("vscode-textmate@9", "vscode-oniguruma@2")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the tokenizer of VS Code is installed."""
    folder = tmp_path_factory.mktemp("textmate")
    npm_modules(folder, *TOKENIZER)
    return folder


def scopes(lines: list[list[tuple[int, str]]], text: str) -> list[str]:
    """Return the scope of each character; that of the whole text for the ends of lines."""
    found = []
    for line, tokens in zip(text.split("\n"), lines, strict=True):
        starts = [*(start for start, _ in tokens), len(line)]
        for (start, scope), end in zip(tokens, starts[1:], strict=True):
            found += [scope] * (min(end, len(line)) - start)
        found.append(SCOPE)
    return found[:-1]


def test_colours_are_those_of_the_lexer(tokenizer: Path) -> None:
    """Each character of each file has one of the scopes whose tokens the lexer of Pygments shows in the type of the character."""
    allowed: dict[object, set[str]] = {}
    for kind in TokenKind:
        allowed.setdefault(token_type(kind), set()).add(scope_of(kind) or SCOPE)
    grammar = EXTENSION / "syntaxes" / "wire.tmLanguage.json"
    command = list(map(str, ("node", ROOT / "tests" / "interop" / "colours.js", tokenizer, grammar, *FILES)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    files = [json.loads(line) for line in done.stdout.splitlines()]
    seen = set()
    for path, lines in zip(FILES, files, strict=True):
        text = path.read_text(encoding="utf-8")
        if not text.isascii():  # columns of JavaScript are of UTF-16
            text = "".join(character if character < "\U00010000" else "\ufffd\ufffd" for character in text)
        found = scopes(lines, text)
        for start, type_, value in WireLexer().get_tokens_unprocessed(text):
            for index, character in enumerate(value, start):
                if not character.isspace() and path.stem != "unterminated_bytes":
                    assert found[index] in allowed[type_], (path.name, text.count("\n", 0, index) + 1, value)
                    seen.add(found[index])
    assert seen >= {scope for kind in TokenKind if (scope := scope_of(kind)) is not None}


def test_the_package_holds_what_the_editor_reads(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path / "editors" / "vscode"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    shutil.copy(ROOT / "LICENSE", folder)
    (tmp_path / "dist").mkdir()
    environment = {**os.environ, "NO_UPDATE_NOTIFIER": "1"}
    for command in (["ci", *AT_ONCE], ["run", "package", "--", __version__]):
        done = subprocess.run(
            ["npm", *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode and command[0] == "ci":
            pytest.skip(f"npm cannot install what bundles the extension: {done.stderr.strip()[:200]}")
        assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "dist" / f"wiregen-{__version__}.vsix") as package:
        names = set(package.namelist())
        manifest = json.loads(package.read("extension/package.json"))
        assert f'Version="{__version__}"' in package.read("extension.vsixmanifest").decode()
    contributed = manifest["contributes"]
    for path in (
        manifest["main"],
        contributed["languages"][0]["configuration"],
        contributed["grammars"][0]["path"],
    ):
        assert f"extension/{path.removeprefix('./')}" in names
