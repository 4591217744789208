"""How far a frame is searched that lacks a context, or that fragments make whole: values are counted, not time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.runtime.reference.reading.reader import Reader

PROTOCOL = """wire 1
protocol p { source "no document: many values before what a context tells" endian big roles a, b }
limits { frame = 1 MiB  work = 100 }
frame F {
  kind : u8 := code(body)
  body : match kind
}
union V : u8 { One 1 : u8  Two 2 : bytes[u8] }
context sizes : u8 per lane { set Size.size  clear Gone }
message Size 1 { lane : u8  size : u8 }
message Gone 5 { lane : u8 }
message Sized 2 { lane : u8  values : V[u16]  blob : bytes[sizes[lane]] }
message Cut 3 { data : bytes[u16]  }
message End 4 { data : bytes[u16]  }
join Inner : F { part Cut.data  last End.data }
"""
N_VALUES = 5_000
MANY = b"\2\1" + N_VALUES.to_bytes(2, "big") + b"\1\7" * N_VALUES
"""A Sized whose blob is as long as nobody said."""
FAULTY = MANY[:-2] + b"\3\0"
"""A frame whose last value is invalid."""
WORK = 100


@pytest.fixture(scope="module")
def package() -> Any:
    report = Report()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.wire"
        path.write_text(PROTOCOL, encoding="utf-8")
        subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None, report
    made = make(subject, ("native",), report)
    assert made is not None, report
    return made.native


@pytest.fixture
def n_values(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list whose only item counts the values that the reference codec reads."""
    count, node = [0], Reader.node

    def counted(self: Reader, *arguments: Any, **more: Any) -> Any:
        count[0] += 1
        return node(self, *arguments, **more)

    monkeypatch.setattr(Reader, "node", counted)
    return count


def error_of(package: Any, data: bytes, size: int, context: Any = None) -> Any:
    """Return the first error of a stream in chunks of that size."""
    decoder = package.Decoder("a", errors="yield", context=context)
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    items = [item for chunk in chunks for item in decoder.feed(chunk)]
    items += [item for _, _, item in decoder.finish_items()]
    return next(item for item in items if isinstance(item, package.DecodeError))


@pytest.mark.parametrize("data", [MANY, FAULTY], ids=["lacks", "faulty"])
@pytest.mark.parametrize("size", [1, 64, 1448, 1 << 20])
@pytest.mark.parametrize("has_context", [False, True])
def test_a_stream_without_the_context_is_searched_no_further(
    package: Any, n_values: list[int], data: bytes, size: int, has_context: bool
) -> None:
    error = error_of(package, data, size, package.Context() if has_context else None)
    assert error.code == "limit_exceeded" and "limits.work" in error.expected
    assert n_values[0] <= 3 * WORK


@pytest.mark.parametrize("data", [MANY, FAULTY], ids=["lacks", "faulty"])
def test_a_frame_without_the_context_is_searched_no_further(
    package: Any, n_values: list[int], data: bytes
) -> None:
    with pytest.raises(package.DecodeError) as caught:
        package.decode(data, from_role="a")
    assert caught.value.code == "limit_exceeded"
    assert n_values[0] <= 3 * WORK


def test_a_short_frame_without_the_context_says_so(package: Any) -> None:
    short = b"\2\1\0\2\1\7\1\7"
    for size in (1, 100):
        assert error_of(package, short, size).code == "missing_context"


def test_a_frame_with_the_context_is_read_however_little_is_searched(package: Any) -> None:
    for size in (64, 1 << 20):
        decoder = package.Decoder("a", context=package.Context())
        data = b"\1\1\2" + MANY + b"xx"
        found = [frame for at in range(0, len(data), size) for frame in decoder.feed(data[at : at + size])]
        assert len(found[1].message.values) == N_VALUES


def test_what_fragments_make_whole_is_searched_no_further(package: Any, n_values: list[int]) -> None:
    for inner in (MANY, FAULTY + b"xx"):
        n_values[0] = 0
        pieces = [inner[at : at + 1000] for at in range(0, len(inner), 1000)]
        data = b"".join(bytes([3]) + len(each).to_bytes(2, "big") + each for each in pieces[:-1])
        data += b"\4" + len(pieces[-1]).to_bytes(2, "big") + pieces[-1]
        error = error_of(package, b"\1\2\2" + data, 1 << 20, package.Context())
        assert error.code == "limit_exceeded"
        assert n_values[0] <= 3 * WORK
