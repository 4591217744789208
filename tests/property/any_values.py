"""Frames of the generated classes for every message of a protocol, made from its plan: most of them can be written."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from tests.property.codecs import attribute, header_attribute

from wiregen.naming import Scope, python_name
from wiregen.runtime.schema.protocol import Schema

_TEXTS = ("", "a", "key", "zwei Wörter", "\0", "€😀", "x" * 70, "\t\n")
_LATIN = ("", "a", "zwei W\xf6rter", "x" * 70)
_ASCII = ("", "a", "zwei Worte", "x" * 70)


class AnyValues:
    """Makes frames of one generated package; equal seeds make equal frames."""

    def __init__(self, module: Any, plan: Schema, seed: int) -> None:
        self._module = module
        self._plan = plan
        self._dice = random.Random(seed)

    def frames(self) -> list[tuple[str | None, Any]]:
        """Return a frame with each message that it can carry, and who sends it."""
        return [
            (frame[0] or self._plan.messages[name][1], self.frame(frame_name, name))
            for frame_name, frame in self._plan.frames.items()
            for name in self._carried(frame_name)
        ]

    def frame(self, frame_name: str, message: str, depth: int = 0) -> Any:
        _, fields, body = self._plan.frames[frame_name]
        header = self._row(fields, depth, leave_out=body, names=header_attribute)
        return self._class(frame_name)(self._record(message, depth), **header)

    def _carried(self, frame_name: str) -> list[str]:
        role = self._plan.frames[frame_name][0]
        sent = self._plan.messages.items()
        coded = [name for name, (code, sender, _) in sent if code is not None and role in (None, sender)]
        coded += [name for name, (code, sender, _) in sent if code is not None and role and sender is None]
        return coded + list(_named(self._plan.frames[frame_name][1]))

    # ---- records

    def _record(self, name: str, depth: int) -> Any:
        fields = self._plan.messages[name][2] if name in self._plan.messages else self._plan.structs[name]
        made = self._class(name)(**self._row(fields, depth))
        n_trailing = sum(each[3] is not None and each[3][0] == "trailing" for each in _flat(fields))
        if n_trailing:
            made.absent = self._dice.randint(0, n_trailing)
            self._reset(made, fields)
        return made

    def _reset(self, made: Any, fields: Any) -> None:
        """Give what is absent the value that it has then."""
        trailing = [each for each in _flat(fields) if each[3] is not None and each[3][0] == "trailing"]
        fresh = type(made)(
            **{
                attribute(each[0]): getattr(made, attribute(each[0]))
                for each in _flat(fields)
                if _is_shown(each) and each not in trailing
            }
        )
        for each in trailing[len(trailing) - made.absent :]:
            setattr(made, attribute(each[0]), getattr(fresh, attribute(each[0])))

    def _row(
        self, fields: Any, depth: int, *, leave_out: str | None = None, names: Any = attribute
    ) -> dict[str, Any]:
        return {
            names(field[0]): self._field(field, depth)
            for field in _flat(fields)
            if _is_shown(field) and field[0] != leave_out
        }

    def _field(self, field: Any, depth: int) -> Any:
        if field[4] is not None and field[3] is None and self._dice.random() < 0.5:
            return None
        return self._value(field[2], depth)

    def _class(self, name: str) -> Any:
        return getattr(self._module, python_name(name, Scope.MODULE, granted=("Frame",)))

    # ---- values

    def _value(self, type_: Any, depth: int) -> Any:
        match type_:
            case ("int", size, signed, _):
                return self._integer(8 * size, signed)
            case ("varint", bits, zigzag, *_):
                return self._integer(64, True) if zigzag else self._integer(bits, False)
            case ("bits", bits, is_flag, *_):
                return self._dice.random() < 0.5 if is_flag else self._dice.randrange(1 << bits)
            case ("float", size, _):
                return self._dice.choice((0.0, -1.5, float("inf"), 0.25, 1e10 if size == 8 else 2.0**100))
            case ("bool", *_):
                return self._dice.random() < 0.5
            case ("uuid",):
                return UUID(int=self._dice.getrandbits(128))
            case ("bytes", length):
                return self._sized(length, self._octets())
            case ("text", encoding, length, lenient, _):
                return self._sized(length, self._text(encoding, lenient))
            case ("list", item, *_):
                return [self._value(item, depth + 1) for _ in range(self._few(depth))]
            case ("enum", name, *_):
                return self._member(name)
            case ("coding", name, *_):
                return self._dice.choice((0, 1, 100))
            case ("struct", name) | ("message", name):
                return self._record(name, depth + 1)
            case ("frame", name, only, _):
                return self.frame(
                    name, self._dice.choice(only or self._flat_messages(name, depth)), depth + 1
                )
            case ("union", name, only, _):
                return self._variety(name, only, depth)
            case ("region", content, _, _):
                return self._value(content, depth)
            case ("match", _, arms):
                return self._value(self._dice.choice(arms)[1], depth)
            case _:
                raise AssertionError(f"no values for {type_[0]}")

    def _few(self, depth: int) -> int:
        return self._dice.randint(0, 3 if depth < 3 else 0)

    def _integer(self, bits: int, signed: bool) -> int:
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return self._dice.choice((low, high, 0, 1, 2, 3, self._dice.randint(low, high)))

    def _octets(self) -> bytes:
        return self._dice.randbytes(self._dice.choice((0, 1, 4, 12, 70)))

    def _text(self, encoding: str, lenient: bool) -> str:
        if encoding in ("ascii", "latin1"):
            return self._dice.choice(_ASCII if encoding == "ascii" else _LATIN)
        if encoding == "utf8" and lenient and self._dice.random() < 0.3:
            return self._octets().decode("utf-8", "surrogateescape")
        return self._dice.choice(_TEXTS)

    def _sized(self, length: Any, value: Any) -> Any:
        """Return a value of the length that is computed, where that is a number."""
        if length[0] == "computed" and length[1][0] == "number":
            return (value * length[1][1] + type(value)(b"x" * 99 if isinstance(value, bytes) else "x" * 99))[
                : length[1][1]
            ]
        return value

    def _member(self, name: str) -> Any:
        base, is_open, members = self._plan.enums[name]
        number = self._dice.choice([number for number, _ in members])
        return self._value(base, 0) if is_open and self._dice.random() < 0.3 else self._class(name)(number)

    def _flat_messages(self, frame: str, depth: int) -> list[str]:
        names = [name for name in self._carried(frame) if self._plan.messages[name][0] is not None]
        simple = [name for name in names if "'frame'" not in repr(self._plan.messages[name][2])]
        return names if depth < 1 else simple

    def _variety(self, union: str, only: Any, depth: int) -> Any:
        _, varieties, *_ = self._plan.unions[union]
        chosen = [each for each in varieties if only is None or each[1] in only]
        shallow = [each for each in chosen if f"'union', '{union}'" not in repr(each[2])]
        patterns, name, fields, *_ = self._dice.choice(shallow if depth > 2 and shallow else chosen)
        class_ = getattr(self._class(union), python_name(name, Scope.MODULE))
        row = self._row(fields, depth + 1)
        if len(patterns) > 1 or patterns[0][0] != patterns[0][1]:
            row["code"] = self._dice.choice([each[0] for each in patterns])
        return class_(**row)


def _is_shown(field: Any) -> bool:
    return not field[1]


def _flat(fields: Any) -> list[Any]:
    """Return fields, those of blocks in their place."""
    found: list[Any] = []
    for field in fields:
        inner = field[2]
        while inner[0] == "region":
            inner = inner[1]
        found += _flat(inner[1]) if inner[0] == "block" else [field]
    return found


def _named(fields: Any) -> list[str]:
    """Return the messages that the arms of a frame's body name."""
    found = []
    for field in _flat(fields):
        if field[2][0] == "match":
            found += [arm[1] for _, arm in field[2][2] if arm[0] == "message"]
    return found
