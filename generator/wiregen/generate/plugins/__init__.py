"""Process plug-ins: programs that are given the checked models as JSON, and give files back.

Invariant: only who builds says which program runs; nothing of what it answers reaches the disk but through the writer.
The two documents are in `exchange`, which nobody imports who runs no plug-in.
"""

from wiregen.generate.plugins.plugin import Plugin, chosen_plugins, files_of
from wiregen.generate.plugins.process import Bounds, bounds_of

__all__ = ["Bounds", "Plugin", "bounds_of", "chosen_plugins", "files_of"]
