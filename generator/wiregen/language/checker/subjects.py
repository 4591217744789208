"""The numbers and the presence of the names in the rows of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from wiregen.language.checker.intervals import Numbers, intersected, normal
from wiregen.language.checker.lookup import Declared
from wiregen.language.checker.targets import Targets
from wiregen.language.checker.value_ranges import numbers_of
from wiregen.schema.model import (
    Boolean,
    Bytes,
    Call,
    CodingReference,
    ContextReference,
    Expression,
    Field,
    FieldReference,
    Frame,
    Go,
    Item,
    Message,
    Negation,
    Operation,
    Preamble,
    Protocol,
    RoleReference,
    Row,
    Session,
    Span,
    Timer,
    Type,
    Variable,
    VariableReference,
    Variant,
)
from wiregen.schema.walk import every_field

__all__ = ["RowSubjects", "SessionSubjects"]

_BYTE = (Span(low=0, high=255),)


class SessionSubjects:
    """The variables of one session, and the fields of the messages that its rows name."""

    def __init__(self, protocol: Protocol, declared: Declared, targets: Targets, session: Session) -> None:
        self.session = session
        self.roles = session.roles or protocol.roles
        self.declared = declared
        self.targets = targets
        self._protocol = protocol
        self._lines: dict[tuple[tuple[str, ...] | None, str | None], RowSubjects] = {}

    def of(self, line: Row | Timer) -> RowSubjects:
        """Return the subjects of the expressions of a row, or of a timer, which is not about a message."""
        targets, role = (line.targets, line.role) if isinstance(line, Row) else ((), None)
        if (targets, role) not in self._lines:
            self._lines[targets, role] = RowSubjects(self, targets, role)
        return self._lines[targets, role]

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        return {variable.name: variable for variable in self.session.variables}

    @cached_property
    def values(self) -> Mapping[str, Numbers | None]:
        """The numbers of each variable; one that is only set to constants has its first value or one of these."""
        return {name: self._values(variable) for name, variable in self.variables.items()}

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """All frames, as each layout has them."""
        return tuple(frame for layout in self._layouts for frame in layout.frames)

    @cached_property
    def carried(self) -> tuple[Message | Preamble, ...]:
        """All messages and preambles, as each layout has them."""
        messages = tuple(each for layout in self._layouts for each in layout.messages)
        return messages + tuple(each for layout in self._layouts for each in layout.preambles)

    @property
    def has_layouts(self) -> bool:
        """Return whether structs may have more than one layout."""
        return bool(self._protocol.variants)

    @cached_property
    def _layouts(self) -> tuple[Protocol | Variant, ...]:
        return (self._protocol, *self._protocol.variants)

    @cached_property
    def _given(self) -> Mapping[str, list[Expression]]:
        """The expressions to which the rows and timers set each variable."""
        given: dict[str, list[Expression]] = {}
        lines: tuple[Row | Timer, ...] = (*self.session.rows, *self.session.timers)
        for line in lines:
            for update in line.effect.updates if isinstance(line.effect, Go) else ():
                given.setdefault(update.variable, []).append(update.value)
        return given

    def _values(self, variable: Variable) -> Numbers | None:
        possible = self.type_numbers(variable.type)
        if possible is None or variable.is_list or variable.is_option:
            return None if variable.is_list else possible
        spans: list[Span] = []
        for value in (variable.initial, *self._given.get(variable.name, ())):
            numbers = numbers_of(value, _NoSubjects())
            if numbers is None or isinstance(value, Operation | Negation | Call) or len(numbers) != 1:
                return possible
            spans += numbers
        given = normal(spans)
        return given if intersected(given, possible) == given else possible

    def type_numbers(self, type_: Type) -> Numbers | None:
        """Return the numbers of a variable's type; for an enum, all numbers of its integer type."""
        possible = self.declared.numbers_in(type_)
        return None if possible is None else (possible,)


