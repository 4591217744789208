"""MessageFaults of a connection on purpose: messages that fulfil an expression are cut off, dropped or changed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wiregen.formats.jsonl import Line, LineEncoder, LineError
from wiregen.formats.line_maker import LineMaker
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.schema.declarations import Constant
from wiregen.runtime.schema.expressions import FieldReference
from wiregen.runtime.schema.shapes import every_field
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.frame_query import Answers, OptionText, resolved

if TYPE_CHECKING:
    from wiregen.language.resolver import Workspace
    from wiregen.runtime.schema.protocol import Schema, Variant

__all__ = ["ConnectionFaults", "FaultOptions", "MessageFaults", "Passage", "faults_of"]

_ASSIGNMENT = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=(?!=)(.+)", re.DOTALL)
_OWN_BYTES: Final = ("raw", "canonical")
"""The keys of a line that keep its original bytes."""
_FIELD: Final = "FIELD of --change"
_VALUE: Final = "EXPR of --change"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOptions:
    """The options as typed: conditions, and for a change its assignment too."""

    cut: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    change: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A field of messages that gets the value of an expression. `answers`: the condition, and the expression as a column."""

    answers: Answers
    path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFaults:
    """The faults of a run."""

    settings: DecodingSettings
    cuts: tuple[Answers, ...]
    drops: tuple[Answers, ...]
    changes: tuple[FieldChange, ...]

    @property
    def is_any(self) -> bool:
        return bool(self.cuts or self.drops or self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The bytes that are forwarded in place of a frame. `is_cut`: the connection ends before them."""

    data: bytes
    actions: tuple[str, ...] = ()
    is_cut: bool = False


def faults_of(options: FaultOptions, settings: DecodingSettings, workspace: "Workspace") -> MessageFaults:
    """Return the faults in the options; exit with diagnostics about wrong expressions."""

    def conditions(option: str, texts: Iterable[str]) -> tuple[Answers, ...]:
        queries = (resolved(workspace, OptionText(option=option, text=text), None) for text in texts)
        return tuple(Answers(query, settings, Clock()) for query in queries)

    return MessageFaults(
        settings=settings,
        cuts=conditions("--cut", options.cut),
        drops=conditions("--drop", options.drop),
        changes=tuple(_change(*each, settings, workspace) for each in options.change),
    )


def _change(where: str, assignment: str, settings: DecodingSettings, workspace: "Workspace") -> FieldChange:
    match = _ASSIGNMENT.fullmatch(assignment)
    way_out = "write it like --change 'message == \"Ack\"' 'sequence = sequence + 1'"
    if match is None:
        raise Failure(f"`{assignment}` is not FIELD=EXPR", way_out)
    condition = OptionText(option="--change", text=where)
    target = resolved(workspace, None, OptionText(option=_FIELD, text=match[1])).columns
    if len(target) != 1 or not isinstance(target[0].expression, FieldReference):
        raise Failure(f"`{match[1]}` is not a field", way_out)
    _refuse_computed(settings.schema, target[0].expression.path)
    value = OptionText(option=_VALUE, text=match[2].strip())
    query = resolved(workspace, condition, value, expected=target[0].sort)
    if len(query.columns) != 1:
        raise Failure(f"`{match[2].strip()}` is not one expression", "repeat --change for each field")
    answers = Answers(query, settings, Clock())
    return FieldChange(answers=answers, path=target[0].expression.path, text=assignment.strip())


def _refuse_computed(schema: "Schema", path: tuple[str, ...]) -> None:
    """Refuse a field that is derived or constant wherever it is declared: its value cannot be given."""
    layouts: list[Schema | Variant] = [schema, *schema.variants.values()]
    declared = [message.fields for layout in layouts for message in layout.messages.values()]
    declared += [frame.fields for layout in layouts for frame in layout.frames.values()]
    found = [field for fields in declared for field in every_field(fields) if field.name == path[0]]
    if found and all(field.is_hidden for field in found):
        is_constant = all(isinstance(field.value, Constant) for field in found)
        what = "is a constant" if is_constant else "is computed when the message is encoded"
        way_out = "change fields that are set by hand" + ("" if is_constant else ", from which it follows")
        raise Failure(f"--change: `{path[0]}` {what}", way_out)


class ConnectionFaults:
    """Makes the faults of one connection; each frame of both directions is passed, in the order of time."""

    def __init__(self, faults: MessageFaults) -> None:
        self._faults = faults
        settings = faults.settings
        limits, variant = dict(settings.limits), settings.variant
        self._maker = LineMaker(settings.schema, variant=variant, limits=limits)
        self._encoder = LineEncoder(settings.schema, variant=variant, limits=limits, is_canonical=True)
        self._has_contexts = bool(settings.schema.contexts)

    def passage(self, decoded: Decoded) -> Passage:
        """Return the bytes to forward in place of those of a frame or error."""
        faults = self._faults
        if any(answers.is_asked(decoded) for answers in faults.cuts):
            return Passage(data=b"", actions=("cut",), is_cut=True)
        if any(answers.is_asked(decoded) for answers in faults.drops):
            return Passage(data=b"", actions=("dropped",))
        changes = [each for each in faults.changes if each.answers.is_asked(decoded)]
        if isinstance(decoded.outcome, DecodeError) or not (
            changes or (faults.changes and self._has_contexts)
        ):
            return Passage(data=decoded.raw)
        return self._changed(decoded, changes)

    def _changed(self, decoded: Decoded, changes: list[FieldChange]) -> Passage:
        """Return the bytes of a frame with the values of changes; without any, only note the frame for later ones."""
        line = self._maker.decoded(
            getattr(decoded.outcome, "value", None), decoded.raw, offset=decoded.offset, role=decoded.role
        )
        for key in _OWN_BYTES:
            line.pop(key, None)
        try:
            if changes and "part" in line:
                raise LineError("it is a fragment")
            for change in changes:
                (value,) = change.answers.values(decoded).values()
                _assign(line, change.path, value)
            data = self._encoder.encode(line)
        except (EncodeError, LineError) as error:
            actions = (f"not changed: {error}",) if changes else ()
            return Passage(data=decoded.raw, actions=actions)
        if not changes:
            return Passage(data=decoded.raw)
        return Passage(data=data, actions=tuple(f"changed: {change.text}" for change in changes))


def _assign(line: Line, path: tuple[str, ...], value: object) -> None:
    """Set a field of a line: one of the message, or else of the header of its frame."""
    header, fields = line.get("header"), line.setdefault("fields", {})
    is_header = path[0] not in fields and isinstance(header, dict) and path[0] in header
    place = header if is_header else fields
    for name in path[:-1]:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        raise LineError(f"it has no field `{'.'.join(path)}`")
    place[path[-1]] = value
