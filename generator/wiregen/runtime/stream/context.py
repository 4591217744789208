"""The values that earlier messages set for later ones: the contexts and open reassemblies of one
connection, as plain data.

An entry belongs to the direction that set it, or to both if the .wire file names the role that sets it.
Rules are applied in text order once a whole message is there; the fragments of a join belong to the
direction that sends them.
"""

from __future__ import annotations

from ..codec.compiled import ReadState, WriteState
from ..codec.errors import DecodeError, within
from ..codec.fragment import Part
from ..schema.types import FrameReference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from ..codec.options import Options
    from ..reference.expressions import Value
    from ..reference.frame_scope import FrameScope
    from ..reference.layout import Type
    from ..schema.protocol import Schema
    from .context_rules import Rules
    from .snapshots import Key

    ReadJoined: TypeAlias = Callable[[FrameReference, str, bytes], Value]
    """Returns the frame in reassembled bytes, given the type of the join and its name."""

__all__ = ["Context"]

_NOTHING = object()


class Context:
    """The contexts of one connection; both directions' decoders share it."""

    def __init__(self, schema: Schema, *, limits: Mapping[str, int | None] | None = None) -> None:
        from ..reference.access import declared_name
        from ..reference.expressions import plain
        from ..reference.frame_scope import (
            FrameScope,  # a package is imported faster than its first context is made
        )
        from .context_rules import RulesOf
        from .joins import Joins

        self._schema = schema
        self._open: int = (limits or {}).get("open") or schema.limits["open"]
        self._limits = {**schema.limits, **(limits or {})}
        self._name_of, self._plain = declared_name, plain
        self._scope_of = FrameScope
        self._rules_of = RulesOf(schema)
        self._roles: dict[str, str | None] = {name: context.role for name, context in schema.contexts.items()}
        self._reading: dict[str | None, ReadState] = {}
        self._writing: dict[str | None, WriteState] = {}
        self.entries: dict[str, dict[Key, Value]] = {name: {} for name in schema.contexts}
        self.derived: dict[str, dict[str, Value]] = {}
        """The expressions of derived fields by name, for each frame that was asked for one."""
        self.rewritten: dict[tuple[str, tuple[str, ...]], Type | None] = {}
        """The types of fields of which a reader may have another value than the sender gave, None for other fields."""
        self.joins = Joins(schema, self._open)
        self.listener: Callable[[object, str | None], None] | None = None
        """Called with each frame that was read, before it changes the context."""

    def lookup(self, name: str, keys: Key, sender: str | None) -> Value:
        """Return the entry of the context `name` under these keys, for bytes that `sender` sends; UUIDs are bytes there.

        Raises:
            KeyError: The context does not have the entry.
        """
        return self.entries[name][(self._roles[name] or sender, *map(self._plain, keys))]

    def state_to_read(self, limits: Mapping[str, int | None], role: str | None) -> ReadState:
        """Return the state of one frame of `role` within default `limits`; a context keeps one for each role."""
        state = self._reading.get(role)
        if state is None:
            state = self._reading[role] = ReadState(limits, role=role, context=self)
        elif state.is_spent:
            state.begin()
        return state

    def state_to_write(self, limits: Mapping[str, int | None], role: str | None) -> WriteState:
        """Return the same for writing."""
        state = self._writing.get(role)
        if state is None:
            state = self._writing[role] = WriteState(limits, role=role, context=self)
        elif state.is_spent:
            state.begin()
        return state

    # ---- updates by frames ----

    def apply(self, frame: object, sender: str | None) -> None:
        """Let a whole frame of `sender` set and clear entries; fragments are not reassembled.

        Raises:
            DecodeError: `limit_exceeded`, more keys than `limits.open`.
        """
        rules = self._rules_of(frame)
        if rules.contexts and rules.piece_of is None:
            self._apply(rules, self._scope(frame, sender), sender)

    def take(
        self, frame: Any, options: Options, read: ReadJoined | None = None, *, n_outside: int = 0
    ) -> None:
        """Take in a whole frame that was read: add it if it is a fragment, then let it set and clear entries.

        `read`: reads a reassembled frame; by default the reference codec.

        Raises:
            DecodeError: A limit is exceeded, or the reassembled data does not conform. The caller adds its place.
        """
        if self.listener is not None:
            self.listener(frame, options.from_role)
        rules = self._rules_of(frame)
        if rules.blocks and frame.part is not None:
            self._take_block(frame, options)
        if rules.is_quiet or rules.piece_of is not None:
            return
        sender = options.from_role
        scope = self._scope(frame, sender)
        joined = self._joined(rules, frame, scope, options, read)
        self._apply(rules, scope, sender)
        for name, keys, clearing in rules.join_clearings:
            if scope.holds(clearing.when):
                self.joins.clear(name, self.direction(sender, frame), scope.known(keys))
        if joined is not None:
            if n_outside >= {**self._limits, **options.limits}.get("depth", 0):
                raise DecodeError("too_deep", path=self._name_of(joined), expected="fewer joins inside joins")
            self.take(joined, options, read, n_outside=n_outside + 1)

    def mark(self, frame: object, sender: str | None) -> object:
        """Return the data that `undo` needs if the frame cannot be taken in; entries of contexts are undone
        without it.
        """
        rules = self._rules_of(frame)
        if not rules.pieces:
            return None
        if self.may_make_whole(frame):
            return self.snapshot()  # a completed frame may have any effect
        self.joins.journal = []
        return self.joins.journal

    def may_make_whole(self, frame: object) -> bool:
        """Return whether a frame is of a kind that can be the last fragment of another frame."""
        pieces = self._rules_of(frame).pieces
        return any(piece.is_last and isinstance(piece.type, FrameReference) for piece in pieces)

    def undo(self, mark: object) -> None:
        """Restore the state at a mark."""
        if isinstance(mark, dict):
            self.restore(mark)
        if isinstance(mark, list):
            for each in reversed(mark):
                self.joins.undo(each)

    def is_quiet(self, frame: object) -> bool:
        """Return whether no rule applies to frames like this one."""
        rules = self._rules_of(frame)
        return rules.is_quiet and not rules.blocks

    def expects(self, frame: Any, sender: str | None) -> bool:
        """Return whether a frame that was read as a whole may be the last fragment of an open block."""
        rules = self._rules_of(frame)
        for name, join in rules.blocks:
            if not self.joins.is_open(name) or frame.part is not None:
                continue
            scope = self._scope(frame, sender, is_header=True)
            if not all(scope.certainly_not(setting.when) for setting in join.lasts):
                known = scope.known(join.keys)
                key = tuple(known.values())
                is_known = len(known) == len(join.keys)
                if not is_known or self.joins.find(name, self.direction(sender, frame), key) is not None:
                    return True
        return False

    def _scope(self, frame: object, sender: str | None, *, is_header: bool = False) -> FrameScope:
        return self._scope_of(self._schema, self._limits, frame, self, sender, is_header=is_header)

    def _apply(self, rules: Rules, scope: FrameScope, sender: str | None) -> None:
        before: list[tuple[str, Key, Value]] = []
        try:
            for name, context, settings, clearings in rules.contexts:
                owner = context.role or sender
                for setting in settings:
                    found, value = scope.key_where(setting.when, context.keys), scope.said(
                        setting.field, _NOTHING
                    )
                    if found is not None and value is not _NOTHING:
                        key = (owner, *map(self._plain, found))
                        before.append((name, key, self.entries[name].get(key, _NOTHING)))
                        self._set(name, key, self._plain(value))
                for clearing in clearings:
                    found = scope.key_where(clearing.when, context.keys)
                    if found is not None:
                        key = (owner, *map(self._plain, found))
                        before.append((name, key, self.entries[name].pop(key, _NOTHING)))
        except BaseException:
            for name, key, value in reversed(before):
                self._put_back(name, key, value)
            raise

    def _set(self, name: str, key: Key, value: object) -> None:
        entries = self.entries[name]
        if key not in entries and len(entries) >= self._open:
            expected = within(f"at most {self._open} open keys", "open")
            rule = self._schema.limit_rules.get("open")
            raise DecodeError("limit_exceeded", rule=rule, path=name, expected=expected)
        entries[key] = value

    def _put_back(self, name: str, key: Key, value: object) -> None:
        if value is _NOTHING:
            self.entries[name].pop(key, None)
        else:
            self.entries[name][key] = value

    # ---- fragments ----

    def direction(self, sender: str | None, frame: object = None) -> str | None:
        """Return the direction of a frame's fragments: that of the sender, else of the only role that sends
        such frames.
        """
        if sender is not None:
            return sender
        sends: Mapping[str, str] = self._schema.sends
        name = self._name_of(frame) if frame is not None else next(iter(sends.values()), "")
        return self._schema.frames[name].role if name in self._schema.frames else None

    def damage(self, sender: str | None) -> None:
        """Record that bytes of a sender were lost: its open reassemblies may lack a fragment."""
        self.joins.damage(self.direction(sender))

    def unfinished(self, sender: str | None) -> DecodeError | None:
        """Return the error of a stream that ends here, if a reassembly is incomplete."""
        found = self.joins.first_open(self.direction(sender))
        if found is None:
            return None
        name, key = found
        shown = ", ".join(str(part) if isinstance(part, int) else "…" for part in key)
        path = f"{name}[{shown}]" if key else name
        return DecodeError("truncated", path=path, expected="a last piece", found="the end of the stream")

    def _take_block(self, frame: Any, options: Options) -> None:
        part = frame.part
        direction = self.direction(options.from_role, frame)
        if part.last:
            self.joins.close(part.join, direction, part.key)
        else:
            self.joins.add(part.join, direction, part.key, frame.message.data, self._most_bytes(options))

    def _most_bytes(self, options: Options) -> int:
        limits = {**self._limits, **options.limits}
        joined: int | None = limits.get("joined")
        return limits["frame"] if joined is None else joined

    def _joined(
        self, rules: Rules, frame: Any, scope: FrameScope, options: Options, read: ReadJoined | None
    ) -> object:
        """Add a frame if it is a fragment; return the frame that this completes, if any."""
        direction = self.direction(options.from_role, frame)
        for piece in rules.pieces:
            name, type_ = piece.name, piece.type
            key = scope.key_where(piece.setting.when, piece.keys)
            if key is None:
                continue
            data = scope.field((piece.setting.field,), "own")
            if not isinstance(data, bytes):
                continue
            if not piece.is_last:
                index = self.joins.add(name, direction, key, data, self._most_bytes(options))
                frame.part = Part(name, key, index, False)
                return None
            whole, index = self._whole(name, direction, key, data, options)
            if not isinstance(type_, FrameReference):
                frame.part = Part(name, key, index, True, whole)
                return None
            joined = (read or self._read_by_reference(options))(type_, name, whole)
            frame.part = Part(name, key, index, True, joined)
            return joined
        return None

    def _whole(
        self, name: str, direction: str | None, key: Key, data: bytes, options: Options
    ) -> tuple[bytes, int]:
        """Return the reassembled bytes and the number of fragments before the last one, and forget them.

        Raises:
            DecodeError: `incomplete_join`, `limit_exceeded`.
        """
        open_ = self.joins.find(name, direction, key)
        is_damaged = self.joins.is_damaged(name, direction, open_)
        self.joins.close(name, direction, key)
        return self.joins.whole(name, open_, data, self._most_bytes(options), is_damaged=is_damaged)

    def _read_by_reference(self, options: Options) -> ReadJoined:
        def read(type_: Type, name: str, data: bytes) -> Value:
            from ..reference.explain import explain_type

            return explain_type(self._schema, type_, data, options, name=name).value

        return read

    # ---- as plain data ----

    def snapshot(self) -> dict[str, Value]:
        """Return the entries, and the open reassemblies, as JSON data."""
        from .snapshots import plain

        entries: dict[str, object] = {
            name: [[plain(part) for part in key] + [plain(value)] for key, value in entries.items()]
            for name, entries in self.entries.items()
        }
        return entries | self.joins.snapshot()

    def restore(self, snapshot: dict[str, Value]) -> None:
        """Replace all entries by those of a snapshot; a join that it does not name has no open reassemblies.

        Raises:
            ValueError: It is not a snapshot of this protocol's contexts.
        """
        from .snapshots import value_of

        joins = {name: rows for name, rows in snapshot.items() if name in self._schema.joins}
        if set(snapshot) - set(joins) != set(self.entries):
            raise ValueError("not a snapshot of this protocol's contexts")
        self.joins.restore(joins)
        restored = {
            name: {tuple(value_of(part) for part in row[:-1]): value_of(row[-1]) for row in snapshot[name]}
            for name in self.entries
        }
        for name, entries in restored.items():  # in place: states hold on to these
            self.entries[name].clear()
            self.entries[name].update(entries)
