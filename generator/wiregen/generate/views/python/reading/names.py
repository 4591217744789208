"""The local names and expressions of a reading function while it is printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wiregen.generate.steps.step import FRAME, UnsupportedError
from wiregen.generate.views.python.names import Locals, attribute, local_name
from wiregen.generate.views.python.reading.step_views import On, ReadAssign
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import is_shown
from wiregen.schema import model as m

__all__ = ["ReadLookup", "ReadNames"]


@dataclass(slots=True, kw_only=True)
class ReadNames:
    """The variables of one reading function: its position, and the name of each key.

    `values`: those that become attributes. `raws`: those that expressions use. `counts`: lengths of bytes and
    text.
    """

    shared: Shared
    is_frame: bool
    """Whether the function begins at the start of a frame."""
    sender: str
    is_whole: bool = False
    """Whether it reads a whole frame for one message, and leaves the header to the frame's own function."""
    reads_code: bool = False
    wanted: frozenset[str] = frozenset()
    """Header fields that expressions refer to."""
    message: m.Message | None = None
    body: str | None = None
    codes_table: str = ""
    """The table of the codes of the messages that the frame carries, if it may be read for any of them."""
    codes_of_named: tuple[tuple[str, int], ...] = ()
    """Classes and codes of messages that the frame's arms name and the table lacks."""
    locals: Locals = field(default_factory=Locals)
    values: dict[str, str] = field(default_factory=dict)
    raws: dict[str, str] = field(default_factory=dict)
    counts: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    nullable: set[str] = field(default_factory=set)
    """Keys whose length can mean null: their None does not mean that the field is absent."""
    texts: set[str] = field(default_factory=set)
    absent: dict[str, list[str]] = field(default_factory=dict)
    tails: dict[str, str] = field(default_factory=dict)
    on: On = field(default_factory=On)
    edges: dict[tuple[str, str], str] = field(default_factory=dict)
    """The edges of fields that have a variable, and the bytes in which each is counted."""
    regions: list[On] = field(default_factory=list)
    n_inners: int = 0
    row: str | None = None
    """The variable that counts absent fields, in a row of trailing ones."""
    base: str = "offset"
    added: int = 0
    asks_context: bool = False
    """Whether an expression refers to values of earlier messages."""

    @property
    def at(self) -> str:
        """The offset of the next byte to read, as an expression."""
        return self.base if self.added == 0 else f"{self.base} + {self.added}"

    def arrive(self) -> None:
        """Record that the position variable is the offset of the next byte."""
        self.base, self.added = self.on.position, 0

    def give(self, key: str, value: str, raw: str | None = None) -> None:
        self.values[key] = value
        self.raws[key] = value if raw is None else raw

    def behind(self, hoisted: int) -> str:
        """Return the offset from which `hoisted` bytes lead to the next byte."""
        added = self.added - hoisted
        return self.base if added == 0 else f"{self.base} {'+' if added > 0 else '-'} {abs(added)}"

    def enter(self, stop: str) -> None:
        self.regions.append(self.on)
        self.on = On(buffer=self.on.buffer, position=self.on.position, end=stop)

    def leave(self) -> None:
        self.base, self.added = self.on.position, 0
        self.on = self.regions.pop()

    def inner(self) -> On:
        """Return the variables of transformed bytes, with new names each time."""
        self.n_inners += 1
        name = "inner" if self.n_inners == 1 else f"inner_{self.n_inners}"
        return On(buffer=name, position=f"{name}_position", end=f"{name}_end")

    def empty_tails(self, known: dict[str, str]) -> list[ReadAssign]:
        """Return the steps before a branch that make its trailing bytes empty, because it may not be taken."""
        return [
            ReadAssign(target=tail, value='b""') for key, tail in self.tails.items() if known.get(key) != tail
        ]

    def attributes(
        self, fields: Iterable[m.Field], prefix: str, *, is_tailed: bool = False
    ) -> tuple[tuple[str, str], ...]:
        """Return attribute and value of each field that the API shows, and the record's further attributes."""
        spelled = local_name if prefix == FRAME else attribute
        pairs = [
            (spelled(field.name), self.values[prefix + field.name])
            for field in fields
            if is_shown(field) and prefix + field.name in self.values
        ]
        if prefix not in self.tails and is_tailed:
            pairs.append(("tail", 'b""'))
        if prefix in self.absent:
            pairs.append(("absent", " + ".join(self.absent[prefix])))
        if prefix in self.tails:
            pairs.append(("tail", self.tails[prefix]))
        return tuple(pairs)

    def move(self, on: On) -> None:
        """Continue at the beginning of other bytes."""
        self.on, self.base, self.added = on, on.position, 0


