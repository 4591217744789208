"""The pages of the errors in bytes and values: one for each code of the closed list, with commands that print what they say."""

import re
import shlex
import struct
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

from wiregen.language.diagnostics import error_codes, explanation, known_codes, title
from wiregen.runtime.schema.literals import Code
from wiregen.tools.cli import wiregen

ROOT = Path(__file__).resolve().parents[3]
CAPTURE = ROOT / "examples" / "captures" / "npm-w10-plain.pcap"
CONSOLE = re.compile(r"^```console\n\$ (.+)\n((?s:.+?)\n)```$", re.MULTILINE)
PCAP_HEAD, PACKET_HEAD = 24, 16
SECOND_EVENT = 7  # the packet of the capture that `lossy.pcap` lacks


def lossy() -> bytes:
    """Return the capture without one packet."""
    data = CAPTURE.read_bytes()
    packets, offset = [data[:PCAP_HEAD]], PCAP_HEAD
    while offset < len(data):
        (size,) = struct.unpack_from("<I", data, offset + 8)
        packets.append(data[offset : offset + PACKET_HEAD + size])
        offset += PACKET_HEAD + size
    del packets[1 + SECOND_EVENT]
    return b"".join(packets)


def output_of(command: str) -> str:
    """Return the output of a command in a page, with its stderr; another command may feed it through a pipe."""
    feed, _, call = command.rpartition(" | ")
    data = subprocess.run(["sh", "-c", feed], check=True, capture_output=True).stdout if feed else b""
    name, *arguments = shlex.split(call)
    assert name == "wiregen"
    result = CliRunner().invoke(wiregen, arguments, input=data)
    assert result.exit_code in (0, 1, 2), result.output
    return result.output


def check_printed(shown: str, output: str) -> None:
    """Check that an output begins with the shown text, in which `…` replaces any text."""
    pattern = ".*?".join(map(re.escape, shown.split("…")))
    brief = output[:2000]
    assert re.match(pattern, output, re.DOTALL), brief


def test_the_closed_list_and_the_pages_are_the_same() -> None:
    assert len(get_args(Code)) > 20
    assert sorted(get_args(Code)) == sorted(error_codes())


def test_the_codes_of_diagnostics_and_of_errors_are_kept_apart() -> None:
    assert all(code.startswith("WG") for code in known_codes())
    assert not set(known_codes()) & set(error_codes())


@pytest.mark.parametrize("code", error_codes())
def test_a_page_names_its_code_and_says_where_and_whether_it_goes_on(code: str) -> None:
    page = explanation(code) or ""
    assert re.match(rf"# {code}: [^\n]+[^\n.]\n\n", page)
    assert title(code)
    assert "`at`" in page and "`inner_at`" in page
    assert re.search(r"recoverable|go(es)? on", page)
    assert max(map(len, re.sub(r"(?s)```.*?```", "", page).splitlines())) <= 120


@pytest.mark.parametrize("code", error_codes())
def test_the_command_of_a_page_prints_what_the_page_shows(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lossy.pcap").write_bytes(lossy())
    shown = CONSOLE.search(explanation(code) or "")
    assert shown is not None
    check_printed(shown[2].rstrip("\n"), output_of(shown[1]))


@pytest.mark.parametrize("code", ["truncated", "TRUNCATED", "Limit_Exceeded"])
def test_explain_prints_the_page_in_whatever_case(code: str) -> None:
    result = CliRunner().invoke(wiregen, ["explain", code])
    assert result.exit_code == 0
    assert result.stdout == explanation(code.lower())


@pytest.mark.parametrize(
    ("code", "way_out"),
    [
        pytest.param("trailing-byte", "did you mean `trailing_bytes`?", id="error"),
        pytest.param("wg10011", "did you mean `WG1001`?", id="diagnostic"),
        pytest.param("../pages/gap", "the codes are WG1001", id="path"),
    ],
)
def test_explain_offers_the_nearest_code_of_both_kinds(code: str, way_out: str) -> None:
    result = CliRunner().invoke(wiregen, ["explain", code])
    assert result.exit_code == 2
    assert f"there is no code `{code}`" in result.stderr
    assert way_out in result.stderr
