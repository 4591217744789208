"""The texts of each kind of file, with their lines."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

import pytest
from tests.prose.files import has_prose, texts_of
from tests.prose.paragraph import Kind, Paragraph


def _found(path: str, text: str, kind: Kind | None = None) -> list[tuple[int, str]]:
    paragraphs: Iterable[Paragraph] = texts_of(path, dedent(text).lstrip("\n"))
    return [
        (each.lines[0].number, " ".join(each.text.split()))
        for each in paragraphs
        if kind in {None, each.kind}
    ]


def test_docstrings_of_python() -> None:
    text = '''
        """Hold a module."""
        from a import b  # a comment

        LIMIT = 3
        """A limit
        of two lines."""

        def read(text=""" no docstring """):
            r"""Read a text.

            A second paragraph
            of two lines.

                code = "in it"

            - an item
              that goes on
            - another item

            Raises:
                ValueError: The text is empty,
                    or too long.
                KeyError: The name is unknown.
            """
            return call(
                """no docstring"""
            )
        '''
    assert _found("tests/a.py", text) == [
        (1, "Hold a module."),
        (5, "A limit of two lines."),
        (9, "Read a text."),
        (11, "A second paragraph of two lines."),
        (16, "an item that goes on"),
        (18, "another item"),
        (20, "Raises:"),
        (21, "ValueError: The text is empty, or too long."),
        (23, "KeyError: The name is unknown."),
        (2, "a comment"),
    ]


def test_comments_of_python() -> None:
    text = """
        #!/usr/bin/env python3
        # One text of
        # two lines.
        a = "# no comment"  # after code
        # another text
            # of another block
        b = 1  # type: ignore[x]  # noqa
        """
    assert _found("tests/a.py", text) == [
        (2, "One text of two lines."),
        (4, "after code"),
        (5, "another text"),
        (6, "of another block"),
    ]


def test_messages_of_python() -> None:
    text = '''
        """Not a message."""
        report.error("WG1", f"expected {kind!r} in the list", span, help="write a number here")
        raise ValueError(
            "one text in two literals, "
            f"of which {n} is wrong"
        )
        re.compile(r"no message is here")
        name = "two words"
        html = "<p>the text of a page</p>"
        '''
    assert _found("generator/wiregen/language/a.py", text, Kind.DIAGNOSTIC) == [
        (2, "expected `x` in the list"),
        (2, "write a number here"),
        (4, "one text in two literals, of which `x` is wrong"),
    ]
    assert len(_found("pipeline/a.py", text, Kind.MESSAGE)) == 3
    assert len(_found("tests/a.py", text)) == 1


def test_texts_of_markdown() -> None:
    text = """
        # A heading

        A paragraph of
        two lines.

        - an item
        - an item of
          two lines, **bold.** It ends at 4. The end.

        1. a number

        | a head | of two |
        |---|---|
        | a cell | another |

        ```python
        no text
        ```

            code by its margin

        > a quotation
        > of two lines
        <!-- no text -->
        """
    assert _found("docs/a.md", text, Kind.MARKDOWN) == [
        (1, "A heading"),
        (3, "A paragraph of two lines."),
        (6, "an item"),
        (7, "an item of two lines, **bold.** It ends at 4. The end."),
        (10, "a number"),
        (12, "a head"),
        (12, "of two"),
        (14, "a cell"),
        (14, "another"),
        (22, "a quotation of two lines"),
    ]


def test_texts_of_a_template_for_python() -> None:
    text = '''
        {# a comment of the
           template #}
        {% import "a.jinja" as a %}
        class {{ view.name }}:
            """The frames of {{ view.name }}.

        {% if view.is_long %}
            They are long.
        {% else %}
            They are short.
        {% endif %}
            """

            # a comment
            raise ValueError(f"there is no {{ view.kind }} here")
        '''
    assert _found("templates/a.py.jinja", text, Kind.TEMPLATE) == [
        (1, "a comment of the template"),
        (5, "The frames of Xxxxxxxxxxxxxxx."),
        (8, "They are long."),
        (10, "They are short."),
        (14, "a comment"),
        (15, "there is no Xxxxxxxxxxxxxxx here"),
    ]


def test_texts_of_a_template_for_html() -> None:
    text = """
        <h1>A heading</h1>
        <p>A text with <b>a bold word</b> and <code>code</code>
           {% if view.more %}and more{% else %}Another text{% endif %}</p>
        <script>no text</script><ul><li>an item<li>another
        """
    assert _found("templates/a.html.jinja", text, Kind.TEMPLATE) == [
        (1, "A heading"),
        (2, "A text with a bold word and xxxxxxxxxxxxxxxxx and more"),
        (3, "Another text"),
        (4, "an item"),
        (4, "another"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(
            "templates/a.md.jinja",
            "# {{ view.name }} here\n\nA text.\n",
            [(1, "Xxxxxxxxxxxxxxx here"), (3, "A text.")],
        ),
        pytest.param(
            "templates/a.js", "/* one text */ let a = 1;  // another\n", [(1, "one text"), (1, "another")]
        ),
        pytest.param("examples/a.toml.jinja", "\n# a comment\nname = 'a'\n", [(1, "a comment")]),
        pytest.param("templates/a.wire.jinja", "/// A document.\nwire 1\n", [(1, "A document.")]),
    ],
)
def test_texts_of_other_templates(path: str, text: str, expected: list[tuple[int, str]]) -> None:
    assert _found(path, text, Kind.TEMPLATE) == expected


def test_texts_of_a_wire_file() -> None:
    text = r"""
        wire 1

        /// A protocol
        /// of two lines.
        protocol tide {
          source   "a document of others"
          reserved 0, 14 .. 63 "codes of extensions"
        }

        // ---- a heading ----
        type A = u8 @source("Heading", "their words") @assumed("they give no size")  // after code
        rule bad_type "The type is known, "
          "or it is refused." { source "their words" }
        ledger 1 "the size" {
          document "\"their words\", but 66"
          peers    "one reads 65"
          decision "read as 66"
          reason   "the example agrees with it"
        }
        example "a title" A("a value of text") = x"00 01"
        """
    assert sorted(_found("idl/tide.wire", text, Kind.WIRE)) == [
        (3, "A protocol of two lines."),
        (7, "codes of extensions"),
        (11, "after code"),
        (11, "they give no size"),
        (12, "The type is known, or it is refused."),
        (14, "the size"),
        (15, "`their words`, but 66"),
        (16, "one reads 65"),
        (17, "read as 66"),
        (18, "the example agrees with it"),
        (20, "a title"),
    ]


def test_reasons_of_a_wire_file() -> None:
    text = 'type A = u8 @assumed("it is so")\nledger 1 "a" { decision "b" reason "c" }\n'
    assert [each.text for each in texts_of("idl/a.wire", text) if each.is_reason] == ["it is so", "c"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", True),
        ("templates/play/index.html", True),
        ("examples/a/b.py.jinja", True),
        ("generated/python/a.py", False),
        ("tests/cases/a.wire", False),
        ("docs/pictures/a.svg", False),
    ],
)
def test_files_with_prose(path: str, expected: bool) -> None:
    assert has_prose(path) is expected
