"""Views of the Wireshark backend: a dissector in Lua."""
