"""What an installation makes: the parser's tables, so that no start of the command computes them."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParserTables(BuildHookInterface[Any]):
    """Writes `tables.json` beside the grammar's module, which finds it there in a wheel and in a checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the tables before the files are collected."""
        module = runpy.run_path(
            str(Path(self.root, "generator", "wiregen", "language", "parser", "grammar.py"))
        )
        module["write_tables"](module["TABLES"])
