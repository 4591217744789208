"""From a protocol's layout and a table's columns to a program for the kernels: the frames of one role, in
one layout variant, within the caller's limits.

An unknown construct becomes STOP: frames that reach it are decoded by way of objects. So a construct may be
left out, and is never half right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from wirespark.kernels import ops
from wirespark.kernels.layout import Column, ProgramColumns, groups_of
from wirespark.kernels.records import Records
from wirespark.kernels.terms import Scope
from wirespark.kernels.writing import JumpTarget, Unsupported
from wirespark.options import Wishes
from wirespark.packages import Package

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wireproto._runtime.reference.layout import Layout
    from wireproto._runtime.schema.protocol import Schema
    from wireproto._runtime.schema.types import MessageMatch
    from wirespark.kernels.writing import Numbers

__all__ = ["KernelProgram", "Root", "program_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A message that frames may carry, with its columns."""

    name: str
    code: int | None
    role: str | None
    columns: tuple[Column, ...]
    is_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProgram:
    """The program for the kernels, and the columns that it fills; `header` are those of the frame."""

    frame: str
    header: tuple[Column, ...]
    roots: tuple[Root, ...]
    columns: NDArray[np.int64]
    limits: tuple[int, int, int]
    n_registers: int
    arrays: dict[str, Numbers]

    @property
    def is_useful(self) -> bool:
        return any(root.is_known for root in self.roots)


def program_of(wishes: Wishes, role: str | None) -> KernelProgram | None:
    """Return the program for the frames that a role sends, or None if the kernels do not support the frames."""
    package = wishes.package
    options = package.runtime("codec.options").Options(
        role, limits=dict(wishes.limits), strict=wishes.strict, variant=wishes.variant
    )
    layout = package.runtime("reference.layout").Layout(package.schema, options)
    try:
        return _Frames(package, layout, role).program()
    except Unsupported:
        return None


class _Frames:
    """Writes the program of a role's frames."""

    def __init__(self, package: Package, layout: Layout, role: str | None) -> None:
        self._layout = layout
        self._tables = package.columns
        self._role = role
        self._frame = layout.frame_of(role)
        self._columns = ProgramColumns()
        self._records = Records(layout, package.nodes, self._carried)
        self._writer = self._records.writer
        self._roots: list[Root] = []
        self._noted = _noted(layout.schema)

    def program(self) -> KernelProgram:
        frame = self._layout.frames[self._frame]
        body = frame.message
        if self._noted is None or self._frame in self._noted:
            raise Unsupported("frames that say something about later ones")
        self._role = self._role if self._role is not None else frame.role
        header = [] if body is None else self._columns.table(self._tables.HEADERS[self._frame])
        if body is None:
            header = self._begin(self._frame, None)
        self._records.record(frame.fields, Scope(), list(groups_of(header)), without=body, is_frame=True)
        self._writer.row(ops.END)
        tracked = self._writer.drop_presence()
        for column in self._columns.columns:
            if column.kind == ops.C_STRUCT and column.index not in tracked:
                column.kind = ops.C_NOTHING
        return KernelProgram(
            frame=self._frame,
            header=tuple(header) if body is not None else (),
            roots=tuple(self._roots),
            arrays=self._writer.arrays(),
            columns=self._columns.array(),
            limits=(self._layout.frame, self._layout.count, self._layout.n_messages),
            n_registers=self._writer.n_registers + 1,
        )

    def _begin(self, name: str, code: int | None) -> list[Column]:
        """Write the start of a frame of this name, and return its columns."""
        columns = self._columns.table(self._tables.MESSAGES[name])
        known = self._layout.messages.get(name)
        role = known.role if known is not None else None
        self._writer.row(ops.MESSAGE, len(self._roots))
        self._roots.append(Root(name=name, code=code, role=role, columns=tuple(columns), is_known=True))
        return columns

    def _carried(self, type_: MessageMatch, scope: Scope) -> None:
        """Write the code that reads the message of the frame, by its code."""
        only = type_.only
        code = self._records.term(type_.subject, scope)
        names = dict(_codes(self._layout, self._role, self._frame))
        labels = {each: JumpTarget() for each in names}
        behind = JumpTarget()
        _jump(self._records, code, labels)
        for each, name in names.items():
            self._writer.here(labels[each])
            if only is None or name in only:
                self._message(each, name, scope)
                self._writer.row(ops.GO, behind)
            else:
                self._writer.row(ops.STOP)
        self._writer.here(behind)

    def _message(self, code: int, name: str, frame: Scope) -> None:
        mark = self._writer.mark()
        n_roots = len(self._roots)
        try:
            if self._noted is None or name in self._noted:
                raise Unsupported("what later frames depend on")
            groups = list(groups_of(self._begin(name, code)))
            fields = self._layout.messages[name].fields
            with self._records.entered(name):
                self._records.record(fields, Scope(frame=frame), groups)
        except Unsupported:
            self._writer.rewind(mark)
            del self._roots[n_roots:]


def _codes(layout: Layout, role: str | None, frame: str) -> Iterator[tuple[int, str]]:
    """Yield the codes of messages that a role may send in a frame, the role's own messages first; by
    default those of any role.
    """
    every = sorted({code for codes in layout.schema.codes.values() for code in codes})
    for code in every:
        name = layout.message_of(code, role, frame)
        if name is not None:
            yield code, name


def _jump(records: Records, register: int, labels: dict[int, JumpTarget]) -> None:
    records.choose(register, {(code, code): label for code, label in labels.items()})


def _noted(schema: Schema) -> frozenset[str] | None:
    """Return the messages and frames that update contexts or joins, or None if any may."""
    found: set[str] = set()
    for context in schema.contexts.values():
        found |= {setting.target for setting in context.settings}
    for join in schema.joins.values():
        found |= {setting.target for setting in (*join.parts, *join.lasts)}
        found |= {join.block[0]} if join.block is not None else set()
    cleared = [context.clearings for context in schema.contexts.values()]
    cleared += [join.clearings for join in schema.joins.values()]
    for clearing in chain.from_iterable(cleared):
        if clearing.targets is None:
            return None
        found |= set(clearing.targets)
    return frozenset(found)
