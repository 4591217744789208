"""The default of each key of a configuration; the module `settings` defines the rest of the keys."""

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["DEFAULTS", "NATIVE"]

NATIVE: Final = "native"
"""The backend whose classes all others encode and decode."""

DEFAULTS: Final[Mapping[str, Any]] = {
    "sources": ("idl",),
    "output": "generated",
    "package": "wireproto",
    "backends": (NATIVE,),
    "plugins": (),
    "plugin_time": "60 s",
    "plugin_output": "64 MiB",
    "protocols": None,
    "formatter": "ruff",
    "sessions": True,
    "runtime": None,
    "runtime_package": None,
    "protobuf": None,
}
