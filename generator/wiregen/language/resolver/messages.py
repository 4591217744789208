"""Messages, the frames that carry them, preambles, and other layouts of all of these."""

from collections.abc import Iterable, Mapping

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Span, did_you_mean
from wiregen.language.resolver.annotations import NO_NOTES, resolve_notes
from wiregen.language.resolver.declarations import resolve_struct
from wiregen.language.resolver.fields import resolve_owned
from wiregen.language.resolver.names import Named, PlacedName, kind_of, refuse_duplicates
from wiregen.language.resolver.settings import Kept, kept_of, refuse_reserved
from wiregen.language.resolver.sorts import UNKNOWN_TYPE
from wiregen.language.resolver.state import Workspace, span_of
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model
from wiregen.schema.copies import replace
from wiregen.schema.walk import every_field

_MAX_SHOWN = 4
"""The most fields that a diagnostic shows where only one is allowed."""


def resolve_message(
    work: Workspace, node: syntax.Message, path: str, above: model.Notes = NO_NOTES
) -> model.Message:
    notes = resolve_notes(work, node.annotations, above)
    work.place(path, node.span, name=node.name.span, code=span_of(node.code))
    return model.Message(
        path=path,
        name=node.name.text,
        doc=node.docs,
        code=node.code.value if node.code is not None else None,
        role=resolve_role(work, node.role),
        fields=resolve_owned(work, path, node.fields, notes),
        notes=notes,
        is_character=isinstance(node.code, syntax.Character),
    )


def resolve_role(work: Workspace, name: syntax.Name | None) -> str | None:
    if name is None:
        return None
    if name.text not in work.settings.roles:
        report_unknown(name, "role", work.settings.roles, work.report)
    work.refer(name, work.settings.role_places.get(name.text))
    return name.text


def refuse_codes(work: Workspace, messages: Iterable[syntax.Message]) -> None:
    """Report reserved codes and duplicate codes of one role; a message without a role is sent by both."""
    kept = kept_of(work.reserved)
    taken: dict[str, dict[int, syntax.Message]] = {}
    for node in messages:
        if node.code is None:
            continue
        refuse_reserved(work, node.code.value, node.code.span, kept, "type code")
        for role in work.settings.roles if node.role is None else (node.role.text,):
            codes = taken.setdefault(role, {})
            before = codes.setdefault(node.code.value, node)
            if before is not node:
                _report_same_code(work, before, node, role, (codes, kept))
                break


def _free(number: int, codes: Mapping[int, syntax.Message], kept: Kept) -> int:
    """Return the next code that no message has."""
    while True:
        found = kept.holder(number)
        if found is not None:
            number = found[0].high.value + 1
        elif number in codes:
            number += 1
        else:
            return number


def _report_same_code(
    work: Workspace,
    before: syntax.Message,
    node: syntax.Message,
    role: str,
    taken: tuple[Mapping[int, syntax.Message], Kept],
) -> None:
    if before.code is None or node.code is None or work.report.is_full:
        return
    message = f"type code {node.code.value} is already used by `{before.name.text}`"
    help_ = f"give the message an unused code: {_free(node.code.value, *taken)} is free for messages of the {role}"
    others = (Label(span=before.code.span, text="first used here"),)
    work.error("WG2004", message, node.code.span, label="second use", others=others, help_=help_)


def resolve_frame(
    work: Workspace, node: syntax.Frame, path: str, above: model.Notes = NO_NOTES
) -> model.Frame:
    notes = resolve_notes(work, node.annotations, above)
    work.place(path, node.span, name=node.name.span)
    fields = resolve_owned(work, path, node.fields, notes, frame=node)
    return model.Frame(
        path=path,
        name=node.name.text,
        doc=node.docs,
        role=resolve_role(work, node.role),
        fields=fields,
        message=_carrying(work, node, fields),
        notes=notes,
    )


def _carrying(work: Workspace, node: syntax.Frame, fields: tuple[model.Field, ...]) -> str | None:
    """Return the field that carries the message: one that chooses among messages, or one that is a message."""
    every = list(every_field(fields))
    found = [field for field in every if _chooses(field.type)] or [
        field for field in every if _is_message(field.type)
    ]
    if len(found) == 1:
        return found[0].name
    if not found and any(field.type == UNKNOWN_TYPE for field in every):
        return None
    names = " and ".join(f"`{field.name}`" for field in found)
    what = f"several fields do: {names}" if found else "no field of this one does"
    message = f"exactly one field of a frame carries the message, but {what}"
    help_ = (
        "keep one of the fields, and put the other message into a message of its own"
        if found
        else "write `body : match type`, with `type : u8 := code(body)` before it"
    )
    shown = [(field, work.origins.get(f"{field.path}#type")) for field in found[:_MAX_SHOWN]]
    others = tuple(
        Label(span=span, text=f"`{field.name}` carries a message")
        for field, span in shown
        if span is not None
    )
    work.error("WG2013", message, node.name.span, label="this frame", others=others, help_=help_)
    return None


