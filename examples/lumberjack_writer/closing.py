"""The limit for which a receiver may have closed a connection, derived from the windows it was sent and
acknowledged. No I/O.

Lumberjack has no error frame: a receiver that refuses a window closes. So a limit is certain only if the
window exceeds one of the protocol's own. Otherwise it is between the largest window that was acknowledged
and the one that was not.
"""

from __future__ import annotations

from dataclasses import dataclass

from wireproto import lumberjack as lj

__all__ = ["Size", "limit_closed_on"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The sizes of a window that the limits of a receiver may bound.

    Attributes:
        window: Events.
        frame: Bytes of the largest event.
        inflated: Bytes of all events in a compressed frame; 0 without compression.
    """

    window: int = 0
    frame: int = 0
    inflated: int = 0

    def max(self, other: Size) -> Size:
        """Return the larger number of each attribute."""
        return Size(
            window=max(self.window, other.window),
            frame=max(self.frame, other.frame),
            inflated=max(self.inflated, other.inflated),
        )


_NAMES = {"window": "events in a window", "frame": "bytes of an event", "inflated": "bytes inflated"}


def limit_closed_on(refused: Size, taken: Size) -> str | None:
    """Return the limit in words, or None if the sizes do not determine it.

    `refused`: the window after which it closed; `taken`: the largest it acknowledged, 0 for none.
    """
    declared = lj.Limits().to_dict()
    above = [name for name in _NAMES if getattr(refused, name) > declared[name]]
    if above:
        limits = ", ".join(f"`{name}` ({getattr(refused, name)} of {declared[name]})" for name in above)
        return f"the window is above the protocol's limit {limits}: send smaller windows (--window)"
    larger = [name for name in _NAMES if getattr(refused, name) > getattr(taken, name)]
    if taken.window and larger:
        limits = ", ".join(
            f"{getattr(refused, name)} {_NAMES[name]} (at most {getattr(taken, name)} were acknowledged)"
            for name in larger
        )
        return f"its limit may be {limits}: send smaller windows (--window)"
    return None
