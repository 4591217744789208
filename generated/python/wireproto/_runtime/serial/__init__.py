"""Serializations other than the native one: protobuf and msgpack."""
