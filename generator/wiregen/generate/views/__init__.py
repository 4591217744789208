"""Views: what templates print, by target."""
