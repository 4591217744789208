"""The resolver: syntax tree to model, every name looked up, every number folded, every alias dissolved.

Errors gather in the Report, as many as one run can find: a harmless stand-in takes the place of what is wrong.
"""

from wiregen.language.resolver.resolution import Origins, Resolved, resolve

__all__ = ["Origins", "Resolved", "resolve"]
