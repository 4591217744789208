"""The one error of this package: what a user can mend, and how."""

__all__ = ["WireSparkError"]


class WireSparkError(ValueError):
    """Something that was asked for cannot be done; the text names the way out."""
