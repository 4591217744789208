"""What the user chose among a protocol's own names, and limits as they are typed."""

import re
from collections.abc import Iterable
from typing import Any, Final

from wiregen.cli.failure import Failure
from wiregen.diagnostics import did_you_mean

__all__ = ["limits_of", "role_of", "variant_of"]

_AMOUNT = re.compile(r"([0-9]{1,18})\s*(KiB|MiB|GiB)?", re.IGNORECASE)
_UNITS: Final = {None: 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def role_of(plan: dict[str, Any], role: str | None) -> str | None:
    """Return a role of the protocol, as the user named it."""
    return _known(plan["name"], "role", role, plan["roles"])


def variant_of(plan: dict[str, Any], variant: str | None) -> str | None:
    """Return a variant of the protocol, as the user named it."""
    return _known(plan["name"], "variant", variant, plan["variants"])


def limits_of(plan: dict[str, Any], settings: tuple[str, ...]) -> dict[str, int]:
    """Return limits out of texts such as `frame=1MiB`."""
    limits = {}
    for setting in settings:
        name, _, amount = (part.strip() for part in setting.partition("="))
        match = _AMOUNT.fullmatch(amount)
        if match is None:
            raise Failure(
                f"--limit {setting} is not NAME=VALUE", "as in --limit count=1000 or --limit frame=1MiB"
            )
        _known(plan["name"], "limit", name, plan["limits"])
        limits[name] = int(match[1]) * _UNITS[match[2].lower() if match[2] else None]
    return limits


def _known(protocol: str, noun: str, name: str | None, names: Iterable[str]) -> str | None:
    known = tuple(names)
    if name is None or name in known:
        return name
    listed = f"{protocol} has {', '.join(known)}" if known else f"{protocol} has none: leave it out"
    raise Failure(f"there is no {noun} `{name}` in {protocol}", did_you_mean(name, known) or listed)
