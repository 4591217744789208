"""The canonical form of `.wire` files: other spaces and line ends, the same tokens and comments."""

from .formatting import Content, FormattedText, content_of, format_source
from .pieces import Comment, TokenPiece

__all__ = ["Comment", "Content", "FormattedText", "TokenPiece", "content_of", "format_source"]
