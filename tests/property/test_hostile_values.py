"""Any attribute of any message holds anything: encoders raise EncodeError alone, and `repr` shows it, shortly."""

from __future__ import annotations

import copy
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest
from tests.property.test_serializations import PROTOCOLS, Package
from tests.property.values import put, spots

from wireproto import lumberjack as lj
from wireproto import reactive_streams as rs
from wireproto._runtime.codec.fragment import Part

LONGEST = 20_000
"""Characters of the longest `repr` or error text: each attribute is cut, and no frame here has many."""


def _refuse(*_: object) -> NoReturn:
    raise RuntimeError("no method of mine answers")


_METHODS = (
    "__eq__", "__hash__", "__repr__", "__str__", "__index__", "__int__", "__len__", "__bool__", "__iter__", "__getitem__",
    "__contains__", "__float__", "__bytes__", "__format__", "encode", "decode", "__lt__", "__gt__", "__ge__", "__le__",
)  # fmt: skip
SILENT = dict.fromkeys(_METHODS, _refuse)
Silent: type = type("Silent", (), {**SILENT, "__getattr__": _refuse})
SilentInt: type = type("SilentInt", (int,), SILENT)
SilentText: type = type("SilentText", (str,), SILENT)
SilentBytes: type = type("SilentBytes", (bytes,), SILENT)
SilentList: type = type("SilentList", (list,), SILENT)
LongName: type = type("\u202e<b>" * 5_000, (), {})
Unknown: type = type("Unknown", (), {"code": 10**6_000, "data": "text"})


class OwnError(Exception):
    """An error that no handler of ours knows by name."""


def _nameless(_: object) -> NoReturn:
    raise OwnError("this class is not told")


def posing(kind: object, *bases: type) -> Any:
    """Return an object whose class is said to be another; for None, asking for it raises."""
    told = _nameless if kind is None else lambda _: kind
    made: Any = type("Posing", bases, {"__class__": property(told)})
    return made.__new__(made)


def itself() -> list[Any]:
    """Return a list that holds itself."""
    loop: list[Any] = []
    loop.append(loop)
    return loop


def deep() -> list[Any]:
    """Return a list that no recursion goes through."""
    found: list[Any] = []
    for _ in range(5_000):
        found = [found]
    return found


def released() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


HOSTILE: tuple[Callable[[], Any], ...] = (
    itself, deep, released, Silent, LongName, Unknown, object, Unknown.mro, SilentList,
    lambda: None, lambda: 10**6_000, lambda: -(10**6_000), lambda: 1 << 64, lambda: float("nan"), lambda: True,
    lambda: "x" * 5_000, lambda: "\ud800", lambda: "\udc80" * 300, lambda: b"x" * 5_000, lambda: bytearray(b"abc"),
    lambda: memoryview(b"abc"), lambda: SilentInt(1), lambda: SilentText("abc"), lambda: SilentBytes(b"abc"),
    lambda: SilentList([1, 2, 3, 4, 5]), lambda: {"key": itself()}, lambda: {1, 2}, lambda: (itself(), 10**6_000),
    lambda: [itself()], lambda: [10**6_000] * 9, lambda: [Silent()] * 2, lambda: [LongName()], lambda: 1j, lambda: Silent,
)  # fmt: skip

KINDS: tuple[object, ...] = (None, list, tuple, dict, int, str, bytes, [], 7)
POSING: tuple[Callable[[], Any], ...] = (
    *(partial(posing, kind) for kind in KINDS),
    *(partial(posing, None, base) for base in (list, tuple, int, str, bytes)),
)


@pytest.fixture(scope="module", params=PROTOCOLS)
def package(request: pytest.FixtureRequest) -> Package:
    return Package(request.param)


def test_only_encode_errors_leave_encoders_and_repr_is_short(package: Package) -> None:
    dice = Random(7)
    escapes: Counter[str] = Counter()
    for seed in range(2):
        for role, frame in package.frames(seed):
            for index, _ in enumerate(spots(frame)):
                for make in dice.sample(HOSTILE, 3) + dice.sample(POSING, 2):
                    hostile = copy.deepcopy(frame)
                    put(list(spots(hostile))[index], make())
                    escapes.update(_escapes(package, role, hostile))
    assert not escapes


