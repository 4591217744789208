"""The reference plan of Lumberjack, written by hand."""

from __future__ import annotations

from typing import Any

from .schema_notation import schema

U8 = ("int", 1, False, "big")
U32 = ("int", 4, False, "big")


def field(
    name: str,
    type_: tuple[Any, ...],
    *,
    hidden: bool = False,
    value: tuple[Any, ...] | None = None,
    condition: tuple[Any, ...] | None = None,
    where: tuple[Any, ...] | None = None,
    where_text: str = "",
    rule: str | None = None,
) -> tuple[Any, ...]:
    """Return a FIELD of a plan."""
    return (name, hidden, type_, value, condition, where, where_text, rule, False)


def own(*path: str) -> tuple[Any, ...]:
    """Return the expression that reads a field of the same declaration."""
    return ("field", path, "own")


CODE_OF_BODY = ("derived", ("call", "code", (own("body"),)), False)
TEXT = ("text", "utf8", ("prefix", U32), True, "big")
FRAMES = ("list", ("frame", "Frame", None, False), ("end",), 2)

PLAN = schema(
    {
        "name": "lumberjack",
        "endian": "big",
        "roles": ("writer", "reader"),
        "limits": {
            "frame": 16 * 2**20,
            "inflated": 64 * 2**20,
            "count": 65536,
            "messages": 65536,
            "depth": 1,
            "open": 65536,
            "window": 10000,
            "ack_wait": 30000,
        },
        "enums": {"Version": (U8, False, ((49, "V1"), (50, "V2")))},
        "codings": {},
        "circular": ("Compressed",),
        "unions": {},
        "structs": {"Pair": (field("key", TEXT), field("value", TEXT))},
        "messages": {
            "Data": (
                68,
                "writer",
                (
                    field("sequence", U32),
                    field("pairs", ("list", ("struct", "Pair"), ("prefix", U32), 8), rule="too_many_pairs"),
                ),
            ),
            "Json": (74, "writer", (field("sequence", U32), field("document", ("bytes", ("prefix", U32))))),
            "Ack": (65, "reader", (field("sequence", U32),)),
            "Window": (87, "writer", (field("size", U32),)),
            "Compressed": (
                67,
                "writer",
                (
                    field(
                        "frames",
                        ("region", FRAMES, ("compressed", "zlib", ("prefix", U32)), False),
                        rule="partial_inner",
                    ),
                ),
            ),
        },
        "codes": {
            "writer": {68: "Data", 74: "Json", 87: "Window", 67: "Compressed"},
            "reader": {65: "Ack"},
        },
        "frames": {
            "Frame": (
                None,
                (
                    field(
                        "version",
                        ("enum", "Version", None, False),
                        value=("default", ("number", 50)),
                        rule="bad_version",
                    ),
                    field("type", U8, hidden=True, value=CODE_OF_BODY, rule="bad_type"),
                    field("body", ("message_match", own("type"), None, False)),
                ),
                "body",
            )
        },
        "sends": {"writer": "Frame", "reader": "Frame"},
        "preambles": {},
        "opens": {},
        "contexts": {},
        "joins": {},
        "variants": {},
    }
)
