"""Views of the Kaitai backend: a `.ksy` file for each role of a protocol."""
