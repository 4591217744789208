"""The foundation of the conversions of generated serializations: lists within budgets, and misfits with their path.

Invariant: for any bytes, a conversion returns a value or raises `Misfit`. The native codec decides whether
the value is allowed (`serial_judge`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar
from uuid import UUID

from ..codec.compiled import READ_FAULTS, ReadState, hand_over, is_certain, release
from ..codec.errors import DecodeError, EncodeError, within
from ..codec.options import Options
from ..reference.access import kind_of
from ..reference.explain import explain_type
from ..schema.protocol import Schema
from ..schema.scalars import FLOATS
from ..schema.types import UnionReference
from .bare_values import write_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..schema.literals import FloatName

__all__ = [
    "Budget", "LeftOver", "Members", "Misfit", "RawUnion", "Unreadable", "each", "inside", "plain", "real", "rounded", "take_uuid",
    "whole", "wrong",
]  # fmt: skip

T = TypeVar("T")
_LIMITS: Final = ("limit_exceeded", "too_deep")


class Misfit(Exception):
    """A value that is not of its form.

    Attributes:
        path: The place, from the record that is being made.
        rule: The rule that the value breaks according to the native codec.
        at: The offset in the body, if known.
        raw: The native bytes that carry the value, and the offset in them.
    """

    def __init__(
        self,
        code: Any,
        expected: str,
        found: str = "",
        path: str = "",
        rule: str | None = None,
        at: int | None = None,
        raw: tuple[bytes, int] | None = None,
    ) -> None:
        super().__init__(code)
        self.raw = raw
        self.rule = rule
        self.code = code
        self.expected = expected
        self.found = found
        self.path = path
        self.at = at

    def within(self, name: str) -> Misfit:
        """Return the same misfit, seen from one level above."""
        behind = f".{self.path}" if self.path and not self.path.startswith("[") else self.path
        return Misfit(self.code, self.expected, self.found, name + behind, self.rule, self.at, self.raw)

    def at_place(self, at: int) -> Misfit:
        """Return the same misfit, with its place in the body."""
        return Misfit(self.code, self.expected, self.found, self.path, self.rule, at, self.raw)

    def error(self, start: int, body: int, end: int | None = None) -> DecodeError:
        """Return the error of a frame from `start` to `end` (None if unknown) whose body begins at `body`."""
        return DecodeError(
            self.code,
            rule=self.rule,
            path=shortened(self.path),
            frame_offset=start,
            at=start if self.at is None else body + self.at,
            expected=self.expected,
            found=self.found,
            recoverable=end is not None,
            end=end,
        )


class Unreadable:
    """Placeholder of a value that cannot be decoded; `is_behind`: one is before it, in the same array or deeper."""

    __slots__ = ("is_behind", "misfit")

    def __init__(self, misfit: Misfit, *, is_behind: bool = False) -> None:
        self.misfit = misfit
        self.is_behind = is_behind


def wrong(name: str, expected: str, value: object) -> Misfit:
    """Return the misfit of a value of another type."""
    if type(value) is Unreadable:
        return value.misfit if value.is_behind else value.misfit.within(name)
    return Misfit("invalid_value", expected, _found(value), name)


def _found(value: object) -> str:
    if value is None:
        return "nil"
    return f"an array of {len(value)}" if type(value) is list else kind_of(value)


def shortened(path: str) -> str:
    """Return a path without its middle, if it is long."""
    return path if len(path) <= 2 * _SIDE else f"{path[:_SIDE]}…{path[-_SIDE:]}"


_SIDE = 96


class LeftOver(Exception):
    """Trailing bytes after a value of a lenient reader; only the native codec has a place for them."""


class Budget:
    """The remaining numbers of items of one outer frame: the same bounds as the native codec's.

    Attributes:
        role: The role that sent the frame, if known.
        options: The options of decoding.
    """

    __slots__ = ("_count", "_left", "_limits", "_most", "_rules", "options", "role")

    def __init__(self, limits: Mapping[str, int | None], options: Options, rules: Mapping[str, str]) -> None:
        """`limits`: all limits. `rules`: the rules that limits name."""
        self._limits = limits
        self.options = options
        self.role = options.from_role
        self._rules = rules
        self._count = limits["count"]
        self._most = limits["messages"] or 0
        self._left = self._most

    def renewed(self) -> Budget:
        """Return the same budget before any item was taken from it."""
        return Budget(self._limits, self.options, self._rules)

    def take(self, count: int) -> None:
        """Take the items of a list from the budget, before any of them is made.

        Raises:
            Misfit: More than a list, or all lists of the frame together, may have.
        """
        self._left -= count
        if self._left < 0 or (self._count is not None and count > self._count):
            raise self.refusal(count)

    def counts(self) -> Callable[[int, int], None]:
        """Return a function that takes a list's next items from a copy of this budget, given their number
        and the list's length.
        """
        n_left, bound = self._most, self._most if self._count is None else self._count

        def take(n_more: int, count: int) -> None:
            nonlocal n_left
            n_left -= n_more
            if n_left < 0 or count > bound:
                raise self.refusal(count)

        return take

    def refusal(self, count: int) -> Misfit:
        """Return the misfit for a list of so many items."""
        if self._count is not None and count > self._count:
            return self._over("count", f"at most {self._count} items", f"{count} items")
        return self._over("messages", f"at most {self._most} items in the frame", "more")

    def _over(self, limit: str, expected: str, found: str) -> Misfit:
        return Misfit("limit_exceeded", within(expected, limit), found, rule=self._rules.get(limit))


class Members(dict[int, Any]):
    """The members of an enum by number; a number without a member stays a number."""

    def __init__(self, enum: Iterable[Any]) -> None:
        super().__init__((member.value, member) for member in enum)

    def __missing__(self, number: int) -> int:
        return number


def each(name: str, items: Any, take: Callable[[object, Budget], T], budget: Budget) -> list[T]:
    """Return the items of a list, each made by `take`.

    Raises:
        Misfit: With the place of the item in its path.
    """
    made: list[T] = []
    try:
        budget.take(len(items))
    except Misfit as misfit:
        raise misfit.within(name) from None
    try:
        for item in items:
            made.append(take(item, budget))
    except Misfit as misfit:
        raise misfit.within(f"{name}[{len(made)}]") from None
    return made


def plain(name: str, items: Any, budget: Budget) -> list[Any]:
    """Return the items of a list as they are."""
    try:
        budget.take(len(items))
    except Misfit as misfit:
        raise misfit.within(name) from None
    return list(items)


def inside(name: str, take: Callable[[object, Budget], T], source: object, budget: Budget) -> T:
    """Return the result of `take` for a part of that name.

    Raises:
        Misfit: With the name in its path.
    """
    try:
        return take(source, budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


whole: Final = int.__index__
"""Return an integer of the caller's own class as a plain one, without asking it. TypeError: it is no integer, and only stands for one."""


