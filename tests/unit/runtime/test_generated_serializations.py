"""Generated protobuf and msgpack: wrong input of every kind, limits, libraries that are missing, other people's protobuf."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.built_schema import schema_of
from tests.property.any_values import AnyValues
from tests.property.test_serializations import PROTOCOLS, code_of

from wireproto import lumberjack as lj
from wireproto import pravega, reactive_streams
from wireproto.lumberjack import msgpack, protobuf
from wireproto.reactive_streams import msgpack as rs_msgpack
from wireproto.reactive_streams import protobuf as rs_protobuf

ROOT = Path(__file__).resolve().parents[3]
GENERATED = ROOT / "generated"
ACK = lj.Frame(lj.Ack(3), version=lj.Version.V1)


# ---- bytes


def test_the_bytes_are_those_of_the_reference() -> None:
    assert rs_protobuf.encode(reactive_streams.OnNext(1, b"hello")).hex() == "0b3a0908011205" + b"hello".hex()
    assert rs_msgpack.encode(reactive_streams.OnNext(1, b"hello")).hex() == "930701c405" + b"hello".hex()
    assert msgpack.encode(ACK).hex() == "93413103"
    assert protobuf.encode(ACK).hex() == "06083122020803"


WRONG_PROTOBUF = {
    "nothing in it": ("", "unknown_code", ""),
    "no message": ("0832", "unknown_code", ""),
    "an unknown number": ("0831 22020803 7800", "unknown_code", ""),
    "an unknown number inside": ("0831 2204 0803 7800", "unknown_code", "Ack"),
    "two members of a oneof": ("0831 22020803 2a020804", "duplicate", ""),
    "a message twice": ("0831 22020803 22020804", "duplicate", ""),
    "a field twice": ("0831 22040803 0804", "duplicate", "Ack.sequence"),
    "a header twice": ("0831 0832 22020803", "duplicate", "version"),
    "another wire type": ("0831 22020a00", "invalid_value", "Ack.sequence"),
    "a version that is none": ("0833 22020803", "invalid_enum", "Frame.version"),
    "a number beyond 32 bits": ("0831 2207 08808080808040", "invalid_value", "Ack.sequence"),
    "cut inside": ("0831 2202 08", "truncated", "Ack"),
}


@pytest.mark.parametrize("name", WRONG_PROTOBUF)
def test_what_protobuf_lets_pass_is_refused(name: str) -> None:
    octets, code, path = WRONG_PROTOBUF[name]
    body = bytes.fromhex(octets)
    with pytest.raises(protobuf.DecodeError) as caught:
        protobuf.decode(bytes([len(body)]) + body)
    error = caught.value
    assert (error.code, error.path) == (code, path)
    assert (error.recoverable, error.end) == (True, len(body) + 1)


WRONG_MSGPACK = {
    "no array": ("05", "invalid_value", ""),
    "an empty array": ("90", "invalid_value", ""),
    "an unknown code": ("93073103", "unknown_code", ""),
    "a code that is no number": ("93c33103", "unknown_code", ""),
    "a field too few": ("924131", "truncated", "Ack"),
    "a field too many": ("9441310304", "trailing_bytes", "Ack"),
    "text for a number": ("934131a133", "invalid_value", "Ack.sequence"),
    "a Boolean for a number": ("934131c3", "invalid_value", "Ack.sequence"),
    "a float for a number": ("934131cb4008000000000000", "invalid_value", "Ack.sequence"),
    "nil for a number": ("934131c0", "invalid_value", "Ack.sequence"),
    "beyond its range": ("934131cf0000000100000000", "invalid_value", "Ack.sequence"),
    "below its range": ("934131ff", "invalid_value", "Ack.sequence"),
    "a version that is none": ("93413303", "invalid_enum", "Frame.version"),
    "text for bytes": ("94443101 91 92a16bc40176".replace(" ", ""), "invalid_value", "Data.pairs[0].key"),
    "a pair too long": ("94443101 91 93c4016bc4017600".replace(" ", ""), "trailing_bytes", "Data.pairs[0]"),
    "a list that is none": ("9444310107", "invalid_value", "Data.pairs"),
    "a map": ("93413180", "invalid_value", "Ack.sequence"),
    "an extension": ("934131d40000", "invalid_value", "Ack.sequence"),
}


@pytest.mark.parametrize("name", WRONG_MSGPACK)
def test_what_is_not_of_the_form_is_refused(name: str) -> None:
    octets, code, path = WRONG_MSGPACK[name]
    data = bytes.fromhex(octets)
    with pytest.raises(msgpack.DecodeError) as caught:
        msgpack.decode(data)
    error = caught.value
    assert (error.code, error.path, error.recoverable, error.end) == (code, path, True, len(data))


@pytest.mark.parametrize("module", [protobuf, msgpack])
def test_every_prefix_asks_for_more(module: Any) -> None:
    data = module.encode(lj.Data(1, [lj.Pair("k" * 40, "v" * 300)] * 20))
    for size in (*range(40), len(data) - 1):
        with pytest.raises(module.NeedMoreData) as caught:
            module.decode(data[:size])
        assert 0 < caught.value.needed <= len(data) - size
    with pytest.raises(module.DecodeError, match="trailing_bytes"):
        module.decode(data + b"\0")


@pytest.mark.parametrize(
    ("module", "head"),
    [
        pytest.param(protobuf, "ffffffff7f", id="a length"),
        pytest.param(msgpack, "94443101ddffffffff", id="an array"),
        pytest.param(msgpack, "94443101c6ffffffff", id="bytes"),
        pytest.param(msgpack, "94443101dfffffffff", id="a map"),
        pytest.param(msgpack, "dd04ffffff" * 17, id="arrays in arrays"),
    ],
)
def test_a_head_that_says_too_much_is_refused_before_its_bytes_are_there(module: Any, head: str) -> None:
    decoder = module.Decoder()
    with pytest.raises(module.DecodeError) as caught:
        list(decoder.feed(bytes.fromhex(head)))
    assert (caught.value.code, caught.value.recoverable) == ("limit_exceeded", False)
    with pytest.raises(module.DecodeError, match="limit_exceeded"):
        list(decoder.feed(b"\0"))


@pytest.mark.parametrize("module", [protobuf, msgpack])
@pytest.mark.parametrize(
    ("limits", "code"),
    [
        pytest.param({"frame": 20, "inflated": 0}, "limit_exceeded", id="frame"),
        pytest.param({"count": 1}, "limit_exceeded", id="count"),
        pytest.param({"messages": 2}, "limit_exceeded", id="messages"),
        pytest.param({"depth": 0}, "too_deep", id="depth"),
        pytest.param({"inflated": 10}, "limit_exceeded", id="inflated"),
    ],
)
def test_limits_hold(module: Any, limits: dict[str, int], code: str) -> None:
    inner = lj.Frame(lj.Compressed([lj.Frame(lj.Data(1, [lj.Pair("k", "v")] * 2))]))
    data = module.encode(lj.Compressed([inner]))
    assert module.decode(data).message == lj.Compressed([inner])
    with pytest.raises(module.DecodeError) as caught:
        module.decode(data, limits=lj.Limits(**limits))
    assert caught.value.code == code


@pytest.mark.parametrize("module", [protobuf, msgpack])
def test_too_many_levels_are_refused(module: Any) -> None:
    frame = ACK
    for _ in range(3):
        frame = lj.Frame(lj.Compressed([frame]))
    with pytest.raises(module.EncodeError, match="too_deep"):
        module.encode(frame)
    if module is msgpack:
        with pytest.raises(module.DecodeError, match="too_deep"):
            module.decode(b"\x91" * 5000 + b"\x90")


@pytest.mark.parametrize("module", [protobuf, msgpack])
def test_what_is_lenient_is_refused_if_strict(module: Any) -> None:
    data = module.encode(lj.Data(1, [lj.Pair("k", "\udcff")]))
    assert module.decode_message(data).pairs[0].value == "\udcff"
    with pytest.raises(module.DecodeError, match=r"Data\.pairs\[0\]\.value: invalid_text"):
        module.decode(data, strict=True)


@pytest.mark.parametrize("module", [protobuf, msgpack])
def test_a_decoder_goes_on_behind_a_bad_frame(module: Any) -> None:
    good = module.encode(ACK)
    bad = bytes.fromhex("06083322020803" if module is protobuf else "93413303")
    decoder = module.Decoder("reader", errors="yield")
    first, error, second = decoder.feed(good + bad + good)
    assert first == second == ACK
    assert (error.code, error.frame_offset, error.end) == ("invalid_enum", len(good), len(good) + len(bad))
    decoder = module.Decoder("reader")
    found = decoder.feed(good + bad + good)
    assert next(found) == ACK
    with pytest.raises(module.DecodeError, match="invalid_enum"):
        next(found)
    assert list(decoder.messages(b"")) == [ACK.message]
    list(decoder.feed(good[:-1]))
    assert (decoder.pending, decoder.needed) == (len(good) - 1, 1)
    with pytest.raises(module.DecodeError, match="truncated"):
        decoder.finish()


# ---- values


class Text(str): ...


class Number(int): ...


@pytest.mark.parametrize("module", [protobuf, msgpack])
def test_values_of_kindred_classes_are_carried(module: Any) -> None:
    kindred = lj.Data(Number(1), ((lj.Pair(Text("k"), "v")),))  # type: ignore[arg-type]
    assert module.decode_message(module.encode(kindred)) == lj.Data(1, [lj.Pair("k", "v")])
    assert module.decode_message(module.encode(lj.Json(True, bytearray(b"{}")))) == lj.Json(1, b"{}")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["protobuf", "msgpack"])
def test_what_cannot_be_carried_is_refused_with_its_place(name: str) -> None:
    module = importlib.import_module(f"wireproto.pravega.{name}")
    for value, code, path in (
        (pravega.SegmentCreated(1, "\ud800"), "unrepresentable", "SegmentCreated.segment"),
        (pravega.Frame(pravega.Unknown(7777, b"abc")), "unrepresentable", "Unknown"),
        (pravega.SegmentCreated(1, "x" * 65536), "unrepresentable", "SegmentCreated.segment"),
        (pravega.SegmentCreated(2**63, ""), "invalid_value", "SegmentCreated.request_id"),
        (5, "unrepresentable", "int"),
    ):
        assert code_of(module.encode, value) == (code, path)


# ---- the libraries

WITHOUT = """
import sys
sys.modules["google"] = sys.modules["google.protobuf"] = sys.modules["msgspec"] = None
from wireproto import lumberjack as lj
assert lj.decode(lj.Ack(1).encode()).message == lj.Ack(1)
for name, extra in (("protobuf", "protobuf"), ("msgpack", "msgspec")):
    try:
        __import__(f"wireproto.lumberjack.{name}")
    except ImportError as error:
        assert f"`{name}`" in str(error) and f"pip install {extra}" in str(error), error
    else:
        raise AssertionError(name)
