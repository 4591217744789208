"""What makes `format("wire")` known wherever wiregen is installed: Spark looks for packages of such names."""

from wirespark.source import WireSource as DefaultSource

__all__ = ["DefaultSource"]
