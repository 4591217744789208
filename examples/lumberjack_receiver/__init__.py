"""A small receiver of log events: Lumberjack over TLS in, files out; nothing is acknowledged before it is on disk."""
