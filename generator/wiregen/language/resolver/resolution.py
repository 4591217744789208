"""The order of resolution: imports, names, constants, then each declaration in text order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span
from wiregen.language.resolver import (
    constants,
    contexts,
    conversations,
    declarations,
    examples,
    messages,
    records,
    sessions,
    settings,
)
from wiregen.language.resolver.annotations import resolve_notes
from wiregen.language.resolver.constructors import Record, Shelf
from wiregen.language.resolver.imports import Imports, meant
from wiregen.language.resolver.names import Named, collect
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.tree import deepest
from wiregen.language.source import Sources
from wiregen.schema import model

Origins: TypeAlias = Mapping[str, Span]
"""The place of each path of the model, and of its parts.

The parts are `path#name`, `#type`, `#value`, `#if`, `#where`, `#code`, `#length`.
"""

_Node = TypeVar("_Node", bound=syntax.Declaration)
_Example = TypeVar("_Example", syntax.Example, syntax.Conversation)
_ORDERED = (
    syntax.Const
    | syntax.Enum
    | syntax.Struct
    | syntax.Message
    | syntax.Frame
    | syntax.Preamble
    | syntax.Union
    | syntax.Coding
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    protocol: model.Protocol
    origins: Origins
    mentioned: frozenset[str]
    """Declarations that another one in the file needs, including aliases, which the model does not have."""
    workspace: Workspace
    """The names of the file, in which questions are resolved."""


def resolve(
    file: syntax.File, sources: Sources, report: Report, *, roots: tuple[Path, ...] = ()
) -> Resolved | None:
    """Return the model of a file, or None if it has errors.

    Args:
        sources: The texts of the run; imported files are added.
        roots: Folders in which imports are looked up, after that of the importing file, which must lie below one.
    """
    found = Report()
    resolved = resolve_partial(file, sources, found, roots=roots)
    report.merge(found)
    return None if found.has_errors else resolved


def resolve_partial(
    file: syntax.File, sources: Sources, report: Report, *, roots: tuple[Path, ...] = ()
) -> Resolved:
    """Return the model of a file with placeholders where it has errors; see `resolve`."""
    work = _workspace(file, sources, report, roots)
    protocol = _protocol(work, file)
    needed = (name for node in work.declarations for name in meant(node, work.names) if name != _name(node))
    return Resolved(
        protocol=protocol, origins=dict(work.origins), mentioned=frozenset(needed), workspace=work
    )


def _name(node: syntax.Declaration) -> str | None:
    return node.name.text if isinstance(node, Named) else None


def _workspace(file: syntax.File, sources: Sources, report: Report, roots: tuple[Path, ...]) -> Workspace:
    imports = Imports(sources=sources, roots=roots, report=report)
    nodes = tuple(node for node in imports.expand(file) if _is_shallow(node, report))
    reserved = tuple(each for each in file.protocol.settings if isinstance(each, syntax.Reserved))
    return Workspace(
        report=report,
        sources=sources,
        path=file.protocol.name.text,
        settings=settings.read_settings(file.protocol, report),
        reserved=reserved,
        names=collect(nodes, report),
        limits=settings.limits_of(nodes, report),
        rules=records.rules_of(nodes),
        declarations=nodes,
        uses=imports.uses,
    )


def _is_shallow(node: syntax.Declaration, report: Report) -> bool:
    span = deepest(node)
    if span is not None:
        report.error(
            "WG2016",
            "the declaration is nested too deeply",
            span,
            help="declare the inner parts under names of their own",
        )
    return span is None


def _each(work: Workspace, kind: type[_Node]) -> Iterator[_Node]:
    """Yield the declarations of a kind in text order; of two with the same name, the first."""
    for node in work.declarations:
        if isinstance(node, kind) and not (
            isinstance(node, Named) and work.names.get(node.name.text) is not node
        ):
            yield node


def _protocol(work: Workspace, file: syntax.File) -> model.Protocol:
    node, said = file.protocol, work.settings
    _place_settings(work, node)
    constants.evaluate_constants(work)
    parts = _parts(work)
    shelves = _shelves(work, parts)
    sessions_ = tuple(sessions.resolve_session(work, each) for each in _each(work, syntax.Session))
    return model.Protocol(
        path=work.path,
        name=node.name.text,
        doc=node.docs,
        sources=said.sources,
        endian=said.endian or "big",
        bits=said.bits,
        roles=said.roles,
        role_rule=_role_rule(work, node),
        ports=said.ports,
        on_error=said.on_error,
        reserved=settings.resolve_reserved(work, work.reserved),
        constants=constants.resolve_constants(work, _each(work, syntax.Const)),
        limits=tuple(_limits(work)),
        aliases=tuple(declarations.resolve_alias(work, each) for each in _each(work, syntax.Alias)),
        enums=tuple(declarations.resolve_enum(work, each) for each in _each(work, syntax.Enum)),
        structs=parts.structs,
        messages=parts.messages,
        frames=parts.frames,
        preambles=parts.preambles,
        unions=parts.unions,
        codings=tuple(declarations.resolve_coding(work, each) for each in _each(work, syntax.Coding)),
        variants=parts.variants,
        contexts=tuple(contexts.resolve_context(work, each) for each in _each(work, syntax.Context)),
        joins=tuple(contexts.resolve_join(work, each) for each in _each(work, syntax.Join)),
        sessions=sessions_,
        rules=records.resolve_rules(work, _each(work, syntax.Rule)),
        examples=examples.resolve_examples(work, _with_variants(work, syntax.Example), shelves),
        conversations=conversations.resolve_conversations(
            work, _with_variants(work, syntax.Conversation), shelves, sessions_
        ),
        order=tuple(name for name, each in work.names.items() if isinstance(each, _ORDERED)),
        notes=resolve_notes(work, node.annotations),
        about=work.about,
        ledgers=records.resolve_ledgers(work, _each(work, syntax.Ledger)),
    )


def _role_rule(work: Workspace, node: syntax.Protocol) -> str | None:
    """Return the rule that the roles are tied to."""
    found = [each.annotations for each in node.settings if isinstance(each, syntax.RolesSetting)]
    return resolve_notes(work, found[0]).rule if found else None


def _place_settings(work: Workspace, node: syntax.Protocol) -> None:
    work.place(work.path, node.span, name=node.name.span)
    for each in node.settings:
        kind = type(each).__name__.removesuffix("Setting").lower()
        work.place(f"{work.path}#{kind}", each.span)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The declarations that examples build."""

    structs: tuple[model.Struct, ...]
    messages: tuple[model.Message, ...]
    frames: tuple[model.Frame, ...]
    preambles: tuple[model.Preamble, ...]
    unions: tuple[model.Union, ...]
    variants: tuple[model.Variant, ...]


