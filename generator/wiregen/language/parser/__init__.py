"""Text to syntax tree, with positions; names are not resolved."""

from .driver import accepted_at, parse, parse_partial, parse_question, parse_tokens

__all__ = ["accepted_at", "parse", "parse_partial", "parse_question", "parse_tokens"]
