"""The `.json` twin of a page: its content as data, without pictures and markup."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any, Final

from markupsafe import Markup

from wiregen.site.diagrams.layout_drawings import Diagram
from wiregen.site.diagrams.sequence_drawings import Ladder
from wiregen.site.diagrams.state_drawings import Chart
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.views import Shell

__all__ = ["twin_of"]

_OF_THE_PAGE: Final = ("uid", "play", "anchor", "hue", "is_header", "lines")
"""Fields that only decide the look of a page."""


def twin_of(view: object) -> str:
    """Return a view as JSON without empty fields; of links, only the text."""
    return json.dumps(_plain(view), ensure_ascii=True) + "\n"


def _plain(value: object) -> object:
    match value:
        case Prose():
            return value.plain
        case Shell():
            return value.title
        case Linked():
            return value.text
        case Markup():
            return ""
        case tuple():
            return [_plain(each) for each in value]
        case _:
            return _record(value) if is_dataclass(value) else value


def _record(value: Any) -> object:
    found: dict[str, Any] = {}
    for field in fields(value):
        part = getattr(value, field.name)
        if field.name not in _OF_THE_PAGE and not isinstance(part, Diagram | Chart | Ladder):
            found[field.name] = value.type_text if field.name == "type" else _plain(part)
    return {name: part for name, part in found.items() if part not in ("", [], {}, None, False)}
