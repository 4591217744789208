"""`encode` keeps to the limits that it is given, in every serialization: narrower and wider ones than the protocol's."""

from __future__ import annotations

from typing import Any

import pytest
from tests.built_schema import own_schema_of
from tests.property.test_serializations import PROTOCOLS, Package, code_of

from wireproto import lumberjack as lj
from wireproto._runtime.codec.options import Options
from wireproto._runtime.reference.writing.frames import write_frame
from wireproto.lumberjack import msgpack, protobuf
from wireproto.lumberjack import sessions as lj_sessions

NARROW: tuple[dict[str, int], ...] = (
    {"frame": 24}, {"frame": 60}, {"count": 1}, {"messages": 1}, {"messages": 3}, {"depth": 0}, {"inflated": 20},
    {"frame": 1 << 30, "count": 1 << 20, "depth": 32},
)  # fmt: skip


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


@pytest.mark.parametrize("limits", NARROW, ids=str)
def test_compiled_code_and_the_reference_codec_hold_frames_to_the_same_limits(
    package: Package, limits: dict[str, int]
) -> None:
    bounds = package.native.Limits(**limits)
    for role, frame in package.frames(1):
        told = {"from_role": role} if own_schema_of(package.native).contexts else {}
        expected = code_of(
            write_frame,
            own_schema_of(package.native),
            frame,
            Options(role if told else None, limits=bounds.to_dict()),
        )
        found = code_of(package.native.encode, frame, **told, limits=bounds)
        assert found == expected
        assert code_of(frame.encode, **told, limits=bounds) == expected
        if isinstance(expected, bytes):
            wishes = {"from_role": role, "limits": bounds}
            if not own_schema_of(package.native).contexts:
                assert package.native.decode(expected, **wishes) == frame
            for module in (package.protobuf, package.msgpack):
                octets = code_of(module.encode, frame, **told, limits=bounds)
                assert not isinstance(octets, bytes) or module.decode(octets, **wishes) == frame


def nested(levels: int) -> Any:
    message: Any = lj.Ack(1)
    for _ in range(levels):
        message = lj.Compressed([lj.Frame(message)])
    return message


@pytest.mark.parametrize("module", [lj, protobuf, msgpack])
def test_what_was_decoded_within_limits_is_encoded_within_them(module: Any) -> None:
    wide = lj.Limits(depth=2)
    data = module.encode(nested(3), limits=wide)
    frame = module.decode(data, limits=wide)
    assert module.encode(frame, limits=wide) == data
    for other in (None, lj.Limits()):
        with pytest.raises(lj.EncodeError) as caught:
            module.encode(frame, limits=other)
        assert caught.value.code == "too_deep"


def test_messages_and_frames_take_limits() -> None:
    narrow = lj.Limits(frame=20)
    assert lj.Json(1, b"x").encode(limits=narrow) == lj.Json(1, b"x").encode()
    for encode in (lj.Json(1, b"x" * 20).encode, lj.Frame(lj.Json(1, b"x" * 20)).encode):
        with pytest.raises(lj.EncodeError) as caught:
            encode(limits=narrow)
        assert (caught.value.code, caught.value.rule) == ("limit_exceeded", "frame_too_large")


def test_a_connection_sends_within_its_limits() -> None:
    writer = lj_sessions.Connection("writer", limits=lj.Limits(frame=20))
    writer.send(lj.Window(1))
    with pytest.raises(lj.EncodeError) as caught:
        writer.send(lj.Json(1, b"x" * 20))
    assert caught.value.code == "limit_exceeded"
    deep = lj_sessions.Connection("writer", limits=lj.Limits(depth=2))
    assert deep.send(lj.Compressed([lj.Frame(lj.Compressed([lj.Frame(lj.Compressed([]))]))]))
