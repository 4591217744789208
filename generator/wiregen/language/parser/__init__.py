"""Text to syntax tree: positions are kept, nothing is decided."""

from .driver import parse, parse_partial

__all__ = ["parse", "parse_partial"]
