"""Conformance vectors: bytes and verdicts by which any implementation of a protocol can be judged."""
