import ast
import re
import sys
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.generate import python_layout
from wiregen.generate.emitter import Emitter
from wiregen.generate.escaping import comment, docstring, literal
from wiregen.generate.python_layout import format_python, formatter, laid_out, lay_out

# Any text, surrogates included, with dangerous characters drawn often.
NASTY = st.sampled_from(
    ['"', '"""', "'''", "\\", "{{", "{%", "#", "\n", "\r", "\x0b", "\x85", "\u2028", "\u202e", "\ud800", "\0"]
)
TEXT = st.lists(NASTY | st.text(st.characters(), max_size=5), max_size=8).map("".join)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.integers() | TEXT, inner, max_size=3),
    max_leaves=6,
)
ORDERS = [
    "coding: latin-1",
    "-*- coding=utf-7 -*-",
    "fmt: off",
    "fmt:skip",
    "type: ignore",
    "type: int",
    "mypy: ignore-errors",
    "noqa",
    "NOQA: F401",
]


@given(TEXT)
def test_a_docstring_reads_as_the_text(text: str) -> None:
    (statement,) = ast.parse(f'"""{docstring(text)}"""'.encode()).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    assert statement.value.value == text


@given(TEXT)
def test_a_docstring_survives_formatting_and_indentation(text: str) -> None:
    source = format_python(f'class Name:\n    """{docstring(text)}"""\n\n    size = 1\n')
    (class_,) = ast.parse(source.encode()).body
    assert isinstance(class_, ast.ClassDef)
    assert [type(statement) for statement in class_.body] in ([ast.Expr, ast.Assign], [ast.Assign])
    if len(class_.body) == 2:
        read = ast.get_docstring(class_) or ""
        assert re.sub(r"\s+", "", read) == re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('ends in "', 'ends in \\"', id="quote at the end"),
        pytest.param('a "word" inside', 'a "word" inside', id="lone quotes stay"),
        pytest.param('"""', '\\"\\"\\"', id="three quotes"),
        pytest.param("C:\\new", "C:\\\\new", id="backslash"),
        pytest.param("a\u202eb", "a\\u202eb", id="bidi"),
        pytest.param("naïve – 日本", "naïve – 日本", id="letters stay"),
    ],
)
def test_docstring(text: str, expected: str) -> None:
    assert docstring(text) == expected


@given(TEXT)
def test_a_comment_is_never_code(text: str) -> None:
    source = f"# {comment(text)}\n".encode()
    assert ast.parse(source).body == []
    assert all(line.startswith("#") for line in source.decode().splitlines())


@pytest.mark.parametrize("order", ORDERS)
def test_a_comment_gives_no_orders(order: str) -> None:
    written = comment(f"first\n{order}")
    assert order not in written
    assert re.search(r"coding[:=]|fmt:|type:|mypy:|noqa", written, re.IGNORECASE) is None


@pytest.mark.parametrize("text", ["the encoding is UTF-8", "a type: its bytes", "plain words"])
def test_a_harmless_comment_stays(text: str) -> None:
    assert comment(text) == text


@given(PLAIN)
def test_a_literal_reads_as_the_value(value: object) -> None:
    assert ast.literal_eval(literal(value)) == value


@given(
    st.one_of(
        TEXT,
        st.binary(max_size=8),
        st.integers(),
        st.tuples(st.integers(0, 9)),
        st.tuples(st.booleans(), st.none()),
    )
)
def test_the_formatter_leaves_a_literal_alone(value: object) -> None:
    line = f"x = {literal(value)}\n"
    if len(line) <= python_layout.LINE_LENGTH:
        assert format_python(line) == line


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinities_are_written_as_calls(value: float) -> None:
    assert eval(literal(value)) == value


class Shouting(str):
    def __repr__(self) -> str:
        return "print('run')"


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, Shouting("x"), (Shouting("x"),)], ids=["object", "set", "subclass", "inside"]
)
def test_what_is_not_plain_data_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="not plain data"):
        literal(value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {
        "doc.py.jinja": '{# view: a text #}\n{% if view %}\n"""{{ view | docstring }}"""\n{% endif %}\nx=1\n',
        "page.html.jinja": "<p>{{ view }}</p>\n",
        "shape.svg.jinja": "<text>{{ view }}</text>\n",
        "plain.proto.jinja": "{{ view }}\n",
        "broken.py.jinja": "{{ view }} = =\n",
        "missing.txt": "{{ view.nothing }}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def check_render(folder: Path, name: str, view: object, expected: str) -> None:
    assert Emitter(folder).render(name, view) == expected


def test_python_comes_out_formatted(folder: Path) -> None:
    check_render(folder, "doc.py.jinja", 'say "{{ x }}"', '"""say "{{ x }}\\""""\n\nx = 1\n')


def test_the_second_rendering_does_not_format_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendering = Emitter(folder)
    first = rendering.render("doc.py.jinja", "text")
    monkeypatch.setattr(python_layout, "format_python", lambda *_, **__: pytest.fail("formatted again"))
    assert rendering.render("doc.py.jinja", "text") == first


@pytest.mark.parametrize("name", ["page.html.jinja", "shape.svg.jinja"])
def test_markup_is_escaped(folder: Path, name: str) -> None:
    assert "&lt;script&gt;" in Emitter(folder).render(name, "<script>")


def test_other_text_is_not_escaped(folder: Path) -> None:
    check_render(folder, "plain.proto.jinja", "a < b", "a < b\n")


def test_a_name_the_view_lacks_is_an_error(folder: Path) -> None:
    with pytest.raises(jinja2.UndefinedError):
        Emitter(folder).render("missing.txt", "text")


def test_a_template_that_renders_no_python_is_named(folder: Path) -> None:
    with pytest.raises(ValueError) as caught:
        Emitter(folder).render("broken.py.jinja", "x")
    assert caught.value.__notes__ == ["in the output of template broken.py.jinja"]


def test_pages_are_formatted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"together = [{number},\n {number}]\n" for number in range(3)]
    lay_out(texts)
    monkeypatch.setattr(python_layout, "format_python", lambda *_, **__: pytest.fail("formatted again"))
    assert [laid_out(text, is_stub=False) for text in texts] == [
        f"together = [{number}, {number}]\n" for number in range(3)
    ]


def test_a_page_that_is_no_python_is_refused_alone() -> None:
    texts = ["beside = [1,\n 2]\n", "beside = =\n", "beside = '\ud800'\n"]
    lay_out(texts)
    assert laid_out(texts[0], is_stub=False) == "beside = [1, 2]\n"
    for text in texts[1:]:
        with pytest.raises(ValueError):
            laid_out(text, is_stub=False)


def test_no_configuration_changes_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ruff.toml").write_text('line-length = 20\n[format]\nquote-style = "single"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUFF_OUTPUT_FORMAT", "no such format")
    line = f'text = function("{"a" * 60}", "b")\n'
    assert format_python(line) == line


def test_what_is_no_python_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"page\.py:2"):
        format_python("x = 1\nx = =\n")


def test_without_ruff_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruff", None)
    formatter.cache_clear()
    with pytest.raises(FileNotFoundError, match="install wiregen again"):
        format_python("x = 1\n")
