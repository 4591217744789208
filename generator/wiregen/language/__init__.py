"""The language: source text to a checked schema, and the diagnostics about it."""
