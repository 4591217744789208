"""Frames that may carry no message: a value in every serialization, in sessions and in types."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.once import mypy_cache
from tests.property.codecs import Codecs
from tests.property.schemas import built

CASE = Path(__file__).resolve().parents[1] / "cases" / "constructs" / "frame_without_message.wire"
SERIALIZATIONS = ("native", "protobuf", "msgpack")


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    folder = tmp_path_factory.mktemp("frames")
    with built(CASE.read_text(), folder, "without_message", SERIALIZATIONS) as made:
        yield made


def _frames(p: Any) -> tuple[Any, ...]:
    return (
        p.Frame(None, more=True, id=9),
        p.Frame(None, more=False, id=0),
        p.Frame(p.Ping(4), more=True, id=3),
    )


@pytest.mark.parametrize("name", SERIALIZATIONS)
def test_every_serialization_carries_a_frame_without_a_message(codecs: Codecs, name: str) -> None:
    p = codecs.module
    serialization = p if name == "native" else __import__(f"{p.__name__}.{name}", fromlist=["encode"])
    for frame in _frames(p):
        data = serialization.encode(frame)
        assert serialization.decode(data) == frame
        assert serialization.decode_message(data) == frame.message
        assert list(serialization.Decoder().feed(data * 2)) == [frame] * 2
    assert list(p.Decoder().messages(p.encode(_frames(p)[0]))) == [None]


def test_a_session_takes_it_as_no_message(codecs: Codecs) -> None:
    p = codecs.module
    a, b, observer = p.Connection("a"), p.Connection("b"), p.Session()
    empty, ping = p.Frame(None, more=True, id=9), p.Frame(p.Ping(4), more=True, id=3)
    for frame, n in ((empty, 0), (ping, 3), (empty, 3)):
        data = b.send(frame)
        assert [event.frame for event in a.receive(data)] == [frame]
        assert [event.frame for event in observer.observe("b", data)] == [frame]
        assert a.talk.n == b.talk.n == n


def test_its_message_is_typed_as_optional(codecs: Codecs, tmp_path: Path) -> None:
    package = codecs.module.__name__
    root = Path(str(codecs.module.__file__)).parents[2]
    user = tmp_path / "user.py"
    user.write_text(
        f"from {package} import Frame, Ping, decode_message\n"
        "frame = Frame(None, more=True, id=9)\n"
        "message = decode_message(frame.encode())\n"
        "number: int = 0 if message is None or not isinstance(message, Ping) else message.number\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), str(user)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
