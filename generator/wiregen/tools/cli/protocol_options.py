"""Options whose values are names of the protocol, and limits as typed."""

import re
from collections.abc import Iterable
from typing import Final

from wiregen.language.diagnostics import did_you_mean
from wiregen.runtime.codec.values import MOST_NESTING
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import Boolean, EnumReference, Type
from wiregen.tools.cli.failure import Failure

__all__ = ["limits_of", "options_of", "role_of", "variant_of"]

_AMOUNT = re.compile(r"([0-9]{1,18})\s*(KiB|MiB|GiB)?", re.IGNORECASE)
_UNITS: Final = {None: 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def role_of(schema: Schema, role: str | None) -> str | None:
    """Return a role of the protocol, as the user named it."""
    return _known(schema.name, "role", role, schema.roles)


def variant_of(schema: Schema, variant: str | None) -> str | None:
    """Return a variant of the protocol, as the user named it."""
    return _known(schema.name, "variant", variant, schema.variants)


def limits_of(schema: Schema, settings: tuple[str, ...]) -> dict[str, int]:
    """Return limits from texts such as `frame=1MiB`."""
    limits = {}
    for setting in settings:
        name, _, amount = (part.strip() for part in setting.partition("="))
        if "=" not in setting:
            raise Failure(
                f"--limit {setting} is not NAME=VALUE",
                "write it like --limit count=1000 or --limit frame=1MiB",
            )
        _known(schema.name, "limit", name, schema.limits)
        match = _AMOUNT.fullmatch(amount)
        if match is None:
            raise Failure(
                f"--limit {setting}: `{amount}` is not an amount",
                "write an integer, such as 1000, or a size in KiB, MiB or GiB",
            )
        limits[name] = int(match[1]) * _UNITS[match[2].lower() if match[2] else None]
        if name == "depth" and limits[name] > MOST_NESTING:
            raise Failure(
                f"--limit {setting}: values can be nested at most {MOST_NESTING} deep", "give a smaller depth"
            )
    return limits


def options_of(schema: Schema, settings: tuple[str, ...]) -> dict[str, object]:
    """Return settings of a connection from texts such as `ack_value=COUNT`."""
    types = {
        each.name: each.type
        for session in schema.sessions.values()
        for each in session.variables
        if each.is_option
    }
    options = {}
    for setting in settings:
        name, _, value = (part.strip() for part in setting.partition("="))
        _known(schema.name, "option", name, types)
        options[name] = _option(schema, setting, types[name], value)
    return options


def _option(schema: Schema, setting: str, type_: Type, value: str) -> object:
    """Return the value of an option: a member of its enum, a Boolean, or a number."""
    values: dict[str, object] = {"true": True, "false": False} if isinstance(type_, Boolean) else {}
    if isinstance(type_, EnumReference):
        values = {each.name: each.value for each in schema.enums[type_.name].members}
    if value in values:
        return values[value]
    if value.isascii() and value.removeprefix("-").isdecimal() and len(value) < 40:
        return int(value)
    listed = ", ".join(values) or "a number"
    if "=" not in setting:
        raise Failure(f"--option {setting} is not NAME=VALUE", f"the values are {listed}")
    name = setting.partition("=")[0].strip()
    raise Failure(f"--option {setting}: `{name}` has no value `{value}`", f"the values are {listed}")


def _known(protocol: str, noun: str, name: str | None, names: Iterable[str]) -> str | None:
    known = tuple(names)
    if name is None or name in known:
        return name
    listed = f"{protocol} has {', '.join(known)}" if known else f"{protocol} has none: remove the option"
    raise Failure(f"there is no {noun} `{name}` in {protocol}", did_you_mean(name, known) or listed)
