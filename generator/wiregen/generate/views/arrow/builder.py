"""Fields of the model to columns of Arrow: one rule for all protocols.

Invariant: the columns of a declaration are in the order of its shown fields, each directly followed by its
`wire` companions, so that they can be filled by the schema alone, without names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from wiregen.generate.views.arrow.cycles import Cycles
from wiregen.generate.views.arrow.types import (
    Scalar,
    integer_of,
    is_integer,
    may_be_no_text,
    number,
    scalar,
    widest,
)
from wiregen.runtime.records.arms import arms_of_columns
from wiregen.runtime.schema.shapes import content
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.naming import constant_case
from wiregen.schema.walk import attributes, matched_messages

__all__ = ["ColumnView", "ColumnsBuilder", "Named"]

_Declared = TypeVar("_Declared", m.Enum, m.Coding, m.Struct, m.Message, m.Union, m.Frame)

_JSON = "pa.string()"
_MOST_OPEN = 2
"""The most declarations of one cycle that are laid out inside each other; deeper ones are JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnView:
    """A column; `type` is an expression.

    Attributes:
        wire: The content of a column that is not a plain value: `number` of the enum before it, `raw` bytes of the
            text before it if they are not text, `json` of deeper values, `choice` and `union` of which one field is
            set, `nothing` of a record without fields.
        enum: The enum of a `member`.
    """

    name: str
    type: str
    doc: str = ""
    wire: str = ""
    enum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A struct type that others refer to by its name."""

    name: str
    columns: tuple[ColumnView, ...]


class ColumnsBuilder:
    """The columns of one protocol's declarations."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._cycles = Cycles(protocol)
        self._open: tuple[tuple[str, str], ...] = ()
        self._named: dict[str, Named] = {}

    @property
    def structs(self) -> tuple[Named, ...]:
        return tuple(self._named.values())

    def fields(
        self, kind: str, name: str, fields: Iterable[m.Field], *, without: str | None = None
    ) -> tuple[ColumnView, ...]:
        """Return the columns of a declaration; it counts as open while its fields are laid out."""
        before, self._open = self._open, (*self._open, (kind, name))
        rows = [
            self.columns_of(each.name, each.type, self._protocol.about[each.path].doc)
            for each in _shown(fields)
            if each.name != without
        ]
        self._open = before
        return unique(rows)

    def columns_of(self, name: str, type_: m.Type, doc: str) -> tuple[ColumnView, ...]:
        """Return the column of a value, and its companions."""
        match type_:
            case m.Text():
                text = ColumnView(name=name, type=scalar(type_), doc=doc)
                return (text, _beside(text, "raw", "pa.binary()")) if may_be_no_text(type_) else (text,)
            case _ if isinstance(type_, Scalar):
                wire = "uuid" if isinstance(type_, m.Uuid) else ""
                return (ColumnView(name=name, type=scalar(type_), doc=doc, wire=wire),)
            case m.List(item=item):
                return tuple(
                    replace(column, type=f"pa.list_({column.type})")
                    for column in self.columns_of(name, item, doc)
                )
            case m.Region():
                return self.columns_of(name, content(type_), doc)
            case _:
                return self._compound(name, type_, doc)

    def _compound(
        self, name: str, type_: m.Reference | m.MessageMatch | m.Match | m.Block, doc: str
    ) -> tuple[ColumnView, ...]:
        match type_:
            case m.MessageMatch():
                return self._struct(
                    name, doc, "messages", "choice", self._messages(self._matched(type_, None))
                )
            case m.Match():
                return self._choice(name, type_, doc)
            case m.Block():
                raise AssertionError("a block has no value of its own")
            case _:
                return self._reference(name, type_, doc)

    def _reference(self, name: str, type_: m.Reference, doc: str) -> tuple[ColumnView, ...]:
        match type_:
            case m.EnumReference():
                enum = _declared(self._protocol.enums, type_.name)
                member = ColumnView(name=name, type="pa.string()", doc=doc, wire="member", enum=enum.name)
                return (member, _beside(member, "number", number(integer_of(enum.type))))
            case m.CodingReference():
                coding = _declared(self._protocol.codings, type_.name)
                wides = (width.wide for width in coding.widths if width.wide is not None)
                return (ColumnView(name=name, type=number(widest((coding.type, *wides))), doc=doc),)
            case _ if self._is_too_deep(m.target_of(type_), type_.name):
                return (ColumnView(name=name, type=_JSON, doc=doc, wire="json"),)
            case m.UnionReference():
                columns = self._varieties(_declared(self._protocol.unions, type_.name), type_)
                return self._struct(name, doc, type_.name, "union", columns)
            case m.FrameReference():
                frame = _declared(self._protocol.frames, type_.name)
                columns = self._frame(frame, self._matched(type_, frame.role))
                return self._struct(name, doc, type_.name, "frame", columns)
            case _:
                return self._named_record(name, type_, doc)

    def _named_record(
        self, name: str, type_: m.StructReference | m.MessageReference, doc: str
    ) -> tuple[ColumnView, ...]:
        if isinstance(type_, m.StructReference):
            fields = _declared(self._protocol.structs, type_.name).fields
        else:
            fields = _declared(self._protocol.messages, type_.name).fields
        return self._record(name, doc, m.target_of(type_), type_.name, fields)

    def _is_too_deep(self, kind: str, name: str) -> bool:
        n_around = sum(self._cycles.is_between((kind, name), each) for each in self._open)
        return (kind, name) in self._open or n_around >= _MOST_OPEN

    # ---- types with columns inside

    def _record(
        self, name: str, doc: str, kind: str, declared: str, fields: tuple[m.Field, ...]
    ) -> tuple[ColumnView, ...]:
        columns = self.fields(kind, declared, fields)
        if not columns:
            return (ColumnView(name=name, type="pa.bool_()", doc=doc, wire="nothing"),)
        return self._struct(name, doc, declared, "", columns)

    def _struct(
        self, name: str, doc: str, declared: str, wire: str, columns: tuple[ColumnView, ...]
    ) -> tuple[ColumnView, ...]:
        return (ColumnView(name=name, type=self._name_of(declared, columns), doc=doc, wire=wire),)

    def _name_of(self, declared: str, columns: tuple[ColumnView, ...]) -> str:
        """Return the name of a struct type; equal struct types of a declaration share one."""
        base = f"_{constant_case(declared)}"
        name, n_tries = base, 1
        while name in self._named and self._named[name].columns != columns:
            n_tries += 1
            name = f"{base}_{n_tries}"
        self._named.setdefault(name, Named(name=name, columns=columns))
        return name

    def _matched(self, type_: m.MessageMatch | m.FrameReference, role: str | None) -> Iterator[m.Message]:
        return matched_messages(self._protocol.messages, type_, role)

    def _messages(self, messages: Iterable[m.Message]) -> tuple[ColumnView, ...]:
        """Return the columns of the messages that a code may name: the name of the message, and each message."""
        which = ColumnView(name="message", type="pa.string()", doc="Which message it is.")
        rows: list[tuple[ColumnView, ...]] = [(which,)]
        for message in messages:
            reference = m.MessageReference(name=message.name)
            rows.append(self._reference(message.name, reference, message.doc))
        return unique(rows)

    def _varieties(self, union: m.Union, type_: m.UnionReference) -> tuple[ColumnView, ...]:
        """Return the columns of a union: the name of the alternative, its code, and the values of each alternative."""
        before, self._open = self._open, (*self._open, ("union", union.name))
        which = ColumnView(name="variety", type="pa.string()", doc="Which variety it is.")
        rows: list[tuple[ColumnView, ...]] = [
            (which, ColumnView(name="code", type=number(integer_of(union.type)), doc="Its code."))
        ]
        for variety in union.varieties:
            if type_.only is None or type_.is_lenient or variety.name in type_.only:
                rows.append(self._variety(union, variety))
        self._open = before
        return unique(rows)

    def _variety(self, union: m.Union, variety: m.Variety) -> tuple[ColumnView, ...]:
        shown = tuple(_shown(variety.fields))
        if variety.is_lone and shown:
            return self.columns_of(variety.name, shown[0].type, variety.doc)
        return self._record(
            variety.name, variety.doc, "variety", f"{union.name}.{variety.name}", variety.fields
        )

    def _frame(self, frame: m.Frame, carried: Iterable[m.Message]) -> tuple[ColumnView, ...]:
        """Return the columns of a frame inside a message: those of its header, and of the messages that it carries."""
        header = self.fields("frame", frame.name, frame.fields, without=frame.message)
        if frame.message is None:
            return header
        before, self._open = self._open, (*self._open, ("frame", frame.name))
        messages = self._messages(carried)
        self._open = before
        return unique([messages[:1], *((column,) for column in header), *((each,) for each in messages[1:])])

    def _choice(self, name: str, type_: m.Match, doc: str) -> tuple[ColumnView, ...]:
        """Return the columns of a choice: equal types share a column, and several kinds of lists are JSON."""
        arms_by_kind = {kind: [content(arm) for arm in arms] for kind, arms in arms_of_columns(type_).items()}
        if len({self.columns_of(name, arm, doc) for arm in arms_by_kind.get("list", ())}) > 1:
            return (ColumnView(name=name, type=_JSON, doc=doc, wire="json"),)
        arms = [arm for group in arms_by_kind.values() for arm in group]
        if all(map(is_integer, arms)):
            return (ColumnView(name=name, type=number(widest(arms)), doc=doc),)
        kinds = {self.columns_of(name, arm, doc) for arm in arms}
        if len(kinds) == 1:
            return kinds.pop()
        rows = [self._arm(kind, group) for kind, group in arms_by_kind.items()]
        return self._struct(name, doc, f"{self._open[-1][1]}.{name}", "choice", unique(rows))

    def _arm(self, key: str, arms: list[m.Type]) -> tuple[ColumnView, ...]:
        """Return the columns of the arms with one name in JSON: all integers are one number."""
        if all(is_integer(arm) for arm in arms):
            return (ColumnView(name=key, type=number(widest(arms))),)
        return self.columns_of(key, arms[0], "")