def test_whatever_is_left_over_or_absent(package: Package) -> None:
    """`tail` and `absent` are attributes as well: of a class without a slot for them nothing is asked."""
    escapes: Counter[str] = Counter()
    for role, frame in package.frames(1):
        for name in ("tail", "absent", "code"):
            for make in HOSTILE + POSING:
                hostile = copy.deepcopy(frame)
                try:
                    setattr(hostile.message, name, make())
                except AttributeError:
                    break
                escapes.update(_escapes(package, role, hostile))
    assert not escapes


def test_things_that_are_no_frames(package: Package) -> None:
    escapes: Counter[str] = Counter()
    for make in HOSTILE + POSING:
        escapes.update(_escapes(package, None, make(), is_shown=False))
    for _, frame in package.frames(1):
        for kind in (type(frame), type(frame.message)):
            escapes.update(_escapes(package, None, posing(kind), is_shown=False))
            escapes.update(_escapes(package, None, posing(None, kind), is_shown=False))
    assert not escapes


def test_a_frame_of_a_subclass_is_asked_no_class() -> None:
    frame = posing(None, lj.Frame)
    frame.message, frame.version = lj.Ack(1), lj.Version.V2
    assert lj.encode(frame) == lj.encode(lj.Ack(1))


def test_a_frame_that_must_be_given_a_field_asks_for_it(package: Package) -> None:
    """The error is the same in every serialization: it names the field, and how to give it."""
    n_needed = 0
    for role, frame in package.frames(1):
        header = {name: getattr(frame, name) for name in type(frame).__match_args__[1:]}
        for name in header:
            others = {other: value for other, value in header.items() if other != name}
            try:
                type(frame)(frame.message, **others)
                continue
            except TypeError:
                n_needed += 1
            for module in package.modules:
                with pytest.raises(package.native.EncodeError) as caught:
                    module.encode(frame.message, **others, **package.told(role))
                error = caught.value
                assert (error.code, error.path) == ("invalid_value", f"{type(frame).__name__}.{name}")
                assert (error.expected, error.found) == (f"encode(message, {name}=…)", "nothing")
    assert n_needed or package.native.__name__ != "wireproto.geode"


def test_a_frame_has_no_field_of_another() -> None:
    package = Package("geode")
    for module in package.modules:
        with pytest.raises(package.native.EncodeError) as caught:
            module.encode(package.native.AuthRequest(b""), correlation_id=1, status=3)
        error = caught.value
        assert (error.code, error.path, error.found) == ("invalid_value", "Request", "status")


def _escapes(package: Package, role: str | None, frame: Any, *, is_shown: bool = True) -> list[str]:
    """Return the exceptions of an encoder that are not EncodeErrors, those of `repr`, and texts that are too long."""
    found: list[str] = []
    told = package.told(role)
    calls: list[Callable[[], Any]] = [partial(module.encode, frame, **told) for module in package.modules]
    if is_shown:
        calls.append(frame.encode)
    if is_shown and hasattr(type(frame.message), "_load_plan"):
        header = {name: getattr(frame, name) for name in frame.__match_args__[1:]}
        calls.append(partial(frame.message.encode, **header))
    for call in calls:
        try:
            call()
        except package.native.EncodeError as error:
            if len(str(error)) > LONGEST or len(repr(error)) > LONGEST:
                found.append("a long text of an error")
        except Exception as error:  # noqa: BLE001 - what is looked for
            found.append(f"{error!r} by an encoder, at {_place(error)}")
    if is_shown:
        try:
            if len(repr(frame)) > LONGEST:
                found.append("a long repr")
        except Exception as error:  # noqa: BLE001 - what is looked for
            found.append(f"{error!r} by repr, at {_place(error)}")
    return found


def _place(error: Exception) -> str:
    """Return where our own code was when it met the error."""
    ours = [entry for entry in traceback.extract_tb(error.__traceback__) if "wireproto" in entry.filename]
    return ", ".join(f"{Path(entry.filename).name}:{entry.lineno}" for entry in ours[-5:])


def test_equality_asks_the_values_and_no_more() -> None:
    frame, other = lj.Frame(lj.Ack(10**6_000)), lj.Frame(lj.Ack(10**6_000))
    assert frame == other
    assert frame != lj.Frame(lj.Ack(itself()))  # type: ignore[arg-type]


def test_equality_of_what_holds_itself_is_that_of_lists() -> None:
    one, other = itself(), itself()
    with pytest.raises(RecursionError):
        _ = one == other
    messages = lj.Compressed([]), lj.Compressed([])
    for message in messages:
        message.frames = [lj.Frame(message)]
    assert messages[0] == messages[0]
    with pytest.raises(RecursionError):
        _ = messages[0] == messages[1]