"""


def test_a_missing_library_is_named_and_missed_by_nobody_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        env={"PYTHONPATH": str(GENERATED / "python"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


# ---- other people's protobuf


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the classes that protoc makes of every .proto."""
    protoc = pytest.importorskip("grpc_tools.protoc")
    folder = tmp_path_factory.mktemp("protoc")
    source = GENERATED / "proto"
    files = sorted(path.name for path in source.glob("*.proto"))
    assert [name.removesuffix(".proto") for name in files] == sorted(PROTOCOLS)
    for name in files:
        assert protoc.main(["protoc", f"-I{source}", f"--python_out={folder}", name]) == 0
    return folder


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protoc_reads_what_we_write_and_we_what_it_writes(
    foreign: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(foreign))
    theirs = importlib.import_module(f"{name}_pb2")
    native, ours = importlib.import_module(f"wireproto.{name}"), importlib.import_module(
        f"wireproto.{name}.protobuf"
    )
    plan = schema_of(name)
    seen = set()
    values = AnyValues(native, plan)
    for seed in range(20):
        for role, frame in values.frames(seed):
            octets = code_of(ours.encode, frame)
            if isinstance(octets, tuple):
                continue
            body = octets[_head(octets) :]
            message = getattr(theirs, type(frame).__name__).FromString(body)
            told = {"from_role": role} if len(plan.frames) > 1 else {}
            again = message.SerializeToString()
            assert ours.decode(_length(again) + again, **told) == frame
            message.DiscardUnknownFields()
            assert message.SerializeToString() == body
            seen.add(type(frame.message).__name__)
    assert len(seen) > 0.8 * len(plan.messages)


