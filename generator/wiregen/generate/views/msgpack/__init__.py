"""Views of the msgpack serialization."""
