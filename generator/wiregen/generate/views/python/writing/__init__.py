"""Views of encoding functions."""
