"""Sessions of a schema: transitions and timers in text order."""

from __future__ import annotations

from .expressions import Expression
from .node import Node
from .types import Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["Effect", "Go", "Session", "Timer", "Transition", "Update", "Variable", "Violates"]


class Variable(Node):
    """A variable of a session, or an option of a connection; `is_list`: a list of its type."""

    name: str
    type: Type
    is_list: bool
    initial: Expression
    is_option: bool


class Update(Node):
    """A variable takes a new value."""

    variable: str
    value: Expression


class Go(Node):
    """The transition is legal; `state` None: the state stays."""

    state: str | None
    updates: tuple[Update, ...]


class Violates(Node):
    """The transition is a violation; lenient: it is reported, and the transitions below are tried."""

    name: str
    is_lenient: bool


class Transition(Node):
    """Who sends what, when. `states` None: in every state; `role` None: both; `targets` None: every message of the session.

    `targets` are names of messages, frames, joins and preambles.
    """

    states: tuple[str, ...] | None
    role: str | None
    targets: tuple[str, ...] | None
    when: Expression | None
    effect: Effect


class Timer(Node):
    """After so many milliseconds without a transition in these states."""

    states: tuple[str, ...] | None
    after: Expression
    effect: Effect


class Session(Node):
    """A state machine; the first state is the initial one.

    `keys`: one instance for each value of these fields; `per_sender`: and for each direction. `roles`: names of the two
    sides of an instance, () for the protocol's own.
    """

    keys: tuple[str, ...]
    per_sender: bool
    roles: tuple[str, ...]
    variables: tuple[Variable, ...]
    states: tuple[str, ...]
    rows: tuple[Transition, ...]
    timers: tuple[Timer, ...]


Effect: TypeAlias = Go | Violates
