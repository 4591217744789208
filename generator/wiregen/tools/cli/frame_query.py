"""The options `--where`, `--select`, `--count` and `--group-by`: questions about decoded frames."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.records.frames import frame_record
from wiregen.runtime.reference.expressions import Undefined, Value, evaluate
from wiregen.runtime.reference.frame_scope import FrameScope
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.schema.expressions import (
    ContextReference,
    Expression,
    FieldReference,
    VariableReference,
)
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, name_of
from wiregen.tools.cli.failure import USAGE, Failure
from wiregen.tools.cli.protocols import stop

if TYPE_CHECKING:
    from wiregen.language.resolver import Question, Workspace
    from wiregen.language.resolver.sorts import Sort

__all__ = ["Answers", "FrameQuery", "OptionText", "frame_query_of", "resolved"]

_ERROR: Final = "@error"
_TIME: Final = VariableReference("@time")
JsonValue: TypeAlias = object


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameQuery:
    """The questions of one run.

    Attributes:
        where: The condition of the frames that are shown; None: of all.
        columns: The expressions whose values are shown in place of whole frames, or whose values make a group.
        is_counted: Frames are counted: all, or by the values of `columns`.
    """

    where: Expression | None
    columns: "tuple[Question, ...]"
    is_counted: bool

    @property
    def has_errors(self) -> bool:
        """Return whether errors are asked about too; otherwise only frames are."""
        asked = (*(() if self.where is None else (self.where,)), *(each.expression for each in self.columns))
        variables = (node for each in asked for node in nodes_in(each) if isinstance(node, VariableReference))
        return any(node.name == _ERROR for node in variables)


class Answers:
    """The answers to the questions of one run, frame by frame."""

    def __init__(self, query: FrameQuery, settings: DecodingSettings, clock: Clock) -> None:
        self._query = query
        self._clock = clock
        self._settings = settings
        self._context = Context(settings.schema)
        self._has_errors = query.has_errors

    @property
    def names(self) -> tuple[str, ...]:
        """The texts of the columns."""
        return tuple(each.text for each in self._query.columns)

    @property
    def is_counted(self) -> bool:
        return self._query.is_counted

    def is_asked(self, decoded: Decoded) -> bool:
        """Return whether a frame or error is asked about; a missing value makes a condition false."""
        if isinstance(decoded.outcome, DecodeError) and not self._has_errors:
            return False
        where = self._query.where
        return where is None or self._scope(decoded).holds(where)

    def values(self, decoded: Decoded) -> dict[str, JsonValue]:
        """Return the values of the columns by their texts, as in a JSON line; None for a missing value."""
        scope = self._scope(decoded)
        return {each.text: self._shown(each.expression, scope) for each in self._query.columns}

    def _shown(self, expression: Expression, scope: "_Scope") -> JsonValue:
        value = scope.shown(expression)
        return self._clock.shown(value) if expression == _TIME and isinstance(value, float) else value

    def _scope(self, decoded: Decoded) -> "_Scope":
        return _Scope(self._settings, decoded, self._context)


def frame_query_of(
    workspace: "Workspace", where: str | None, select: str | None, group_by: str | None, *, is_counted: bool
) -> FrameQuery:
    """Return the questions in the options; exit with diagnostics about wrong ones."""
    if sum((select is not None, group_by is not None, is_counted)) > 1:
        raise Failure("--select, --group-by and --count exclude each other", "give only one of them")
    asked = select if group_by is None else group_by
    option = "--select" if group_by is None else "--group-by"
    return resolved(
        workspace,
        None if where is None else OptionText(option="--where", text=where),
        None if asked is None else OptionText(option=option, text=asked),
        is_counted=is_counted or group_by is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionText:
    """Expressions as typed, and the option that has them."""

    option: str
    text: str


def resolved(
    workspace: "Workspace",
    where: OptionText | None,
    asked: OptionText | None,
    *,
    is_counted: bool = False,
    expected: "Sort | None" = None,
) -> FrameQuery:
    """Return the questions of a condition and of expressions; exit with diagnostics about wrong ones.

    `expected`: the sort that the expressions should have.
    """
    from wiregen.language.diagnostics import Report
    from wiregen.language.resolver import resolve_condition, resolve_questions
    from wiregen.language.source import Source, Sources

    report, sources = Report(), Sources()

    def source(given: OptionText) -> Source:
        sources.add(Source(name=given.option, path=Path(given.option), text=given.text))
        return sources[given.option]

    condition = None if where is None else resolve_condition(workspace, source(where), report)
    columns = () if asked is None else resolve_questions(workspace, source(asked), report, expected)
    if report.has_errors:
        stop(report, sources, code=USAGE)
    query = FrameQuery(where=condition, columns=columns, is_counted=is_counted)
    _refuse_contexts(query)
    return query


def _refuse_contexts(query: FrameQuery) -> None:
    asked = (query.where, *(each.expression for each in query.columns))
    for node in (node for each in asked if each is not None for node in nodes_in(each)):
        if isinstance(node, ContextReference):
            way_out = "compare fields, or ask `wiregen replay` about whole conversations"
            raise Failure(f"the context `{node.context}` is not part of a frame", way_out)


class _Scope(FrameScope):
    """The fields of one decoded frame, and its places."""

    def __init__(self, settings: DecodingSettings, decoded: Decoded, context: Context) -> None:
        self._settings = settings
        self._decoded = decoded
        outcome = decoded.outcome
        value = FrameValue("", {}) if isinstance(outcome, DecodeError) else outcome.value
        frame = value if isinstance(value, FrameValue) else FrameValue("", {}, value)
        self._is_framed = frame is value and not isinstance(outcome, DecodeError)
        limits = {**settings.schema.limits, **settings.limits}
        super().__init__(settings.schema, limits, frame, context, decoded.role)

    def shown(self, expression: Expression) -> JsonValue:
        """Return the value of an expression as JSON has it; None for a missing value."""
        if isinstance(expression, FieldReference):
            found = _field_of(self._record(), expression.path)
            if found is not None:
                return found
        try:
            return _plain(evaluate(expression, self))
        except Undefined:
            return None

    def _record(self) -> Mapping[str, Value]:
        outcome, settings = self._decoded.outcome, self._settings
        if isinstance(outcome, DecodeError):
            return outcome.partial or {}
        return frame_record(settings.schema, outcome.value, variant=settings.variant)

    def _derived(self, name: str) -> object:
        if not self._is_framed:  # a preamble, or an error
            raise Undefined("field", name)
        return super()._derived(name)

    def variable(self, name: str) -> Value:
        decoded = self._decoded
        match name:
            case "@offset":
                return decoded.offset
            case "@size":
                return decoded.size
            case "@time":
                return decoded.time
            case "@flow":
                return decoded.flow
            case "@from" | "sender":
                return decoded.role
            case "@error":
                return decoded.outcome.code if isinstance(decoded.outcome, DecodeError) else None
            case _:
                return self._message_name()

    def _message_name(self) -> Value:
        outcome = self._decoded.outcome
        if isinstance(outcome, DecodeError):
            return (outcome.partial or {}).get("message")
        return name_of(self._decoded)

    def size(self, path: tuple[str, ...]) -> int:
        outcome, name = self._decoded.outcome, ".".join(path)
        if isinstance(outcome, Node):
            for node in outcome.walk():
                if not node.is_part and node.path.partition(".")[2] == name:
                    return node.size
        raise Undefined("size", name)


def _field_of(record: Mapping[str, Value], path: tuple[str, ...]) -> JsonValue:
    """Return a field of a record, of the message before that of its frame, or None."""
    for part in ("fields", "header"):
        found: Value = record.get(part)
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


def _plain(value: Value) -> JsonValue:
    match value:
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
        case UUID():
            return str(value)
        case list() | tuple() | range():
            return [_plain(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return None
