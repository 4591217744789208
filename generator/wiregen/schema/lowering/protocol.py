"""The schema that codecs and sessions interpret, with every name replaced by its definition.

Its nodes are the contract between generator and runtime.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

from wiregen.runtime.codec.options import DEFAULT_LIMITS
from wiregen.runtime.schema.node import Node
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.schema import model as m
from wiregen.schema.circles import circular, varied
from wiregen.schema.field_facts import is_padded
from wiregen.schema.lowering.transitions import lower_sessions, rules_of
from wiregen.schema.sizes import smallest
from wiregen.schema.walk import every_field

_Part = TypeVar("_Part")


def limits_of(protocol: m.Protocol) -> dict[str, int | None]:
    """Return the limits of a protocol by name; `joined` only if it has joins or the file declares the limit."""
    known = {name: value for name, value in DEFAULT_LIMITS.items() if name != "joined" or protocol.joins}
    return known | {limit.name: limit.value for limit in protocol.limits}


def lower(protocol: m.Protocol) -> Schema:
    """Return the schema of a protocol."""
    lowering = _Lowering(protocol)
    own = lowering.layouts(protocol)
    return Schema(
        name=protocol.name,
        endian=protocol.endian,
        roles=protocol.roles,
        role_rule=protocol.role_rule,
        on_error=protocol.on_error,
        limits=limits_of(protocol),
        limit_rules={limit.name: limit.notes.rule for limit in protocol.limits if limit.notes.rule},
        rules=_rules(protocol),
        enums={enum.name: lowering.part(enum) for enum in protocol.enums},
        codings={coding.name: lowering.part(coding) for coding in protocol.codings},
        unions={union.name: lowering.part(union) for union in protocol.unions},
        structs=own.structs,
        messages=own.messages,
        frames=own.frames,
        preambles=own.preambles,
        codes={role: _codes(protocol, role) for role in protocol.roles},
        sends={role: frame.name for frame in protocol.frames for role in _senders(protocol, frame.role)},
        opens={preamble.role: preamble.name for preamble in protocol.preambles},
        contexts={context.name: lowering.part(context) for context in protocol.contexts},
        joins={join.name: lowering.part(join) for join in protocol.joins},
        views=lowering.views(),
        sessions=lower_sessions(protocol, lowering.part),
        violations=rules_of(protocol),
        variants={variant.name: lowering.layouts(variant) for variant in protocol.variants},
        circular=own.circular,
    )


def _rules(protocol: m.Protocol) -> dict[str, str]:
    """Return the rules of unions, enums and codings by name, those of alternatives as `Union.Variety`."""
    declared: tuple[m.Union | m.Enum | m.Coding, ...] = (
        *protocol.unions, *protocol.enums, *protocol.codings
    )  # fmt: skip
    whole = ((each.name, each.notes.rule) for each in declared)
    varieties = (
        (f"{union.name}.{variety.name}", variety.notes.rule)
        for union in protocol.unions
        for variety in union.varieties
    )
    return {name: rule for name, rule in (*whole, *varieties) if rule is not None}


def _senders(protocol: m.Protocol, role: str | None) -> tuple[str, ...]:
    return protocol.roles if role is None else (role,)


def _codes(protocol: m.Protocol, role: str) -> dict[int, str]:
    return {
        message.code: message.name
        for message in protocol.messages
        if message.code is not None and role in _senders(protocol, message.role)
    }


class _Lowering:
    """Lowers the parts of one protocol, and keeps it to compute the sizes of named declarations."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._own: dict[str, m.Field] = {}
        """The fields of the declaration that is being lowered, by name."""
        self._name = ""
        """The field that is being lowered."""

    # ---- declarations

    def views(self) -> dict[str, dict[str, m.View]]:
        """Return the views by declaration and field: their form, or the type as which the bytes are read.

        Only `json` is visible in a decoded line.
        """
        protocol = self._protocol
        owners: list[m.Struct | m.Message | m.Frame | m.Preamble] = [*protocol.structs, *protocol.messages]
        rows = {owner.name: owner.fields for owner in (*owners, *protocol.frames, *protocol.preambles)}
        for union in protocol.unions:
            rows |= {f"{union.name}.{variety.name}": variety.fields for variety in union.varieties}
        found = {name: self._views_of(fields) for name, fields in rows.items()}
        return {name: forms for name, forms in found.items() if forms}

    def _views_of(self, fields: tuple[m.Field, ...]) -> dict[str, m.View]:
        return {field.name: self.part(field.view) for field in every_field(fields) if field.view is not None}

    def layouts(self, owner: m.Protocol | m.Variant) -> Variant:
        """Return the fields of the declarations that a layout may vary, by kind and name."""
        return Variant(
            structs={struct.name: self.fields(struct.fields) for struct in owner.structs},
            messages={message.name: self.part(message) for message in owner.messages},
            frames={frame.name: self.part(frame) for frame in owner.frames},
            preambles={preamble.name: self.part(preamble) for preamble in owner.preambles},
            circular=self._circular(owner),
        )

    def _circular(self, owner: m.Protocol | m.Variant) -> tuple[str, ...]:
        """Return the declarations that can contain themselves, except frames, since each of these holds a message."""
        protocol = varied(self._protocol, owner) if isinstance(owner, m.Variant) else owner
        names = circular(protocol)
        counted: tuple[m.Struct | m.Message | m.Union, ...] = (
            *protocol.structs, *protocol.messages, *protocol.unions
        )  # fmt: skip
        return tuple(each.name for each in counted if each.name in names)

    def fields(self, fields: tuple[m.Field, ...]) -> tuple[m.Field, ...]:
        """Return the fields of a declaration."""
        self._own = {field.name: field for field in every_field(fields)}
        return self.part(fields)

    # ---- nodes

    def part(self, part: _Part) -> _Part:
        """Return a part of the model in the form for codecs and sessions.

        Declarations and numbers lose data that only the compiler needs, and fields lose their paths and
        views. Lists get the size of their smallest item, and regions get whether zeros fill them.
        """
        lowered: object = part
        match part:
            case (
                m.Message(fields=fields)
                | m.Frame(fields=fields)
                | m.Preamble(fields=fields)
                | m.Variety(fields=fields)
            ):
                lowered = self._copy(part, fields=self.fields(fields))
            case m.Field():
                self._name = part.name
                lowered = self._copy(part, path="", view=None)
            case m.List():
                lowered = self._copy(part, smallest_item=smallest(part.item, self._protocol))
            case m.Region():
                is_filled = is_padded(part, self._name, self._own, self._protocol)
                lowered = self._copy(part, lenient="padded" if is_filled else part.lenient)
            case Node():
                lowered = self._copy(part)
            case tuple():
                lowered = tuple(map(self.part, part))
        return cast(_Part, lowered)

    def _copy(self, node: Node, **known: object) -> Node:
        """Return a node as its class in the schema, with its parts lowered except the fields given in `known`."""
        plain = _plain(type(node))
        values = (known[name] if name in known else self.part(getattr(node, name)) for name in plain._fields)
        return plain(*values)


@cache
def _plain(class_: type[Node]) -> type[Node]:
    """Return the class of the schema that a class of nodes is, or that it extends."""
    return next(base for base in reversed(class_.__mro__) if issubclass(base, Node) and base is not Node)
