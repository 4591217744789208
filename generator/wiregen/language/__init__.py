"""The language: source text to a checked schema, and everything that is said about it."""
