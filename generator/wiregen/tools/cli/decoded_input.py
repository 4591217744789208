"""The frames and errors of an input of `decode` and `diff`."""

import sys
from collections.abc import Callable, Iterator

from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.schema.protocol import Schema
from wiregen.tools.cli.decoding_options import Decoded, DecodingSettings, message_of
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.input import Input
from wiregen.tools.cli.messages import tell
from wiregen.tools.cli.preceding_bytes import context_after, direction

__all__ = ["decoded_input"]


def decoded_input(
    source: Input,
    settings: DecodingSettings,
    role: str | None,
    before: tuple[str, ...],
    port: int | None,
    ports: tuple[int, ...],
    advance: Callable[[int], None],
) -> Iterator[Decoded]:
    """Return the frames and errors of an input: of one direction, or of the connections of a capture.

    `role`: the sender of a direction; of a capture, only what it sends. `ports`: those that the protocol declares.
    """
    if source.path is not None and before:
        raise Failure("--before is for one direction, but a capture has both", "remove --before")
    if source.path is not None:
        from wiregen.tools.cli.conversations import decode_capture

        return decode_capture(source.path, settings, port, ports, advance, role, source.growing)
    if port is not None:
        raise Failure(
            "--port is for captures, but the input is not a capture",
            "remove --port, or add --pcap if the input is a capture",
        )
    return _stream(source, settings, _sender(settings.schema, role), before, advance)


def _sender(schema: Schema, role: str | None) -> str | None:
    """Return the role of the sender, or None if one layout serves all roles, so that it makes no difference."""
    if role is not None or (len(set(schema.sends.values())) == 1 and not schema.opens):
        return role
    first: str = schema.roles[0]
    tell(f"decoded as sent by {first}; use --from for the other role")
    return first


def _stream(
    source: Input,
    settings: DecodingSettings,
    role: str | None,
    before: tuple[str, ...],
    advance: Callable[[int], None],
) -> Iterator[Decoded]:
    """Yield the frames and errors of one direction's stream; without a role, each frame's message tells the sender."""

    def named(decoded: Decoded) -> Decoded:
        if role is not None:
            return decoded
        outcome = decoded.outcome
        partial = (outcome.partial or {}) if isinstance(outcome, DecodeError) else None
        name = message_of(decoded) if partial is None else partial.get("message")
        message = settings.schema.messages.get(name or "")
        return decoded if message is None else decoded.sent_by(message.role)

    context, directions = context_after(before, settings)
    way = directions.get(role or "") or direction(settings, role, context)
    for chunk in source.chunks:
        yield from map(named, way.feed(chunk))
        advance(len(chunk))
        if source.is_live:
            sys.stdout.flush()
    yield from map(named, way.finish())
