"""A small receiver of log events: Lumberjack over TLS in, files out; events are acknowledged only once they
are on disk.
"""
