"""Examples of a `.wire` file: their values, their bytes, their conversations, held to the reference codec."""
