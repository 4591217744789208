"""The documentation site, its diagrams, and the playground."""
