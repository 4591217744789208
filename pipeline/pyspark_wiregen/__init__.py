"""Registers `format("wire")` wherever wiregen is installed: Spark imports packages of such names."""

from wirespark.source import WireSource as DefaultSource

__all__ = ["DefaultSource"]
