"""The possible next messages: each kind of message from each side, with the values that would make a difference now."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator
from copy import copy
from itertools import islice
from typing import Any, Final

from wiregen.conformance.traces.field_paths import NUMBERS, fits, is_measured, type_at, value_at
from wiregen.conformance.traces.message_values import MessageDraft, MessageKind, Spread, written_by
from wiregen.conformance.traces.relevant_fields import Mention, measuring, mentions_of, paths_in
from wiregen.conformance.traces.smallest_values import Smallest, variations
from wiregen.language.examples.connection_state import ConnectionState, Setup
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.reference.expressions import Undefined
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.declarations import Setting
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import FrameReference
from wiregen.runtime.sessions.closures import NOTHING, compile_term
from wiregen.runtime.sessions.names import Kind, MessageWords
from wiregen.runtime.stream.context import Context

__all__ = ["Drafts"]

_MOST_VALUES: Final = 20
_MOST_SMALL: Final = 5
_MOST_SAID: Final = 2
_MOST_CUT: Final = 2
"""Messages that are cut in fragments."""
_MOST_WHOLE: Final = 12
"""Frames of a divisible kind that are cut."""


class Drafts:
    """All messages that the roles of a schema could send."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._schema: Schema = setup.schema
        self._limits = {**setup.schema.limits, **setup.limits}
        self._specimens = Smallest(setup.schema, setup.limits)
        self._n_said: Counter[object] = Counter()
        self._blocks: dict[object, list[tuple[dict[object, object], bytes | None]]] = {}
        self._known_chunks: dict[Hashable, list[bytes]] = {}
        self._sources = tuple(self._found())

    def anew(self) -> Drafts:
        """Return the same candidates with the counts reset."""
        other = copy(self)
        other._n_said = Counter()
        return other

    def about(self, session: str) -> Drafts:
        """Return the same without the fields that only other sessions with keys depend on."""
        other, named, anywhere = self.anew(), _named(self._schema, session), _named(self._schema)
        other._sources = tuple(
            source
            for source in self._sources
            if named.intersection(source.names) or not anywhere.intersection(source.names)
        )
        other._known_chunks = {}
        return other

    def is_like(self, other: Drafts) -> bool:
        """Return whether at least three quarters of the possible messages are the same."""
        own, others = (
            {(each.sender, each.kind.name) for each in drafts._sources} for drafts in (self, other)
        )
        return 4 * len(own & others) >= 3 * len(own | others)

    def frames(self) -> Iterator[tuple[str, Any]]:
        """Yield the senders and frames, one of each kind, with messages that a role never sends too."""
        for source in self._sources:
            yield source.sender, source.base
            for name, join in self._schema.joins.items():
                if join.block is not None and source.kind.frame == join.block[0] and not source.is_foreign:
                    for piece in self._held(source.base, Record(name, {"data": b""}), join.parts):
                        yield source.sender, piece

    def now(self, world: ConnectionState) -> Iterator[Spread | MessageDraft]:
        """Yield the possible messages in a connection state, the fragments of blocks last.

        Messages that were tried often, with the same values of all they depend on, are left out.
        """
        fresh = [
            source
            for source in self._sources
            if self._may_begin(source, world) and self._is_fresh(source, world)
        ]
        for source in fresh:
            yield self._spread(source, world)
        yield from self._pieces(fresh, world)

    def _is_fresh(self, source: MessageKind, world: ConnectionState) -> bool:
        """Return whether a message may have a new effect, whatever its values."""
        matters = world.engine.matters(source.sender, source.base)
        tables = tuple(entry.table.name for entry in matters.entries)
        place = (source.sender, source.kind.name, world.fingerprint(tables))
        self._n_said[place] += 1
        return self._n_said[place] <= _MOST_SAID

    # ---- kinds

    def _found(self) -> Iterator[MessageKind]:
        schema = self._schema
        for role, name in schema.opens.items():
            preamble = self._specimens.preamble(name, role)
            if preamble is not None:
                yield self._source(role, role, preamble)
        for name, declared in schema.messages.items():
            for role in schema.roles:
                is_own = declared.role in (None, role)
                frame = self._specimens.message(name, role) if is_own else None
                if frame is None:
                    continue
                yield self._source(role, role, frame)
                if declared.role is not None and declared.code is not None:
                    yield from self._foreign(role, frame)

    def _foreign(self, owner: str, frame: FrameValue) -> Iterator[MessageKind]:
        """Yield a message as sent by other roles, if their frames can carry it and its code is not one of theirs."""
        code = self._schema.messages[frame.message.name].code
        for role, name in self._schema.sends.items():
            if role != owner and name == frame.name and code not in self._schema.codes[role]:
                yield self._source(role, owner, frame)

    def _source(self, sender: str, writer: str, base: Any) -> MessageKind:
        is_frame = isinstance(base, FrameValue)
        kind = Kind(self._schema, base if is_frame else None, base.message if is_frame else base)
        mentions = mentions_of(self._schema, kind, self._limits)
        asked = {mention.path[0] for mention in mentions}
        measured = tuple(
            name for name, field in kind.fields.items() if name not in asked and is_measured(field.type)
        )
        return MessageKind(
            sender=sender,
            writer=writer,
            base=base,
            kind=kind,
            mentions=mentions,
            measured=measured,
            measuring=measuring(self._schema, kind),
        )

    # ---- whole messages

    def _spread(self, source: MessageKind, world: ConnectionState) -> Spread:
        mentions = () if source.is_foreign else source.mentions
        return Spread(source, [self._values(source, mention, world) for mention in mentions])

    def _values(self, source: MessageKind, mention: Mention, world: ConnectionState) -> tuple[object, ...]:
        """Return the values of a field that are worth trying, the base's first."""
        path = mention.path
        first = value_at(source.base, path)
        field = source.kind.fields.get(path[0]) or source.kind.frame_fields[path[0]]
        type_ = type_at(self._schema, field.type, path[1:])
        known = _known(world, mention)
        is_optional = field.condition is not None and len(path) == 1
        none = (None,) if is_optional and first is not None else ()
        if isinstance(type_, NUMBERS):
            near = [number + more for more in (0, 1, -1) for number in mention.numbers]
            now = [each + more for each in known if isinstance(each, int) for more in (0, 1, -1)]
            wanted = [number for number in (0, 1, 2, *now, *near) if fits(type_, number)]
            return tuple(dict.fromkeys((first, *none, *wanted)))[:_MOST_VALUES]
        unique: list[object] = [first]
        small = self._specimens.values(type_)
        alike = [each for each in known if any(type(each) is type(other) for other in small)]
        seen_through = self._specimens.viewed(f"{source.kind.name}.{'.'.join(path)}")
        chunks = self._chunks(source, path[0])
        for each in (*none, *alike, *chunks, *seen_through, *small):
            if each not in unique:
                unique.append(each)
        return tuple(unique[: _MOST_SMALL + len(chunks) + len(seen_through)])

    def _chunks(self, source: MessageKind, field: str) -> list[bytes]:
        """Return bytes for a field that is a fragment of a frame: of the sender's smallest frame the half,
        the rest, and all.
        """
        what = (source.sender, source.kind.name, source.kind.frame, field)
        if what not in self._known_chunks:
            self._known_chunks[what] = self._found_chunks(source, field)
        return self._known_chunks[what]

    def _found_chunks(self, source: MessageKind, field: str) -> list[bytes]:
        found: list[bytes] = []
        names = (source.kind.name, source.kind.frame)
        for join in self._schema.joins.values():
            settings = (*join.parts, *join.lasts)
            is_piece = any(each.target in names and each.field == field for each in settings)
            if is_piece and isinstance(join.type, FrameReference):
                for data in self._small_frames(source, join.type.name):
                    found += [data[: len(data) // 2], data[len(data) // 2 :], data]
        return found

    def _small_frames(self, source: MessageKind, frame: str) -> list[bytes]:
        """Return the smallest frames of a sender that are not fragments: of those that sessions name next
        to fragments, and of the others.
        """
        beside = _named_beside(self._schema, source.kind.name)
        small: dict[str, bytes] = {}
        for other in self._sources:
            is_own = other.sender == source.sender and not other.is_foreign and other.kind.frame == frame
            if is_own and other.kind.name != source.kind.name:
                data = written_by(other.base, other.writer, ConnectionState(self._setup))
                if data is not None:
                    small[other.kind.name] = data
        groups = (
            [data for name, data in small.items() if (name in beside) is is_named]
            for is_named in (True, False)
        )
        return [min(group, key=len) for group in groups if group]

    # ---- fragments of blocks

    def _pieces(self, sources: list[MessageKind], world: ConnectionState) -> Iterator[MessageDraft]:
        for name, join in self._schema.joins.items():
            frame = None if join.block is None else join.block[0]
            divided = [each for each in sources if frame is not None and each.kind.frame == frame]
            n_cut = 0
            for source in divided:
                if n_cut == _MOST_CUT:
                    break
                wholes = () if source.is_foreign else self._wholes(source, world)
                drafts = [draft for whole in wholes for draft in self._cut(source, whole, name, world)]
                yield from drafts
                n_cut += bool(drafts)

    def _may_begin(self, source: MessageKind, world: ConnectionState) -> bool:
        """Return whether the message is allowed now: the preamble of a role comes first and once."""
        if source.kind.frame is None:
            return source.sender not in world.begun
        return source.sender in world.begun or source.sender not in self._schema.opens

    def _wholes(self, source: MessageKind, world: ConnectionState) -> Iterator[FrameValue]:
        spread = self._spread(source, world)
        return (spread.draft(choice).written for choice in spread.choices()[:_MOST_WHOLE])

    def _cut(
        self, source: MessageKind, whole: FrameValue, name: str, world: ConnectionState
    ) -> Iterator[MessageDraft]:
        """Yield the first fragments of a frame, and the last one if the others were sent."""
        join = self._schema.joins[name]
        data = None if join.block is None else self._block(source, whole, join.block[1], world)
        if data is None:
            return
        key = tuple(value_at(whole, (each,)) for each in join.keys)
        open_ = world.context.joins.find(name, source.sender, key)
        before = b"" if open_ is None else b"".join(open_.pieces)
        for chunk in dict.fromkeys((data[:1], b"", data[: len(data) // 2])):
            for piece in self._held(whole, Record(name, {"data": chunk}), join.parts):
                yield MessageDraft(
                    sender=source.sender, writer=source.writer, written=piece, seen=piece, is_piece=True
                )
        if open_ is not None and data.startswith(before):
            for piece in self._held(whole, Record(name, {"data": data[len(before) :]}), join.lasts):
                seen = FrameValue(piece.name, piece.fields, whole.message, body=piece.body)
                yield MessageDraft(
                    sender=source.sender, writer=source.writer, written=piece, seen=seen, is_piece=True
                )

    def _block(
        self, source: MessageKind, whole: FrameValue, field: str, world: ConnectionState
    ) -> bytes | None:
        """Return the bytes of a block of a frame, or None if the frame cannot be sent now."""
        content = repr((whole.fields, getattr(whole.message, "fields", None)))
        known = self._blocks.setdefault((source.writer, source.kind.name, content), [])
        for asked, data in known:
            if all(_looked_up(world.context, what) == answer for what, answer in asked.items()):
                return data
        entries = _Entries(world.context)
        known.append((entries.asked, self._written_block(source, whole, field, entries)))
        return known[-1][1]

    def _written_block(
        self, source: MessageKind, whole: FrameValue, field: str, entries: object
    ) -> bytes | None:
        options = self._options(source.writer, entries)
        try:
            data = write_frame(self._schema, whole, options)
            node = explain(self._schema, data, 0, len(data), options)
        except (EncodeError, DecodeError, Undefined):
            return None
        block = next(each for each in node.walk() if each.name == field and not each.inner)
        inside = next((each for each in block.children if each.name == "body"), block)
        return data[inside.start : inside.end]

    def _options(self, role: str, context: Any) -> Options:
        return Options(role, context=context, limits=dict(self._setup.limits))

    def _held(
        self, whole: FrameValue, message: Record, settings: tuple[Setting, ...]
    ) -> Iterator[FrameValue]:
        """Yield the frame with a fragment in it, and a header that meets the conditions of the reassembly."""
        named = dict.fromkeys(path[0] for setting in settings for path in paths_in(setting.when))
        header = [name for name in named if name in whole.fields]
        kind = Kind(self._schema, whole, message)
        choices = [self._specimens.values(kind.frame_fields[name].type) for name in header]
        for values in variations(choices):
            fields = {**whole.fields, **dict(zip(header, values, strict=True))}
            frame = FrameValue(whole.name, fields, message, body=whole.body)
            words = MessageWords(kind, {})
            if any(_is_so(setting.when, words, frame) for setting in settings):
                yield frame
                return


class _Entries:
    """The entries of a context without open reassemblies: a frame is read as if it were whole. `asked`: the
    keys and answers.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.asked: dict[object, object] = {}

    def lookup(self, name: str, keys: object, sender: str | None) -> Any:
        what = (name, keys, sender)
        self.asked[what] = answer = _looked_up(self._context, what)
        if answer is _MISSING:
            raise KeyError(keys)
        return answer


_MISSING: Final = object()


def _looked_up(context: Context, what: Any) -> object:
    try:
        return context.lookup(*what)
    except KeyError:
        return _MISSING


def _named(schema: Schema, session: str | None = None) -> frozenset[str]:
    """Return the names in the rows of a session, of the sessions that each connection has once, and of all reassemblies.

    `session`: the default None means all sessions.
    """
    tables = [table for name, table in schema.sessions.items() if session in (None, name) or not table.keys]
    names = {name for table in tables for row in table.rows for name in row.targets or ()}
    for name, join in schema.joins.items():
        if name in names and join.block is not None:
            names.add(join.block[0])
        elif name in names:
            names |= {setting.target for setting in (*join.parts, *join.lasts)}
    return frozenset(names | set(schema.opens.values()))


def _named_beside(schema: Schema, piece: str) -> set[str]:
    """Return the messages that the rows of a session name, of all sessions that name the fragment too."""
    rows = [{name for row in table.rows for name in row.targets or ()} for table in schema.sessions.values()]
    return {name for named in rows if piece in named for name in named}


def _is_so(when: Any, words: MessageWords, frame: FrameValue) -> bool:
    try:
        return when is None or bool(compile_term(when, words)(frame.message, frame, [], None))
    except NOTHING:
        return False


def _known(world: ConnectionState, mention: Mention) -> tuple[object, ...]:
    """Return the current values of the variables with which a field is compared, and the keys of instances."""
    found: list[Any] = []
    for name in mention.keys:
        for instance in world.engine.instances[name].all():
            keys = instance.key if isinstance(instance.key, tuple) else (instance.key,)
            found += keys
    for name, variable in mention.variables:
        for instance in world.engine.instances[name].all():
            slot = instance.table.slots.get(variable)
            value = None if slot is None else instance.values[slot]
            found += _noteworthy(value) if isinstance(value, deque) else (value,)
    return tuple(each for each in found if each is not None)


def _noteworthy(queue: deque[object]) -> tuple[object, ...]:
    """Return the first two items of a list, the last one, and the number of items."""
    return (*islice(queue, 2), *islice(queue, max(0, len(queue) - 1), None), len(queue))