def unique(rows: Iterable[tuple[ColumnView, ...]]) -> tuple[ColumnView, ...]:
    """Return the columns with names that differ in more than case; a companion's name is changed first."""
    groups = [tuple(replace(column, name=_plain(column.name)) for column in row) for row in rows]
    taken = {row[0].name.lower() for row in groups}
    seen: set[str] = set()
    found = []
    for row in groups:
        for n, column in enumerate(row):
            name = column.name
            while name.lower() in seen or (n > 0 and name.lower() in taken):
                name += "_"
            seen.add(name.lower())
            found.append(replace(column, name=name))
    return tuple(found)


def _plain(name: str) -> str:
    """Return a name without leading underscores, which are reserved for the table's own columns."""
    return f"{name.lstrip('_')}_" if name.startswith("_") else name


def _beside(column: ColumnView, wire: str, type_: str) -> ColumnView:
    return ColumnView(name=f"{column.name}_{wire}", type=type_, wire=wire)


def _shown(fields: Iterable[m.Field]) -> Iterator[m.Field]:
    """Yield the fields with a value of their own, those of blocks included, without derived and constant ones."""
    for each in attributes(fields):
        if not each.field.is_hidden:
            yield each.field


def _declared(declarations: tuple[_Declared, ...], name: str) -> _Declared:
    return next(each for each in declarations if each.name == name)
