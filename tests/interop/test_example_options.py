"""The options of the example commands: a bad value ends them with exit code 2 and a message that names the option."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lumberjack_receiver.__main__ import main as receiver_main
from lumberjack_writer.__main__ import main as writer_main
from lumberjack_writer.writer import Settings
from pravega_probe.__main__ import main as probe_main
from tests.interop.receiver import HOST, environment

TOO_LARGE = "9" * 30
COUNTS = ("0", "-1", "one", TOO_LARGE)
WRITER = {
    "port": ("0", "65536", "99999", "http"),
    "--tries": COUNTS,
    "--window": COUNTS,
    "--max-in-flight": COUNTS,
    "--pause": ("-1", "-0.5", "nan", "inf", "soon"),
    "--ack-wait": ("0", "-1", "nan", "inf", "1e-9"),
    "--compression": ("-1", "10"),
    "--ack-value": ("none",),
    "--ca": ("nosuch.pem",),
    "--cert": ("nosuch.pem",),
    "--key": ("nosuch.pem",),
}
RECEIVER = {
    "--port": ("-1", "65536", "99999", "http"),
    "--metrics-port": ("-1", "65536"),
    "--max-connections": COUNTS,
    "--refusal-lines": ("-1", "x", TOO_LARGE),
    "--idle-timeout": ("0", "-1", "nan", "inf"),
    "--max-frame": ("0", "0MiB", TOO_LARGE, "3GiB"),
    "--max-inflated": ("0", "-1"),
    "--max-count": ("0",),
    "--max-messages": ("0",),
    "--max-depth": ("0",),
    "--max-window": ("0",),
    "--cert": ("nosuch.pem",),
    "--key": ("nosuch.pem",),
    "--client-ca": ("nosuch.pem",),
}


def cases(options: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(name, value) for name, values in options.items() for value in values]


def refused(capsys: pytest.CaptureFixture[str], main: object, *arguments: str) -> str:
    """Run a command in this process; return its last line on stderr."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["command", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()  # type: ignore[operator]
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(("name", "value"), cases(WRITER))
def test_the_writer_refuses_a_bad_option(capsys: pytest.CaptureFixture[str], name: str, value: str) -> None:
    given = [HOST, value] if name == "port" else [HOST, "5044", f"{name}={value}"]
    line = refused(capsys, writer_main, *given)
    assert f"argument {name}: " in line and repr(value).strip("'") in line


@pytest.mark.parametrize(("name", "value"), cases(RECEIVER))
def test_the_receiver_refuses_a_bad_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, value: str
) -> None:
    line = refused(capsys, receiver_main, str(tmp_path / "spool"), "--insecure", f"{name}={value}")
    assert f"argument {name}: " in line and repr(value).strip("'") in line
    assert not (tmp_path / "spool").exists()


def test_a_pipe_is_no_certificate_and_nobody_waits_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = str(tmp_path / "pipe")
    for name in ("--cert", "--key", "--client-ca"):
        said = refused(capsys, receiver_main, str(tmp_path / "spool"), name, pipe)
        assert f"cannot read {pipe!r}: not a regular file" in said
    for name in ("--cert", "--key", "--ca"):
        assert "not a regular file" in refused(capsys, writer_main, HOST, "5044", name, pipe)
    for name, value in (("--ca", pipe), ("--token", f"@{pipe}")):
        assert "not a regular file" in refused(capsys, probe_main, HOST, "scope", name, value)


def test_a_file_that_holds_no_certificate_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "empty.pem"
    path.write_text("no certificate\n")
    assert f"--ca {path}: " in refused(capsys, writer_main, HOST, "5044", "--ca", str(path))
    given = ("--cert", str(path), "--key", str(path))
    assert f"--cert {path}, --key {path}: " in refused(capsys, receiver_main, str(tmp_path / "spool"), *given)
    assert "--cert" in refused(capsys, writer_main, HOST, "5044", "--key", str(path))


@pytest.mark.parametrize("name", ["window", "max_in_flight", "tries"])
@pytest.mark.parametrize("value", [0, -1])
def test_settings_that_would_send_nothing_are_refused(name: str, value: int) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=f"`{name}` is {value}"):
        replace(Settings(host=HOST, port=5044), **given)


def test_a_command_ends_without_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lumberjack_writer", HOST, "5044", "--insecure", "--window", "0"],
        input="{}\n",
        env=environment(),
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "argument --window: '0' is not an integer in 1 .. " in done.stderr
    assert "Traceback" not in done.stderr