class ReadLookup:
    """The meaning of names in an expression with fields under `prefix`; `item`: the key of its item."""

    def __init__(self, names: ReadNames, prefix: str, item: str | None = None) -> None:
        self._names = names
        self._prefix = prefix
        self._item = item

    def number(self, text: str) -> str:
        """Return the text: what a reading function has read for a number is one."""
        return text

    def use(self, helper: str) -> str:
        self._names.shared.uses.add(helper)
        return f"_{helper}"

    def _key(self, reference: m.FieldReference) -> str:
        path = ".".join(reference.path)
        if reference.scope == "item":
            assert self._item is not None
            return f"{self._item}.{path}" if path else self._item
        names = self._names
        is_inside = self._prefix == FRAME and reference.path[0] == names.body and path != names.body
        if is_inside and names.message is not None:
            return ".".join(reference.path[1:])
        return self._prefix + path

    def field(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        found = self._names.raws.get(key)
        if found is not None:
            return found
        owner, _, name = key.rpartition(".")
        if owner in self._names.raws:
            return f"{self._names.raws[owner]}.{attribute(name)}"
        raise UnsupportedError("", f"the name {'.'.join(reference.path)} here")

    def size(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        return f"({self._edge(key, 'end')} - {self._edge(key, 'start')})"

    def _edge(self, key: str, edge: str) -> str:
        """Return the variable that holds the begin or end of a field."""
        if self._names.edges.get((key, edge)) != self._names.on.buffer:
            raise UnsupportedError(key, "a size here")
        return self._names.locals.name(f"{key}#{edge}")

    def count(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        if key in self._names.counts and key not in self._names.optional:
            return self._names.counts[key]
        if key not in self._names.values:
            raise UnsupportedError("", "a count here")
        value = self._names.values[key]
        if key in self._names.texts:
            raise UnsupportedError("", "the count of a text that may be absent")
        if key in self._names.optional and key not in self._names.nullable:
            return f"(0 if {value} is None else len({value}))"
        return f"{self.use('count')}({value})"

    def present(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        if key not in self._names.values:
            raise UnsupportedError("", "`present` here")
        return f"({self._names.values[key]} is not None)" if key in self._names.optional else "True"

    def code(self, reference: m.FieldReference) -> str:
        names, key = self._names, self._key(reference)
        if names.message is not None and self._prefix == FRAME and reference.path == (names.body,):
            if names.message.code is None:
                raise UnsupportedError("", "`code` of a message without one")
            return repr(names.message.code)
        if key in names.codes:
            return names.codes[key]
        raise UnsupportedError("", "`code` here")

    def code_of_body(self, otherwise: str) -> str:
        """Return the code of the frame's message, which may be any; `otherwise`: the value for messages without one."""
        value = self._names.values.get(f"{self._prefix}{self._names.body}")
        if value is None:
            raise UnsupportedError("", "the code of a message that is not read yet")
        for class_, code in self._names.codes_of_named:
            otherwise = f"{code} if type({value}) is {class_} else {otherwise}"
        return f"{self._names.codes_table}.get(type({value}), {otherwise})"

    def limit(self, name: str) -> str:
        default = self._names.shared.limits.get(name)
        if default is None:
            raise UnsupportedError("", f"the limit {name}, which has no default")
        return f'({default} if state is None else state.limits["{name}"])'

    def context(self, name: str, keys: tuple[str, ...]) -> str:
        names = self._names
        names.asks_context = True
        owner = repr(names.shared.contexts[name].role)
        if owner == "None":
            owner = "state.role" if names.sender == "None" else f"state.role or {names.sender}"
        return f'state.entries["{name}"][{", ".join((owner, *keys))}]'

    def position(self, what: str) -> str:
        names = self._names
        if what == "remaining":
            return f"({names.on.end} - ({names.at}))"
        if not names.is_frame or names.on.buffer != "buffer":
            raise UnsupportedError("", "`offset` inside a function of its own")
        return f"({names.at} - offset)"

    def checksum(self, algorithm: str, first: str, last: str) -> str:
        start, end = self._edge(f"{self._prefix}{first}", "start"), self._edge(f"{self._prefix}{last}", "end")
        return f"{self.use(algorithm)}({self._names.on.buffer}[{start}:{end}])"
