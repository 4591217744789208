"""Steps: for each declaration a flat list, from which straight-line code is printed."""

from wiregen.generate.steps.declaration_layouts import frame_layout, layout_of
from wiregen.generate.steps.step import LayoutSteps, Slot, Step, UnsupportedError

__all__ = ["LayoutSteps", "Slot", "Step", "UnsupportedError", "frame_layout", "layout_of"]
