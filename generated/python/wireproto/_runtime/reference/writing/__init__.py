"""The reference encoder."""
