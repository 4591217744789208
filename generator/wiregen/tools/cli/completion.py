"""`wiregen completion`: the script with which a shell completes commands."""

import click
from click.shell_completion import get_completion_class

from wiregen.tools.cli.failure import DONE

__all__ = ["verb"]

_SHELLS = ("bash", "fish", "zsh")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS), metavar="SHELL")
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