def _parts(work: Workspace) -> _Parts:
    messages.refuse_codes(work, _each(work, syntax.Message))
    messages.refuse_second_frames(work, _each(work, syntax.Frame))
    return _Parts(
        structs=tuple(
            declarations.resolve_struct(work, each, _path(work, each)) for each in _each(work, syntax.Struct)
        ),
        messages=tuple(
            messages.resolve_message(work, each, _path(work, each)) for each in _each(work, syntax.Message)
        ),
        frames=tuple(
            messages.resolve_frame(work, each, _path(work, each)) for each in _each(work, syntax.Frame)
        ),
        preambles=tuple(
            messages.resolve_preamble(work, each, _path(work, each)) for each in _each(work, syntax.Preamble)
        ),
        unions=tuple(declarations.resolve_union(work, each) for each in _each(work, syntax.Union)),
        variants=tuple(messages.resolve_variant(work, each) for each in _each(work, syntax.Variant)),
    )


def _path(work: Workspace, node: Named) -> str:
    return f"{work.path}.{node.name.text}"


def _limits(work: Workspace) -> Iterator[model.Limit]:
    for node in work.declarations:
        if isinstance(node, syntax.Limits):
            resolve_notes(work, node.annotations)
            for limit in node.limits:
                if work.limits.get(limit.name.text) is limit:
                    yield settings.resolve_limit(work, limit, resolve_notes(work, limit.annotations))


def _with_variants(work: Workspace, kind: type[_Example]) -> Iterator[tuple[_Example, str | None]]:
    """Yield the examples of a kind, each with the variant that contains it."""
    for node in work.declarations:
        if isinstance(node, kind):
            yield node, None
        elif isinstance(node, syntax.Variant) and work.names.get(node.name.text) is node:
            inner = (each for each in node.declarations if isinstance(each, kind))
            yield from ((each, node.name.text) for each in inner)


def _shelves(work: Workspace, parts: _Parts) -> dict[str | None, Shelf]:
    """Return the declarations that examples build, in the protocol's own layout and in that of each variant."""
    unions = {each.name: each for each in parts.unions}
    plain = _by_name(parts)
    shelves: dict[str | None, Shelf] = {None: Shelf(work=work, records=plain, unions=unions)}
    for variant in parts.variants:
        shelves[variant.name] = Shelf(work=work, records={**plain, **_by_name(variant)}, unions=unions)
    return shelves


def _by_name(parts: _Parts | model.Variant) -> dict[str, Record]:
    records_: tuple[Record, ...] = (*parts.structs, *parts.messages, *parts.frames, *parts.preambles)
    return {each.name: each for each in records_}
