"""Views: the data that templates print, by target."""
