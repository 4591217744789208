"""Bytes that were sent before the given ones, by either role: decoded for their effect on them, and not shown."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from wiregen.language.regular_files import read_regular
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.protocol_options import role_of
from wiregen.tools.cli.serial_direction import SerialDirection

__all__ = ["context_after", "direction", "refusal", "said"]

Way: TypeAlias = Direction | SerialDirection

_MOST_BYTES = 64 << 20
_WAY_OUT = "write it like --before client:0a0b, or --before client:@FILE"


def said(texts: tuple[str, ...], schema: Schema) -> Iterator[tuple[str, bytes]]:
    """Yield the sender and the bytes of each ROLE:HEX or ROLE:@FILE."""
    for text in texts:
        name, _, what = text.partition(":")
        role = role_of(schema, name)
        assert role is not None
        yield role, _bytes(text, what)


def refusal(role: str, error: DecodeError) -> Failure:
    """Return the failure for preceding bytes that are wrong."""
    return Failure(f"--before {role}: {error}", "give only whole, valid frames of this role")


def context_after(texts: tuple[str, ...], settings: DecodingSettings) -> tuple[Context, dict[str, Way]]:
    """Return the context after those bytes, given as ROLE:HEX or ROLE:@FILE, and the directions that sent them."""
    context = Context(settings.schema, limits=dict(settings.limits))
    directions: dict[str, Way] = {}
    for role, data in said(texts, settings.schema):
        if role not in directions:
            directions[role] = direction(settings, role, context)
        for decoded in directions[role].feed(data):
            if isinstance(decoded.outcome, DecodeError):
                raise refusal(role, decoded.outcome)
    return context, directions


def direction(settings: DecodingSettings, role: str | None, context: Context) -> Way:
    """Return the decoder of one direction, for the serialization that the settings name."""
    if settings.carrier is None:
        return Direction(settings, role, context)
    return SerialDirection(settings, settings.carrier, role, context)


def _bytes(text: str, what: str) -> bytes:
    try:
        return read_regular(Path(what[1:]), _MOST_BYTES) if what.startswith("@") else bytes.fromhex(what)
    except ValueError:
        raise Failure(f"--before {text[:64]} is not ROLE:HEX", _WAY_OUT) from None
    except OSError as error:
        raise Failure(f"`{what[1:]}` cannot be read: {error.strerror}", _WAY_OUT) from None
