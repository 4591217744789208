"""Conformance: sample values, conversation traces, vectors, and what holds an implementation to them."""
