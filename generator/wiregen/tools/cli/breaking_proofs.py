"""Proofs of changes: the vectors of one state that the other one refuses or decodes differently."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wiregen.tools.cli.progress import progress_of_steps

if TYPE_CHECKING:
    from wiregen.conformance.judge.checks import AnyVector
    from wiregen.conformance.judge.other_states import Misread
    from wiregen.generate.backends import Subject
    from wiregen.language.breaking import Change
    from wiregen.language.config import Config
    from wiregen.runtime.schema.protocol import Schema
    from wiregen.schema.model import Protocol
    from wiregen.tools.cli.old_state import OldState

__all__ = ["no_proof", "proof_of"]

_MOST_NAMED = 3


def no_proof(change: "Change") -> str | None:
    """Return no proof of a change."""


def proof_of(
    old: "Subject", new: "Subject", state: "OldState", config: "Config"
) -> "Callable[[Change], str | None]":
    """Decode the vectors of both states with the reference codec of the other one; return the proof of each change."""
    from wiregen.conformance.judge.other_states import misread
    from wiregen.language.breaking import renames_of
    from wiregen.schema.lowering import lower

    name = new.protocol.name
    if not old.protocol.frames or not new.protocol.frames:
        return no_proof
    before, after = lower(old.protocol), lower(new.protocol)
    renames = renames_of(old.protocol, new.protocol)
    back = renames_of(new.protocol, old.protocol)
    with progress_of_steps(name) as step:
        step("old vectors")
        ours = tuple(misread(_vectors(state.vectors, before), before, after, renames))
        step("new vectors")
        theirs = tuple(misread(_vectors(config.output / "vectors", after), after, before, back))

    def proof(change: "Change") -> str | None:
        owner = change.path.removeprefix(f"{name}.").partition(".")[0]
        users = _messages_with(owner, new.protocol) | _messages_with(owner, old.protocol)
        texts = (_shown_vectors("new", "old", ours, users), _shown_vectors("old", "new", theirs, users))
        return "; ".join(filter(None, texts)) or None

    return proof


def _messages_with(name: str, protocol: "Protocol") -> frozenset[str]:
    """Return the messages that have a declaration in them, or are it; without such messages, all of them."""
    from wiregen.schema.walk import references

    rows = {message.name: message.fields for message in protocol.messages}
    rows |= {struct.name: struct.fields for struct in protocol.structs}
    for union in protocol.unions:
        rows[union.name] = tuple(field for variety in union.varieties for field in variety.fields)
    inside = {
        owner: {each.name for each in references(*(field.type for field in fields))}
        for owner, fields in rows.items()
    }
    found, before = {name}, set[str]()
    while found != before:
        before = found
        found = found | {owner for owner, names in inside.items() if names & found}
    messages = frozenset(each.name for each in protocol.messages)
    return messages & found or messages


def _shown_vectors(reader: str, of: str, found: "Sequence[Misread]", messages: frozenset[str]) -> str:
    """Return at most three vectors as text; "" if one state reads all those of the other one with these messages."""
    shown = [each for each in found if each.messages & messages]
    if not shown:
        return ""
    ids = ", ".join(each.id for each in shown[:_MOST_NAMED])
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    verb = "refuses" if all(each.is_refused for each in shown) else "refuses or decodes differently"
    return f"the {reader} state {verb} the vectors {ids}{more} of the {of} one"


def _vectors(folder: Path, schema: "Schema") -> "Sequence[AnyVector]":
    """Return the vectors that a folder has for a protocol, or new ones if it does not have a file for this schema."""
    from wiregen.conformance.judge.vector_files import load_files
    from wiregen.conformance.vectors.building import build_vectors
    from wiregen.conformance.vectors.format import VectorsError

    path = folder / f"{schema.name}.json"
    try:
        return load_files((path,), schema) if path.is_file() else build_vectors(schema).file.vectors
    except VectorsError:  # of a state without some of the names
        return build_vectors(schema).file.vectors
