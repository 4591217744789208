"""The command `wiregen`: arguments in, exit code out; each verb imports the modules that it needs when it runs."""

from wiregen.tools.cli.command import main, wiregen

__all__ = ["main", "wiregen"]
