"""The local names and expressions of a writing function while it is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from wiregen.generate.steps.step import FRAME, Chunk, GivenLength, Held, UnsupportedError
from wiregen.generate.views.python.expressions import python_expression
from wiregen.generate.views.python.names import Locals, attribute, local_name
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import flat, is_shown
from wiregen.generate.views.python.writing.asked_values import AskedValues, AttributePath, class_test
from wiregen.generate.views.python.writing.step_views import WriteAssign
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.shapes import content
from wiregen.schema import model as m

__all__ = ["Test", "WriteLookup", "WriteNames", "WrittenBytes", "prefix_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBytes:
    """Bytes to be written: their expression, which is evaluated last, and their size, or its expression."""

    text: Callable[[], str]
    size: int | None
    length: str


Test: TypeAlias = str | Callable[[], str]
"""A condition that must be false; its text is computed last if it may refer to sizes."""

Edge: TypeAlias = tuple[list[WrittenBytes], int, int]


@dataclass(slots=True, kw_only=True)
class WriteNames:
    """The variables of one writing function. `headers`: the parameters that hold a frame's own fields."""

    shared: Shared
    fields: dict[str, m.Field]
    """The fields of all declarations of the function, by key."""
    owner: str = "message"
    frame: str = ""
    message: m.Message | None = None
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    codes_table: str = "_CODES"
    readers: str = ""
    """The table of whole frames by the code of their message; an unknown message has none of its codes."""
    sender: str = "None"
    main: str = ""
    """The prefix of the keys of the declaration's own fields."""
    locals: Locals = field(default_factory=Locals)
    lists: set[str] = field(default_factory=set)
    """The variables of lists that are annotated already."""
    items: list[tuple[str, str]] = field(default_factory=list)
    arms: list[tuple[str, str]] = field(default_factory=list)
    counts: dict[str, str] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)
    """The keys of the optional fields that have a value where the steps are."""
    edges: dict[tuple[str, str], Edge] = field(default_factory=dict)
    open_regions: dict[str, tuple[Held | GivenLength, list[Test]]] = field(default_factory=dict)
    waiting: list[tuple[str, WriteAssign]] = field(default_factory=list)
    """The variables of lengths that are not known yet, each with an assignment that needs it."""
    sizes: dict[str, str] = field(default_factory=dict)
    """The variables that hold sums of sizes, which are computed when all parts of a block are known."""
    asks_context: bool = False
    """Whether an expression refers to values of earlier messages."""
    is_method: bool = False
    """Whether the function is a method of the message, without a state."""
    again: str = ""
    """The function that writes the same with a state, if it is another one."""
    asked: AskedValues = field(default_factory=AskedValues)
    arm_tests: list[str] = field(default_factory=list)
    """The tests of values of the arm whose steps are made: another arm has values of other classes."""
    item_variables: dict[str, str] = field(default_factory=dict)
    """The variables of the items of lists, by key. Both passes have the same ones, as expressions begin with them."""

    def for_second_pass(self) -> WriteNames:
        """Return the names as they were before the first pass, and the values that it has found to be read once."""
        locals_ = self.locals.keeping(self.item_variables)
        for path in self.asked.values:
            self.asked.variable(path, locals_)
        return replace(
            self,
            locals=locals_,
            lists=set(),
            counts={},
            edges={},
            open_regions={},
            sizes={},
            asks_context=False,
        )

    @property
    def state(self) -> str:
        """Return the expression of the state that is passed on."""
        return "None" if self.is_method else "state"

    def attribute(self, key: str) -> str:
        """Return the expression of the attribute, or the header parameter, for a key; its variable if it is read once."""
        return self.asked.variable(self._read(key), self.locals)

    def once(self, key: str, test: str = "") -> str:
        """Return the variable of an attribute that is read once, and refused if the test of it, with `{}` for it, is true."""
        is_of_arm = self.chosen(key) != key
        self.asked.ask(self._read(key), self.chosen(key), "" if is_of_arm else test)
        variable = self.attribute(key)
        if is_of_arm and test:
            self.arm_tests.append(test.replace("{}", variable))
        return variable

    def _read(self, key: str) -> AttributePath:
        key = self.chosen(key)
        for prefix, item in reversed(self.items):
            if key == prefix or key.startswith(f"{prefix}."):
                return _below(AttributePath(base=item), key.removeprefix(prefix).split(".")[1:])
        owner = AttributePath(base=self.owner)
        if not key.startswith(FRAME):
            return _below(owner, key.split("."))
        header, *names = key.removeprefix(FRAME).split(".")
        if header == self.body:
            return _below(owner if self.message is not None else owner.below("message"), names)
        if header in self.headers:
            return _below(AttributePath(base=self.headers[header]), names)
        return _below(owner.below(local_name(header)), names)

    def chosen(self, key: str) -> str:
        """Return the key of a field in the chosen arm, if the key is that of its choice; arms may be nested."""
        for arm, own in reversed(self.arms):
            rest = key.removeprefix(arm)
            key = own + rest if key.startswith(arm) and rest[:1] in ("", ".", "[", "#") else key
        return key

    def value(
        self,
        key: str,
        field_: m.Field | None,
        prefix: str,
        pieces: list[WrittenBytes],
        test: str | None = None,
    ) -> str:
        """Return the expression of a field's value: given, derived, or constant. With a test, a given one is read once."""
        match field_.value if field_ is not None and not key.endswith("[]") else None:
            case m.Derived(value=value) | m.Constant(value=value):
                return self.text(value, prefix, pieces)
            case _:
                return self.attribute(key) if test is None else self.once(key, test)

    def text(self, expression: m.Expression, prefix: str, pieces: list[WrittenBytes]) -> str:
        lookup = WriteLookup(self, prefix, pieces)
        lookup.refuse_wholes(expression)
        return python_expression(expression, lookup)

    def size_between(self, key: str) -> str:
        """Return the size of the bytes between the two edges of a key."""
        start, end = self.edges.get((key, "start")), self.edges.get((key, "end"))
        if start is None or end is None or start[0] is not end[0]:
            raise UnsupportedError(key, "a size here")
        constant, texts = start[2] - end[2], []
        for piece in start[0][start[1] : end[1]]:
            if piece.size is not None:
                constant += piece.size
            else:
                texts.append(piece.length)
        parts = [str(constant), *texts] if constant or not texts else texts
        return " + ".join(parts)

    def is_own_count(self, expression: m.Expression, prefix: str, key: str) -> bool:
        """Return whether a length is a derived field that counts exactly this value."""
        return self._derives(expression, prefix, key, "count") or self._derives(
            expression, prefix, key, "size"
        )

    def is_own_size(self, expression: m.Expression, prefix: str, key: str) -> bool:
        return self._derives(expression, prefix, key, "size")

    def _derives(
        self, expression: m.Expression, prefix: str, key: str, function: Literal["count", "size"]
    ) -> bool:
        if not isinstance(expression, m.FieldReference) or len(expression.path) != 1:
            return False
        field_ = self.fields.get(prefix + expression.path[0])
        wanted = m.Call(function=function, arguments=(m.FieldReference(path=(key.removeprefix(prefix),)),))
        return field_ is not None and isinstance(field_.value, m.Derived) and field_.value.value == wanted

    def absent_of(self, prefix: str) -> bool:
        """Return whether `n_absent` belongs to the declaration with that prefix."""
        return prefix == self.main and not self.items

    @staticmethod
    def fields_of(field_: m.Field) -> tuple[m.Field, ...]:
        return tuple(each for each in flat((field_,)) if is_shown(each))


