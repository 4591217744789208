"""Views of Arrow columns."""
