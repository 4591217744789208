"""The API for a distribution that brings a backend (docs/plugins.md); it stays here when other modules move."""

from wiregen.generate.backends import BESIDE, GROUP, Backend, Page, Subject
from wiregen.generate.steps import UnsupportedError

__all__ = ["BESIDE", "GROUP", "Backend", "Page", "Subject", "UnsupportedError"]