def _head(octets: bytes) -> int:
    return next(n for n, byte in enumerate(octets) if byte < 128) + 1


def _length(body: bytes) -> bytes:
    size, parts = len(body), []
    while size > 127:
        parts.append(size & 127 | 128)
        size >>= 7
    return bytes([*parts, size])


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_descriptor_is_what_protoc_makes_of_the_text(foreign: Path, name: str) -> None:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    ours = FileDescriptorProto.FromString(importlib.import_module(f"wireproto.{name}._descriptor").DESCRIPTOR)
    text = (foreign / f"{name}_pb2.py").read_text()
    pool: dict[str, Any] = {}
    exec(  # noqa: S102 - protoc's own output
        "from google.protobuf import descriptor_pool\n"
        + "DESCRIPTOR = descriptor_pool.DescriptorPool().AddSerializedFile("
        + text.split("AddSerializedFile(", 1)[1].split("\n", 1)[0],
        pool,
    )
    theirs = FileDescriptorProto()
    pool["DESCRIPTOR"].CopyToProto(theirs)
    for message in theirs.message_type:
        _forget_json_names(message)
    assert ours == theirs


def _forget_json_names(message: Any) -> None:
    for field in message.field:
        field.ClearField("json_name")
    for inner in message.nested_type:
        _forget_json_names(inner)