@pytest.mark.parametrize("module", ["pravega", "pravega_proposal", "geode"])
def test_an_unknown_message_has_no_code_of_a_known_one(module: str) -> None:
    package = Package(module)
    refused = 0
    for name, declared in package.schema.messages.items():
        code, role = declared.code, declared.role
        if code is None:
            continue
        frame = package.native.Unknown(code, b"abc")
        if module == "geode":
            make = package.native.Response if role == "server" else package.native.Request
            frame = make(frame, correlation_id=1)
        with pytest.raises(package.native.EncodeError) as caught:
            package.native.encode(frame, **package.told(role))
        assert (caught.value.code, caught.value.found) == ("unknown_code", f"that of {name}")
        refused += 1
    assert refused > 3


def test_a_piece_shows_its_key_shortly() -> None:
    part = Part("Join", ("x" * 100_000, 10**6_000, itself()), 0, True, joined=b"y" * 100_000)
    assert len(repr(part)) < 1_000
    frame = rs.Message(rs.Cancel(1))
    frame.part = part
    assert "part=Part(Join, ('xxx" in repr(frame)


def test_limits_show_what_was_put_into_them() -> None:
    limits = lj.Limits()
    limits.frame, limits.count = 10**6_000, Silent()
    assert repr(limits).startswith("Limits(frame=<int of 19932 bits>, inflated=67108864, count=<Silent>, ")


def test_a_repr_is_bounded_whatever_holds_itself() -> None:
    ends = lj.Compressed([])
    ends.frames = [lj.Frame(ends), lj.Frame(ends), lj.Frame(ends)]
    assert len(repr(ends)) < LONGEST


OWN_ERRORS = ("RuntimeError: no method of mine answers",)
"""An option is the caller's: an error of the object's own methods reaches the caller."""


def test_bytes_of_any_class_are_refused_with_documented_errors(package: Package) -> None:
    """`decode`, `feed`, `receive` and `from_dict` raise TypeError, ValueError or their own errors, whatever they are given."""
    escapes: Counter[str] = Counter()
    roles = package.schema.roles
    for make in HOSTILE:
        calls: list[Callable[[], Any]] = []
        for module in package.modules:
            told = package.told(roles[0]) if roles else {}
            calls.append(lambda module=module, told=told, make=make: module.decode(make(), **told))  # type: ignore[misc]
            calls.append(lambda module=module, told=told, make=make: list(module.Decoder(**told).feed(make())))  # type: ignore[misc]
        if hasattr(package.native, "Connection"):
            calls.append(lambda make=make: list(package.native.Connection(roles[0]).receive(make())))  # type: ignore[misc]
        for name in list(package.schema.messages)[:5]:
            message = getattr(package.native, name)
            calls.append(lambda message=message, make=make: message.from_dict(make()))  # type: ignore[misc]
            calls.append(lambda message=message, make=make: message.from_dict({"number": make()}))  # type: ignore[misc]
        for call in calls:
            escapes.update(_undocumented(call))
    assert not escapes


def test_options_of_any_class_are_refused_with_documented_errors(package: Package) -> None:
    escapes: Counter[str] = Counter()
    has_variants = bool(package.schema.variants)
    for make in HOSTILE:
        for name in ("from_role", "strict", "errors", *(("variant",) if has_variants else ())):
            for module in package.modules:

                def feed(module: Any = module, name: str = name, make: Any = make) -> None:
                    list(module.Decoder(**{name: make()}).feed(bytes(40)))

                def decode(module: Any = module, name: str = name, make: Any = make) -> None:
                    module.decode(bytes(40), **{name: make()})

                escapes.update(_undocumented(feed))
                if name != "errors":
                    escapes.update(_undocumented(decode))
    assert not escapes


def _undocumented(call: Callable[[], Any]) -> list[str]:
    """Return the error that leaves a call and is not documented. DecodeError and EncodeError are ValueErrors."""
    try:
        call()
    except (TypeError, ValueError):
        return []
    except Exception as error:  # noqa: BLE001 - what is looked for
        name = type(error).__name__
        shown = f"{name}: {error}" if type(error) is RuntimeError else name
        return [] if shown in OWN_ERRORS else [f"{shown} at {_place(error)}"]
    return []
