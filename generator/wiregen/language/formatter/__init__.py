"""The canonical form of `.wire` files: other spaces and line ends, the same tokens and comments."""

from .formatting import format_source

__all__ = ["format_source"]
