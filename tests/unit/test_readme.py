"""README.md: the protocol in it is built, and its Python prints the stated results."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.tools.test_cli_decode import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")

SAID = {
    "thermo.encode(thermo.Reading": 'data == b"\\x01\\x04roof\\xff\\xdd"',
    "thermo.decode_message(data)": 'message == thermo.Reading(sensor="roof", tenths=-35)',
    "events = writer.receive": "writer.transfer.outstanding == ()",
}
"""A statement of the page, by its beginning or a part, and the result in a comment next to it or after it."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a package `wireproto` with the page's protocol and the shipped one that it uses."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "idl").mkdir()
    [text] = blocks("wire")
    (folder / "idl" / "thermo.wire").write_text(text, encoding="utf-8")
    (folder / "wiregen.toml").write_text(
        'sources = ["idl"]\noutput = "out"\nprotocols = ["thermo", "lumberjack"]\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = run("build")
    assert result.exit_code == 0, result.output
    return folder / "out" / "python"


def test_the_python_of_the_page_is_true(package: Path) -> None:
    plain = [block for block in blocks("python") if "async " not in block]
    lines, found = [], 0
    for line in "".join(plain).splitlines():
        lines.append(line)
        for said, truth in SAID.items():
            if said in line:
                found += 1
                lines.append(f"assert {truth}")
    assert found == len(SAID)
    done = subprocess.run(
        (sys.executable, "-W", "error", "-c", "\n".join(lines)),
        capture_output=True, text=True, check=False, env={"PYTHONPATH": str(package)}, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "-35\n"


def test_what_needs_a_network_compiles_and_names_what_there_is(package: Path) -> None:
    [block] = [block for block in blocks("python") if "async " in block]
    compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names = "aio.connect, aio.tls_client, lj.Window, lj.Json, aio.Peer.send, lj.Connection.transfer"
    program = f"from wireproto import lumberjack as lj\nfrom wireproto.lumberjack import aio\n{names}"
    subprocess.run((sys.executable, "-c", program), check=True, env={"PYTHONPATH": str(package)}, timeout=60)


def test_the_other_way_of_the_page() -> None:
    [line] = [
        line for block in blocks("sh") for line in block.splitlines() if "| .venv/bin/wiregen encode" in line
    ]
    decoding, encoding, _ = line.split(" | ")
    text = run(*shlex.split(decoding)[1:]).stdout
    result = run(*shlex.split(encoding)[1:], data=text.encode())
    assert (result.exit_code, result.stdout_bytes.hex()) == (0, "32570000000a")
