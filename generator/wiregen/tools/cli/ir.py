"""`wiregen ir`: the model as JSON, for programs that make something of it."""

import json

import click

from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.protocols import subject_of

__all__ = ["verb"]


@click.command("ir")
@click.argument("name", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of what `ir NAME` prints.")
def verb(name: str | None, schema: bool) -> int:
    """Print the model of the protocol NAME (a name, or a path to a .wire file) as JSON."""
    from pydantic import TypeAdapter

    from wiregen.schema import model as m

    adapter = TypeAdapter(m.Protocol)
    if schema:
        _print(adapter.json_schema(mode="serialization"))
    elif name is None:
        raise Failure("no protocol is named", "`wiregen ir NAME`, or `wiregen ir --schema`")
    else:
        _print(adapter.dump_python(subject_of(name).protocol, mode="json"))
    return DONE


def _print(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=True))
