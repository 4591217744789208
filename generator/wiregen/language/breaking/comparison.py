"""All changes between two states of a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wiregen.language.breaking.changes import Change
from wiregen.language.breaking.declarations import compare_declarations
from wiregen.language.breaking.fields import Pair
from wiregen.language.breaking.matching import renames_of
from wiregen.language.breaking.sessions import compare_sessions
from wiregen.schema import model as m
from wiregen.schema.sizes import Sizes

__all__ = ["compare", "compare_numbers"]


def compare(old: m.Protocol, new: m.Protocol) -> tuple[Change, ...]:
    """Return the changes from an old state of a protocol to the new one, in the order of its parts."""
    return tuple(_changes(old, new))


def _changes(old: m.Protocol, new: m.Protocol) -> Iterator[Change]:
    renames = renames_of(old, new)
    pair = Pair(old=old, new=new, renames=renames, old_sizes=Sizes(old), new_sizes=Sizes(new))
    yield from _settings(old, new)
    yield from compare_declarations(old, new, pair)
    variants = {variant.name: variant for variant in new.variants}
    for variant in old.variants:
        other = variants.get(variant.name)
        if other is None:
            message = f"variant `{variant.name}` is removed"
            effect = "peers of this variant are not understood"
            yield Change(code="WG8008", path=new.path, message=message, effect=effect)
        else:
            yield from compare_declarations(variant, other, pair)
    yield from compare_sessions(old, new, renames)
    yield from _limits(old, new)


def _settings(old: m.Protocol, new: m.Protocol) -> Iterator[Change]:
    if old.name != new.name:
        message = f"protocol `{old.name}` is renamed to `{new.name}`"
        yield Change(code="WG8101", path=new.path, message=message, effect="programs that import it fail")
    if old.endian != new.endian:
        message = f"the byte order is {new.endian}, it was {old.endian}"
        effect = "the bytes of every number of several bytes are reversed"
        yield Change(code="WG8008", path=f"{new.path}#endian", message=message, effect=effect)
    if old.bits != new.bits:
        message = f"the order of bit fields is {new.bits}, it was {old.bits}"
        yield Change(
            code="WG8008", path=f"{new.path}#bits", message=message, effect="bits are decoded differently"
        )
    if old.roles != new.roles:
        message = f"the roles are {', '.join(new.roles)}, they were {', '.join(old.roles)}"
        yield Change(
            code="WG8101", path=f"{new.path}#roles", message=message, effect="programs that name a role fail"
        )
    if old.on_error != new.on_error:
        message = f"the reaction to invalid bytes is `{new.on_error}`, it was `{old.on_error}`"
        yield Change(
            code="WG8303",
            path=f"{new.path}#error",
            message=message,
            effect="a connection ends or continues after an error",
        )
    if old.ports != new.ports:
        message = "the ports change"
        yield Change(
            code="WG8303",
            path=f"{new.path}#port",
            message=message,
            effect="captures are searched for other ports",
        )


def _limits(old: m.Protocol, new: m.Protocol) -> Iterator[Change]:
    ours, theirs = ({each.name: each for each in protocol.limits} for protocol in (old, new))
    for name in dict.fromkeys((*ours, *theirs)):
        before, after = (limits[name].value if name in limits else None for limits in (ours, theirs))
        if before != after:
            path = theirs[name].path if name in theirs else new.path
            message = f"limit `{name}` is {_shown(after)}, it was {_shown(before)}"
            effect = (
                "the other state sends more than is accepted"
                if _is_less(after, before)
                else "more is accepted"
            )
            yield Change(code="WG8301", path=path, message=message, effect=effect)


def _shown(value: int | None) -> str:
    return "not set" if value is None else str(value)


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and (other is None or one < other)


def compare_numbers(old: Mapping[str, int], new: Mapping[str, int], path: str) -> Iterator[Change]:
    """Yield the changes of numbers by which serializations tell fields and messages; keys are as in locks."""
    places = {(name.rpartition(".")[0], number): name for name, number in new.items()}
    for name, number in old.items():
        owner = name.rpartition(".")[0]
        effect = "streams of protobuf of the other state lose the value, or are refused"
        other = places.get((owner, number))
        if name in new and new[name] != number:
            message = f"the number of `{name}` in protobuf is {new[name]}, it was {number}"
            yield Change(code="WG8011", path=f"{path}.{name}", message=message, effect=effect)
        elif name not in new and other is not None and other not in old:
            message = (
                f"the number {number} of `{owner}` in protobuf is that of `{other}`, it was that of `{name}`"
            )
            yield Change(code="WG8011", path=f"{path}.{other}", message=message, effect=effect)
