"""Serializations besides the native one: protobuf and msgpack."""
