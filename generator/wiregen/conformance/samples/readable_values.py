"""Values that a reader understands, by the words in the name of their field: a `host` is like a host, a `port` like a port.

Invariant: the last known word of a name decides, and words such as `name` and `id` only if no other word is known: `user_host`
and `host_name` are hosts. The values of a name differ.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final, TypeVar
from uuid import UUID

__all__ = ["readable_bytes", "readable_floats", "readable_numbers", "readable_texts", "readable_uuids"]

Value = TypeVar("Value")

_GENERAL: Final = frozenset("id identifier name string text value".split())
"""Words that say little about the kind of a value."""
_N_OTHER: Final = 3
"""Values of a name without a known word."""
_UUID: Final = UUID("3f2504e0-4f89-41d3-9a0c-0305e82c3300")

_TEXTS: Final = {
    "address host hostname node peer server": ("node-1.example", "node-2.example", "node-3.example"),
    "endpoint link uri url": ("tcp://node-1.example:9090", "tcp://node-2.example:9090"),
    "entry key order": ("order-1042", "order-1043", "order-1044"),
    "content": ("two notebooks", "one pencil"),
    "status value": ("paid", "shipped", "open"),
    "collection name queue stream table topic": ("orders", "invoices", "payments"),
    "segment": ("orders/0", "orders/1"),
    "account application app group namespace scope space tenant": ("shop", "bank"),
    "directory file filename folder path": ("/var/log/app.log", "/var/log/db.log"),
    "author by owner person sender user username": ("alice", "bob", "carol"),
    "auth credential credentials pass password secret token": ("token-1", "token-2"),
    "client consumer device member producer reader writer": ("client-1", "client-2", "client-3"),
    "body data event item line message payload record text": ("hello", "good morning", "see you"),
    "cause comment description detail details error info note reason": ("the disk is full", "it took too long"),
    "release version": ("1.4.2", "1.5.0"),
    "id identifier": ("a1", "b2", "c3"),
    "day date": ("2024-05-17", "2024-05-18"),
    "at created time timestamp when": ("2024-05-17T09:30:00Z", "2024-05-17T09:31:00Z"),
    "lang language locale": ("en", "de"),
    "mail email": ("alice@example.com", "bob@example.com"),
    "area location region site zone": ("north-1", "south-2"),
    "city place town": ("Zurich", "Oslo"),
    "color colour label mark tag": ("blue", "green"),
    "algorithm hash": ("sha256", "sha512"),
    "charset encoding": ("utf-8", "latin-1"),
    "mime": ("text/plain", "application/json"),
    "method verb": ("GET", "PUT"),
    "currency": ("EUR", "CHF"),
    "command query statement": ("list orders", "list invoices"),
}  # fmt: skip
"""Texts in ASCII by words, the plainest first."""

_BYTES: Final = frozenset(
    "body content data entry event item key line message name order payload record text value".split()
)
"""Words of fields whose bytes are a text in the examples."""

_NUMBERS: Final = {
    "port": (9090, 8080, 443),
    "api major protocol release version": (1, 2),
    "minor patch": (4, 5),
    "correlation id identifier key request session seq sequence stream ticket transaction": (7, 8, 9),
    "index number part piece position shard step turn": (1, 2, 3),
    "offset start": (1024, 2048, 4096),
    "bytes capacity length memory size window": (4096, 512, 64),
    "amount count credit credits items quantity total": (3, 5, 12),
    "date timestamp": (1_715_938_200_000, 1_715_938_200, 1024),
    "at created deadline expires expiry modified since time until updated when": (1_715_938_200_000, 1_715_938_200, 900),
    "delay idle interval patience period timeout ttl": (30_000, 30),
    "ms millis milliseconds": (1500, 250, 90),
    "seconds secs": (30, 45),
    "year": (2024, 2025, 24),
    "month": (5, 6),
    "day": (17, 18),
    "hour": (9, 10),
    "minute": (30, 31),
    "second": (15, 45),
    "epoch generation revision term": (3, 4),
    "age": (36, 41),
    "percent percentage ratio": (75, 20),
    "level priority rank weight": (5, 3),
    "address ip": (0xC000_0201, 0xC000_0202, 17),
    "humidity temperature": (21, 23),
    "cost fee price": (1995, 250, 95),
    "rate speed": (100, 50),
    "width": (640, 80),
    "height": (480, 60),
    "x": (10, 20),
    "y": (12, 24),
    "unit": (1, 2),
}  # fmt: skip
"""Numbers by words, the plainest first; those that a type does not hold are left out."""

_FLOATS: Final = {
    "lat latitude": (47.375, 59.875),
    "lon long longitude": (8.5, 10.75),
    "percent percentage probability ratio share": (0.75, 0.25),
    "cost fee price": (19.5, 2.5),
    "x": (1.5, 2.5),
    "y": (0.5, 3.5),
}
"""Numbers that binary formats hold exactly."""
_OTHER_FLOATS: Final = (21.5, 3.25)


def readable_texts(name: str) -> tuple[str, ...]:
    """Return texts for a field called `name`, in ASCII."""
    known = _of_words(_TEXTS_BY_WORD, name)
    return known or tuple(f"{_plain(name)} {number}" for number in range(1, 1 + _N_OTHER))


def readable_bytes(name: str) -> tuple[bytes, ...]:
    """Return bytes for a field called `name`; empty where its bytes are not a text."""
    is_text = any(word in _BYTES for word in _words(name))
    return tuple(each.encode() for each in readable_texts(name)) if is_text else ()


def readable_numbers(name: str) -> tuple[int, ...]:
    """Return numbers for a field called `name`. The type may be too small for some."""
    first = 10 + zlib.crc32(name.encode()) % 40
    return (*_of_words(_NUMBERS_BY_WORD, name), *range(first, first + _N_OTHER))


def readable_floats(name: str) -> tuple[float, ...]:
    """Return numbers with a fraction for a field called `name`."""
    return _of_words(_FLOATS_BY_WORD, name) or _OTHER_FLOATS


def readable_uuids(name: str) -> tuple[UUID, ...]:
    """Return UUIDs of version 4 for a field called `name`."""
    first = 1 + zlib.crc32(name.encode()) % 200
    return tuple(UUID(int=_UUID.int + number) for number in range(first, first + _N_OTHER))


def _plain(name: str) -> str:
    return " ".join(_words(name)) or "value"


def _words(name: str) -> list[str]:
    return [word for word in name.split("_") if word]


def _of_words(known: Mapping[str, tuple[Value, ...]], name: str) -> tuple[Value, ...]:
    """Return the values of the last word of a name that has some, in singular or plural; empty if none has."""
    last_first = _words(name)[::-1]
    for word in sorted(last_first, key=lambda word: word in _GENERAL):
        for form in (word, word.removesuffix("s"), word.removesuffix("es")):
            if form in known:
                return known[form]
    return ()


def _by_word(groups: Mapping[str, tuple[Value, ...]]) -> dict[str, tuple[Value, ...]]:
    return {word: values for words, values in groups.items() for word in words.split()}


_TEXTS_BY_WORD: Final = _by_word(_TEXTS)
_NUMBERS_BY_WORD: Final = _by_word(_NUMBERS)
_FLOATS_BY_WORD: Final = _by_word(_FLOATS)
