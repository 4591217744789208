"""A small client of Pravega's segment stores: says Hello, asks about a segment, reads it to its end or follows it."""
