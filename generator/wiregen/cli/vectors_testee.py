"""`wiregen vectors testee`: generated code behind the exchange of `vectors run`, to try the exchange with."""

import sys

import click

from wiregen.cli.failure import DONE

__all__ = ["verb"]


@click.command("testee")
@click.argument("protocol")
@click.option("--careful", is_flag=True, help="Let the careful codec answer.")
def verb(protocol: str, careful: bool) -> int:
    """Answer the requests of `vectors run` and `fuzz` on stdin, for PROTOCOL (a name, or a path to a .wire file)."""
    from wiregen.cli.protocols import package_of
    from wiregen.vectors.testees.serve import answers
    from wiregen.vectors.verifying import CarefulDoor, Door
    from wiregen.vectors.verifying.made_door import door_of

    package = package_of(protocol, () if careful else ("protobuf", "msgpack"))
    door: Door = CarefulDoor(package.plan) if careful else door_of(package)
    for line in answers(door, sys.stdin.buffer):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return DONE
