"""Data for the pages as scripts that set one variable: they work from `file://`, where a fetch is refused."""

from __future__ import annotations

import json
from typing import Final

__all__ = ["script_of"]

_ESCAPED: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def script_of(variable: str, data: object) -> str:
    """Return the script that sets a variable of the window: ASCII only, without characters that HTML interprets."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return f"window.{variable}={text.translate(_ESCAPED)};\n"
