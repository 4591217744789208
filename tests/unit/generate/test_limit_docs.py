"""Each limit of a generated class has a description, whether the .wire file declares it or not."""

import ast
from pathlib import Path

import pytest

MODULES = sorted(Path("generated/python/wireproto").glob("[!_]*/messages.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.parent.name)
def test_each_limit_has_a_description(path: Path) -> None:
    (class_,) = (
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == "Limits"
    )
    init = next(node for node in class_.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    described = {
        ast.unparse(target)
        for target, text in zip(init.body, init.body[1:], strict=False)
        if isinstance(target, ast.Assign | ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
    assert described == {f"self.{argument.arg} = {argument.arg}" for argument in init.args.kwonlyargs}
