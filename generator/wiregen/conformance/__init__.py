"""Conformance: sample values, conversation traces, vectors, and the checks of an implementation against them."""
