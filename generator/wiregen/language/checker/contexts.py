"""Contexts and joins: each value that a field needs from earlier messages is set by one, under keys that are there."""

from __future__ import annotations

from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.lookup import is_visible
from wiregen.language.diagnostics import Label
from wiregen.schema.model import (
    Block,
    Checksum,
    Context,
    ContextReference,
    Expression,
    Field,
    Frame,
    Join,
    List,
    Message,
    MessageMatch,
    RecordReference,
    Session,
    UnionReference,
)
from wiregen.schema.walk import direct_expressions, every_field, field_expressions, nested_expressions, shapes

__all__ = ["RULES"]

_COMPOUND = Block | List | MessageMatch | RecordReference | UnionReference


def _context_never_set(inspection: Inspection) -> None:
    for context in inspection.protocol.contexts:
        if not context.settings:
            inspection.error(
                "WG4001",
                f"context `{context.name}` is never set",
                inspection.place(context.path, "name"),
                "always empty",
                _first_use(inspection, context.name),
                help_="add `set Message.field`",
            )


def _first_use(inspection: Inspection, name: str) -> Label | None:
    """Return the first field that reads a context."""
    for record in inspection.records:
        for field in record.flat:
            types = (each for type_ in shapes(field.type) for each in direct_expressions(type_))
            for expression in nested_expressions(*field_expressions(field), *types):
                if isinstance(expression, ContextReference) and expression.context == name:
                    return inspection.also(field.path, "used here")
    return None


def _set_by_wrong_role(inspection: Inspection) -> None:
    for context in inspection.protocol.contexts:
        for setting in context.settings:
            roles = inspection.targets.roles(setting.target)
            if context.role is not None and context.role not in roles:
                inspection.error(
                    "WG4002",
                    f"context `{context.name}` is set by the {context.role}, but the {context.role} never sends `{setting.target}`",
                    inspection.place(context.path, "name"),
                    f"set by the {context.role}",
                    _declared(inspection, setting.target),
                    help_=f"write `from {roles[0]}`, or name another message" if roles else None,
                )


def _context_not_known(inspection: Inspection) -> None:
    contexts = {context.name: context for context in inspection.protocol.contexts}
    setters = {name: _setters(inspection, context) for name, context in contexts.items()}
    for record in inspection.records if contexts else ():
        if not isinstance(record.owner, Message | Frame) or record.role is None:
            continue
        for field, type_ in record.shapes:
            for name in _used(direct_expressions(type_)) | _used(field_expressions(field)):
                if contexts[name].role is None and record.role not in setters[name]:
                    inspection.error(
                        "WG4003",
                        f"messages of the {record.role} need context `{name}`, which only the other role sets",
                        inspection.place(field.path),
                        "never known here",
                        inspection.also(contexts[name].path, "one context per direction", "name"),
                        help_=(
                            f"add `from {setters[name][0]}`, so that both directions use it"
                            if setters[name]
                            else None
                        ),
                    )


def _set_by_what_is_not_kept(inspection: Inspection) -> None:
    """Refuse settings from derived and constant fields: a decoded message does not keep their values."""
    records = {
        record.owner.name: record for record in inspection.records if isinstance(record.owner, Message)
    }
    for context in inspection.protocol.contexts:
        for setting in context.settings:
            fields = records[setting.target].flat if setting.target in records else ()
            for field in fields:
                if field.name == setting.field and not is_visible(field):
                    inspection.error(
                        "WG4007",
                        f"context `{context.name}` is set from `{setting.target}.{field.name}`, which is not part of the decoded message",
                        inspection.place(context.path, "name"),
                        "set from a derived or constant field",
                        inspection.also(field.path, "derived or constant"),
                        help_="use a field that is set by hand",
                    )


def _setters(inspection: Inspection, context: Context) -> tuple[str, ...]:
    sending = {role for setting in context.settings for role in inspection.targets.roles(setting.target)}
    return tuple(role for role in inspection.protocol.roles if role in sending)


def _used(expressions: tuple[Expression, ...]) -> set[str]:
    found = nested_expressions(*expressions)
    return {each.context for each in found if isinstance(each, ContextReference)}


def _piece_of_other_block(inspection: Inspection) -> None:
    for join in inspection.protocol.joins:
        for setting in (*join.parts, *join.lasts):
            if join.block not in (None, (setting.target, setting.field)):
                inspection.error(
                    "WG4004",
                    f"`{setting.target}.{setting.field}` is not a fragment of `{'.'.join(join.block or ())}`",
                    inspection.place(join.path, "type"),
                    "reassembles this block",
                    _declared(inspection, setting.target),
                    help_="name the same block in every line of the join",
                )


def _join_never_whole(inspection: Inspection) -> None:
    for join in inspection.protocol.joins:
        if not join.lasts:
            inspection.error(
                "WG4005",
                f"join `{join.name}` is never complete",
                inspection.place(join.path, "name"),
                "no last fragment",
                help_="add `last Message.field` for the last fragment",
            )


def _checksum_of_pieces(inspection: Inspection) -> None:
    """Refuse a checksum, outside a fragmented block, of fields in it: a fragment does not have their values."""
    for join in inspection.protocol.joins:
        frame, block = join.block or ("", "")
        record = next((each for each in inspection.records if each.owner.name == frame), None)
        held = None if record is None else record.by_name.get(block)
        if record is None or held is None:
            continue
        inside = {each.name for each in every_field((held,))} - {block}
        for field in record.flat:
            outer = () if field.name in inside or field is held else field_expressions(field)
            for each in nested_expressions(*outer):
                if isinstance(each, Checksum) and inside & {each.first, each.last}:
                    inspection.error(
                        "WG4029",
                        f"`{field.name}` is a checksum of a part of `{block}`, which is fragmented",
                        inspection.place(field.path, "value"),
                        "not known in a single fragment",
                        inspection.also(join.path, "reassembled here", "name"),
                        help_=f"use the checksum of `{block}`, or move `{field.name}` into it",
                    )


def _key_of_several_values(inspection: Inspection) -> None:
    """Refuse a key that is a list, a struct or the like in a message: keys are compared as single values."""
    protocol = inspection.protocol
    all_keyed: tuple[Context | Join | Session, ...] = (
        *protocol.contexts,
        *protocol.joins,
        *protocol.sessions,
    )
    for keyed in all_keyed:
        for key in keyed.keys:
            found = (inspection.targets.fields(name).get(key) for name in inspection.targets.by_name)
            field = next((each for each in found if each is not None and _has_several(each)), None)
            if field is not None:
                inspection.error(
                    "WG4030",
                    f"`{key}` is a key, and cannot be a list, a struct, a union or a message",
                    inspection.place(field.path, "type"),
                    "not a single value",
                    inspection.also(keyed.path, "the key is here", "keys"),
                    help_="give this field another name, or use a number, text, bytes or UUID as the key",
                )


def _has_several(field: Field) -> bool:
    return any(isinstance(each, _COMPOUND) for each in shapes(field.type))


def _declared(inspection: Inspection, target: str) -> Label | None:
    found = inspection.targets.by_name.get(target)
    return None if found is None else inspection.also(found.path, "declared here", "name")


RULES = (
    _context_never_set,
    _set_by_wrong_role,
    _context_not_known,
    _set_by_what_is_not_kept,
    _piece_of_other_block,
    _join_never_whole,
    _checksum_of_pieces,
    _key_of_several_values,
)
