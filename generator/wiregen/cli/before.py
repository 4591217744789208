"""What was said before the bytes at hand, by whomever: decoded for what it says about them, and not shown."""

from pathlib import Path

from wiregen.cli.choices import role_of
from wiregen.cli.decoded import Settings
from wiregen.cli.direction import Direction
from wiregen.cli.failure import Failure
from wiregen.runtime.context import Context
from wiregen.runtime.errors import DecodeError

__all__ = ["heard"]

_WAY_OUT = "as in --before client:0a0b, or --before client:@FILE"


def heard(texts: tuple[str, ...], settings: Settings) -> tuple[Context, dict[str, Direction]]:
    """Return what is known after those bytes, given as ROLE:HEX or ROLE:@FILE, and the directions that sent them."""
    context = Context(settings.plan, limits=dict(settings.limits))
    directions: dict[str, Direction] = {}
    for text in texts:
        name, _, what = text.partition(":")
        role = role_of(settings.plan, name)
        assert role is not None
        if role not in directions:
            directions[role] = Direction(settings, role, context)
        for decoded in directions[role].feed(_bytes(text, what)):
            if isinstance(decoded.outcome, DecodeError):
                raise Failure(
                    f"--before {name}: {decoded.outcome}", "what came before has to be whole and right"
                )
    return context, directions


def _bytes(text: str, what: str) -> bytes:
    try:
        return Path(what[1:]).read_bytes() if what.startswith("@") else bytes.fromhex(what)
    except ValueError:
        raise Failure(f"--before {text[:64]} is not ROLE:HEX", _WAY_OUT) from None
    except OSError as error:
        raise Failure(f"`{what[1:]}` cannot be read: {error.strerror}", _WAY_OUT) from None
