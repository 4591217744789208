"""Text to syntax tree, with positions; names are not resolved."""

from .driver import parse, parse_partial, parse_question, parse_tokens

__all__ = ["parse", "parse_partial", "parse_question", "parse_tokens"]
