"""`wiregen ir`: the model as JSON, for other programs."""

import json

import click

from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.protocols import completions, subject_of

__all__ = ["verb"]


@click.command("ir")
@click.argument("name", required=False, shell_complete=completions)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the output of `ir NAME`.")
def verb(name: str | None, schema: bool) -> int:
    """Print the schema of the protocol NAME (a name, or a path to a .wire file) as JSON."""
    from wiregen.schema.json_form import as_json
    from wiregen.schema.json_schema import json_schema

    if schema:
        _print(json_schema())
    elif name is None:
        raise Failure(
            "the name of the protocol is missing", "write `wiregen ir NAME`, or `wiregen ir --schema`"
        )
    else:
        _print(as_json(subject_of(name).protocol))
    return DONE


def _print(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=True))
