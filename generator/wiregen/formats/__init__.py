"""Bytes as people have them: captures, JSON lines, trees, hexdumps."""
