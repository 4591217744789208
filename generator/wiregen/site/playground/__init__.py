"""The playground behind `wiregen play`: bytes in, trees and faults out, a field changed, and the bytes again.

Invariant: what is asked is data and stays in memory; a question that takes too long, or too much, costs a process and nothing else.
"""

from __future__ import annotations

from wiregen.site.playground.pasted_text import TextError, bytes_of
from wiregen.site.playground.questions import Questions
from wiregen.site.playground.worker import Workshop

__all__ = ["Questions", "TextError", "Workshop", "bytes_of"]
