"""`wiregen completion`: the script with which a shell completes what is typed, and the names that it completes."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from wiregen.tools.cli.failure import DONE

__all__ = ["protocols_like", "verb"]

SHELLS = ("bash", "fish", "zsh")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def verb(shell: str) -> int:
    """Print a script for SHELL that completes verbs, options and names of protocols.

    bash: `eval "$(wiregen completion bash)"` in ~/.bashrc. zsh: the same in ~/.zshrc. fish: `wiregen completion fish >
    ~/.config/fish/completions/wiregen.fish`
    """
    from wiregen.tools.cli.command import COMPLETION, wiregen

    kind = get_completion_class(shell)
    assert kind is not None
    print(kind(wiregen, {}, "wiregen", COMPLETION).source())
    return DONE


def protocols_like(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the protocols whose names begin as typed: those of the configuration and the shipped ones; and files."""
    from wiregen.language.config import load_config
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import available, shipped_protocols

    sources = load_config(Path.cwd(), Report()).sources
    names = [name for name in available((*sources, shipped_protocols())) if name.startswith(typed)]
    return [*map(CompletionItem, names), CompletionItem(typed, type="file")]