def _chooses(type_: model.Type) -> bool:
    match type_:
        case model.MessageMatch():
            return True
        case model.Region(content=content):
            return _chooses(content)
        case model.Match(arms=arms):
            return any(_chooses(arm.type) or _is_message(arm.type) for arm in arms)
        case _:
            return False


def _is_message(type_: model.Type) -> bool:
    match type_:
        case model.MessageReference():
            return True
        case model.Region(content=content):
            return _is_message(content)
        case _:
            return False


def refuse_second_frames(work: Workspace, frames: Iterable[syntax.Frame]) -> None:
    """Report frames for a direction that already has one."""
    taken: dict[str, syntax.Frame] = {}
    for node in frames:
        for role in (node.role.text,) if node.role is not None else work.settings.roles:
            before = taken.setdefault(role, node)
            if before is not node and before.name.text != node.name.text:
                message = f"the {role} already has the frame `{before.name.text}`"
                others = (Label(span=before.name.span, text="first"),)
                help_ = f"write its direction: `frame {node.name.text} from …`"
                work.error(
                    "WG2012", message, node.name.span, label="second frame", others=others, help_=help_
                )
                break


def resolve_preamble(
    work: Workspace, node: syntax.Preamble, path: str, above: model.Notes = NO_NOTES
) -> model.Preamble:
    notes = resolve_notes(work, node.annotations, above)
    work.place(path, node.span, name=node.name.span)
    return model.Preamble(
        path=path,
        name=node.name.text,
        doc=node.docs,
        role=resolve_role(work, node.role) or "",
        fields=resolve_owned(work, path, node.fields, notes),
        notes=notes,
    )


def resolve_variant(work: Workspace, node: syntax.Variant) -> model.Variant:
    """Return the layouts of a variant; the declarations that they replace must exist."""
    path = work.place(f"{work.path}.{node.name.text}", node.span, name=node.name.span)
    notes = resolve_notes(work, node.annotations)
    inner = [each for each in node.declarations if _may_vary(work, each)]
    named = (each for each in inner if isinstance(each, Named))
    refuse_duplicates((PlacedName(name=each.name, what="layout") for each in named), work.report)
    return model.Variant(
        path=path,
        name=node.name.text,
        doc=node.docs,
        frames=tuple(
            resolve_frame(work, each, f"{path}.{each.name.text}", notes)
            for each in inner
            if isinstance(each, syntax.Frame)
        ),
        structs=tuple(
            resolve_struct(work, each, f"{path}.{each.name.text}", notes)
            for each in inner
            if isinstance(each, syntax.Struct)
        ),
        messages=tuple(
            resolve_message(work, _as_declared(work, each), f"{path}.{each.name.text}", notes)
            for each in inner
            if isinstance(each, syntax.Message)
        ),
        preambles=tuple(
            resolve_preamble(work, each, f"{path}.{each.name.text}", notes)
            for each in inner
            if isinstance(each, syntax.Preamble)
        ),
        notes=notes,
    )


def _as_declared(work: Workspace, node: syntax.Message) -> syntax.Message:
    """Return another layout of a message, with the code and the role of the message that it replaces."""
    own = work.named(node.name.text, syntax.Message)
    if not isinstance(own, syntax.Message):
        return node
    if node.code is not None and own.code is not None and node.code.value != own.code.value:
        message = (
            f"`{node.name.text}` has type code {own.code.value}, and its other layouts must have the same"
        )
        work.error("WG2019", message, node.code.span, label="another code", help_="remove the code")
    return replace(node, code=node.code or own.code, role=node.role or own.role)


def _may_vary(work: Workspace, node: syntax.Declaration) -> bool:
    match node:
        case syntax.Frame() | syntax.Struct() | syntax.Message() | syntax.Preamble():
            _demand_original(work, node)
            return True
        case syntax.Example() | syntax.Conversation():
            return False
        case _:
            message = "a variant contains only other layouts of frames, structs, messages and preambles, and examples"
            work.error("WG2011", message, _short(node), help_="move this declaration out of the variant")
            return False


def _short(node: syntax.Declaration) -> Span:
    name = getattr(node, "name", None)
    return name.span if isinstance(name, syntax.Name) else node.span


def _demand_original(
    work: Workspace, node: syntax.Frame | syntax.Struct | syntax.Message | syntax.Preamble
) -> None:
    kind = kind_of(node)
    original = work.named(node.name.text, type(node))
    if original is not None:
        work.refer(node.name, original.name.span)
    else:
        hint = did_you_mean(node.name.text, work.words_of(type(node)))
        message = f"the variant has a layout of {kind} `{node.name.text}`, which does not exist"
        work.error("WG2011", message, node.name.span, label="unknown", help_=hint)