class RowSubjects:
    """The numbers and the presence of the names in one row or timer."""

    def __init__(
        self,
        above: SessionSubjects,
        targets: tuple[str, ...] | None,
        role: str | None,
    ) -> None:
        self._above = above
        self._targets = targets
        self._role = role
        self._known: dict[Expression, Numbers | None] = {}

    def numbers(self, subject: Expression) -> Numbers | None:
        if subject not in self._known:
            self._known[subject] = self._look(subject)
        return self._known[subject]

    def is_there(self, subject: Expression) -> bool:
        match subject:
            case VariableReference():
                return True
            case FieldReference(path=(name,), scope=scope) if self._targets is not None:
                owners = tuple(self._owners(scope))
                return bool(owners) and all(_has(fields, name) for fields in owners)
            case _:
                return False

    def is_truth(self, subject: Expression) -> bool:
        """Return whether a name is that of a Boolean variable."""
        variable = self._above.variables.get(subject.name) if isinstance(subject, VariableReference) else None
        return variable is not None and isinstance(variable.type, Boolean)

    def _look(self, subject: Expression) -> Numbers | None:
        match subject:
            case VariableReference(name=name):
                return self._above.values.get(name)
            case Item(list=VariableReference(name=name)) if name in self._above.variables:
                variable = self._above.variables[name]
                is_byte = isinstance(variable.type, Bytes) and not variable.is_list
                return _BYTE if is_byte else self._above.type_numbers(variable.type)
            case FieldReference():
                return self._field(subject)
            case ContextReference():
                type_ = self._above.declared.type_of(subject, {})
                return None if type_ is None else self._numbers_in(type_)
            case RoleReference(name=name):
                return self._role_numbers(name)
            case _:
                return None

    def _role_numbers(self, name: str) -> Numbers | None:
        """Return roles as numbers: their positions among those of the session."""
        roles = self._above.roles
        named = self._role if name == "sender" and self._role is not None else name
        if named in roles:
            return (Span(low=roles.index(named), high=roles.index(named)),)
        return (Span(low=0, high=len(roles) - 1),) if roles else None

    def _field(self, subject: FieldReference) -> Numbers | None:
        if len(subject.path) > 1 and self._above.has_layouts:
            return None
        spans: list[Span] = []
        as_own = FieldReference(path=subject.path)
        for fields in self._owners(subject.scope):
            named = {field.name: field for field in every_field(fields)}
            if not subject.path or subject.path[0] not in named:
                continue
            type_ = self._above.declared.type_of(as_own, named)
            numbers = None if type_ is None else self._numbers_in(type_)
            if numbers is None:
                return None
            spans += numbers
        return normal(spans) or None

    def _numbers_in(self, type_: Type) -> Numbers | None:
        choices = self._above.declared.choices_in(type_)
        return None if choices is None else normal(choices) or None

    def _owners(self, scope: str) -> Iterator[tuple[Field, ...]]:
        """Yield the fields of each declaration, in each layout, that a scope can refer to."""
        for owner in self._above.frames if scope == "frame" else self._above.carried:
            if scope == "frame" or owner.name in self._names:
                yield owner.fields

    @cached_property
    def _names(self) -> frozenset[str]:
        """The messages and preambles that the row can be about."""
        targets = self._above.targets
        if self._targets is None:
            return frozenset(targets.by_name)
        found: set[str] = set()
        waiting = list(self._targets)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            inner = (*targets.messages(name), *targets.pieces(name))
            waiting += inner
            found.add(name)
        return frozenset(name for name in found if isinstance(targets.by_name.get(name), Message | Preamble))


class _NoSubjects:
    """The subjects of expressions that hold only constants."""

    def numbers(self, subject: Expression) -> Numbers | None:
        return None

    def is_there(self, subject: Expression) -> bool:
        return False


def _has(fields: tuple[Field, ...], name: str) -> bool:
    """Return whether a declaration has a field that is always there."""
    field = next((each for each in fields if each.name == name), None)
    if field is None or (field.condition is not None and field.value is None):
        return False
    return not (isinstance(field.type, CodingReference))
