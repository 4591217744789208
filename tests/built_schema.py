"""The schemas of built packages, as nodes of wiregen's own runtime: a package has a copy of the runtime, and classes of its own."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from wiregen.runtime.schema.node import fields_of
from wiregen.runtime.schema.notation import CLASSES
from wiregen.runtime.schema.protocol import Schema


def own_schema_of(package: str | ModuleType) -> Any:
    """Return the schema of a package as nodes of its own copy of the runtime."""
    name = package if isinstance(package, str) else package.__name__
    return importlib.import_module(f"{name if '.' in name else f'wireproto.{name}'}._plan").PLAN


@cache
def schema_of(package: str | ModuleType) -> Schema:
    """Return the schema of a package: `lumberjack` of `wireproto`, or any by its dotted name or its module."""
    schema: Schema = _own(own_schema_of(package))
    return schema


def _own(value: Any) -> Any:
    """Return a value with the nodes of a package's copy of the runtime as nodes of wiregen's own."""
    if isinstance(value, dict):
        return {key: _own(each) for key, each in value.items()}
    if type(value) is tuple:
        return tuple(_own(each) for each in value)
    kind = CLASSES.get(type(value).__name__)
    return value if kind is None else kind(*(_own(getattr(value, name)) for name in fields_of(value)))
