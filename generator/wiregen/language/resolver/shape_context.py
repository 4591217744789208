"""The place of a shape: the field that it belongs to, and the names that its expressions can use."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from wiregen.language import syntax
from wiregen.language.resolver.annotations import NO_NOTES
from wiregen.language.resolver.layouts import ResolvedLayout
from wiregen.language.resolver.scopes import Scope
from wiregen.language.resolver.state import Workspace
from wiregen.schema import model
from wiregen.schema.copies import replace

_NOTHING: Final[MappingProxyType[Any, Any]] = MappingProxyType({})
NO_LAYOUT: Final = ResolvedLayout(
    fields=_NOTHING, places=_NOTHING, n_fields=0, arms=_NOTHING, namesakes=_NOTHING
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlace:
    """`owner`: path of the declaration that fields of a block belong to; `path`: that of the field or declaration.

    `aliases` are being expanded here. A shape `off_wire` is a variable's: it has no byte order and may lack
    its length.
    """

    work: Workspace
    owner: str
    path: str
    scope: Scope
    layout: ResolvedLayout = NO_LAYOUT
    notes: model.Notes = NO_NOTES
    """The notes of the declaration, or of the field that holds the block."""
    aliases: tuple[str, ...] = ()
    off_wire: bool = False
    frame: syntax.Frame | None = None
    """The frame that the fields belong to, or None if they belong to another declaration."""
    is_nested: bool = False
    """Whether the place is an arm, a length or a view, where an alias's `where` has no field to join."""

    def inside(self, **changes: object) -> "FieldPlace":
        return replace(self, is_nested=True, **changes)  # type: ignore[arg-type]
