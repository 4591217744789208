"""The reference codec: interprets the schema; gives errors with path and offset, spans and partial results."""
