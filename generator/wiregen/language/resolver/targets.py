"""The targets of rows, contexts and joins: messages, frames, joins, preambles, and the fields visible with each."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias, cast

from wiregen.language import syntax
from wiregen.language.diagnostics import Span
from wiregen.language.resolver.layouts import PlacedField, frames, layout_of, messages
from wiregen.language.resolver.names import what_is
from wiregen.language.resolver.scopes import MAX_LAYERS, Scope, layered, merged
from wiregen.language.resolver.sorts import Sort
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown

Target: TypeAlias = syntax.Message | syntax.Frame | syntax.Join | syntax.Preamble


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The fields that are visible with a target: its own, and those of its frame."""

    own: Mapping[str, PlacedField] = field(default_factory=dict)
    frame: Mapping[str, PlacedField] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNames:
    """The names, apart from those of messages, that the expressions of a session can use."""

    variables: Mapping[str, Sort] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    places: Mapping[str, Span] = field(default_factory=dict)
    """Those of the names of its variables and roles."""


def resolve_targets(work: Workspace, names: Iterable[syntax.Name]) -> tuple[Target, ...]:
    """Return the declarations of these names; names that cannot be sent are reported."""
    found = (resolve_target(work, name) for name in names)
    return tuple(target for target in found if target is not None)


def resolve_target(work: Workspace, name: syntax.Name) -> Target | None:
    declared = work.names.get(name.text)
    if isinstance(declared, Target):
        work.refer(name, declared.name.span)
        return declared
    if declared is not None:
        message = f"expected a message, frame, join or preamble, but `{name.text}` is {what_is(declared)}"
        work.error("WG2007", message, name.span, label=what_is(declared))
        return None
    report_unknown(name, "message", work.words_of(*Target.__args__), work.report)
    return None


def every_target(work: Workspace) -> tuple[Target, ...]:
    """Return every declaration of something that is sent, in text order."""
    if work.targets is None:
        work.targets = tuple(node for node in work.names.values() if isinstance(node, Target))
    return cast("tuple[Target, ...]", work.targets)


def scope_of(work: Workspace, targets: Iterable[Target], instance: SessionNames) -> Scope:
    """Return the scope of an expression about any of these targets; a field must be there with one of them."""
    seen = tuple(_seen(work, target) for target in targets)
    own, frame = layered(each.own for each in seen), layered(each.frame for each in seen)
    return Scope(
        where="row",
        own=own,
        visible=sys.maxsize,
        frame=_behind(frame, own, seen) if len(seen) > MAX_LAYERS else _Behind(seen=seen, frame=frame),
        variables=instance.variables,
        roles=instance.roles or work.settings.roles,
        places=instance.places if instance.roles else {**work.settings.role_places, **instance.places},
    )


def _behind(
    frame: Mapping[str, PlacedField], own: Mapping[str, PlacedField], seen: Iterable[Seen]
) -> Mapping[str, PlacedField]:
    """Return the mapping that `_Behind` computes at each lookup, computed once for many targets."""
    both = {name for each in seen for name in each.frame if name in each.own}
    return {name: known for name, known in frame.items() if name not in own or name in both}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Behind(Mapping[str, PlacedField]):
    """The fields of frames, without those that another target has as its own.

    A field that one target has twice stays: the file has to say which one is meant.
    """

    seen: tuple[Seen, ...]
    frame: Mapping[str, PlacedField]

    def __getitem__(self, name: str) -> PlacedField:
        known = self.frame[name]
        is_own = any(name in each.own for each in self.seen)
        if is_own and not any(name in each.own and name in each.frame for each in self.seen):
            raise KeyError(name)
        return known

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.frame if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _seen(work: Workspace, target: Target) -> Seen:
    known = work.seen.get(target.name.text)
    if not isinstance(known, Seen):
        known = work.seen[target.name.text] = _look(work, target)
    return known


def _look(work: Workspace, target: Target) -> Seen:
    match target:
        case syntax.Message():
            own = layout_of(work, target.fields).fields
            carriers = tuple(layout_of(work, frame.fields).fields for frame in _frames_of(work, target))
            return Seen(own=own, frame=layered(carriers))
        case syntax.Frame():
            return Seen(own=_of_messages_in(work, target), frame=layout_of(work, target.fields).fields)
        case syntax.Preamble():
            return Seen(own=layout_of(work, target.fields).fields)
        case syntax.Join():
            owners = {line.path.owner.text: work.names.get(line.path.owner.text) for line in _pieces(target)}
            seen = [
                _seen(work, owner)
                for owner in owners.values()
                if isinstance(owner, syntax.Message | syntax.Frame)
            ]
            return Seen(
                own=layered(each.own for each in seen),
                frame=layered(each.frame for each in seen),
            )


def _pieces(join: syntax.Join) -> Iterator[syntax.Part | syntax.Last]:
    return (line for line in join.lines if isinstance(line, syntax.Part | syntax.Last))


def _frames_of(work: Workspace, message: syntax.Message) -> Iterator[syntax.Frame]:
    for frame in frames(work):
        if message.role is None or frame.role is None or message.role.text == frame.role.text:
            yield frame


def _of_messages_in(work: Workspace, frame: syntax.Frame) -> Mapping[str, PlacedField]:
    """Return the fields of all messages that a frame may carry, without names that the frame has itself."""
    mine = layout_of(work, frame.fields).fields
    carried = (
        message
        for message in messages(work)
        if message.role is None or frame.role is None or message.role.text == frame.role.text
    )
    fields = merged(layout_of(work, message.fields).fields for message in carried)
    return {name: known for name, known in fields.items() if name not in mine}


def known_fields(work: Workspace) -> frozenset[str]:
    """Return every field name of anything that is sent."""
    if work.sent_fields is None:
        owners = (each for each in every_target(work) if not isinstance(each, syntax.Join))
        work.sent_fields = frozenset(
            chain.from_iterable(layout_of(work, owner.fields).fields for owner in owners)
        )
    return work.sent_fields
