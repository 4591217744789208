"""The view of a Wireshark dissector: the declarations of a protocol as readers in Lua."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wiregen.generate.views.wireshark.expressions import lua_number, lua_string
from wiregen.generate.views.wireshark.types import LuaTypes, declared, flag, words
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema import declarations as d
from wiregen.schema import model as m
from wiregen.schema.lowering import lower

__all__ = ["DissectorLayoutView", "LuaEntry", "WiresharkView", "filter_name", "wireshark_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LuaEntry:
    """A key of a Lua table, spelled as Lua, and its value."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DissectorLayoutView:
    """The declarations of the protocol, or those that a variant has in another layout."""

    title: str
    structs: tuple[LuaEntry, ...]
    messages: tuple[LuaEntry, ...]
    frames: tuple[LuaEntry, ...]
    preambles: tuple[LuaEntry, ...]
    circular: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WiresharkView:
    """A dissector. Everything but `name`, `source` and `left_out` is Lua.

    `left_out`: the parts that it does not show, a line of text each.
    """

    name: str
    source: str
    left_out: tuple[str, ...]
    filter_name: str
    title: str
    limits: tuple[LuaEntry, ...]
    roles: str
    enums: tuple[LuaEntry, ...]
    codes: tuple[LuaEntry, ...]
    frame_roles: tuple[LuaEntry, ...]
    sends: tuple[LuaEntry, ...]
    first_frame: str
    opens: tuple[LuaEntry, ...]
    unions: tuple[LuaEntry, ...]
    contexts: tuple[LuaEntry, ...]
    layouts: tuple[DissectorLayoutView, ...]
    ports: tuple[m.Port, ...]


_UNBOUNDED = "math.huge"
_KEYWORDS = frozenset(
    "all all_eq all_ne and any any_eq any_ne bitand bitwise_and contains eq ge gt in le lt matches ne not or xor".split()
)
"""Words of Wireshark's filters, which cannot name a protocol."""


def filter_name(protocol: str) -> str:
    """Return the filter name of a protocol: in lower case, of at least two characters, and no word of filters."""
    name = protocol.lower()
    return f"{name}_wire" if len(name) < 2 or name in _KEYWORDS else name


def wireshark_view(protocol: m.Protocol, source: str) -> WiresharkView:
    """Return the view of a checked protocol."""
    schema = lower(protocol)
    left_out: list[str] = []
    layout = Layout(schema, Options())
    types = LuaTypes(layout, left_out)
    base = DissectorLayoutView(
        title=lua_string("the protocol's own"),
        structs=_records(types, schema.structs),
        messages=tuple(_message(types, name, each) for name, each in schema.messages.items()),
        frames=tuple(_frame(types, name, each) for name, each in schema.frames.items()),
        preambles=_records(types, {name: each.fields for name, each in schema.preambles.items()}),
        circular=words(schema.circular),
    )
    variants = []
    for name, variant in schema.variants.items():
        other = LuaTypes(Layout(schema, Options(variant=name)), left_out)
        variants.append(
            DissectorLayoutView(
                title=lua_string(name),
                structs=_records(other, variant.structs),
                messages=tuple(_message(other, each, variant.messages[each]) for each in variant.messages),
                frames=tuple(_frame(other, each, variant.frames[each]) for each in variant.frames),
                preambles=_records(other, {each: made.fields for each, made in variant.preambles.items()}),
                circular=words(variant.circular),
            )
        )
    limits: dict[str, int | None] = {**schema.limits, "joined": layout.joined}
    return WiresharkView(
        name=protocol.name,
        source=source,
        filter_name=filter_name(protocol.name),
        title=lua_string(f"{protocol.name} (wiregen)"),
        limits=_entries(
            {name: _UNBOUNDED if bound is None else lua_number(bound) for name, bound in limits.items()}
        ),
        roles=_list(map(lua_string, schema.roles)),
        enums=_entries({name: _names(enum) for name, enum in schema.enums.items()}),
        codes=_entries(
            {
                role: _table((lua_number(code), lua_string(name)) for code, name in codes.items())
                for role, codes in schema.codes.items()
            }
        ),
        frame_roles=_entries(_frame_roles(schema.sends, schema.frames)),
        sends=_entries({role: lua_string(frame) for role, frame in schema.sends.items()}),
        first_frame=lua_string(next(iter(schema.sends.values()), "")),
        opens=_entries({role: lua_string(name) for role, name in schema.opens.items()}),
        unions=_entries({name: _union(types, name, union) for name, union in schema.unions.items()}),
        contexts=_entries({name: _context(types, context) for name, context in schema.contexts.items()}),
        layouts=(base, *variants),
        ports=protocol.ports,
        left_out=_left_out(protocol, left_out),
    )


