"""The tokens of a file in text order, each with its place in the tree and the comments before it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lark import ParseTree, Token, Tree

__all__ = ["BlockElement", "BraceRegion", "Comment", "TokenPiece", "pieces_of"]

_COMMENT: Final = re.compile(r"//[^\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A `//` comment; `is_trailing`: text precedes it on its line; `after_blank`: a blank line does.

    `start`: its offset in the text of the file.
    """

    text: str
    start: int
    is_trailing: bool
    after_blank: bool


@dataclass(eq=False, slots=True, kw_only=True)
class BraceRegion:
    """The region between two braces, or the whole file (depth 0); `is_inline`: all of it is on one line."""

    depth: int
    is_inline: bool = True
    is_empty: bool = True


@dataclass(eq=False, slots=True, kw_only=True)
class BlockElement:
    """One element of a block: a declaration, a field, a row; `rule` is its name in the grammar."""

    rule: str
    block: BraceRegion


@dataclass(eq=False, slots=True, kw_only=True)
class TokenPiece:
    """A token.

    Attributes:
        start: Its offset in the text of the file; `text` is shorter than there for docs, without spaces at their end.
        rule: The grammar's name of the node that the token is a direct child of.
        entry: The innermost entry that contains the token; None in the file's first line, `wire 1`.
        block: The block that a brace opens or closes; None for other tokens.
        starts: The token is the first of its entry, its docs included.
        after_break: A line ends between the previous token and this one.
        after_blank: A blank line is just before the token.
    """

    kind: str
    text: str
    start: int
    rule: str
    entry: BlockElement
    block: BraceRegion | None
    starts: bool
    comments: tuple[Comment, ...]
    after_break: bool
    after_blank: bool


def pieces_of(tree: ParseTree, text: str) -> tuple[list[TokenPiece], tuple[Comment, ...]]:
    """Return all tokens of a whole file's tree, and the comments after the last one."""
    pieces: list[TokenPiece] = []
    open_blocks: list[BraceRegion] = []
    end = 0
    for leaf in _leaves(tree):
        start = leaf.token.start_pos
        assert start is not None  # the parser gives each token its place
        gap = text[end:start]
        comments = _comments(gap, end, is_first=not pieces)
        after_break = "\n" in gap
        has_break = after_break or bool(comments) or leaf.token.type == "DOC"
        if leaf.token.type == "RBRACE":
            block = open_blocks.pop()
            block.is_inline &= not (bool(comments) or (has_break and not block.is_empty))
            for outer in open_blocks:
                outer.is_inline &= block.is_inline
        elif has_break:
            for outer in open_blocks:
                outer.is_inline = False
        for outer in open_blocks[-1:]:
            outer.is_empty = False
        if leaf.token.type == "LBRACE" and leaf.block is not None:
            open_blocks.append(leaf.block)
        pieces.append(
            TokenPiece(
                kind=leaf.token.type,
                start=start,
                text=leaf.token.rstrip() if leaf.token.type == "DOC" else str(leaf.token),
                rule=leaf.rule,
                entry=leaf.entry,
                block=leaf.block,
                starts=leaf.starts,
                comments=comments,
                after_break=after_break,
                after_blank=_ends_blank(gap),
            )
        )
        end = start + len(leaf.token)
    return pieces, _comments(text[end:], end, is_first=False)


def _comments(gap: str, start: int, *, is_first: bool) -> tuple[Comment, ...]:
    return tuple(
        Comment(
            text=match[0].rstrip(),
            start=start + match.start(),
            is_trailing=not is_first and "\n" not in gap[: match.start()],
            after_blank=_ends_blank(gap[: match.start()]),
        )
        for match in _COMMENT.finditer(gap)
    )


def _ends_blank(gap: str) -> bool:
    """Return whether at least two line ends follow the gap's last comment."""
    return _COMMENT.split(gap)[-1].count("\n") > 1


@dataclass(slots=True, kw_only=True)
class _Leaf:
    token: Token
    rule: str
    entry: BlockElement
    block: BraceRegion | None
    starts: bool


@dataclass(slots=True, kw_only=True)
class _Node:
    """A node of the tree on the way; `inside` is the block of its braces that is open."""

    rule: str
    entry: BlockElement
    children: Iterator[Tree[Token] | Token]
    inside: BraceRegion | None = None


def _leaves(tree: ParseTree) -> Iterator[_Leaf]:
    """Yield the tokens; an own stack, because a sum of many terms is nested as deep as it is long."""
    file = BraceRegion(depth=0, is_inline=False)
    root = BlockElement(rule="file", block=file)
    stack = [_Node(rule="file", entry=root, children=iter(tree.children), inside=file)]
    started: BlockElement | None = None
    while stack:
        node = stack[-1]
        child = next(node.children, None)
        if child is None:
            stack.pop()
        elif isinstance(child, Token):
            block = node.inside
            if child.type == "LBRACE":
                block = node.inside = BraceRegion(depth=node.entry.block.depth + 1)
            elif child.type == "RBRACE":
                node.inside = None
            is_brace = child.type in ("LBRACE", "RBRACE")
            yield _Leaf(
                token=child,
                rule=node.rule,
                entry=node.entry,
                block=block if is_brace else None,
                starts=started is not None,
            )
            started = None
        else:
            entry = node.entry
            if node.inside is not None:
                entry = started = BlockElement(rule=child.data, block=node.inside)
            stack.append(_Node(rule=child.data, entry=entry, children=iter(child.children)))
