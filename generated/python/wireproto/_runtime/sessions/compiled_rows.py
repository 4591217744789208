"""The rows of a session, compiled: their conditions, their changes, and their next states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from uuid import UUID

from ..reference.expressions import Value
from ..schema.expressions import Call, Expression, FieldReference, Number, Operation, Truth, VariableReference
from ..schema.node import nodes_in
from ..schema.sessions import Go, Update, Variable, Violates
from ..schema.types import Boolean, Bytes, Integer, Type, Uuid, WholeNumber
from .closures import NOTHING, Term, compile_term
from .names import MessageWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..schema.sessions import Effect

__all__ = ["STAY", "Change", "Row", "Rows", "Timer", "change", "initial_values", "row_of"]

STAY = -1
"""Replaces the number of a state."""

Change = tuple[int, str, Value]
"""The place of a variable, the action (`set`, `push`, `drop`, `remove`), and its value."""

Rows = tuple[tuple[Term | None, tuple["Row", ...]], ...]
"""The rows of one state: conditions (None: always), and the adjacent rows under each."""

_Step = Callable[[Value, Value, list[Value], Value], None]


def change(values: list[Value], slot: int, action: str, value: Value) -> None:
    """Change a variable; a list that only grows or shrinks is not copied."""
    if action == "set":
        values[slot] = value
    elif action == "push":
        values[slot].append(value)
    elif action == "drop":
        _drop(values[slot], value)
    elif value in values[slot]:
        values[slot].remove(value)


def _drop(queue: deque[object], number: int) -> None:
    if number >= len(queue):
        queue.clear()
    for _ in range(min(number, len(queue))):
        queue.popleft()


class Row:
    """One row: legal if it has no `violation`.

    Attributes:
        number: Its place among the rows of the session, or among its timers.
        state: The number of the next state, or STAY.
        is_lenient: The violation is only noted unless strict.
    """

    __slots__ = ("_steps", "_updates", "is_lenient", "number", "state", "violation")

    def __init__(
        self,
        *,
        number: int,
        violation: str | None = None,
        is_lenient: bool = False,
        state: int = STAY,
        updates: tuple[tuple[int, str, Term], ...] = (),
        steps: tuple[_Step, ...] | None = None,
    ) -> None:
        """`steps`: the updates as steps, if no update reads a variable that an earlier one has changed."""
        self.number = number
        self.violation = violation
        self.is_lenient = is_lenient
        self.state = state
        self._updates = updates
        self._steps = steps

    def apply(self, message: object, frame: object, values: list[object], moment: object) -> None:
        """Make the changes of the row at once."""
        if self._steps is None:
            for slot, action, value in self.changes(message, frame, values, moment):
                change(values, slot, action, value)
            return
        for step in self._steps:
            try:
                step(message, frame, values, moment)
            except NOTHING:
                continue

    def changes(self, message: object, frame: object, values: list[object], moment: object) -> list[Change]:
        """Return the changes of the row, all computed from the old values; a value that cannot be computed
        stays unchanged.
        """
        try:
            return [
                (slot, action, term(message, frame, values, moment)) for slot, action, term in self._updates
            ]
        except NOTHING:
            return self._possible(message, frame, values, moment)

    def _possible(self, message: object, frame: object, values: list[object], moment: object) -> list[Change]:
        found: list[Change] = []
        for slot, action, term in self._updates:
            try:
                found.append((slot, action, term(message, frame, values, moment)))
            except NOTHING:
                continue
        return found


class Timer:
    """A row that is taken when no other was taken for so long; `after` returns milliseconds."""

    __slots__ = ("after", "row")

    def __init__(self, after: Term, row: Row) -> None:
        self.after = after
        self.row = row


def row_of(
    number: int,
    effect: Effect,
    variables: Mapping[str, Variable],
    states: Mapping[str, int],
    words: MessageWords,
) -> Row:
    """Return the row of an effect in the schema."""
    match effect:
        case Violates(name, is_lenient):
            return Row(number=number, violation=name, is_lenient=is_lenient)
        case Go(state, updates):
            compiled = tuple(_updates(updates, variables, words))
            next_state = STAY if state is None else states[state]
            steps = tuple(_steps(updates, compiled, variables, words)) if _is_apart(updates) else None
            return Row(number=number, state=next_state, updates=compiled, steps=steps)


def initial_values(
    variables: Mapping[str, Variable], words: MessageWords, options: Mapping[str, Value]
) -> list[object]:
    """Return the values that an instance begins with; options have those of the connection."""
    values: list[object] = []
    for name, variable in variables.items():
        is_given = variable.is_option and name in options
        first = options[name] if is_given else _first(variable.initial, words)
        values.append(deque(first) if variable.is_list else _as(variable.type, first))
    return values


def _first(initial: Expression, words: MessageWords) -> Value:
    return compile_term(initial, words)(None, None, [], None)


def _as(type_: Type, value: object) -> Value:
    return UUID(bytes=value) if isinstance(type_, Uuid) and isinstance(value, bytes) else value


# ---- updates ----


def _updates(
    updates: tuple[Update, ...], variables: Mapping[str, Variable], words: MessageWords
) -> Iterator[tuple[int, str, Term]]:
    for update in updates:
        variable = variables[update.variable]
        action, operand = _action(update) if variable.is_list else ("set", update.value)
        term = compile_term(operand, words)
        if variable.is_list and action == "set":
            term = _copied(term, variable.type)
        elif action != "drop":
            term = _fitted(term, variable.type, operand, words)
        yield words.slots[update.variable], action, term


def _is_apart(updates: tuple[Update, ...]) -> bool:
    """Return whether no update reads a variable that an earlier one changes."""
    changed: set[str] = set()
    for update in updates:
        _, operand = _action(update)
        read = (node.name for node in nodes_in(operand) if isinstance(node, VariableReference))
        if not changed.isdisjoint(read):
            return False
        changed.add(update.variable)
    return True


def _steps(
    updates: tuple[Update, ...],
    compiled: tuple[tuple[int, str, Term], ...],
    variables: Mapping[str, Variable],
    words: MessageWords,
) -> Iterator[_Step]:
    for update, (slot, action, term) in zip(updates, compiled, strict=True):
        variable = variables[update.variable]
        operand = _action(update)[1] if variable.is_list else update.value
        short = None
        if action == "push":
            short = _pushing(slot, operand, variable.type, variables, words)
        elif isinstance(operand, Operation):
            short = _counting(slot, operand, variable.type, words)
        yield short or _step(slot, action, term)


def _pushing(
    slot: int, operand: Expression, type_: Type, variables: Mapping[str, Variable], words: MessageWords
) -> _Step | None:
    """Return a step that pushes a number of the message or of a variable, in one closure, or None for other operands."""
    match operand:
        case FieldReference(path) if _is_same(words.declared(path), type_):
            get = words.message_field(path)
            return None if get is None else lambda m, f, v, x: v[slot].append(get(m))
        case VariableReference(name) if _is_same(variables[name].type, type_) and not variables[name].is_list:
            other = words.slots[name]
            return lambda m, f, v, x: v[slot].append(v[other])
    return None


def _counting(slot: int, operand: Operation, type_: Type, words: MessageWords) -> _Step | None:
    """Return a step that counts a variable up or down, in one closure, or None for other operands."""
    match operand, type_:
        case Operation("+" | "-" as symbol, VariableReference(name), Number(number)), Integer(size, False):
            other, mask = words.slots[name], (1 << 8 * size) - 1
            by = number if symbol == "+" else -number

            def count(m: object, f: object, v: list[Value], x: object) -> None:
                v[slot] = v[other] + by & mask

            return count
    return None


def _step(slot: int, action: str, term: Term) -> _Step:
    """Return a step that makes one change."""

    def set_(m: object, f: object, v: list[object], x: object) -> None:
        v[slot] = term(m, f, v, x)

    if action == "set":
        return set_
    return lambda m, f, v, x: change(v, slot, action, term(m, f, v, x))


def _action(update: Update) -> tuple[str, Expression]:
    """Return the action and its operand; a list that only grows or shrinks is not copied."""
    match update.value:
        case Call("push" | "drop" | "remove" as function, (VariableReference(name), operand)):
            if name == update.variable:
                return function, operand
    return "set", update.value


def _copied(term: Term, type_: Type) -> Term:
    fit = _fit(type_)
    if fit is None:
        return lambda m, f, v, x: deque(term(m, f, v, x))
    return lambda m, f, v, x: deque([fit(item) for item in term(m, f, v, x)])


def _fitted(term: Term, type_: Type, operand: Expression, words: MessageWords) -> Term:
    """Return a term with a value of the variable's type: numbers wrap around at its width."""
    if isinstance(operand, Number | Truth):
        value = operand.value
        fit = _fit(type_)
        fixed = value if fit is None else fit(value)
        return lambda m, f, v, x: fixed
    if isinstance(operand, FieldReference) and _is_same(words.declared(operand.path), type_):
        return term  # values on the wire fit, and others are not sent
    if isinstance(type_, WholeNumber) and type_.bounds[0] == 0:
        mask = type_.bounds[1]
        return lambda m, f, v, x: term(m, f, v, x) & mask
    fit = _fit(type_)
    return term if fit is None else lambda m, f, v, x: fit(term(m, f, v, x))


def _is_same(declared: Type | None, type_: Type) -> bool:
    """Return whether a field's type and a variable's are the same integer, in any byte order."""
    if not (isinstance(declared, Integer) and isinstance(type_, Integer)):
        return False
    return (declared.size, declared.is_signed) == (type_.size, type_.is_signed)


def _fit(type_: Type) -> Value:
    """Return a function that fits a value to the type, or None if every value fits."""
    match type_:
        case Boolean():
            return bool
        case Uuid():
            return lambda value: _as(type_, value)
        case Bytes():
            return bytes
        case _:
            return _rolling(type_) if isinstance(type_, WholeNumber) else None


def _rolling(type_: WholeNumber) -> object:
    low, high = type_.bounds
    mask = high - low
    if not low:
        return lambda value: value & mask
    return lambda value: ((value - low) & mask) + low