def _left_out(protocol: m.Protocol, constructs: list[str]) -> tuple[str, ...]:
    joins = [f"`{join.name}`" for join in protocol.joins if join.type is not None]
    lines = [
        "numbers beyond 2^53 are shown and compared, but not calculated with;",
        "after a frame whose end is not known, or missing bytes, that direction of the connection is not dissected;",
    ]
    if joins:
        lines.append(f"the pieces of {', '.join(joins)} are shown, but not what they make together;")
    if protocol.sessions:
        lines.append("sessions are not followed: an order of messages that the protocol forbids is not seen;")
    lines += [f"{each}: the bytes are shown;" for each in dict.fromkeys(constructs)]
    lines[-1] = lines[-1].removesuffix(";") + "."
    return tuple(lines)


def _entries(table: Mapping[str, str]) -> tuple[LuaEntry, ...]:
    return tuple(LuaEntry(key=lua_string(key), value=value) for key, value in table.items())


def _list(items: Iterable[str]) -> str:
    return "{" + ", ".join(items) + "}"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return _list(f"[{key}] = {value}" for key, value in rows)


def _names(enum: d.Enum) -> str:
    return _table(
        (lua_number(member.value), lua_string(member.name))
        for member in enum.members
        if abs(member.value) <= 2**53
    )


def _frame_roles(sends: Mapping[str, str], frames: Mapping[str, d.Frame]) -> dict[str, str]:
    """Return the sender of each frame where the roles have frames of their own, which carry only their messages."""
    if len(set(sends.values())) <= 1:
        return {}
    return {name: lua_string(frame.role) for name, frame in frames.items() if frame.role is not None}


def _shown(name: str) -> str:
    return LuaTypes.shown(declared(name), "none", name)


def _records(types: LuaTypes, rows: Mapping[str, tuple[m.Field, ...]]) -> tuple[LuaEntry, ...]:
    return _entries(
        {
            name: f"{{ pf = {_shown(name)}, fields = {types.row(fields, declared(name))} }}"
            for name, fields in rows.items()
        }
    )


def _message(types: LuaTypes, name: str, message: d.Message) -> LuaEntry:
    code = "nil" if message.code is None else lua_number(message.code)
    fields = types.row(message.fields, declared(name))
    return LuaEntry(
        key=lua_string(name), value=f"{{ pf = {_shown(name)}, code = {code}, fields = {fields} }}"
    )


def _frame(types: LuaTypes, name: str, frame: d.Frame) -> LuaEntry:
    fields = types.in_frame(name, frame.fields, declared(name))
    return LuaEntry(key=lua_string(name), value=f"{{ pf = {_shown(name)}, fields = {fields} }}")


def _union(types: LuaTypes, name: str, union: d.Union) -> str:
    owner = declared(name)
    code = types.type(union.type, f"{owner}.code", "code", owner)
    varieties = []
    for each in union.varieties:
        spans = ", ".join(f"{lua_number(span.low)}, {lua_number(span.high)}" for span in each.spans)
        own = f"{owner}.{declared(each.name)}"
        shown = LuaTypes.shown(own, "none", each.name)
        row = types.row(each.fields, own)
        reaches_end = flag(types.reaches_end(each.fields))
        varieties.append(
            f"\n    {{ {{ {spans} }}, {lua_string(each.name)}, {shown}, {row}, {reaches_end} }},"
        )
    return f"{{ code = {code}, varieties = {{{''.join(varieties)}\n  }} }}"


def _context(types: LuaTypes, context: d.Context) -> str:
    def when(condition: m.Expression | None) -> str:
        return "nil" if condition is None else types.function(condition)

    settings = [
        f"{{ target = {lua_string(each.target)}, field = {lua_string(each.field)}, when = {when(each.when)} }}"
        for each in context.settings
    ]
    clearings = [
        f"{{ targets = {words(each.targets)}, when = {when(each.when)} }}" for each in context.clearings
    ]
    role = "nil" if context.role is None else lua_string(context.role)
    return (
        f"{{ role = {role}, keys = {_list(map(lua_string, context.keys))}, "
        f"settings = {_list(settings)}, clearings = {_list(clearings)} }}"
    )
