"""Views of the native Python package."""
