"""Keys of contexts, joins and sessions: fields of messages whose values can be equal."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Span
from wiregen.language.resolver.layouts import PlacedField
from wiregen.language.resolver.names import PlacedName, refuse_duplicates
from wiregen.language.resolver.sorts import MIXED, UNKNOWN, Sort, common, describe, fits
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.targets import SessionNames, Target, every_target, known_fields, scope_of
from wiregen.language.resolver.unknown_names import report_unknown

__all__ = ["demand_keys", "named_in", "resolve_keys", "sort_of_key"]

Line: TypeAlias = syntax.Set | syntax.Clear | syntax.Part | syntax.Last


def resolve_keys(work: Workspace, keys: Iterable[syntax.Name], targets: Iterable[Target]) -> tuple[str, ...]:
    """Return the keys of a context, join or session: fields of the targets that use them."""
    names = tuple(keys)
    refuse_duplicates((PlacedName(name=name, what="key") for name in names), work.report)
    fields = known_fields(work)
    used = {target.name: target for target in targets}.values()
    for name in names:
        if name.text not in fields:
            report_unknown(name, "field in any message", fields, work.report)
        else:
            places = tuple(_places_in(work, used, name))
            work.refer(name, *(places or _places_in(work, every_target(work), name)))
            _refuse_unlike(work, name, used)
    return tuple(dict.fromkeys(name.text for name in names))


def demand_keys(work: Workspace, owner: Target, name: syntax.Name, keys: Iterable[syntax.Name]) -> None:
    """Report the keys that neither a target nor its frame has."""
    for key in keys:
        if _sort_in(work, owner, key) is None:
            message = f"neither `{name.text}` nor its frame has the key `{key.text}`"
            work.error("WG2304", message, name.span, others=(Label(span=key.span, text="this key"),))


def named_in(work: Workspace, lines: Iterable[Line]) -> Iterator[Target]:
    """Yield the targets that the lines of a context or a join name."""
    for line in lines:
        names = line.names if isinstance(line, syntax.Clear) else (line.path.owner,)
        declared = (work.names.get(name.text) for name in names)
        yield from (each for each in declared if isinstance(each, Target))


def sort_of_key(work: Workspace, context: syntax.Context, key: syntax.Name) -> Sort:
    """Return the sort of the values under which a context has entries, `unknown` if that is reported."""
    found = (_sort_in(work, target, key) for target in named_in(work, context.lines))
    sort = common(each for each in found if each is not None)
    return UNKNOWN if sort == MIXED else sort


def _refuse_unlike(work: Workspace, key: syntax.Name, targets: Iterable[Target]) -> None:
    """Report a key whose values are of several kinds, in one target or in different ones."""
    known = ((target.name, _sort_in(work, target, key)) for target in targets)
    sorts = {name: sort for name, sort in known if sort is not None}
    first = next(iter(sorts), key)
    unlike = next((name for name, sort in sorts.items() if not fits(sort, sorts[first])), None)
    if unlike is not None:
        owners = tuple(dict.fromkeys((first, unlike)))
        kinds = ", but ".join(f"{describe(sorts[owner])} in `{owner.text}`" for owner in owners)
        work.error(
            "WG2306",
            f"the key `{key.text}` is {kinds}",
            key.span,
            label="never equal",
            others=[Label(span=owner.span, text=describe(sorts[owner])) for owner in owners],
            help_="use fields of one type as the key, or give one of them another name",
        )


def _sort_in(work: Workspace, target: Target, key: syntax.Name) -> Sort | None:
    """Return the sort of a key in a target or in its frame, or None if neither has it."""
    known = _known_in(work, target, key)
    return None if known is None else known.sort


def _places_in(work: Workspace, targets: Iterable[Target], key: syntax.Name) -> Iterator[Span]:
    """Yield the places of the fields that are a key in these targets."""
    for target in targets:
        known = _known_in(work, target, key)
        yield from () if known is None else known.places


def _known_in(work: Workspace, target: Target, key: syntax.Name) -> PlacedField | None:
    scope = scope_of(work, (target,), SessionNames())
    return scope.own.get(key.text) or scope.frame.get(key.text)
