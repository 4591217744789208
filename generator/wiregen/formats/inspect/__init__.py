"""Views of decoded bytes for people: a tree of values, a hexdump.

Invariant: data from a peer reaches a terminal only as rich's `Text`, with control, bidi and escape characters
as escapes.
"""

from wiregen.formats.inspect.hexdump import dump_fault, dump_frame
from wiregen.formats.inspect.secrets import may_hold_secret, secret_names, without_secrets
from wiregen.formats.inspect.tree_lines import Branch, lines
from wiregen.formats.inspect.trees import tree_of_fault, tree_of_frame
from wiregen.formats.inspect.values import plural

__all__ = [
    "Branch",
    "dump_fault",
    "dump_frame",
    "lines",
    "may_hold_secret",
    "plural",
    "secret_names",
    "tree_of_fault",
    "tree_of_frame",
    "without_secrets",
]
