"""Schemas written by hand, for tests of the runtime: each type, length, carrier and value of the schema's
form is in one of them.
"""

from __future__ import annotations

from typing import Any

from wiregen.runtime.schema.protocol import Schema

from .schema_notation import schema

Plain = Any

U8: Plain = ("int", 1, False, "big")
U16: Plain = ("int", 2, False, "big")
U32: Plain = ("int", 4, False, "big")
I32: Plain = ("int", 4, True, "big")
I64: Plain = ("int", 8, True, "big")
U64: Plain = ("int", 8, False, "big")
VARINT: Plain = ("varint", 64, False, False)
END: Plain = ("end",)


def own(*path: str) -> Plain:
    return ("field", path, "own")


def number(value: int) -> Plain:
    return ("number", value)


def call(function: str, *path: str) -> Plain:
    return ("call", function, (own(*path),))


def operation(symbol: str, left: Plain, right: Plain) -> Plain:
    return ("operation", symbol, left, right)


def prefix(type_: Plain) -> Plain:
    return ("prefix", type_)


def computed(expression: Plain) -> Plain:
    return ("computed", expression)


def octets(length: Plain) -> Plain:
    return ("bytes", length)


def text(encoding: str, length: Plain, *, lenient: bool = False, endian: str = "big") -> Plain:
    return ("text", encoding, length, lenient, endian)


def field(
    name: str,
    type_: Plain,
    value: Plain = None,
    *,
    condition: Plain = None,
    where: Plain = None,
    where_text: str = "",
    rule: str | None = None,
    secret: bool = False,
) -> Plain:
    hidden = name == "_" or (value is not None and value[0] in ("derived", "constant"))
    return (name, hidden, type_, value, condition, where, where_text, rule, secret)


def derived(expression: Plain, *, lenient: bool = False) -> Plain:
    return ("derived", expression, lenient)


def default(expression: Plain) -> Plain:
    return ("default", expression)


def plan(
    *messages: tuple[str, int | None, str | None, tuple[Plain, ...]],
    frames: Plain = None,
    sends: Plain = None,
    roles: tuple[str, ...] = ("client", "server"),
    limits: dict[str, Plain] | None = None,
    **more: Plain,
) -> Schema:
    """Return a plan of messages (name, code, role, fields), whose frame is a code and the message where none is given."""
    codes = {
        role: {code: name for name, code, owner, _ in messages if code is not None and owner in (None, role)}
        for role in roles
    }
    return schema({
        "name": "test",
        "endian": "big",
        "roles": roles,
        "limits": {
            "frame": 16 * 2**20, "inflated": 2**20, "count": None, "messages": 65536, "depth": 32, "open": 65536,
        } | (limits or {}),
        "enums": {}, "codings": {}, "unions": {}, "structs": {},
        "messages": {name: (code, role, fields) for name, code, role, fields in messages},
        "codes": codes,
        "frames": frames or {"Frame": (None, PLAIN_FRAME, "body")},
        "sends": sends or dict.fromkeys(roles, "Frame"),
        "preambles": {}, "opens": {}, "contexts": {}, "joins": {}, "views": {}, "variants": {},
    } | more)  # fmt: skip


MATCH: Plain = ("message_match", own("type"), None, False)
PLAIN_FRAME: Plain = (field("type", U8, derived(call("code", "body"))), field("body", MATCH))

SIZED_FRAME: Plain = (
    field("type", U8, derived(call("code", "body"))),
    field("length", U16, derived(call("size", "body"))),
    field("body", ("region", MATCH, ("size", own("length")), True)),
)
"""A frame whose end is known: a code, a size, and the message in it."""


def of_field(type_: Plain, value: Plain = None, *, is_sized: bool = False, **more: Plain) -> Schema:
    """Return the plan of one message `M` (code 1) with one field `x`."""
    frames = {"Frame": (None, SIZED_FRAME if is_sized else PLAIN_FRAME, "body")}
    return plan(("M", 1, None, (field("x", type_, value),)), frames=frames, **more)


