"""Examples of a `.wire` file: their values, bytes and conversations, checked with the reference codec."""
