"""The command `wiregen`: arguments in, exit code out; what a verb needs is imported inside the verb."""

from wiregen.tools.cli.command import main, wiregen

__all__ = ["main", "wiregen"]
