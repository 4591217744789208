"""Captures compressed with gzip, xz and zstd: recognised, cut, damaged, padded, and bounded in memory."""

import gzip
import io
import lzma
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.unit.formats.test_capture_files import enhanced, interface, pcap, read, section

from wiregen.formats.capture import CaptureError, IssueKind, Issues, is_capture, read_capture


def library_of_zstd() -> ModuleType | None:
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        return None


zstd: Any = library_of_zstd()
Compress = Callable[[bytes], bytes]
NOISE = pcap(*[random.Random(seed).randbytes(256) for seed in range(2_000)])
NOISE_IN_BLOCKS = (
    section() + interface() + b"".join(enhanced(NOISE[i : i + 300]) for i in range(0, 500_000, 300))
)
needs_zstd = pytest.mark.skipif(
    zstd is None, reason="backports.zstd is not installed: pip install 'wiregen[zstd]'"
)
ALL = [
    pytest.param(gzip.compress, id="gzip"),
    pytest.param(lzma.compress, id="xz"),
    pytest.param(lambda data: zstd.compress(data), id="zstd", marks=needs_zstd),
]
STORED = [
    pytest.param(lambda data: gzip.compress(data, 0), id="gzip"),
    pytest.param(lambda data: lzma.compress(data, preset=0), id="xz"),
    pytest.param(lambda data: zstd.compress(data, 1), id="zstd", marks=needs_zstd),
]


@pytest.mark.parametrize("n_members", [1, 3])
@pytest.mark.parametrize("compress", ALL)
def test_it_is_recognised_by_content(compress: Compress, n_members: int, tmp_path: Path) -> None:
    raw = pcap(*[bytes([i]) * 50 for i in range(9)])
    step = -(-len(raw) // n_members)
    path = tmp_path / "capture.bin"
    path.write_bytes(b"".join(compress(raw[i : i + step]) for i in range(0, len(raw), step)))
    assert list(read_capture(path)) == list(read_capture(io.BytesIO(raw)))
    assert is_capture(str(path))


@pytest.mark.parametrize("compress", ALL)
def test_zeros_behind_a_member_are_padding(compress: Compress) -> None:
    packets, issues = read(compress(pcap(b"abc")) + bytes(512))
    assert ([packet.data for packet in packets], issues) == ([b"abc"], [])


@pytest.mark.parametrize("compress", ALL)
def test_bytes_that_come_one_at_a_time(compress: Compress) -> None:
    class Trickle(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return self.read(1)

    packets = list(read_capture(Trickle(compress(pcap(b"abc")) + compress(b""))))
    assert [packet.data for packet in packets] == [b"abc"]


@pytest.mark.parametrize("compress", STORED)
def test_one_that_ends_early_gives_what_came_before(compress: Compress) -> None:
    packed = compress(NOISE)
    packets, issues = read(packed[: len(packed) * 3 // 4])
    assert len(packets) > 100
    assert packets == list(read_capture(io.BytesIO(NOISE)))[: len(packets)]
    assert issues == [IssueKind.TRUNCATED_FILE]


@pytest.mark.parametrize("compress", STORED)
@pytest.mark.parametrize("data", [NOISE, NOISE_IN_BLOCKS], ids=["pcap", "pcapng"])
def test_one_that_ends_early_is_counted_once(compress: Compress, data: bytes) -> None:
    """Its member is cut, and so is the record in it."""
    packed = compress(data)
    issues = Issues()
    list(read_capture(io.BytesIO(packed[: len(packed) * 3 // 4]), issues=issues))
    assert issues.count(IssueKind.TRUNCATED_FILE) == 1


@pytest.mark.parametrize("compress", STORED[:2])  # zstd unzips whole blocks
def test_damage_in_its_middle_leaves_it_a_capture(compress: Compress, tmp_path: Path) -> None:
    """Also where all its bytes come at once."""
    packed = bytearray(compress(pcap(*[random.Random(seed).randbytes(50) for seed in range(99)])))
    packed[len(packed) // 2] ^= 0x10
    (tmp_path / "x.pcap.z").write_bytes(packed)
    assert is_capture(io.BytesIO(packed)) and is_capture(tmp_path / "x.pcap.z")


@pytest.mark.parametrize("compress", STORED)
def test_damage_is_an_issue_with_the_name_of_the_compression(
    compress: Compress, request: pytest.FixtureRequest
) -> None:
    packed = bytearray(compress(NOISE))
    packed[len(packed) // 2 :] = b"\xff" * (len(packed) - len(packed) // 2)
    issues = Issues()
    packets = list(read_capture(io.BytesIO(packed), issues=issues))
    assert 100 < len(packets) < 2_000
    [issue] = [each for each in issues if each.kind is IssueKind.TRUNCATED_FILE]
    assert issue.detail.startswith(f"{request.node.callspec.id}: ")


@pytest.mark.parametrize("compress", ALL)
def test_a_small_file_of_many_bytes_takes_little_memory(compress: Compress) -> None:
    file = io.BytesIO(compress(pcap(*[bytes(200_000)] * 400)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_capture(file)) == 400
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_a_dictionary_of_xz_beyond_the_memory_of_a_reader_is_refused() -> None:
    small = bytearray(lzma.compress(pcap(b"abc"), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]))
    assert small[14:17] == b"\x21\x01\x10"  # LZMA2, a property of one byte: the size of the dictionary
    small[16] = 36  # 1 GiB
    small[20:24] = zlib.crc32(small[12:20]).to_bytes(4, "little")
    with pytest.raises(CaptureError, match="xz: .*[Mm]emory"):
        list(read_capture(io.BytesIO(bytes(small))))


@needs_zstd
def test_a_window_of_zstd_beyond_the_memory_of_a_reader_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 29, zstd.CompressionParameter.compression_level: 1}
    with zstd.ZstdFile(file := io.BytesIO(), "w", options=options) as writer:
        writer.write(pcap(b"abc"))
    with pytest.raises(CaptureError, match="zstd: "):
        list(read_capture(io.BytesIO(file.getvalue())))


def test_without_the_library_of_zstd_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CaptureError, match=r"pip install 'wiregen\[zstd\]'"):
        list(read_capture(io.BytesIO(b"\x28\xb5\x2f\xfd" + bytes(20))))


@pytest.mark.parametrize("compress", STORED)
def test_the_place_of_damage_is_told_as_one_of_the_decompressed_bytes(compress: Compress) -> None:
    issues = Issues()
    list(read_capture(io.BytesIO(compress(NOISE)[:-1000]), issues=issues))
    assert [str(issue).partition(" of the decompressed bytes: ")[1] for issue in issues] == [
        " of the decompressed bytes: "
    ] * len(issues)
    plain = Issues()
    list(read_capture(io.BytesIO(NOISE[:-1000]), issues=plain))
    assert [" of the decompressed" in str(issue) for issue in plain] == [False]
