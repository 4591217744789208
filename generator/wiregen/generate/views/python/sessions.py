"""The connections of a protocol as a template prints them: settings, header fields, and a view of each session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wiregen.generate.views.python.module_views import LOADED_LATE, ModuleView
from wiregen.generate.views.python.names import caseless
from wiregen.schema import model as m
from wiregen.schema.declared import index_of
from wiregen.schema.naming import Namespace, camel_case, python_name, snake_case

__all__ = ["SessionsView", "sessions_view"]

_WORD = re.compile(r"[A-Za-z_]\w*")
_TAKEN = frozenset(
    "close context eof failure has_more is_closed keeps_going next_timeout observe receive role send tick state".split()
)

_LIBRARY = (("typing", "Any"), ("uuid", "UUID"))
"""Names of the standard library that an annotation of a header field may hold, each after its module."""

_PARAMETERS = frozenset(
    "backlog context handler host idle_timeout keep_going limits make max_connections now on_error port report role "
    "server_hostname ssl strict timeout variant".split()
)
"""The names that an option of a session cannot have in Python, because other arguments have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableView:
    """A variable of a session; `value` is the result of its property."""

    name: str
    annotation: str
    doc: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """A session; `is_single`: one instance per connection."""

    name: str
    wire_name: str
    view: str
    doc: str
    is_single: bool
    variables: tuple[VariableView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionView:
    """A setting of a connection."""

    name: str
    wire_name: str
    annotation: str
    default: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsView:
    """The data of the module of a protocol's connections."""

    module: ModuleView
    sessions: tuple[SessionView, ...]
    options: tuple[OptionView, ...]
    frames: tuple[tuple[str, str], ...]
    """The class of the frames that each role sends."""
    imports: tuple[str, ...]
    """Names of the messages' module that annotations need."""
    library_imports: tuple[tuple[str, str], ...]
    """Names of the standard library that annotations need, each after its module."""
    message: str
    exports: tuple[str, ...]
    on_error: m.ErrorAction

    @property
    def speaks(self) -> bool:
        """Whether two roles have sessions with each other."""
        return bool(self.sessions) and len(self.frames) == 2

    @property
    def opener(self) -> str:
        return self.frames[0][0]

    @property
    def listener(self) -> str:
        return self.frames[1][0]

    @property
    def received(self) -> str:
        """The annotation of the messages that a peer sends."""
        return self.message.removeprefix("_Message | ")

    @property
    def has_uuid(self) -> bool:
        variables = any(
            "_UUID" in variable.annotation for each in self.sessions for variable in each.variables
        )
        return variables or self.has_uuid_option

    @property
    def has_uuid_option(self) -> bool:
        return any("_UUID" in option.annotation + option.default for option in self.options)

    @property
    def has_several(self) -> bool:
        return any(not each.is_single for each in self.sessions)

    @property
    def has_single(self) -> bool:
        return any(each.is_single for each in self.sessions)


def sessions_view(protocol: m.Protocol, module: ModuleView) -> SessionsView:
    """Return the view of a protocol's connections."""
    sessions = tuple(_session(protocol, session) for session in protocol.sessions)
    options = tuple(_options(protocol))
    views = tuple(each.view for each in sessions)
    frames = [view.name for view in module.frames]
    classes = dict.fromkeys((*frames, *(preamble.data.name for preamble in module.preambles)))
    words = {word for field in module.header for word in _WORD.findall(field.annotation)}
    return SessionsView(
        module=module,
        sessions=sessions,
        options=options,
        frames=tuple(_frames(protocol, module)),
        imports=tuple(
            sorted(_needed(module, words), key=lambda name: (name.startswith("_"), caseless(name)))
        ),
        library_imports=tuple(each for each in _LIBRARY if each[1] in words),
        message=" | ".join(("_Message", *(f"messages.{name}" for name in classes))),
        exports=tuple(sorted((*LOADED_LATE, *views))),
        on_error=protocol.on_error,
    )


def _frames(protocol: m.Protocol, module: ModuleView) -> Iterator[tuple[str, str]]:
    """Yield the roles that send frames, each with the class of its frames."""
    for role in protocol.roles:
        yield from ((role, view.name) for view in module.frames if view.role in (None, role))


def _needed(module: ModuleView, words: set[str]) -> set[str]:
    """Return the names of the messages' module that the annotations of a connection's functions use."""
    aliases = {f"_{union.name}" for union in module.unions}
    named = words & (set(module.exports) | aliases)
    return named | {"_Message", "_Role"} | ({"_Variant"} if module.variants else set())


def _session(protocol: m.Protocol, session: m.Session) -> SessionView:
    variables = (each for each in session.variables if not each.is_option)
    return SessionView(
        name=_free(snake_case(session.name)),
        wire_name=session.name,
        view=f"{camel_case(session.name)}View",
        doc=session.doc or f"Session {session.name}.",
        is_single=not (session.keys or session.per_sender or session.roles),
        variables=tuple(_variable(protocol, variable) for variable in variables),
    )


def _free(name: str) -> str:
    spelled = python_name(name, Namespace.MEMBER)
    return f"{spelled}_" if spelled in _TAKEN else spelled


def _parameter(name: str) -> str:
    free = _free(name)
    return f"{free}_" if free in _PARAMETERS else free


def _variable(protocol: m.Protocol, variable: m.Variable) -> VariableView:
    type_ = variable.type
    enum = _enum(protocol, type_)
    annotation = _annotation(type_, enum)
    value = f"self._value({variable.name!r})"
    if enum is not None and not variable.is_list:
        value = f"self._member({annotation.split(' ')[0]}, {variable.name!r})"
    return VariableView(
        name=_free(variable.name),
        annotation=f"tuple[{annotation}, ...]" if variable.is_list else annotation,
        doc=variable.doc,
        value=value,
    )


def _enum(protocol: m.Protocol, type_: m.Type) -> m.Enum | None:
    if not isinstance(type_, m.EnumReference):
        return None
    return index_of(protocol).enums.get(type_.name)


def _annotation(type_: m.Type, enum: m.Enum | None) -> str:
    match type_:
        case m.EnumReference():
            name = python_name(type_.name, Namespace.MODULE)
            return f"messages.{name}" + (" | int" if enum is not None and enum.is_open else "")
        case m.Boolean():
            return "bool"
        case m.Uuid():
            return "_UUID"
        case m.Bytes():
            return "bytes"
        case m.Text():
            return "str"
        case _:
            return "int"


def _options(protocol: m.Protocol) -> Iterator[OptionView]:
    options = (each for session in protocol.sessions for each in session.variables if each.is_option)
    for option in options:
        enum = _enum(protocol, option.type)
        annotation = _annotation(option.type, enum)
        yield OptionView(
            name=_parameter(option.name),
            wire_name=option.name,
            annotation=f"tuple[{annotation}, ...]" if option.is_list else annotation,
            default=_default(option),
            doc=option.doc,
        )


def _default(option: m.Variable) -> str:
    if isinstance(option.initial, m.ListOf):
        items = (_literal(option, item) for item in option.initial.items)
        return f"({''.join(f'{item}, ' for item in items)})"
    return _literal(option, option.initial)


def _literal(option: m.Variable, value: m.Expression) -> str:
    match value:
        case m.MemberReference() as member:
            return f"messages.{python_name(member.enum, Namespace.MODULE)}.{python_name(member.member, Namespace.ENUM_MEMBER)}"
        case m.Number() | m.Truth() | m.String() as constant:
            return repr(constant.value)
        case m.Octets(hex=digits):
            data = bytes.fromhex(digits)
            return f"_UUID(bytes={data!r})" if isinstance(option.type, m.Uuid) else repr(data)
        case _:
            raise TypeError(f"the option {option.name} has no constant value")
