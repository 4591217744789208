"""A relay between two peers that shows their messages, holds them to their sessions, and records them.

Invariant: the event loop only moves bytes; one other thread decodes and prints. Bytes that wait, for a slow peer or for that thread, are
bounded for each connection.
"""
