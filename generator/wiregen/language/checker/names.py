"""Names that collide in Python, and names that Python does not accept as they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.lookup import is_visible
from wiregen.schema.model import Field, Frame, Variety
from wiregen.schema.naming import MAX_NAME, Namespace, PythonNames, is_device, python_names

__all__ = ["RULES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """The names of one Python scope, each with the path of the node that has it."""

    scope: Namespace
    paths: dict[str, str]
    granted: Collection[str] = ()

    @property
    def python(self) -> PythonNames:
        return python_names(self.paths, self.scope, granted=self.granted)


def _names_meet(inspection: Inspection) -> None:
    for names in _scopes(inspection):
        for collision in names.python.collisions:
            first, second, *_ = collision.names
            inspection.error(
                "WG3060",
                f"`{first}` and `{second}` are both `{collision.python_name}` in Python",
                inspection.place(names.paths[second], "name"),
                "second",
                inspection.also(names.paths[first], "first", "name"),
                help_="give one of them another name",
            )


def _code_is_taken(inspection: Inspection) -> None:
    """Refuse a field `code` where the class has that attribute already, to say which of several codes a value has."""
    for record in inspection.records:
        owner = record.owner
        if not isinstance(owner, Variety) or sum(span.high - span.low + 1 for span in owner.spans) == 1:
            continue
        for field in record.flat:
            if is_visible(field) and field.name == "code":
                inspection.error(
                    "WG3060",
                    f"`{owner.name}` already has an attribute `code`: the code that was read",
                    inspection.place(field.path, "name"),
                    "the same name",
                    inspection.also(owner.path, "has several codes", "name"),
                    help_="give the field another name",
                )


def _name_is_taken(inspection: Inspection) -> None:
    for names in _scopes(inspection):
        for name, python in names.python.renamed:
            inspection.note(
                "WG3061",
                f"`{name}` is called `{python}` in Python",
                inspection.place(names.paths[name], "name"),
                "taken",
                help_="the name is reserved; a change is not necessary",
            )


def _names_of_files(inspection: Inspection) -> None:
    """Refuse names that a system does not accept for the files of a package and for the pages of its site."""
    protocol = inspection.protocol
    if is_device(protocol.name):
        inspection.error(
            "WG3087",
            f"`{protocol.name}` is the name of a device on Windows, where no file can have it",
            inspection.place(protocol.path, "name"),
            "not the name of a file",
            help_="give the protocol and its file another name",
        )
    kinds = (protocol.sessions, protocol.contexts, protocol.joins, protocol.codings, protocol.variants)
    paths = {declared.name: declared.path for kind in kinds for declared in kind}
    for names in (paths, *(scope.paths for scope in _scopes(inspection))):
        for name, path in names.items():
            if len(name) > MAX_NAME:
                inspection.error(
                    "WG3087",
                    f"a name has at most {MAX_NAME} characters: found {len(name)}",
                    inspection.place(path, "name"),
                    "too long",
                    help_="shorten it: files and pages have this name too",
                )


def _scopes(inspection: Inspection) -> Iterator[_Names]:
    protocol = inspection.protocol
    yield _Names(scope=Namespace.PACKAGE, paths={protocol.name: protocol.path})
    yield _module(inspection)
    for enum in protocol.enums:
        yield _Names(scope=Namespace.ENUM_MEMBER, paths={member.name: member.path for member in enum.members})
    for union in protocol.unions:
        yield _Names(
            scope=Namespace.MEMBER, paths={variety.name: variety.path for variety in union.varieties}
        )
    for record in inspection.records:
        is_frame = isinstance(record.owner, Frame)
        yield _Names(
            scope=Namespace.FRAME_MEMBER if is_frame else Namespace.MEMBER,
            paths=dict(
                _members(record.flat, record.owner.message if isinstance(record.owner, Frame) else None)
            ),
        )


def _module(inspection: Inspection) -> _Names:
    protocol = inspection.protocol
    kinds = (
        protocol.constants,
        protocol.enums,
        protocol.structs,
        protocol.messages,
        protocol.frames,
        protocol.preambles,
        protocol.unions,
        tuple(join for join in protocol.joins if join.block is not None),
    )
    return _Names(
        scope=Namespace.MODULE,
        paths={declaration.name: declaration.path for kind in kinds for declaration in kind},
        granted=tuple(frame.name for frame in protocol.frames),
    )


def _members(fields: tuple[Field, ...], carried: str | None) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a class: its fields and their views; the field that carries the message is always `message`."""
    for field in fields:
        if not is_visible(field) or field.name == carried:
            continue
        yield field.name, field.path
        if isinstance(field.view, str):
            yield f"{field.name}_{field.view}", field.path


RULES = (_names_meet, _code_is_taken, _name_is_taken, _names_of_files)
