"""Given values that a writing function reads once, and whose classes it tests.

A value may be of the caller's own class, whose methods answer anything, and an attribute may be another one each time that it is
read. What expressions ask is what is written, if it is read once and its class has the methods of Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from wiregen.generate.steps.step import UnsupportedError
from wiregen.generate.views.python.classes import single_code
from wiregen.generate.views.python.names import Locals
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import class_name
from wiregen.generate.views.python.writing.step_views import WriteAssign, WriteChecks, WriteStep
from wiregen.runtime.schema.shapes import content
from wiregen.schema import model as m

__all__ = ["INTEGER", "AskedValues", "AttributePath", "class_test"]

_ABSENT = "_class_of({}) is not _class_of(None)"
INTEGER = f"_class_of({{}}) is not int and {_ABSENT}"
"""The test that refuses a value for an integer that is of another class. Where None is no value, it cannot be written either.

A type checker does not see what `_class_of` tells of a value, which keeps its type: where it may be None, it is not used.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributePath:
    """A given value: attributes below a variable of the function or of a loop; the variable itself without any."""

    base: str
    attributes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The expression that reads it."""
        return ".".join((self.base, *self.attributes))

    @property
    def safe_text(self) -> str:
        """The expression that is None where a struct around the value is absent, or another arm was chosen."""
        text = ".".join((self.base, *self.attributes[:1]))
        for name in self.attributes[1:]:
            text = f'getattr({text}, "{name}", None)'
        return text

    def below(self, *attributes: str) -> AttributePath:
        """Return the path of an attribute of the value, or of one below that."""
        return AttributePath(base=self.base, attributes=(*self.attributes, *attributes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """`key`: that of the variable that holds the value. `tests`: those that refuse it."""

    key: str
    tests: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class AskedValues:
    """The values that are read once. A first pass over the steps finds them, so that a second one has them all."""

    values: dict[AttributePath, _Asked] = field(default_factory=dict)

    def ask(self, path: AttributePath, key: str, test: str) -> None:
        """Let a value be read once, and refused if a test of its variable `{}` is true; "" for no test."""
        known = self.values.get(path)
        tests = () if known is None else known.tests
        if test and test not in tests:
            tests = (*tests, test)
        self.values[path] = _Asked(key=key, tests=tests)

    def variable(self, path: AttributePath, locals_: Locals) -> str:
        """Return the variable of a value that is read once, or the expression that reads it."""
        asked = self.values.get(path)
        return path.text if asked is None or not path.attributes else locals_.name(asked.key)

    def of_loop(self, item: str, locals_: Locals) -> tuple[WriteStep, ...]:
        """Return the steps that read the values of an item, at the beginning of its loop."""
        return tuple(self._steps([path for path in self.values if path.base == item], locals_))

    def of_function(self, items: set[str], locals_: Locals) -> tuple[WriteStep, ...]:
        """Return the steps that read the other values, at the beginning of the function."""
        return tuple(self._steps([path for path in self.values if path.base not in items], locals_))

    def _steps(self, paths: list[AttributePath], locals_: Locals) -> Iterator[WriteStep]:
        checks: list[str] = []
        for path in paths:
            variable = self.variable(path, locals_)
            if path.attributes:
                # A type checker takes what `getattr` returns for an optional value.
                annotation = "Any" if len(path.attributes) > 1 else ""
                yield WriteAssign(target=variable, value=path.safe_text, annotation=annotation)
            checks += [test.replace("{}", variable) for test in self.values[path].tests]
        if checks:
            yield WriteChecks(checks=tuple(checks))


_CLASSES: Final[Mapping[type[m.Type], tuple[str, ...]]] = {
    m.Bits: ("int",),
    m.Boolean: ("bool",),
    m.Bytes: ("bytes",),
    m.CodingReference: ("int",),
    m.Float: ("float", "int"),
    m.Integer: ("int",),
    m.Text: ("str",),
    m.Varint: ("int",),
}
"""The classes of plain values, whose methods are those of Python."""
_TESTED_WHERE_WRITTEN: Final = (m.Boolean, m.Bytes)


def class_test(type_: m.Type, shared: Shared) -> str:
    """Return the test that refuses a value in an expression if it is of a class with methods of its own; "" if another test does.

    Raises:
        UnsupportedError: Straight-line code has no such test.
    """
    match inner := content(type_):
        case m.List(item=item):
            return _item_test(content(item), shared)
        case m.Match():
            return f"_class_of({{}}) not in (bool, bytes, float, int, str) and {_ABSENT}"
        case m.EnumReference(name=name) if not shared.enums[name].is_open:
            return ""
        case _ if isinstance(inner, _TESTED_WHERE_WRITTEN):
            return ""
        case _:
            text = " and ".join(f"_class_of({{}}) is not {each}" for each in _classes(inner, shared))
            return f"{text} and {_ABSENT}" if text else ""


def _item_test(item: m.Type, shared: Shared) -> str:
    classes = _classes(item, shared)
    if isinstance(item, m.CodingReference):  # one of its numbers may be null
        classes += ("type(None)",)
    if classes:
        return f"{{}} is not None and not {{*map(type, {{}})}} <= {{{', '.join(classes)}}}"
    if isinstance(item, m.UnionReference) and _has_single_codes(shared.unions[item.name]):
        return ""  # only their classes are compared
    raise UnsupportedError("", "a list of such items in an expression, on writing")


def _classes(type_: m.Type, shared: Shared) -> tuple[str, ...]:
    """Return the names of the classes that a plain value may have in an expression; () for other values."""
    if isinstance(type_, m.EnumReference):
        return ("int", class_name(type_.name))
    is_flag = isinstance(type_, m.Bits) and type_.is_flag
    return () if is_flag else _CLASSES.get(type(type_), ())


def _has_single_codes(union: m.Union) -> bool:
    return all(single_code(variety) is not None for variety in union.varieties)
