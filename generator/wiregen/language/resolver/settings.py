"""The `protocol` declaration and the limits."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, TypeAlias, cast

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Report, Span
from wiregen.language.resolver.names import PlacedName, check_case, refuse_duplicates
from wiregen.language.resolver.patterns import resolve_ranges
from wiregen.language.resolver.state import ProtocolSettings, Workspace
from wiregen.schema import model

_UNITS: Final[Mapping[str, tuple[int, Literal["bytes", "ms"]]]] = {
    "KiB": (2**10, "bytes"),
    "MiB": (2**20, "bytes"),
    "GiB": (2**30, "bytes"),
    "ms": (1, "ms"),
    "s": (1000, "ms"),
    "min": (60_000, "ms"),
}
MEASURED_LIMITS: Final[Mapping[str, Literal["none", "bytes"]]] = {
    "frame": "bytes",
    "inflated": "bytes",
    "count": "none",
    "messages": "none",
    "depth": "none",
    "open": "none",
    "work": "none",
}
_MAX_PORT: Final = 65535
_Choice: TypeAlias = syntax.EndianSetting | syntax.BitsSetting | syntax.ErrorSetting
_CHOICES: Final[Mapping[type[_Choice], str]] = {
    syntax.EndianSetting: "endian",
    syntax.BitsSetting: "bits",
    syntax.ErrorSetting: "on error",
}


def read_settings(node: syntax.Protocol, report: Report) -> ProtocolSettings:
    """Return the settings of the protocol's block, without its reserved numbers."""
    check_case(node.name, "snake", "a protocol", report)
    roles = _roles(node, report)
    bits = _choice(node, syntax.BitsSetting, ("msb", "lsb"), report)
    endian = _choice(node, syntax.EndianSetting, ("big", "little"), report)
    on_error = _choice(node, syntax.ErrorSetting, ("close", "continue"), report)
    return ProtocolSettings(
        sources=tuple(each.text.value for each in node.settings if isinstance(each, syntax.SourceSetting)),
        endian=cast("model.Endian | None", endian),
        bits="lsb" if bits == "lsb" else "msb",
        roles=tuple(dict.fromkeys(name.text for name in roles)),
        role_places={name.text: name.span for name in reversed(roles)},
        ports=tuple(_ports(node, report)),
        on_error="continue" if on_error == "continue" else "close",
    )


def _choice(
    node: syntax.Protocol, kind: type[_Choice], allowed: tuple[str, ...], report: Report
) -> str | None:
    """Return the word of a setting from a closed list, or None if the setting is missing or has another word."""
    found = [each for each in node.settings if isinstance(each, kind)]
    refuse_second([each.span for each in found], _CHOICES[kind], report)
    if not found:
        return None
    first = found[0]
    return _word(first.action if isinstance(first, syntax.ErrorSetting) else first.order, allowed, report)


def _word(name: syntax.Name, allowed: tuple[str, ...], report: Report) -> str | None:
    if name.text in allowed:
        return name.text
    wanted = " or ".join(f"`{word}`" for word in allowed)
    report.offer(name.span, allowed)
    report.error("WG2014", f"expected {wanted}, found `{name.text}`", name.span, label="unknown word")
    return None


def _roles(node: syntax.Protocol, report: Report) -> list[syntax.Name]:
    settings = [each for each in node.settings if isinstance(each, syntax.RolesSetting)]
    refuse_second([each.span for each in settings], "roles", report)
    names = [name for each in settings for name in each.names]
    refuse_duplicates((PlacedName(name=name, what="role") for name in names), report)
    for name in names:
        check_case(name, "snake", "a role", report)
    if len(names) != 2:
        span = settings[0].span if settings else node.name.span
        message = f"a protocol has two roles: found {len(names)}"
        report.error(
            "WG2014", message, span, help="write `roles client, server`; the first one opens the connection"
        )
    return names


def refuse_second(spans: list[Span], what: str, report: Report) -> None:
    """Report a setting that appears twice."""
    for span in spans[1:]:
        others = (Label(span=spans[0], text="first"),)
        report.error("WG2002", f"setting `{what}` occurs twice", span, label="second", others=others)


