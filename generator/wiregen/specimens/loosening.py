"""A plan in which nothing is derived, constant or held to a condition: whatever could be wrong is free.

What is grown of it is a value of the true plan as well: there the writer derives what is derived.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from wiregen.runtime.options import Plan

__all__ = ["CODES", "loosened"]

CODES: Final = "#codes"
"""Begins the names of the enums that stand for the codes of messages."""
_KINDS: Final = ("structs", "preambles", "frames", "messages")


def loosened(plan: Plan) -> Plan:
    """Return the plan without derived and constant values and without `where`; codes of messages are enums."""
    return _Loosening(plan).plan


class _Loosening:
    def __init__(self, plan: Plan) -> None:
        self._enums: dict[str, Any] = dict(plan["enums"])
        self._codes: Mapping[str, Mapping[int, str]] = plan["codes"]
        self._is_apart = len(set(plan["sends"].values())) > 1
        self._sender: str | None = None
        """The role whose frame is being loosened, where each role has a frame of its own."""
        self.plan: Plan = {
            **plan,
            **self._layouts(plan),
            "unions": {name: self._union(union) for name, union in plan["unions"].items()},
            "variants": {name: self._layouts(layouts) for name, layouts in plan["variants"].items()},
            "enums": self._enums,
        }

    def _layouts(self, layouts: Mapping[str, Any]) -> dict[str, Any]:
        return {
            kind: {name: self._declaration(kind, entry) for name, entry in layouts[kind].items()}
            for kind in _KINDS
        }

    def _union(self, union: Any) -> Any:
        base, varieties, raw = union
        freed = ((codes, name, self._fields(fields), is_lone) for codes, name, fields, is_lone in varieties)
        return (base, tuple(freed), raw)

    def _declaration(self, kind: str, entry: Any) -> Any:
        self._sender = entry[0] if kind == "frames" and self._is_apart else None
        if _is_fields(entry):
            return self._fields(entry)
        return tuple(self._fields(part) if _is_fields(part) else part for part in entry)

    def _fields(self, fields: Any) -> Any:
        return tuple(self._field(field) for field in fields)

    def _field(self, field: Any) -> Any:
        name, hidden, type_, value, condition, _, text, rule, secret = field
        if value is not None and value[0] in ("derived", "constant"):
            if value[0] == "derived" and value[1][:2] == ("call", "code"):
                type_ = self._code(type_)
            value = None
        return (name, hidden, self._type(type_), value, condition, None, text, rule, secret)

    def _code(self, type_: Any) -> Any:
        base = self._type(self._enums[type_[1]][0] if type_[0] == "enum" else type_)
        name = f"{CODES}{self._sender or ''}{base}"
        senders = self._codes if self._sender is None else (self._sender,)
        named = {code: message for sender in senders for code, message in self._codes[sender].items()}
        self._enums[name] = (base, False, tuple(sorted(named.items())))
        return ("enum", name, None, False)

    def _type(self, type_: Any) -> Any:
        match type_:
            case ("block", fields):
                return ("block", self._fields(fields))
            case ("region", content, carrier, lenient):
                return ("region", self._type(content), carrier, lenient)
            case ("match", subject, arms):
                return ("match", subject, tuple((spans, self._type(arm)) for spans, arm in arms))
            case ("list", item, *rest):
                return ("list", self._type(item), *rest)
            case ("bits", n_bits, is_flag, _):
                return ("few_bits", n_bits, is_flag)
            case _:
                return type_


def _is_fields(part: Any) -> bool:
    return isinstance(part, tuple) and all(isinstance(each, tuple) and len(each) == 9 for each in part)
