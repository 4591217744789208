"""The model of a protocol, and the value shapes, sizes and names that follow from it."""
