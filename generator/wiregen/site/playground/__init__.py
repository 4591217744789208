"""The playground of `wiregen play`: decodes bytes to trees and errors, and encodes a changed field again.

Invariant: a question is data and stays in memory. One that takes too much time or memory costs a process, and
nothing else.
"""

from __future__ import annotations

from wiregen.site.playground.pasted_text import TextError, bytes_of
from wiregen.site.playground.questions import Questions
from wiregen.site.playground.worker import Workshop

__all__ = ["Questions", "TextError", "Workshop", "bytes_of"]
