"""Views of decoded bytes for people: a tree of values, a hexdump.

Invariant: data from a peer reaches a terminal only as rich's `Text`, with control, bidi and escape characters
as escapes.
"""
