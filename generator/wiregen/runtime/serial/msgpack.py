"""msgpack frames: arrays of plain values made of messages, and messages of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .arrays import ArrayBounds, ArrayFramer, ValuePlace, look, places_of
from .conversion import Budget, Misfit, Unreadable, wrong

__all__ = [
    "MsgpackFormat", "absent_of", "any_of", "coded", "fields_of", "items", "place_of_raw", "plain_items", "put_coded", "variety",
]  # fmt: skip

Packed: TypeAlias = Any  # whatever msgspec reads and writes
Pack = Callable[[Packed], list[Packed]]
Unpack = Callable[[Packed, Budget], Packed]


# ---- conversions


def fields_of(row: object, count: int) -> list[Packed]:
    """Return the values of an array that must have so many."""
    if type(row) is not list:
        raise wrong("", "an array", row)
    if len(row) != count:
        code = "truncated" if len(row) < count else "trailing_bytes"
        raise Misfit(code, f"{count} values", f"{len(row)} values")
    return row


def items(name: str, value: Packed, take: Unpack, budget: Budget) -> list[Packed]:
    """Return the items of an array, each made by `take`."""
    made: list[Packed] = []
    _count(name, value, budget)
    try:
        for item in value:
            made.append(take(item, budget))
    except Misfit as misfit:
        raise misfit.within(f"{name}[{len(made)}]") from None
    return made


def plain_items(name: str, value: Packed, types: tuple[type, ...], budget: Budget) -> list[Packed]:
    """Return the items of an array, all of one of these types."""
    _count(name, value, budget)
    if not set(map(type, value)) <= set(types):
        index, item = next((n, item) for n, item in enumerate(value) if type(item) not in types)
        raise wrong(f"{name}[{index}]", types[0].__name__, item)
    found: list[Packed] = value
    return found


def _count(name: str, value: object, budget: Budget) -> None:
    if type(value) is not list:
        raise wrong(name, "an array", value)
    try:
        budget.take(len(value))
    except Misfit as misfit:
        raise misfit.within(name) from None


def absent_of(values: tuple[Packed, ...]) -> int:
    """Return the number of nil values at the end."""
    n_there = sum(value is not None for value in values)
    if None in values[:n_there]:
        raise Misfit("constraint", "no value after an absent one", "a value")
    return len(values) - n_there


def put_coded(
    table: Mapping[type, tuple[int | str | None, Pack]], value: object, header: tuple[Packed, ...] = ()
) -> list[Packed]:
    """Return the array of a value after its code; a code of None is the value's own first field."""
    code, pack = table[type(value)]
    return pack(value) if code is None else [code, *header, *pack(value)]


