"""Options of a wrong type: a TypeError names the option and the expected type, wherever it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wireproto import geode, lumberjack, reactive_streams
from wireproto.geode import msgpack as geode_msgpack
from wireproto.geode import protobuf as geode_protobuf
from wireproto.lumberjack import msgpack as lumberjack_msgpack
from wireproto.lumberjack import protobuf as lumberjack_protobuf
from wireproto.reactive_streams import msgpack as streams_msgpack
from wireproto.reactive_streams import protobuf as streams_protobuf

PROTOCOLS: dict[str, tuple[Any, Any, tuple[Any, ...], str]] = {
    "lumberjack": (lumberjack, lumberjack.Ack(1), (lumberjack_protobuf, lumberjack_msgpack), "reader"),
    "geode": (
        geode,
        geode.Request(
            geode.GetRequest("r", geode.GeodeValue.Integer(1), geode.GeodeValue.Null()), correlation_id=1
        ),
        (geode_protobuf, geode_msgpack),
        "client",
    ),
    "reactive_streams": (
        reactive_streams,
        reactive_streams.Cancel(1),
        (streams_protobuf, streams_msgpack),
        "client",
    ),
}


def calls_of(
    module: Any, value: Any, role: str, option: str, *, has_encode: bool
) -> dict[str, Callable[[Any], object]]:
    """Return the ways of one module."""
    data = module.encode(value)
    where = module.__name__.removeprefix("wireproto.")

    def decoded(wrong: Any) -> object:
        return module.decode(data, from_role=role, **{option: wrong})

    def decoded_message(wrong: Any) -> object:
        return module.decode_message(data, from_role=role, **{option: wrong})

    def streamed(wrong: Any) -> object:
        return list(module.Decoder(role, **{option: wrong}).feed(data))

    def encoded(wrong: Any) -> object:
        return module.encode(value, **{option: wrong})

    found = {
        f"{where}.decode": decoded,
        f"{where}.decode_message": decoded_message,
        f"{where}.Decoder": streamed,
    }
    return found | ({f"{where}.encode": encoded} if has_encode else {})


def calls(name: str, option: str) -> dict[str, Callable[[Any], object]]:
    """Return every way to pass an option to the functions of a protocol's package, by name."""
    native, value, others, role = PROTOCOLS[name]
    found: dict[str, Callable[[Any], object]] = {}
    for module in (native, *others):
        found |= calls_of(module, value, role, option, has_encode=option == "limits" or module is not native)
    message = getattr(value, "message", value)
    found[f"{name}.Connection"] = lambda wrong: native.Connection(role, **{option: wrong})
    found[f"{name}.Session"] = lambda wrong: native.Session(**{option: wrong})
    if option == "limits":
        found["value.encode"] = lambda wrong: value.encode(limits=wrong)
    else:
        found["message.decode"] = lambda wrong: type(message).decode(native.encode(value), context=wrong)
    if option == "limits" and hasattr(native, "Context"):
        found["Context"] = lambda wrong: native.Context(limits=wrong)
        found["decode_conversation"] = lambda wrong: list(native.decode_conversation([], limits=wrong))
    return found


CASES = [
    pytest.param(name, option, way, id=f"{way} {option}")
    for name in PROTOCOLS
    for option in ("limits", "context")
    if option == "limits" or hasattr(PROTOCOLS[name][0], "Context")
    for way in calls(name, option)
]


@pytest.mark.parametrize(
    "wrong", [5, "deep", {"depth": 1}, 0, object()], ids=lambda wrong: type(wrong).__name__
)
@pytest.mark.parametrize(("name", "option", "way"), CASES)
def test_an_option_of_a_wrong_type_is_named(name: str, option: str, way: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"{option} takes a {name}\.{option.title()} or None, not "):
        calls(name, option)[way](wrong)


def test_the_options_of_another_protocol_are_refused() -> None:
    data = lumberjack.encode(lumberjack.Ack(1))
    with pytest.raises(TypeError, match=r"limits takes a lumberjack\.Limits"):
        lumberjack.decode(data, limits=geode.Limits())  # type: ignore[arg-type]
