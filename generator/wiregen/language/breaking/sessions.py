"""Changes of sessions: states, transitions, timers, options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from wiregen.language.breaking.changes import Change
from wiregen.language.breaking.plain import Renames, plain
from wiregen.schema import model as m

__all__ = ["compare_sessions"]

_Part = TypeVar("_Part", m.Row, m.Timer)


def compare_sessions(old: m.Protocol, new: m.Protocol, renames: Renames) -> Iterator[Change]:
    """Yield the changes of sessions of the same name, or renamed; and new ones that rule messages of before."""
    theirs = {session.name: session for session in new.sessions}
    groups: tuple[tuple[m.Message | m.Frame | m.Join | m.Preamble, ...], ...] = (
        old.messages, old.frames, old.joins, old.preambles
    )  # fmt: skip
    known = {renames.declarations.get(each.name, each.name) for group in groups for each in group}
    for session in old.sessions:
        other = theirs.pop(renames.declarations.get(session.name, session.name), None)
        if other is not None:
            yield from _between(session, other, renames, known)
    for session in theirs.values():
        if any(_is_of(row, known) for row in session.rows):
            message = f"session `{session.name}` is new"
            effect = "conversations that it does not allow are violations"
            yield Change(code="WG8205", path=session.path, message=message, effect=effect)


def _is_of(row: m.Row, known: Collection[str]) -> bool:
    """Return whether a row concerns a message that the old state has."""
    return row.targets is None or any(target in known for target in row.targets)


def _between(old: m.Session, new: m.Session, renames: Renames, known: Collection[str]) -> Iterator[Change]:
    def about(code: str, message: str, path: str = "") -> Change:
        effect = "conversations of the other state may be violations"
        return Change(code=code, path=path or new.path, message=message, effect=effect)

    if (old.keys, old.per_sender, len(old.roles)) != (new.keys, new.per_sender, len(new.roles)):
        yield about("WG8205", f"session `{new.name}` has instances of other keys or roles")
    states = {state.name for state in new.states}
    for state in old.states:
        if state.name not in states:
            yield about("WG8201", f"state `{new.name}.{state.name}` is removed")
    if old.states[0].name != new.states[0].name:
        yield about(
            "WG8201", f"session `{new.name}` begins in `{new.states[0].name}`, not in `{old.states[0].name}`"
        )
    yield from _rows(old.rows, new.rows, new, renames, known)
    gone, fresh = _difference(old.timers, new.timers, renames)
    if gone or fresh:
        path = fresh[0].path if fresh else new.path
        yield about(
            "WG8203", f"timers of session `{new.name}` change: {len(gone)} removed, {len(fresh)} new", path
        )
    yield from _variables(old, new, renames)


def _rows(
    old: Sequence[m.Row], new: Sequence[m.Row], session: m.Session, renames: Renames, known: Collection[str]
) -> Iterator[Change]:
    gone, fresh = _difference(old, new, renames)
    fresh = [row for row in fresh if _is_of(row, known)]
    effect = "conversations of the other state may be violations"
    for row in fresh:
        message = f"a transition of session `{session.name}` for {_of(row)} is new or changed"
        yield Change(code="WG8202", path=row.path, message=message, effect=effect)
    for row in gone if not fresh else ():
        message = f"a transition of session `{session.name}` for {_of(row)} is removed"
        yield Change(code="WG8202", path=session.path, message=message, effect=effect)
    if not gone and not fresh:
        rows = [plain(row, Renames()) for row in new if _is_of(row, known)]
        if [plain(row, renames) for row in old] != rows:
            message = f"the transitions of session `{session.name}` are in another order"
            yield Change(
                code="WG8202", path=session.path, message=message, effect="the first that fits is taken"
            )


def _of(row: m.Row) -> str:
    return "every message" if row.targets is None else ", ".join(f"`{each}`" for each in row.targets)


def _difference(
    old: Sequence[_Part], new: Sequence[_Part], renames: Renames
) -> tuple[list[_Part], list[_Part]]:
    """Return the parts that only one state has: the removed and the new ones."""
    ours = Counter(plain(each, renames) for each in old)
    theirs = Counter(plain(each, Renames()) for each in new)
    gone = [each for each in old if not theirs[plain(each, renames)]]
    fresh = [each for each in new if not ours[plain(each, Renames())]]
    return gone, fresh


def _variables(old: m.Session, new: m.Session, renames: Renames) -> Iterator[Change]:
    theirs = {variable.name: variable for variable in new.variables}
    for variable in old.variables:
        other = theirs.get(variable.name)
        what = "option" if variable.is_option else "variable"
        if other is None:
            message = f"{what} `{new.name}.{variable.name}` is removed"
            path = new.path
        elif plain(variable, renames) != plain(other, Renames()):
            message, path = (
                f"{what} `{new.name}.{variable.name}` has another type or initial value",
                other.path,
            )
        else:
            continue
        yield Change(
            code="WG8204", path=path, message=message, effect="connections check messages differently"
        )
