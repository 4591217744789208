"""The version of the runtime's interface to generated packages: the nodes of schemas, and the functions that they call.

Invariant: only packages that share a runtime ask for it; a tree with its own copy fits by construction.
"""

from __future__ import annotations

__all__ = ["SCHEMA_VERSION", "check_version"]

SCHEMA_VERSION = 1
"""Incremented with each change of a node's fields or of a function that generated code calls; a test
compares both with their digest.
"""


def check_version(built_for: int, package: str) -> None:
    """Check that a generated package was built for this runtime.

    Raises:
        ImportError: It was built for another version.
    """
    if built_for == SCHEMA_VERSION:
        return
    runtime = __name__.removesuffix(".schema.version")
    way_out = (
        f"install a newer {runtime}"
        if built_for > SCHEMA_VERSION
        else f"build {package} again with the wiregen that {runtime} comes from"
    )
    raise ImportError(
        f"{package} was built for version {built_for} of the runtime's schema, and {runtime} has version {SCHEMA_VERSION}: {way_out}"
    )
