"""Views of the protobuf serialization."""
