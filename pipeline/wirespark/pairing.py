"""Which row answers which, as the transitions and the lists of a protocol's sessions tell.

A row is a request in one of two ways. It moves an instance, with a message that opens instances, into a state
that the other side can lead on from: then the next step of that side is the answer. Or it puts an item on a list
from which the other side removes items: then the row that removes it is the answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from wirespark.packages import package_of

if TYPE_CHECKING:
    from wireproto._runtime.schema.sessions import Session
    from wirespark.nodes import Nodes

__all__ = ["Event", "Expectations", "History", "RowPlace", "expectations_of"]

Event = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowPlace:
    """A row, as its events refer to it. Each is equal to itself only."""

    role: str | None
    message: str | None
    time: int | None
    row: Event


class Expectations:
    """The messages of one session that want an answer.

    `requests`: the list whose items are requests that wait, or None.
    """

    def __init__(self, nodes: Nodes, session: Session, roles: tuple[str, ...]) -> None:
        self._nodes = nodes
        self._session = session
        self._roles = session.roles or roles
        self._is_request: dict[tuple[str, str, str], bool] = {}
        self._removing = tuple(self._removers())
        self.requests = next((name for name in self._lists() if self._is_removed(name)), None)

    def is_request(self, role: str, message: str, after: str) -> bool:
        """Return whether the step of a message to a state wants an answer by the other side.

        `role` is named as the session does. The message must be one that opens an instance, also if it does not
        do so now, and the other side must be able to lead on.
        """
        if self._session.per_sender or self.is_first(after):
            return False
        step = (role, message, after)
        if step not in self._is_request:
            others = (other for other in self._roles if other != role)
            is_opening = self._leads_on(self._session.states[0], role, message)
            self._is_request[step] = is_opening and any(self._leads_on(after, other) for other in others)
        return self._is_request[step]

    def is_first(self, state: str) -> bool:
        return state == self._session.states[0]

    def _lists(self) -> Iterator[str]:
        return (variable.name for variable in self._session.variables if variable.is_list)

    def _is_removed(self, variable: str) -> bool:
        return any(name == variable for name, _ in self._removing)

    def is_awaited(self, variable: str, role: str | None) -> bool:
        """Return whether items that a role puts on a list are removed by another."""
        return any(name == variable and remover != role for name, remover in self._removing)

    def _removers(self) -> Iterator[tuple[str, str | None]]:
        n = self._nodes
        for row in self._session.rows:
            if isinstance(row.effect, n.Go):
                for update in row.effect.updates:
                    match update.value:
                        case n.Call("drop" | "remove"):
                            yield update.variable, row.role

    def _leads_on(self, state: str, role: str, message: str | None = None) -> bool:
        """Return whether a message of the role leads from a state to another, by transitions of this state."""
        n, refused = self._nodes, set[str]()
        for row in self._session.rows:
            if row.role not in (None, role) or state not in (row.states or (state,)):
                continue
            targets = row.targets if message is None else _only(message, row.targets)
            match row.effect:
                case n.Violates() if row.when is None:
                    if targets is None:
                        return False
                    refused.update(targets)
                case n.Go(str(after)) if after != state and row.states is not None:
                    if targets is None or set(targets) - refused:
                        return True
        return False


def _only(message: str, targets: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the message if the targets include it, else nothing."""
    return (message,) if targets is None or message in targets else ()


@cache
def expectations_of(protocol: str, session: str) -> Expectations:
    package = package_of(protocol)
    return Expectations(package.nodes, package.schema.sessions[session], package.schema.roles)


@dataclass(slots=True, kw_only=True)
class History:
    """The requests of an instance that wait, and its last levels.

    Attributes:
        asked: The row whose step waits for its answer.
        items: The items of its list of requests, each with the row that put it there, or None if it wants no
            answer.
    """

    levels: dict[str, int] = field(default_factory=dict)
    items: deque[tuple[object, RowPlace | None]] = field(default_factory=deque)
    asked: RowPlace | None = None

    def has_put(self, place: RowPlace) -> bool:
        """Return whether the row has put a request on the list."""
        return bool(self.items) and self.items[-1][1] is place

    def stepped(self, place: RowPlace, *, is_request: bool, is_over: bool) -> Iterator[Event]:
        """Record a step by a row, or by a timer, and yield what becomes of the request that waits.

        The side that sent it does not answer it by its next steps, such as a Cancel. `is_over`: the instance is
        as in the beginning.
        """
        asked = self.asked
        if asked is None or place.role not in (asked.role, None):
            self.asked = place if is_request else None
            if asked is not None:
                yield paired(asked)
        elif is_over:
            self.asked = None
            yield unanswered(asked)

    def listed(self, value: Sequence[object], place: RowPlace, *, is_awaited: bool) -> Iterator[Event]:
        """Record the items of a list after a row; yield the requests of which it has removed the last item.

        A row that has put several items there, such as a Compressed with its events, is one request.
        """
        items = self.items
        n_items = len(items)
        if len(value) == n_items and (not items or items[-1][0] == value[-1]):
            return
        if len(value) != n_items + 1 or (items and items[-1][0] != value[n_items - 1]):
            left, removed = deque(value), list[RowPlace]()
            for item, request in tuple(items):
                items.popleft()
                if left and left[0] == item:
                    items.append((left.popleft(), request))
                elif request is not None:
                    removed.append(request)
            for request in _each_once(removed, {each for _, each in items}):
                is_answer = place.role not in (request.role, None)
                yield paired(request) if is_answer else unanswered(request)
        own = place if is_awaited else None
        items.extend((item, own) for item in list(value)[len(items) :])

    def ended(self) -> Iterator[Event]:
        """Yield the requests that wait at the end of the connection."""
        if self.asked is not None:
            yield unanswered(self.asked)
        requests = [request for _, request in self.items if request is not None]
        yield from map(unanswered, _each_once(requests))


def _each_once(requests: Iterable[RowPlace], waiting: Container[RowPlace | None] = ()) -> list[RowPlace]:
    """Return each row once, without those that still wait."""
    return [request for request in dict.fromkeys(requests) if request not in waiting]


def paired(request: RowPlace) -> Event:
    return {"kind": "pair", **_request(request)}


def unanswered(request: RowPlace) -> Event:
    """Return the event; it belongs to no row, so only `_time` is that of the row at which it is known."""
    return {"kind": "unanswered", "_from": None, "_offset": None, "_message": None, **_request(request)}


def _request(request: RowPlace) -> Event:
    return {
        "request": request.message,
        "request_from": request.role,
        "request_offset": request.row["_offset"],
        "request_time": request.row["_time"],
    }
