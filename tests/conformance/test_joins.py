"""Reassembly of fragments: the documents' own examples, other makers' bytes, and errors of peers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import Result
from tests.built_schema import schema_of
from tests.commands import called
from tests.conformance.vectors import HERE, kept

from wiregen.formats.jsonl import LineEncoder, dumps, error_line, loads
from wiregen.formats.line_maker import LineMaker
from wiregen.runtime.codec.errors import DecodeError as CarefulError
from wiregen.runtime.stream.context import Context as CarefulContext
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.direction import Direction
from wireproto import geode
from wireproto import pravega_proposal as pravega
from wireproto import reactive_streams as rs

PLANS = {module: schema_of(module) for module in (geode, pravega, rs)}
PUT = geode.PutRequest(
    "ExampleRegion",
    geode.GeodeValue.Integer(101),
    geode.GeodeValue.Null(),
    geode.GeodeValue.StringBytes("New Geode Client Server Protocol"),
)
OPENING = geode.Connect(geode.Mode.DIVIDED).encode()


def in_pieces(frame: geode.Request, *places: int) -> list[bytes]:
    """Return the frames of a request whose block is cut at these places."""
    block = frame.encode()[10:]
    ends = [*places, len(block)]
    return [
        geode.Request(
            geode.RequestPart(block[start:end]),
            correlation_id=frame.correlation_id,
            is_partial=end != len(block),
            metadata=frame.metadata,
        ).encode()
        for start, end in zip([0, *places], ends, strict=True)
    ]


def parts_of(frames: list[Any]) -> list[tuple[int, bool] | None]:
    return [None if frame.part is None else (frame.part.index, frame.part.last) for frame in frames]


def element(*data: bytes, subscriber: int = 1, number: int = 1) -> list[bytes]:
    pieces = [rs.OnNextPart(subscriber, number, piece).encode() for piece in data[:-1]]
    return [*pieces, rs.OnNextLastPart(subscriber, number, data[-1]).encode()]


def whole(inner: bytes, *places: int) -> list[bytes]:
    """Return the pieces of a frame, begun and ended, with as many in the middle as there are places but one."""
    ends = [*places, len(inner)]
    kinds = [pravega.Part.BEGIN, *[pravega.Part.MIDDLE] * (len(places) - 1), pravega.Part.END]
    return [
        pravega.PartialMessage(kind, inner[start:end]).encode()
        for kind, start, end in zip(kinds, [0, *places], ends, strict=True)
    ]


EVENT = pravega.KeepAlive(b"still here")
PUT_FRAME = geode.Request(PUT, correlation_id=7)
STREAMS = [
    pytest.param(rs, "server", b"".join(element(b"hel", b"", b"lo")), id="bytes"),
    pytest.param(pravega, "client", b"".join(whole(EVENT.encode(), 3, 8, 12)), id="frame"),
    pytest.param(geode, "client", OPENING + b"".join(in_pieces(PUT_FRAME, 1, 30, 60)), id="block"),
    pytest.param(
        rs,
        "server",
        b"".join(element(b"a", b"b")[:1] + element(b"c", b"d", number=2) + element(b"a", b"b")[1:]),
        id="interleaved",
    ),
    pytest.param(rs, "server", element(b"a", b"b")[0], id="cut short"),
    pytest.param(pravega, "client", b"".join(whole(EVENT.encode() + b"!", 3)), id="more than a frame"),
    pytest.param(pravega, "client", b"".join(whole(EVENT.encode()[:-1], 3)), id="less than a frame"),
    pytest.param(
        geode,
        "client",
        OPENING + b"".join(in_pieces(PUT_FRAME, 30)[:1] + in_pieces(PUT_FRAME, 31)[1:]),
        id="bad block",
    ),
]


# ---- the two codecs


def fast_lines(module: Any, role: str, chunks: list[bytes]) -> list[dict[str, Any]]:
    decoder = module.Decoder(role, errors="yield")
    items = [item for chunk in chunks for item in decoder.items(chunk)]
    items += decoder.finish_items()
    data, maker = b"".join(chunks), LineMaker(PLANS[module])
    return [
        (
            error_line(item, data[offset : offset + size], offset=offset, role=role)
            if isinstance(item, module.DecodeError)
            else maker.decoded(item, data[offset : offset + size], offset=offset, role=role)
        )
        for offset, size, item in items
    ]


def reference_lines(module: Any, role: str, chunks: list[bytes]) -> list[dict[str, Any]]:
    plan = PLANS[module]
    direction, maker = Direction(DecodingSettings(schema=plan), role, CarefulContext(plan)), LineMaker(plan)

    def lines(items: Iterator[Any]) -> list[dict[str, Any]]:
        return [
            (
                error_line(item.outcome, item.raw, offset=item.offset, role=role)
                if isinstance(item.outcome, CarefulError)
                else maker.decoded(item.outcome.value, item.raw, offset=item.offset, role=role)
            )
            for item in items
        ]

    return [line for chunk in chunks for line in lines(direction.feed(chunk))] + lines(direction.finish())


@pytest.mark.parametrize(("module", "role", "data"), STREAMS)
def test_both_codecs_join_alike_however_the_stream_is_cut(module: Any, role: str, data: bytes) -> None:
    at_once = fast_lines(module, role, [data])
    assert at_once == reference_lines(module, role, [data])
    bytewise = [bytes([byte]) for byte in data]
    assert fast_lines(module, role, bytewise) == at_once
    assert reference_lines(module, role, bytewise) == at_once


@pytest.mark.parametrize(("module", "role", "data"), STREAMS)
def test_the_lines_give_back_the_bytes(module: Any, role: str, data: bytes) -> None:
    encoder = LineEncoder(PLANS[module])
    lines = fast_lines(module, role, [data])
    assert b"".join(encoder.encode(loads(dumps(line))) for line in lines) == data


# ---- what comes out


def test_bytes_are_handed_out_with_the_last_piece() -> None:
    decoder = rs.Decoder("server")
    frames: list[Any] = list(decoder.feed(b"".join(element(b"hel", b"lo"))))
    decoder.finish()
    assert [frame.message for frame in frames] == [
        rs.OnNextPart(1, 1, b"hel"),
        rs.OnNextLastPart(1, 1, b"lo"),
    ]
    assert parts_of(frames) == [(0, False), (1, True)]
    assert [frame.part.joined for frame in frames] == [None, b"hello"]
    assert (frames[1].part.join, frames[1].part.key) == ("Element", (1, 1))


def test_keys_are_told_apart() -> None:
    first, second = element(b"a", b"b"), element(b"c", b"d", number=2)
    frames: list[Any] = list(rs.Decoder("server").feed(b"".join((first[0], second[0], second[1], first[1]))))
    assert [frame.part.joined for frame in frames] == [None, None, b"cd", b"ab"]


def test_a_last_piece_alone_is_whole() -> None:
    (frame,) = rs.Decoder("server").feed(element(b"all")[0])
    assert (frame.part.index, frame.part.last, frame.part.joined) == (0, True, b"all")  # type: ignore[union-attr]
    (request,) = (
        each
        for each in geode.Decoder("client").feed(OPENING + PUT_FRAME.encode())
        if each != geode.Connect(geode.Mode.DIVIDED)
    )
    assert request == PUT_FRAME
    assert request.part is None  # type: ignore[union-attr]


def test_a_frame_is_put_together_with_its_header() -> None:
    frames = list(pravega.Decoder().feed(b"".join(whole(EVENT.encode(), 3, 8))))
    assert parts_of(frames) == [(0, False), (1, False), (2, True)]
    assert frames[2].part is not None
    assert frames[2].part.joined == pravega.Frame(EVENT)


def test_a_fault_in_a_joined_frame_is_told_through_the_join() -> None:
    inner = EVENT.encode()[:4] + b"\0\0\0\xff" + EVENT.encode()[8:]
    pieces = whole(inner, 5)
    decoder = pravega.Decoder()
    found = decoder.feed(b"".join(pieces) + EVENT.encode())
    assert next(found).part is not None
    with pytest.raises(pravega.DecodeError) as caught:
        next(found)
    error = caught.value
    assert (error.code, error.path, error.at, error.inner_at) == (
        "truncated",
        "Whole.Frame.body",
        len(pieces[0]),
        18,
    )
    assert error.recoverable
    assert [frame.message for frame in decoder.feed(b"")] == [EVENT]
    decoder.finish()


def test_a_block_is_read_in_the_frame_of_its_last_piece() -> None:
    decoder = geode.Decoder("client")
    frames: list[Any] = list(decoder.feed(OPENING + b"".join(in_pieces(PUT_FRAME, 1, 30))))[1:]
    decoder.finish()
    assert [type(frame.message).__name__ for frame in frames] == ["RequestPart", "RequestPart", "PutRequest"]
    assert frames[2] == PUT_FRAME
    assert frames[2].part.joined is frames[2].message
    assert frames[2].encode() == PUT_FRAME.encode()
    assert [frame.encode() for frame in frames[:2]] == in_pieces(PUT_FRAME, 1, 30)[:2]
    assert "part=" in repr(frames[0])
    assert "part=" not in repr(PUT_FRAME)


def test_metadata_are_those_of_the_whole_block() -> None:
    frame = PUT_FRAME.replace(metadata=[geode.RequestMetadata.JsonKey(True)])
    pieces = in_pieces(frame, 4, 7)
    assert [piece[9] for piece in pieces] == [1, 1, 1]
    frames: list[Any] = list(geode.Decoder("client").feed(OPENING + b"".join(pieces)))
    assert frames[-1] == frame
    assert frames[1].metadata is None


def test_a_whole_message_is_no_piece() -> None:
    with pytest.raises(geode.EncodeError) as caught:
        PUT_FRAME.replace(is_partial=True).encode()
    assert caught.value.code == "constraint"


def test_without_a_context_a_frame_is_what_it_is_alone() -> None:
    piece = in_pieces(PUT_FRAME, 30)[0]
    frame: Any = geode.decode(piece)
    assert frame == geode.Request(
        geode.RequestPart(PUT_FRAME.encode()[10:40]), correlation_id=7, is_partial=True
    )
    assert frame.part is None
    assert rs.decode(element(b"a")[0], from_role="server").part is None
    assert rs.decode_message(element(b"a")[0]) == rs.OnNextLastPart(1, 1, b"a")


@pytest.mark.parametrize(("module", "role", "data"), STREAMS[:4])
def test_frame_by_frame_is_the_same_as_a_stream(module: Any, role: str, data: bytes) -> None:
    decoder = module.Decoder(role)
    items = [item for item in decoder.items(data) if hasattr(item[2], "message")]
    context = module.Context()
    for offset, size, frame in items:
        again = module.decode(data[offset : offset + size], from_role=role, context=context)
        assert again == frame
        assert again.part == frame.part
        context.restore(json.loads(json.dumps(context.snapshot())))


def test_contexts_wait_for_the_whole_message() -> None:
    context = geode.Context()
    decoder = geode.Decoder("client", context=context)
    pieces = in_pieces(PUT_FRAME, 20)
    list(decoder.feed(OPENING + pieces[0]))
    assert context.snapshot()["api"] == []
    list(decoder.feed(pieces[1]))
    assert context.snapshot()["api"] == [["client", 7, 3]]
    assert context.snapshot()["RequestPart"] == []


def test_answers_in_pieces_are_known_by_their_request() -> None:
    context = geode.Context()
    list(geode.Decoder("client", context=context).feed(OPENING + PUT_FRAME.encode()))
    answer = geode.Response(geode.PutResponse(True), correlation_id=7)
    block = answer.encode()[10:]
    first = geode.Response(geode.ResponsePart(block[:1]), is_partial=True, correlation_id=7)
    last = geode.Response(geode.ResponsePart(block[1:]), correlation_id=7)
    frames: list[Any] = list(geode.Decoder("server", context=context).feed(first.encode() + last.encode()))
    assert frames == [first, answer]
    assert context.snapshot()["api"] == []


def test_messages_are_bare_and_pieces_as_they_are() -> None:
    data = b"".join(whole(EVENT.encode(), 3))
    decoder = pravega.Decoder()
    messages = list(decoder.messages(data))
    assert [type(message).__name__ for message in messages] == ["PartialMessage", "PartialMessage"]
    decoder.finish()


# ---- the end of a reassembly, and its cost


@pytest.mark.parametrize(
    ("clearing", "left"),
    [
        pytest.param(rs.OnComplete(1), [[2, 1]], id="all of one subscriber"),
        pytest.param(rs.OnComplete(9), [[1, 1], [1, 2], [2, 1]], id="another subscriber"),
    ],
)
def test_a_clearing_message_drops_what_is_open_under_its_keys(clearing: Any, left: list[list[int]]) -> None:
    context = rs.Context()
    decoder = rs.Decoder("server", context=context)
    for subscriber, number in ((1, 1), (1, 2), (2, 1)):
        list(decoder.feed(element(b"a", b"b", subscriber=subscriber, number=number)[0]))
    list(decoder.feed(clearing.encode()))
    assert [row["key"] for row in context.snapshot()["Element"]] == left
    list(decoder.feed(clearing.encode()))
    assert [row["key"] for row in context.snapshot()["Element"]] == left


def test_the_end_of_a_stream_inside_a_join_is_truncated() -> None:
    decoder = rs.Decoder("server")
    data = element(b"abc", b"", number=5)[0]
    list(decoder.feed(data))
    with pytest.raises(rs.DecodeError) as caught:
        decoder.finish()
    assert (caught.value.code, caught.value.path, caught.value.at) == (
        "truncated",
        "Element[1, 5]",
        len(data),
    )


def test_a_join_may_be_no_longer_than_a_frame() -> None:
    pieces = element(b"x" * 20, b"y" * 20, b"z")
    decoder = rs.Decoder("server", limits=rs.Limits(frame=30), errors="yield")
    outcomes: list[Any] = list(decoder.feed(b"".join(pieces)))
    assert [getattr(each, "code", None) for each in outcomes] == [None, "limit_exceeded", "incomplete_join"]
    assert outcomes[1].recoverable
    decoder.finish()


def test_only_so_many_joins_may_be_open() -> None:
    decoder = rs.Decoder("server", limits=rs.Limits(open=2), errors="yield")
    firsts = [element(b"a", b"b", number=number)[0] for number in range(3)]
    outcomes: list[Any] = list(decoder.feed(b"".join(firsts) + element(b"a", b"b", number=2)[1]))
    codes = [getattr(each, "code", None) for each in outcomes]
    assert codes == [None, None, "limit_exceeded", "incomplete_join"]


def test_what_may_lack_a_piece_is_not_joined() -> None:
    bad = bytes.fromhex("fffffffe 00000001 09")  # no such part, in a frame with an end
    pieces = whole(EVENT.encode(), 3)
    decoder = pravega.Decoder(errors="yield")
    outcomes: list[Any] = list(decoder.feed(pieces[0] + bad + pieces[1] + b"".join(pieces)))
    codes = [getattr(each, "code", None) for each in outcomes]
    assert codes == [None, "invalid_enum", "incomplete_join", None, None]
    assert outcomes[4].part.joined == pravega.Frame(EVENT)


def test_joins_inside_joins_have_a_limit() -> None:
    inner = EVENT.encode()
    for _ in range(40):
        inner = pravega.PartialMessage(pravega.Part.END, inner).encode()
    with pytest.raises(pravega.DecodeError) as caught:
        list(pravega.Decoder().feed(inner))
    assert caught.value.code == "too_deep"


def test_many_small_pieces_cost_no_copies() -> None:
    decoder = rs.Decoder("server")
    data = b"".join(element(*[b"x" * 16] * 20_000, b"end"))
    *_, last = decoder.feed(data)
    assert last.part is not None
    assert len(last.part.joined) == 16 * 20_000 + 3


# ---- snapshots


def test_a_join_goes_on_where_a_snapshot_was_taken() -> None:
    pieces, context = in_pieces(PUT_FRAME, 10, 20), geode.Context()
    for piece in pieces[:2]:
        geode.decode(piece, from_role="client", context=context)
    other = geode.Context()
    other.restore(json.loads(json.dumps(context.snapshot())))
    frame: Any = geode.decode(pieces[2], from_role="client", context=other)
    assert frame == PUT_FRAME
    assert frame.part.index == 2


@pytest.mark.parametrize(
    "rows", [[{}], [1], [{"from": None, "key": 1, "pieces": 1, "data": "0", "damaged": False}]]
)
def test_what_is_no_snapshot_is_refused(rows: Any) -> None:
    with pytest.raises(ValueError, match="not a snapshot"):
        pravega.Context().restore({"Whole": rows})


# ---- other makers' bytes


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(each, id=each["id"])
        for each in kept("geode")["golden"]
        if "/fragments" in each["message"]
    ],
)
def test_fragments_of_other_makers_are_joined(vector: dict[str, Any]) -> None:
    decoder = geode.Decoder("client")
    frames: list[Any] = list(decoder.feed(OPENING + bytes.fromhex(vector["hex"])))[1:]
    decoder.finish()
    done = [type(frame.message).__name__ for frame in frames if frame.part is None or frame.part.last]
    names = vector["message"].removesuffix("/fragments").strip("[]").split(",")
    assert sorted(done) == sorted(names)
    assert frames[-1].message == PUT


@pytest.mark.parametrize(
    "vector",
    [pytest.param(each, id=each["id"]) for each in kept("geode")["golden"] if "*" in each["message"]],
)
def test_answers_of_several_frames_are_each_whole(vector: dict[str, Any]) -> None:
    context = geode.Context()
    name, _, count = vector["message"].partition("*")
    context.restore({"api": [["client", 5, 6]]})
    frames: list[Any] = list(geode.Decoder("server", context=context).feed(bytes.fromhex(vector["hex"])))
    assert [type(frame.message).__name__ for frame in frames] == [name] * int(count)
    assert parts_of(frames) == [None] * int(count)


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(each, id=each["id"])
        for each in kept("reactive_streams")["golden"]
        if "onNextPart" in json.dumps(each["fields"]) and ":" in each["message"]
    ],
)
def test_split_elements_of_other_makers_are_joined(vector: dict[str, Any]) -> None:
    pieces: dict[tuple[int, int], bytes] = {}
    joined: list[tuple[tuple[int, int], bytes]] = []
    decoder = rs.Decoder("server")
    for side, name, fields in vector["fields"]["steps"]:
        if side != "s" or not name.endswith("Part"):
            continue
        key, data = (int(fields["subscriber"]), int(fields["element"])), bytes.fromhex(fields["data"])
        class_ = rs.OnNextLastPart if name == "onNextLastPart" else rs.OnNextPart
        pieces[key] = pieces.get(key, b"") + data
        (frame,) = decoder.feed(class_(*key, data).encode())
        if frame.part is not None and frame.part.last:
            joined.append((frame.part.key, frame.part.joined))
    assert joined
    assert joined == [(key, pieces[key]) for key, _ in joined]
    decoder.finish()


def test_the_example_of_the_file_holds() -> None:
    first, last = (
        bytes.fromhex("fffffffe 00000004 00 000000"),
        bytes.fromhex("fffffffe 00000006 02 64 00000000"),
    )
    *_, frame = pravega.Decoder().feed(first + last)
    assert frame.part is not None
    assert frame.part.joined == pravega.Frame(pravega.KeepAlive(b""))


# ---- the command


def run(*arguments: str, given: bytes = b"") -> Result:
    return called(*arguments, folder=HERE, data=given)


def test_decode_and_encode_are_the_identity_on_pieces() -> None:
    data = OPENING + b"".join(in_pieces(PUT_FRAME, 1, 30))
    decoded = run("decode", "geode", "--from", "client", "--hex", data.hex())
    lines = [json.loads(line) for line in decoded.stdout_bytes.splitlines()]
    assert [line["message"] for line in lines] == ["Connect", "RequestPart", "RequestPart", "PutRequest"]
    assert lines[3]["part"] == {"join": "RequestPart", "key": {"correlation_id": 7}, "index": 2, "last": True}
    assert lines[3]["canonical"] is False
    assert run("encode", "geode", given=decoded.stdout_bytes).stdout_bytes == data
    canonical = run("encode", "geode", "--canonical", given=decoded.stdout_bytes)
    assert canonical.stdout_bytes == OPENING + PUT_FRAME.encode()


def test_a_stream_that_ends_in_a_join_is_a_finding() -> None:
    data = element(b"abc", b"")[0]
    decoded = run("decode", "reactive_streams", "--hex", data.hex())
    assert decoded.exit_code == 1
    line = json.loads(decoded.stdout_bytes.splitlines()[-1])
    assert (line["offset"], line["size"], line["error"]["code"]) == (len(data), 0, "truncated")
    assert run("encode", "reactive_streams", given=decoded.stdout_bytes).stdout_bytes == data


def test_what_the_other_side_said_before_can_be_given() -> None:
    asked = OPENING + PUT_FRAME.encode()
    answer = geode.Response(geode.PutResponse(True), correlation_id=7).encode()
    arguments = ("decode", "geode", "--from", "server", "--hex", answer.hex())
    assert json.loads(run(*arguments).stdout)["message"] == "Unknown"
    told = run(*arguments, "--before", f"client:{asked.hex()}")
    assert json.loads(told.stdout)["message"] == "PutResponse"
    wrong = run(*arguments, "--before", "client:zz")
    assert wrong.exit_code == 2
    assert "ROLE:HEX" in wrong.stderr
