"""Reactive Streams' OnNext by hand: the subscription gave the size of an element, and 0 means that each has its own.

`sizes` is the context of a connection: (role, subscriber) to size. The checks are those of generated code.
"""

from __future__ import annotations

from collections.abc import Callable

from naive import Reader, Refused, varint

MAX_FRAME = 1 << 24
ROLES = ("client", "server")
SMALL = tuple(bytes([n]) for n in range(128))
new = object.__new__

Sizes = dict[tuple[str, int], int]


class OnNext:
    __slots__ = ("element", "subscriber")

    def __init__(self, subscriber: int, element: bytes) -> None:
        self.subscriber = subscriber
        self.element = element

    def careful_encode(self, role: str, sizes: Sizes) -> bytes:
        try:
            subscriber, element = self.subscriber, self.element
            fixed = sizes[role, subscriber]
            n = len(element)
            if type(element) is not bytes or (fixed != 0 and fixed != n):
                raise Refused
            if fixed:
                data = b"".join((b"\x07", careful_varint(subscriber), element))
            else:
                data = b"".join((b"\x07", careful_varint(subscriber), careful_varint(n), element))
            if len(data) > MAX_FRAME:
                raise Refused
            return data
        except (KeyError, TypeError, AttributeError) as error:
            raise Refused from error


def careful_varint(value: int) -> bytes:
    if type(value) is int and 0 <= value < 128:
        return SMALL[value]
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise Refused
    return varint(value)


def careful_decode(data: bytes, role: str, sizes: Sizes) -> OnNext:
    if role not in ROLES:
        raise ValueError(role)
    end = len(data)
    try:
        code = data[0]
        at = 1
        if code > 127:
            code, at = read_varint(data, 0)
        message, at = READERS[code](data, at, role, sizes)
        if at != end or end > MAX_FRAME:
            raise Refused
        return message
    except (IndexError, KeyError) as error:
        raise Refused from error


def _on_next(data: bytes, at: int, role: str, sizes: Sizes) -> tuple[OnNext, int]:
    subscriber = data[at]
    at += 1
    if subscriber > 127:
        subscriber, at = read_varint(data, at - 1)
    n = sizes[role, subscriber]
    if n == 0:
        n = data[at]
        at += 1
        if n > 127:
            n, at = read_varint(data, at - 1)
    start = at
    at = start + n
    message = new(OnNext)
    message.subscriber = subscriber
    message.element = data[start:at]
    return message, at


READERS: dict[int, Callable[[bytes, int, str, Sizes], tuple[OnNext, int]]] = {7: _on_next}


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise Refused


def naive_decode(data: bytes, role: str, sizes: Sizes) -> OnNext:
    reader = Reader(data)
    if reader.varint() != 7:
        raise Refused
    subscriber = reader.varint()
    size = sizes[role, subscriber]
    element = reader.take(size or reader.varint())
    if reader.at != len(data):
        raise Refused
    return OnNext(subscriber, element)


def naive_encode(message: OnNext, role: str, sizes: Sizes) -> bytes:
    data = varint(7) + varint(message.subscriber)
    if sizes[role, message.subscriber] == 0:
        data += varint(len(message.element))
    return data + message.element
