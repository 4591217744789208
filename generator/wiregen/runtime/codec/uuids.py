"""UUIDs, whose module is imported with the first one, as that takes longer than a whole package."""

from __future__ import annotations

from sys import modules

from .compiled import Bad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from uuid import UUID

__all__ = ["uuid", "uuid_bytes"]


def uuid(data: bytes) -> UUID:
    """Return the UUID of 16 bytes."""
    from uuid import UUID

    return UUID(bytes=data)


def uuid_bytes(value: UUID) -> bytes:
    """Return the 16 bytes of a UUID.

    Raises:
        Bad: The value is of another class: where nothing has imported the module, there is no UUID.
    """
    module = modules.get("uuid")
    if module is None or type(value) is not module.UUID:
        raise Bad
    return int.to_bytes(value.int, 16, "big")