def real(value: Any) -> float:
    """Return a float, or an integer for one, as a plain float. TypeError: it only stands for one."""
    return float.__float__(value) if issubclass(type(value), float) else float(whole(value))


def rounded(format_: FloatName, value: float) -> float:
    """Return the value that the native codec carries for a float; one that is too large is left for it to refuse."""
    try:
        return FLOATS[format_].unpack(FLOATS[format_].pack(value))
    except OverflowError:
        return value


def take_uuid(source: object, budget: Budget) -> UUID:
    """Return the UUID of 16 bytes."""
    if type(source) is not bytes or len(source) != 16:
        if type(source) is not bytes:
            raise wrong("", "16 bytes of a UUID", source)
        raise Misfit("invalid_value", "16 bytes of a UUID", f"{len(source)} bytes")
    return UUID(bytes=source)


class RawUnion:
    """A union whose values are carried as their native bytes, code first.

    `read` and `writers` are the package's own for the union. The reference codec examines values that they refuse.
    """

    __slots__ = ("_name", "_namespace", "_read", "_schema", "_type", "_writers")

    def __init__(
        self,
        schema: Schema,
        namespace: dict[str, object],
        name: str,
        read: Callable[[bytes, int, int, Any, bool], tuple[Any, int]],
        writers: Mapping[type, Callable[[Any, Any, bool], bytes]],
    ) -> None:
        self._schema = schema
        self._namespace = namespace
        self._name = name
        self._type = UnionReference(name)
        self._read = read
        self._writers = writers

    def put(self, value: object) -> bytes:
        """Return the bytes of a value that the native codec has written in its frame.

        Raises:
            EncodeError: `unrepresentable`, its layout depends on its place in the frame; else it exceeds a limit.
        """
        try:
            return self._writers[type(value)](value, None, True)
        except Exception as fault:  # noqa: BLE001 - a value may be of any class, and raise anything
            hand_over(fault)
        try:
            return write_type(self._schema, self._type, value, self._name)
        except EncodeError as error:
            if error.code in _LIMITS:
                raise
            path, found = error.path.removeprefix(f"{self._name}."), f"{error.code} at offset 0"
        # `offset` counts from the frame's first byte there and from the value's first byte here.
        raise EncodeError(
            "unrepresentable",
            path=path,
            expected="a value whose bytes do not depend on its place in the frame",
            found=found,
        )

    def take(self, source: object, budget: Budget) -> Any:
        """Return the value of bytes."""
        if type(source) is not bytes:
            raise wrong("", f"the bytes of a {self._name}", source)
        given = budget.options
        state = ReadState({**self._schema.limits, **given.limits}) if given.limits else None
        try:
            value, end = self._read(source, 0, len(source), state, True)
        except READ_FAULTS as fault:
            is_faulty = is_certain(fault)
        else:
            if end == len(source):
                return value
            is_faulty = True
        return self._taken_by_reference(source, given, is_faulty=is_faulty)

    def _taken_by_reference(self, source: bytes, given: Options, *, is_faulty: bool) -> object:
        """Return the value of bytes that straight-line code refuses."""
        from ..reference.objects import build

        options = Options(given.from_role, limits=given.limits, strict=given.strict, variant=given.variant)
        try:
            node = explain_type(self._schema, self._type, source, options, name="", is_faulty=is_faulty)
        except DecodeError as error:
            release(error)
            path, raw = error.path.removeprefix("."), (source, error.at)
            raise Misfit(error.code, error.expected, error.found, path, error.rule, raw=raw) from None
        return build(self._schema, node.value, self._namespace)
