"""The playground: decodes bytes to trees and errors, and encodes a changed field again.

Invariant: a question is data and stays in memory. The modules that answer need the standard library alone, as they run in a
browser too. In `wiregen play` a question that takes too much time or memory costs a process, and nothing else.
"""