def coded(
    tables: Mapping[str | None, Mapping[Any, tuple[str, Unpack]]],
    row: object,
    n_header: int,
    budget: Budget,
    rule: str | None = None,
) -> Packed:
    """Return the value of an array that begins with its code, then has `n_header` values that are not the value's own.

    `rule`: the rule that an unknown code breaks.
    """
    if type(row) is not list or len(row) <= n_header:
        raise wrong("", f"an array of {n_header + 1} values or more", row)
    table = tables.get(budget.role) or tables[None]
    code = row[0]
    found = table.get(code) if type(code) in (int, str) else None
    if found is None:
        raise _unknown("message", code, rule)
    name, unpack = found
    try:
        return unpack(row[n_header + 1 :], budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


def variety(
    rows: tuple[tuple[int, int, str, Unpack, bool], ...], row: object, budget: Budget, rule: str | None = None
) -> Packed:
    """Return the alternative of a union; alternatives with several codes are given theirs too. `rule`: as in `coded`."""
    if type(row) is not list or not row:
        raise wrong("", "an array", row)
    code = row[0]
    for low, high, name, unpack, has_code in rows:
        if type(code) is int and low <= code <= high:
            try:
                return unpack(row if has_code else row[1:], budget)
            except Misfit as misfit:
                raise misfit.within(name) from None
    raise _unknown("variety", code, rule)


def _unknown(kind: str, code: object, rule: str | None) -> Misfit:
    """Return the misfit of an unknown code."""
    if type(code) is int:
        return Misfit("unknown_code", f"a known {kind}", str(code)[:32], rule=rule)
    misfit = wrong("", f"a known {kind}", code)
    return Misfit("unknown_code", misfit.expected, misfit.found, rule=rule) if misfit.at is None else misfit


def any_of(row: object) -> tuple[int, Packed]:
    """Return the form of a value, and the value."""
    number, value = fields_of(row, 2)
    if type(number) is not int:
        raise wrong("", "the number of a form", number)
    return number, value


# ---- the place of raw bytes


def place_of_raw(body: bytes, row: list[Packed], misfit: Misfit, unpack: Callable[[], object]) -> int | None:
    """Return the offset in a body of the error in raw bytes; `unpack` makes the values of `row`, which the body holds.

    The same bytes may be in it several times: the refused value is found by its place. Values of at most
    one byte are one shared object, so each place is marked in turn. If a marked value is before the refused
    one, it is refused first.
    """
    assert misfit.raw is not None
    source, inside = misfit.raw
    places = [place for place in places_of(body, row) if place.row[place.index] is source]
    low, high = 0, len(places)
    while high - low > 1:
        middle = (low + high) // 2
        outcome = _with_mark(places[middle], misfit, unpack)
        low, high = (middle, high) if outcome <= 0 else (low, middle)
        if outcome == 0:
            break
    return places[low].end - len(source) + inside if places else None


def _with_mark(place: ValuePlace, misfit: Misfit, unpack: Callable[[], object]) -> int:
    """Return whether a value is before the refused one (-1), is that one (0) or is after it (1)."""
    value, place.row[place.index] = place.row[place.index], Unreadable(Misfit("invalid_value", "", at=-1))
    try:
        unpack()
    except Misfit as found:
        if found.at is None:
            return 1
        rest = misfit.path.removeprefix(found.path)
        return 0 if misfit.path.startswith(found.path) and rest[:1] in ("", ".", "[") else -1
    finally:
        place.row[place.index] = value
    return 1


# ---- the format


class MsgpackFormat:
    """Frames as msgpack arrays; `unpacks` by role (None: the first), `packs` by the class of the frame."""

    __slots__ = ("_decode", "_encode", "_error", "_n_loops", "_n_values", "_packs", "_unpacks")

    def __init__(
        self,
        encode: Callable[[Packed], bytes],
        decode: Callable[[bytes], Packed],
        error: type[Exception],
        packs: Mapping[type, Pack],
        unpacks: Mapping[str | None, Unpack],
        *,
        n_values: int,
        n_loops: int,
    ) -> None:
        """`n_values`: of the largest item, without its lists' items; `n_loops`: places where it may hold itself."""
        self._encode = encode
        self._decode = decode
        self._error = error
        self._packs = packs
        self._unpacks = unpacks
        self._n_values = n_values
        self._n_loops = n_loops

    def pack(self, frame: object) -> bytes:
        return self._encode(self._packs[type(frame)](frame))

    def unpack(self, body: bytes, role: str | None, budget: Budget) -> object:
        try:
            row = self._decode(body)
        except (UnicodeDecodeError, self._error):
            raise self._complaint(body, budget, None) from None
        unpack = self._unpacks[role if role in self._unpacks else None]
        try:
            return unpack(row, budget)
        except Misfit as misfit:
            if misfit.raw is None:
                raise
            place = place_of_raw(body, row, misfit, lambda: unpack(row, budget.renewed()))
            raise (misfit if place is None else misfit.at_place(place)) from None

    def frame(self, body: bytes) -> bytes:
        return body

    def place(self, body: bytes, role: str | None, misfit: Misfit) -> int:
        """Return 0: a body has no names, and the place of raw bytes is known."""
        return 0

    def framers(
        self, most: int, limits: Mapping[str, Any], budget: Callable[[], Budget]
    ) -> Callable[[], ArrayFramer]:
        n_items = limits["messages"] or 0
        count = limits["count"]
        n_values = self._n_values * (n_items + 1) * (limits["depth"] + 1 if self._n_loops else 1)

        def complaint(data: bytes, rest: Misfit | None) -> Misfit:
            return self._complaint(data, budget(), rest)

        bounds = ArrayBounds(
            most=most,
            n_values=most if self._n_loops > 1 else n_values,
            widest=max(n_items if count is None else min(n_items, count), self._n_values),
            refusal=lambda count: budget().refusal(count),
            complaint=complaint,
        )
        return lambda: ArrayFramer(bounds)

    def _complaint(self, data: bytes, budget: Budget, rest: Misfit | None) -> Misfit:
        """Return the error in malformed bytes, or (`rest`) in the bytes after them."""
        fallback = rest or Misfit("invalid_value", "msgpack", "other bytes")
        try:
            row = look(data, self._decode, rest)
            self._unpacks[budget.role if budget.role in self._unpacks else None](row, budget)
        except Misfit as misfit:
            return misfit
        except (RecursionError, UnicodeDecodeError, self._error):
            return fallback
        return fallback
