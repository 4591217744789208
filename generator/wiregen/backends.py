"""What a distribution that brings a backend imports (docs/plugins.md); it stays where it is when the inside moves."""

from wiregen.generate.backends import BESIDE, GROUP, Backend, Page, Subject
from wiregen.generate.steps import UnsupportedError

__all__ = ["BESIDE", "GROUP", "Backend", "Page", "Subject", "UnsupportedError"]
