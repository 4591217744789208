"""The resolver: syntax tree to model. Names are resolved, constants evaluated, aliases replaced by their types.

The Report collects errors, as many as one run can find: a harmless placeholder replaces each wrong part.
"""

from wiregen.language.resolver.resolution import Origins, Resolved, resolve

__all__ = ["Origins", "Resolved", "resolve"]
