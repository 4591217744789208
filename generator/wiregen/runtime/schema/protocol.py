"""The schema of a whole protocol."""

from __future__ import annotations

from .declarations import Coding, Context, Enum, Field, Frame, Join, Message, Preamble, Union
from .node import Node
from .sessions import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .literals import Endian, ErrorAction
    from .types import View

__all__ = ["Schema", "Variant"]


class Variant(Node):
    """Variant of a variant, by kind and name: those that differ from the protocol's own."""

    structs: Mapping[str, tuple[Field, ...]]
    messages: Mapping[str, Message]
    frames: Mapping[str, Frame]
    preambles: Mapping[str, Preamble]
    circular: tuple[str, ...] = ()


class Schema(Node):
    """One `.wire` file, resolved; declarations by name, each kind in text order.

    `limits`: in bytes or pieces, None: no bound of its own. `rules`: of unions, enums and codings by name, of alternatives as
    `Union.Alternative`. `codes`: by role, the messages that it may send by their code. `sends`: by role, its frame.
    `opens`: by role, its preamble. `views`: by declaration and field. `violations`: the texts of rules that sessions name.
    `circular`: the declarations that can stand inside themselves, of a variant those in its layouts.
    """

    name: str
    endian: Endian
    roles: tuple[str, ...]
    role_rule: str | None
    on_error: ErrorAction
    limits: Mapping[str, Any]
    limit_rules: Mapping[str, str]
    rules: Mapping[str, str]
    enums: Mapping[str, Enum]
    codings: Mapping[str, Coding]
    unions: Mapping[str, Union]
    structs: Mapping[str, tuple[Field, ...]]
    messages: Mapping[str, Message]
    frames: Mapping[str, Frame]
    preambles: Mapping[str, Preamble]
    codes: Mapping[str, Mapping[int, str]]
    sends: Mapping[str, str]
    opens: Mapping[str, str]
    contexts: Mapping[str, Context]
    joins: Mapping[str, Join]
    views: Mapping[str, Mapping[str, View]]
    sessions: Mapping[str, Session]
    violations: Mapping[str, str]
    variants: Mapping[str, Variant]
    circular: tuple[str, ...] = ()
