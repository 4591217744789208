"""Process plug-ins: programs that receive the checked models as JSON, and return files.

Invariant: only the user who builds selects the programs that run; their output reaches the disk only through
the writer. The two documents are in `exchange`, which is imported only when a plug-in runs.
"""

from wiregen.generate.plugins.plugin import Plugin, chosen_plugins, files_of
from wiregen.generate.plugins.process import PluginBounds, bounds_of

__all__ = ["Plugin", "PluginBounds", "bounds_of", "chosen_plugins", "files_of"]
