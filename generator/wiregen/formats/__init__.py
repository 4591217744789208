"""Formats of bytes for users: captures, JSON lines, trees, hexdumps."""
