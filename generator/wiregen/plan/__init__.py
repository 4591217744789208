"""The one lowering: a model becomes what codecs walk.

`lower` gives the careful plan, plain data that travels in every generated package (`_plan.py`) and that the runtime's
`explain` walks; `steps` gives, for a declaration, the flat list that straight-line code is printed from.
"""

from wiregen.plan.bounding import idle_limits
from wiregen.plan.careful import KNOWN_LIMITS, limits_of, lower
from wiregen.plan.layouts import frame_layout, layout_of
from wiregen.plan.steps import Layout, Slot, Step, UnsupportedError

__all__ = [
    "KNOWN_LIMITS",
    "Layout",
    "Slot",
    "Step",
    "UnsupportedError",
    "frame_layout",
    "idle_limits",
    "layout_of",
    "limits_of",
    "lower",
]
