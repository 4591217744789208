"""The resolver: syntax tree to model. Names are resolved, constants evaluated, aliases replaced by their types.

The Report collects errors, as many as one run can find: a harmless placeholder replaces each wrong part.
"""

from wiregen.language.resolver.questions import Question, resolve_condition, resolve_questions
from wiregen.language.resolver.resolution import Origins, Resolved, resolve, resolve_partial
from wiregen.language.resolver.state import Workspace

__all__ = [
    "Origins",
    "Question",
    "Resolved",
    "Workspace",
    "resolve",
    "resolve_condition",
    "resolve_partial",
    "resolve_questions",
]
