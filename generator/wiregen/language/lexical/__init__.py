"""The tokens of the language as regular expressions, for editors and pages that colour text they need not parse."""

from .token_rules import TOKEN_RULES, TokenKind, TokenPart, TokenRule

__all__ = ["TOKEN_RULES", "TokenKind", "TokenPart", "TokenRule"]
