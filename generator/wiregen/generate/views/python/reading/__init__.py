"""Views of decoding functions."""