class WriteLookup:
    """The meaning of names in an expression with fields under `prefix`; `item`: the key of its item."""

    def __init__(
        self, names: WriteNames, prefix: str, pieces: list[WrittenBytes], item: str | None = None
    ) -> None:
        self._names = names
        self._prefix = prefix
        self._pieces = pieces
        self._item = item

    def number(self, text: str) -> str:
        """Return the text with a sign, which raises TypeError for the text or list that a caller gave for a number."""
        return f"+{text}"

    def use(self, helper: str) -> str:
        self._names.shared.uses.add(helper)
        return f"_{helper}"

    def _key(self, reference: m.FieldReference) -> str:
        names = self._names
        if reference.scope == "item":
            if self._item is None:
                raise UnsupportedError("", "the last item, on writing")
            return ".".join((self._item, *reference.path))
        if (
            self._prefix == FRAME
            and reference.path[0] == names.body
            and len(reference.path) > 1
            and names.message
        ):
            return ".".join(reference.path[1:])
        return self._prefix + ".".join(reference.path)

    def refuse_wholes(self, expression: m.Expression) -> None:
        """Refuse comparisons of lists, structs and alternatives: of equal ones, a caller may give other classes.

        Raises:
            UnsupportedError: The expression has one.
        """
        for node in nodes_in(expression):
            if not isinstance(node, m.Operation) or node.operator not in ("==", "!=", "in", "not in"):
                continue
            for operand in (node.left, node.right):
                type_ = self._type(self._key(operand)) if isinstance(operand, m.FieldReference) else None
                whole = None if type_ is None else content(type_)
                if operand is node.right and isinstance(whole, m.List) and "in" in node.operator:
                    whole = content(whole.item)
                if isinstance(whole, m.List | m.StructReference | m.UnionReference):
                    raise UnsupportedError("", "a comparison of lists, structs or alternatives, on writing")

    def field(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        known = self._names.fields.get(key)
        prefix = key.removesuffix(reference.path[-1]) if reference.path else key
        type_ = self._type(key)
        test = "" if type_ is None else class_test(type_, self._names.shared)
        value = self._names.value(key, known, prefix, self._pieces, test)
        return value if type_ is None else self._as_read(type_, key, value)

    def _type(self, key: str) -> m.Type | None:
        """Return the type of a field or of the items of a list, or None for other values."""
        known, is_item = self._names.fields.get(key), key.endswith("[]")
        if known is not None or not is_item:
            return None if known is None else known.type
        outer = self._type(key.removesuffix("[]"))
        return outer.item if isinstance(outer, m.List) else None

    def _as_read(self, type_: m.Type, key: str, value: str) -> str:
        """Return the value that a decoder has for the expression: bytes for a uuid, and floats as their bytes hold them."""
        match content(type_):
            case m.Uuid():
                return f"{self.use('uuid_bytes')}({value})"
            case m.Float(format_):
                return f'{self.use("FLOATS")}["{format_}"].held({value})'
            case m.List(item=m.Float() as item):
                return f'{self.use("FLOATS")}["{item.format}"].held_all({value})'
            case _ if _is_rewritten(type_, self._names.shared.fields_of_structs):
                raise UnsupportedError(key, "a value that a reader may have otherwise, in an expression")
            case _:
                return value

    def size(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        text = self._names.size_between(key)
        if " " not in text:
            return text
        return self._names.sizes.setdefault(text, self._names.locals.name(f"{key}#size"))

    def count(self, reference: m.FieldReference) -> str:
        names, key = self._names, self._key(reference)
        known = names.fields.get(key)
        is_certain = (
            known is None
            or key in names.present
            or (known.condition is None and not isinstance(known.value, m.Trailing))
        )
        if key in names.counts and is_certain:
            return names.counts[key]
        if known is not None and isinstance(known.type, m.List | m.Bytes) and known.condition is None:
            value = names.once(key)
            may_be_null = self._may_be_null(known.type, key)
            return f"{self.use('count')}({value})" if may_be_null else f"len({value})"
        if known is not None and isinstance(known.type, m.List | m.Bytes) and not is_nullable(known.type):
            value = names.once(key)
            return f"(0 if {value} is None else len({value}))"
        raise UnsupportedError("", "a count here")

    def _may_be_null(self, type_: m.List | m.Bytes, key: str) -> bool:
        """Return whether a value may be null, by a coding: as its prefix, or as the field that gives its length."""
        match type_.length:
            case m.Computed(value=m.FieldReference(path=(name,), scope="own")):
                giver = self._names.fields.get(f"{key.rpartition('.')[0]}.{name}".removeprefix("."))
                return giver is None or isinstance(giver.type, m.Reference)
            case length:
                return isinstance(length, m.Prefix) and isinstance(length.type, m.CodingReference)

    def present(self, reference: m.FieldReference) -> str:
        key = self._key(reference)
        if key not in self._names.fields:
            raise UnsupportedError("", "`present` of a block")
        return f"({self._names.once(key)} is not None)"

    def code(self, reference: m.FieldReference) -> str:
        names, key = self._names, self._key(reference)
        is_message = self._prefix == FRAME and reference.path == (names.body,)
        if is_message and names.message is not None:
            code = names.message.code
            test = f"type({{}}) is not int or {{}} in {names.readers}"
            return names.once("code", test) if code is None else repr(code)
        if is_message:
            return f"{names.codes_table}[type({names.once(key)})]"
        raise UnsupportedError("", "`code` here")

    def limit(self, name: str) -> str:
        default = self._names.shared.limits.get(name)
        if default is None:
            raise UnsupportedError("", f"the limit {name}, which has no default")
        return repr(default)

    def context(self, name: str, keys: tuple[str, ...]) -> str:
        names = self._names
        names.asks_context = True
        owner = repr(names.shared.contexts[name].role)
        role, entries = ("from_role", "entries") if names.is_method else ("state.role", "state.entries")
        if owner == "None":
            owner = role if names.sender == "None" else f"{role} or {names.sender}"
        return f'{entries}["{name}"][{", ".join((owner, *keys))}]'

    def position(self, what: str) -> str:
        raise UnsupportedError("", f"`{what}`, on writing")

    def checksum(self, algorithm: str, first: str, last: str) -> str:
        raise UnsupportedError("", "a checksum, on writing")


def is_nullable(type_: m.List | m.Bytes) -> bool:
    """Return whether None can be a value: by a coding as its prefix, or by the field that gives its length."""
    match type_.length:
        case m.Prefix(type=m.CodingReference()) | m.Computed():
            return True
        case _:
            return False


def _is_rewritten(
    type_: m.Type, structs: Mapping[str, tuple[m.Field, ...]], seen: tuple[str, ...] = ()
) -> bool:
    """Return whether a reader may have another value than was given: it has floats, or texts of several spellings."""
    return any(
        isinstance(node, m.Float)
        or (isinstance(node, m.Text) and node.is_rewritten)
        or (
            isinstance(node, m.StructReference)
            and node.name not in seen
            and any(_is_rewritten(field.type, structs, (*seen, node.name)) for field in structs[node.name])
        )
        for node in nodes_in(type_)
    )


def _below(path: AttributePath, names: Iterable[str]) -> AttributePath:
    """Return the path of a field inside a value; `names`: those of the fields, from outside."""
    return path.below(*map(attribute, names))


def prefix_of(step: Chunk) -> str:
    """Return the part of a key before a field's name."""
    return step.key.removesuffix(step.field.name) if step.field is not None else ""
