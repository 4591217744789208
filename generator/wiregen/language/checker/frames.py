"""How messages are carried: frames, roles, codes that reach them, ports and limits."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.absences import Uses
from wiregen.language.checker.conditions import never
from wiregen.language.checker.fields import fault_of_value
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.checker.presence import is_one_of
from wiregen.language.diagnostics import Label
from wiregen.runtime.schema.shapes import content
from wiregen.schema.model import (
    Field,
    Frame,
    Match,
    Message,
    MessageMatch,
    MessageReference,
    Number,
    Preamble,
    Span,
)
from wiregen.schema.walk import arm_path, is_compressed, placed_matches

__all__ = ["RULES"]

_MOST_NAMED = 4
"""The most messages that one diagnostic names; the rest are counted."""


def _no_frame(inspection: Inspection) -> None:
    protocol = inspection.protocol
    if not protocol.frames:
        inspection.note(
            "WG3049",
            f"protocol `{protocol.name}` has no frame, so no package is generated for it",
            inspection.place(protocol.path, "name"),
            "only declarations to import",
            help_="declare `frame Frame { … }` if its messages are sent",
        )


def _role_without_frame(inspection: Inspection) -> None:
    framed = {role for frame in inspection.protocol.frames for role in _roles(inspection, frame.role)}
    for message in inspection.protocol.messages:
        missing = [role for role in _roles(inspection, message.role) if role not in framed]
        if message.code is not None and missing:
            inspection.error(
                "WG3040",
                f"the {missing[0]} has no frame, so message `{message.name}` can never be sent",
                inspection.place(message.path, "name"),
                "never sent",
                help_=f"declare `frame Frame from {missing[0]} {{ … }}`",
            )


def _roles(inspection: Inspection, role: str | None) -> tuple[str, ...]:
    return inspection.protocol.roles if role is None else (role,)


def _message_never_carried(inspection: Inspection) -> None:
    """Report the messages that no frame carries, those with the same reason together."""
    found: dict[str, list[Message]] = {}
    for message in inspection.protocol.messages:
        help_ = None if message.name in inspection.named_messages else _why_uncarried(inspection, message)
        if help_ is not None:
            found.setdefault(help_, []).append(message)
    for help_, messages in found.items():
        _report_uncarried(inspection, messages, help_)


def _why_uncarried(inspection: Inspection, message: Message) -> str | None:
    """Return how to have a message carried, or None where a frame carries it, or where another rule reports it."""
    if message.code is None:
        return "name it in an arm of a `match`, or give it a type code"
    frames = list(_frames(inspection, message))
    if not frames or any(True for _ in _listing(inspection, message)):
        return None
    if not any(record.ways for record in frames):
        return "let a frame choose its message by its code: `body : match type`"
    return "add it to the `only` of a frame"


def _report_uncarried(inspection: Inspection, messages: list[Message], help_: str) -> None:
    first, names = messages[0], [f"`{message.name}`" for message in messages[:_MOST_NAMED]]
    more = len(messages) - len(names)
    listed = (
        f"{', '.join(names)} and {more} more" if more else " and ".join((", ".join(names[:-1]), names[-1]))
    )
    text = f"messages {listed}" if len(messages) > 1 else f"message {names[0]}"
    also = [inspection.also(each.path, "this neither", "name") for each in messages[1:_MOST_NAMED]]
    place = inspection.place(first.path, "name")
    inspection.error("WG3041", f"no frame carries {text}", place, "never sent", *also, help_=help_)


def _code_outside_frame(inspection: Inspection) -> None:
    uses = {record.role: Uses(inspection, record) for record in inspection.frame_records}
    for message in inspection.protocol.messages:
        if message.code is None or message.name in inspection.named_messages:
            continue
        faults = [
            _fault_of_code(inspection, message.code, record, way)
            or _fault_of_place(uses[record.role], message.code, way)
            for record, way in _listing(inspection, message)
        ]
        if faults and None not in faults:
            inspection.error(
                "WG3042",
                f"the frame cannot hold type code {message.code} of message `{message.name}`",
                inspection.place(message.path, "code"),
                faults[0] or "",
                help_="use a code that the field for the type can hold, and that leads to an arm with `match type`",
            )


def _fault_of_code(inspection: Inspection, code: int, record: Record, way: MessageMatch) -> str | None:
    subject = inspection.declared.type_of(way.subject, record.by_name)
    return None if subject is None else fault_of_value(Number(value=code), subject, inspection.declared)


def _fault_of_place(uses: Uses, code: int, way: MessageMatch) -> str | None:
    """Return that the facts that hold where a message is chosen exclude its code, or None."""
    known = uses.known_at(way)
    chosen = is_one_of(way.subject, (Span(low=code, high=code),))
    is_ruled_out = bool(known) and never([*known, (chosen, True)], uses) and not never(known, uses)
    return (
        f"{code} does not lead here: another arm takes it, or a condition refuses it"
        if is_ruled_out
        else None
    )


def _frames(inspection: Inspection, message: Message) -> Iterator[Record]:
    for record in inspection.frame_records:
        if None in (message.role, record.role) or message.role == record.role:
            yield record


def _listing(inspection: Inspection, message: Message) -> Iterator[tuple[Record, MessageMatch]]:
    """Yield the choices through which a frame can carry the message, as far as names decide."""
    for record in _frames(inspection, message):
        for way in record.ways:
            if way.only is None or message.name in way.only:
                yield record, way


def _without_bytes(inspection: Inspection) -> None:
    """Report frames and preambles that may take no bytes: a reader would find one at every offset."""
    for record in inspection.records:
        owner = record.owner
        if isinstance(owner, Frame | Preamble) and record.sizes.smallest(owner.fields) == 0:
            what = "frame" if isinstance(owner, Frame) else "preamble"
            inspection.error(
                "WG3071",
                f"the {what} `{owner.name}` may take no bytes",
                inspection.place(owner.path, "name"),
                "may be zero bytes long",
                help_="add a field that always takes at least one byte",
            )


def _two_preambles(inspection: Inspection) -> None:
    first: dict[str, Preamble] = {}
    for preamble in inspection.protocol.preambles:
        before = first.setdefault(preamble.role, preamble)
        if before is not preamble:
            inspection.error(
                "WG3043",
                f"the {preamble.role} already begins with `{before.name}`",
                inspection.place(preamble.path, "name"),
                "second preamble",
                inspection.also(before.path, "first", "name"),
                help_="combine the two preambles, or remove one",
            )


def _inflated_without_limit(inspection: Inspection) -> None:
    if any(limit.name == "inflated" for limit in inspection.protocol.limits):
        return
    for record in inspection.records:
        for field, type_ in record.shapes:
            if is_compressed(type_):
                inspection.error(
                    "WG3044",
                    f"`{field.name}` is compressed, but the inflated size has no limit",
                    inspection.place(field.path, "type"),
                    "may inflate to a thousand times its size",
                    _where_limits_stand(inspection),
                    help_="declare a limit: `limits { inflated = 64 MiB }`",
                )


def _where_limits_stand(inspection: Inspection) -> Label | None:
    for limit in inspection.protocol.limits[-1:]:
        return inspection.also(limit.path, "`inflated` is missing here", "name")
    return inspection.also(inspection.protocol.path, "has no `limits`", "name")


def _arm_without_message(inspection: Inspection) -> None:
    """Report arms without a message in the field that carries the message of a frame."""
    for record in inspection.records:
        if isinstance(record.owner, Frame) and record.owner.message is not None:
            field = record.by_name[record.owner.message]
            for path in _without_message(field):
                inspection.error(
                    "WG3063",
                    f"`{field.name}` carries the message of the frame, but this arm does not hold a message",
                    inspection.place(path, "type"),
                    "not a message",
                    help_="declare `message Name { … }`, and name it in the arm",
                )


def _without_message(field: Field) -> Iterator[str]:
    """Yield the paths of the arms of a choice, and of those in its arms, that hold no message."""
    for path, match in placed_matches(field):
        for index, arm in enumerate(match.arms):
            if not isinstance(content(arm.type), Match | MessageReference | MessageMatch):
                yield arm_path(path, index)


RULES = (
    _no_frame,
    _role_without_frame,
    _message_never_carried,
    _code_outside_frame,
    _two_preambles,
    _without_bytes,
    _inflated_without_limit,
    _arm_without_message,
)