def _ports(node: syntax.Protocol, report: Report) -> Iterable[model.Port]:
    for each in node.settings:
        if not isinstance(each, syntax.PortSetting):
            continue
        transport = _word(each.transport, ("tcp", "udp"), report)
        if not 0 < each.number.value <= _MAX_PORT:
            report.error(
                "WG2014", f"a port is a number from 1 to {_MAX_PORT}", each.number.span, label="not a port"
            )
        elif transport is not None:
            yield model.Port(transport="udp" if transport == "udp" else "tcp", number=each.number.value)


def resolve_reserved(work: Workspace, nodes: Iterable[object]) -> tuple[model.Reserved, ...]:
    """Return the numbers that a protocol or an enum reserves."""
    return tuple(
        model.Reserved(
            spans=resolve_ranges(work, node.ranges), why=node.reason.value if node.reason is not None else ""
        )
        for node in nodes
        if isinstance(node, syntax.Reserved)
    )


_Held: TypeAlias = tuple[syntax.CodeRange, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Reserved numbers, for fast lookup: ranges by their low ends, each with the farthest range up to it."""

    lows: tuple[int, ...]
    farthest: tuple[_Held, ...]

    def holder(self, number: int) -> _Held | None:
        """Return a range that holds the number with its reason, or None if it is not reserved."""
        index = bisect_right(self.lows, number) - 1
        found = self.farthest[index] if index >= 0 else None
        return found if found is not None and number <= found[0].high.value else None


def kept_of(nodes: Iterable[syntax.Reserved]) -> Kept:
    ranges = [
        (each, None if node.reason is None else node.reason.value) for node in nodes for each in node.ranges
    ]
    ranges.sort(key=lambda found: found[0].low.value)
    farthest = accumulate(ranges, _farther)
    return Kept(lows=tuple(found[0].low.value for found in ranges), farthest=tuple(farthest))


def _farther(best: _Held, new: _Held) -> _Held:
    return new if new[0].high.value > best[0].high.value else best


def refuse_reserved(work: Workspace, number: int, span: Span, kept: Kept, what: str) -> None:
    """Report a reserved number, and the reason."""
    found = kept.holder(number)
    if found is not None:
        others = (Label(span=found[0].span, text="reserved here"),)
        work.error(
            "WG2005", f"{what} {number} is reserved", span, label="reserved", others=others, help_=found[1]
        )


def limits_of(declarations: Iterable[syntax.Declaration], report: Report) -> dict[str, syntax.Limit]:
    """Return the limits by name, the first of each."""
    limits = [limit for node in declarations if isinstance(node, syntax.Limits) for limit in node.limits]
    refuse_duplicates((PlacedName(name=limit.name, what="limit") for limit in limits), report)
    for limit in limits:
        check_case(limit.name, "snake", "a limit", report)
    return {limit.name.text: limit for limit in reversed(limits)}


def resolve_limit(work: Workspace, node: syntax.Limit, notes: model.Notes) -> model.Limit:
    """Return a limit in bytes, milliseconds or pieces."""
    value, unit = measured(node.value)
    wanted = MEASURED_LIMITS.get(node.name.text)
    if wanted is not None and unit not in {wanted, "none"}:
        what = "a number of bytes" if wanted == "bytes" else "a number without a unit"
        message = f"limit `{node.name.text}` is {what}"
        work.error("WG2015", message, node.value.span, label="wrong unit")
    path = work.place(
        f"{work.path}.limits.{node.name.text}", node.span, name=node.name.span, value=node.value.span
    )
    return model.Limit(
        path=path, name=node.name.text, doc=node.docs, value=value, unit=wanted or unit, notes=notes
    )


def measured(node: syntax.Integer | syntax.Quantity) -> tuple[int, Literal["none", "bytes", "ms"]]:
    """Return a quantity in its unit."""
    if isinstance(node, syntax.Integer):
        return node.value, "none"
    factor, unit = _UNITS[node.unit]
    return node.number * factor, unit