LUMBERJACK = plan(
    (
        "Data", 68, "writer",
        (field("sequence", U32), field("pairs", ("list", ("struct", "Pair"), prefix(U32), 8))),
    ),
    ("Json", 74, "writer", (field("sequence", U32), field("document", octets(prefix(U32))))),
    ("Ack", 65, "reader", (field("sequence", U32),)),
    ("Window", 87, "writer", (field("size", U32),)),
    (
        "Compressed", 67, "writer",
        (
            field(
                "frames",
                ("region", ("list", ("frame", "Frame", None, False), END, 2), ("compressed", "zlib", prefix(U32)), False),
            ),
        ),
    ),
    roles=("writer", "reader"),
    limits={"depth": 1, "count": 65536},
    circular=("Compressed",),
    enums={"Version": (U8, False, ((49, "V1"), (50, "V2")))},
    structs={
        "Pair": (
            field("key", text("utf8", prefix(U32), lenient=True)),
            field("value", text("utf8", prefix(U32), lenient=True)),
        )
    },
    frames={
        "Frame": (
            None,
            (
                field("version", ("enum", "Version", None, False), default(number(50)), rule="bad_version"),
                field("type", U8, derived(call("code", "body"))),
                field("body", MATCH),
            ),
            "body",
        )
    },
    views={"Json": {"document": "json"}},
)  # fmt: skip
"""A protocol of events, acknowledgements and compressed envelopes."""

LAST_CHUNK: Plain = ("negation", "not", ("field", ("more",), "item"))

VALUES: Plain = plan(
    (
        "Put", 1, "client",
        (
            field("key", ("union", "Value", ("Integer", "Text"), False)),
            field("value", ("region", ("union", "Value", None, False), ("chunks", "Chunk", "data", LAST_CHUNK), False)),
        ),
    ),
    ("Done", 1, "server", (field("ok", ("bool", True)),)),
    ("Error", None, "server", (field("why", text("mutf8", prefix(U16), lenient=True)),)),
    frames={
        "Request": (
            "client",
            (
                field("size", I32, derived(call("size", "payload"))),
                field("id", I32),
                field("has_notes", ("bool", False), derived(call("present", "notes"))),
                field(
                    "payload",
                    (
                        "region",
                        (
                            "block",
                            (
                                field("api", ("enum", "Api", None, False), derived(call("code", "body"))),
                                field("version", U8, ("constant", number(1))),
                                field(
                                    "notes",
                                    ("list", ("union", "Note", None, False), prefix(U16), 2),
                                    condition=own("has_notes"),
                                    where=("call", "distinct", (own("notes"),)),
                                    where_text="distinct(notes)",
                                ),
                                field("body", ("message_match", own("api"), None, False)),
                            ),
                        ),
                        ("size", own("size")),
                        False,
                    ),
                ),
            ),
            "body",
        ),
        "Response": (
            "server",
            (
                field("id", I32),
                field("status", ("enum", "Status", None, False), default(number(1))),
                field(
                    "body",
                    (
                        "match", own("status"),
                        (
                            (((1, 2),), ("message_match", ("context", "api", (own("id"),)), None, False)),
                            ((), ("message", "Error")),
                        ),
                    ),
                ),
            ),
            "body",
        ),
    },
    sends={"client": "Request", "server": "Response"},
    enums={
        "Api": (U16, False, ((1, "PUT"),)),
        "Status": (U16, True, ((1, "FULL"), (2, "PARTIAL"), (1000, "BROKEN"))),
    },
    unions={
        "Value": (
            U8,
            (
                (((41, 41),), "Null", (), False),
                (((57, 57),), "Integer", (field("value", I32),), True),
                (((87, 87),), "Text", (field("value", text("ascii", prefix(U16))),), True),
                (((65, 65),), "Several", (field("value", ("list", ("union", "Value", None, False), prefix(("coding", "Length")), 1)),), True),
                (((17, 25),), "Primitive", (), False),
                (((1, 6), (37, 40)), "Unbounded", (field("value", octets(END)),), True),
            ),
            True,
        ),
        "Note": (U16, ((((1, 1),), "Flag", (field("value", ("bool", True)),), True), (((2, 2),), "Other", (), False)), False),
    },
    codings={"Length": (U8, ((0, 0xFC, None, False), (0xFE, 0xFE, U16, False), (0xFD, 0xFD, I32, False), (0xFF, 0xFF, None, True)))},
    structs={
        "Chunk": (
            field("size", I32, derived(call("count", "data"))),
            field("more", ("bool", True)),
            field("data", octets(computed(own("size")))),
        )
    },
    contexts={"api": (("enum", "Api", None, False), ("id",), "client", (("Request", "api", None),), ())},
)  # fmt: skip
"""A protocol of recursive values, requests with metadata, and responses that a context lays out."""
