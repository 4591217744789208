"""The options of a protocol's sessions, from text such as `ack_reach=WINDOW`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wirespark.errors import WireSparkError
from wirespark.options import among, settings
from wirespark.packages import Package

if TYPE_CHECKING:
    from wireproto._runtime.schema.types import Type

__all__ = ["OPTION", "OPTIONS", "session_options_of"]

OPTIONS = "options"
OPTION = "option."


def session_options_of(given: Mapping[str, str], package: Package) -> dict[str, object]:
    """Return the values in `options` (`ack_reach=WINDOW, ack_value=COUNT`) and in each `option.NAME`.

    Raises:
        WireSparkError: The protocol has no such option, or the option has no such value.
    """
    variables = (each for session in package.schema.sessions.values() for each in session.variables)
    types = {each.name: each.type for each in variables if each.is_option}
    found: dict[str, object] = {}
    for name, text in settings("option", given, OPTIONS, OPTION, "NAME=VALUE"):
        among(name, f"option of the sessions of {package.schema.name}", types)
        found[name] = _value(package, name, types[name], text)
    return found


def _value(package: Package, name: str, type_: Type, text: str) -> object:
    """Return a member of an enum, a Boolean, or a number in the bounds of its type."""
    nodes, values = package.nodes, dict[str, object]()
    match type_:
        case nodes.Boolean():
            values = {"true": True, "false": False}
        case nodes.EnumReference():
            values = {each.name: each.value for each in package.schema.enums[type_.name].members}
        case _:
            return _number(name, getattr(type_, "bounds", None), text)
    if text not in values:
        raise WireSparkError(f"option {name} is {text!r}: give one of {', '.join(values)}")
    return values[text]


def _number(name: str, bounds: tuple[int, int] | None, text: str) -> int:
    digits = text.removeprefix("-")
    number = int(text) if digits.isascii() and digits.isdigit() and len(text) < 40 else None
    if number is not None and (bounds is None or bounds[0] <= number <= bounds[1]):
        return number
    expected = "a number" if bounds is None else f"a number from {bounds[0]} to {bounds[1]}"
    raise WireSparkError(f"option {name} is {text!r}: give {expected}")
