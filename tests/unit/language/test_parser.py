"""The parser: every case's diagnostics, the nodes of every form, and texts that mean harm."""

import logging
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span
from wiregen.language.diagnostics.pages import explanation, known_codes
from wiregen.language.diagnostics.rendering import render
from wiregen.language.parser import grammar as grammar_module
from wiregen.language.parser import parse, parse_partial
from wiregen.language.parser.scanning import MAX_NESTING, MAX_TOKENS
from wiregen.language.source import Source

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted((ROOT / "tests" / "cases" / "syntax").glob("*.wire"))
PROTOCOLS = sorted((ROOT / "idl").glob("*.wire"))
HEAD = 'protocol p { source "a document"  roles client, server }\n'
OWN_CODES = [code for code in known_codes() if code.startswith("WG11")]


def read(text: str) -> tuple[syntax.File | None, Report]:
    report = Report()
    return parse(SimpleNamespace(name="test.wire", text=text), report), report


def declaration(text: str) -> syntax.Declaration:
    file, report = read(HEAD + text)
    assert report.diagnostics == ()
    assert file is not None
    (only,) = file.declarations
    return only


def codes(text: str) -> list[str]:
    file, report = read(text)
    assert (file is None) == report.has_errors
    return [diagnostic.code for diagnostic in report.diagnostics]


# ---- cases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    source = Source(name=path.name, path=path, text=path.read_text(encoding="utf-8"))
    report = Report()
    assert parse(source, report) is None
    assert render(report, {source.name: source}, "full") == path.with_suffix(".diag").read_text(
        encoding="utf-8"
    )


def test_every_code_has_a_case() -> None:
    texts = [path.with_suffix(".diag").read_text(encoding="utf-8") for path in CASES]
    generated = {"WG1119"}  # a file of that size does not belong into a repository
    assert {code for code in OWN_CODES if not any(code in text for text in texts)} == generated


@pytest.mark.parametrize("code", [code for code in OWN_CODES if code != "WG1119"])
def test_the_wrong_example_of_a_page_is_wrong(code: str) -> None:
    page = explanation(code)
    assert page is not None
    example = page.split("```wire\n")[1].split("```")[0]
    begins = code in ("WG1116", "WG1117") or example.startswith("protocol")
    assert code in codes(example if begins else HEAD + example)


def test_more_words_than_the_bound() -> None:
    assert codes("a " * (MAX_TOKENS + 1)) == ["WG1119"]


# ---- the grammar ------------------------------------------------------------------------------------


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    text = (Path(grammar_module.__file__).parent.parent / "wire.lark").read_text(encoding="utf-8")
    lark.logger.addHandler(caplog.handler)
    level = lark.logger.level
    lark.logger.setLevel(logging.DEBUG)
    try:
        lark.Lark(text, parser="lalr", start=["file", "declarations"], debug=True)
    finally:
        lark.logger.setLevel(level)
        lark.logger.removeHandler(caplog.handler)
    assert [record for record in caplog.messages if "conflict" in record.lower()] == []


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_shipped_protocol_parses(path: Path) -> None:
    file, report = read(path.read_text(encoding="utf-8"))
    assert report.diagnostics == ()
    assert file is not None
    assert file.protocol.name.text == path.stem


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_spans_enclose_what_they_hold(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    file, _ = read(text)
    check_spans(file, Span(source="test.wire", start=0, end=len(text)), text)


def check_spans(node: object, outer: Span, text: str) -> None:
    if isinstance(node, tuple):
        for item in node:
            check_spans(item, outer, text)
    elif is_dataclass(node) and not isinstance(node, Span):
        span = getattr(node, "span")  # noqa: B009
        assert outer.start <= span.start < span.end <= outer.end
        if isinstance(node, syntax.Name):
            assert text[span.start : span.end].strip("`") == node.text
        for field in fields(node):
            check_spans(getattr(node, field.name), span, text)


# ---- nodes ------------------------------------------------------------------------------------------


def test_a_field_with_all_its_clauses() -> None:
    struct = declaration(
        "struct S {\n  /// What it is.\n  ///   indented\n"
        "  type : A[n - 4] only B, C in zlib[u32] lenient as json only D ?= -1 if x == 2 where y in 0 .. 3 @tag(1)\n}"
    )
    assert isinstance(struct, syntax.Struct)
    (field,) = struct.fields
    assert field.docs == "What it is.\n  indented"
    assert field.name.text == "type"
    assert isinstance(field.shape.core, syntax.Sized)
    assert [name.text for name in field.shape.only] == ["B", "C"]
    assert isinstance(field.shape.carrier, syntax.Sized)
    assert field.shape.lenient is not None
    assert field.view is not None and [name.text for name in field.view.only] == ["D"]
    assert isinstance(field.value, syntax.Trailing)
    assert isinstance(field.condition, syntax.Binary) and field.condition.operator == "=="
    (requirement,) = field.requirements
    where = requirement.expression
    assert isinstance(where, syntax.Binary) and isinstance(where.right, syntax.Range)
    assert [annotation.name.text for annotation in field.annotations] == ["tag"]


@pytest.mark.parametrize(
    "word", ["type", "source", "last", "set", "size", "message", "violates", "when", "from"]
)
def test_words_of_the_language_are_names_before_a_sign(word: str) -> None:
    struct = declaration(f"struct S {{ {word} : u8 where {word} > 1 }}")
    assert isinstance(struct, syntax.Struct)
    assert struct.fields[0].name.text == word


def test_a_reserved_word_in_backticks_is_a_name() -> None:
    struct = declaration("struct S { `if` : u8 where `if` > 1 }")
    assert isinstance(struct, syntax.Struct)
    assert struct.fields[0].name.text == "if"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("0x0C", 12),
        ("65_536", 65536),
        ("'W'", 87),
        (r"'\n'", 10),
        (r"'\x00'", 0),
        (r"'\''", 39),
        ("170141183460469231731687303715884105728", 2**127),
    ],
)
def test_codes(text: str, expected: int) -> None:
    const = declaration(f"const A = {text}")
    assert isinstance(const, syntax.Const)
    assert isinstance(const.value, syntax.Integer | syntax.Character)
    assert const.value.value == expected


def test_negative_code_of_a_message() -> None:
    message = declaration("message Hello -127 from client {}")
    assert isinstance(message, syntax.Message)
    assert isinstance(message.code, syntax.Integer)
    assert (message.code.value, message.role and message.role.text) == (-127, "client")


def test_texts_keep_lone_surrogates_and_join_neighbours() -> None:
    rule = declaration('rule late "a\\udce9" "\\u0041\\"" { source "MUST" }')
    assert isinstance(rule, syntax.Rule)
    assert rule.text.value == 'a\udce9A"'
    assert [source.value for source in rule.sources] == ["MUST"]


def test_bytes_over_several_lines() -> None:
    example = declaration('example "x" x"00 0a\n   ff" violates truncated')
    assert isinstance(example, syntax.Example)
    assert isinstance(example.given, syntax.Bytes) and example.given.value == b"\x00\n\xff"
    assert isinstance(example.outcome, syntax.Violates) and example.outcome.name.text == "truncated"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("2 ** 3 ** 4", "(2 ** (3 ** 4))"),
        ("-2 ** 2", "(- (2 ** 2))"),
        ("not a and b or c", "(((not a) and b) or c)"),
        ("not a == b", "(not (a == b))"),
        ("a not in [1, 4 .. 7]", "(a not in [1, 4..7])"),
        ("a in 1 .. 2 + 3", "(a in 1..(2 + 3))"),
        ("(1 + 2) % 3", "((1 + 2) % 3)"),
        ("f(a, b.c[0])", "f(a, b.c[0])"),
    ],
)
def test_precedence(text: str, shape: str) -> None:
    const = declaration(f"const A = {text}")
    assert isinstance(const, syntax.Const)
    assert spelled(const.value) == shape


def spelled(node: syntax.Expression) -> str:
    match node:
        case syntax.Name(text=text):
            return text
        case syntax.Integer(value=value):
            return str(value)
        case syntax.Unary(operator=operator, operand=operand):
            return f"({operator} {spelled(operand)})"
        case syntax.Binary(operator=operator, left=left, right=right):
            return f"({spelled(left)} {operator} {spelled(right)})"
        case syntax.Range(low=low, high=high):
            return f"{spelled(low)}..{spelled(high)}"
        case syntax.Listing(items=items):
            return f"[{', '.join(spelled(item) for item in items)}]"
        case syntax.Group(expression=expression):
            return spelled(expression)
        case syntax.Attribute(base=base, name=name):
            return f"{spelled(base)}.{name.text}"
        case syntax.Sized(base=base, length=length):
            return f"{spelled(base)}[{spelled(length)}]"
        case syntax.Call(function=function, arguments=arguments):
            return f"{spelled(function)}({', '.join(spelled(a.value) for a in arguments)})"
        case _:
            raise AssertionError(node)


def test_rows_of_a_session() -> None:
    session = declaration(
        "session S per sender {\n  option loose : bool = true\n  state any { any A, B => {} }\n"
        "  state one, two {\n    client A when x > 1 violates late lenient\n    client any => two { x = 1  y = 2 }\n"
        "    after limits.idle => one\n  }\n}"
    )
    assert isinstance(session, syntax.Session)
    option, anywhere, both = session.lines
    assert isinstance(option, syntax.Option)
    assert isinstance(anywhere, syntax.State) and isinstance(anywhere.names, syntax.Wildcard)
    assert isinstance(both, syntax.State)
    late, go, timer = both.rows
    assert isinstance(late.effect, syntax.Violates) and late.effect.lenient is not None
    assert isinstance(go, syntax.Row) and isinstance(go.messages, syntax.Wildcard)
    assert isinstance(go.effect, syntax.Go) and [update.name.text for update in go.effect.updates] == [
        "x",
        "y",
    ]
    assert isinstance(timer, syntax.Timer)


def test_docs_stay_with_what_they_document_after_an_error() -> None:
    report = Report()
    text = HEAD + "struct A { a }\n\n/// The second.\nstruct B { b : u8 }\n"
    file = parse_partial(SimpleNamespace(name="test.wire", text=text), report)
    assert report.has_errors and file is not None
    assert [getattr(d, "docs", None) for d in file.declarations] == ["The second."]


def test_what_stands_before_an_error_is_kept() -> None:
    text = HEAD + "struct A { a : u8 }\nstruct B { b }\nstruct C { c : u8 }\n"
    file = parse_partial(SimpleNamespace(name="test.wire", text=text), Report())
    assert file is not None
    names = [d.name.text for d in file.declarations if isinstance(d, syntax.Struct)]
    assert names == ["A", "C"]


# ---- harm -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("(" * 4_194_304, "WG1109", id="brackets"),
        pytest.param(HEAD + "const A = " + "not " * 20_000 + "a", "WG1109", id="prefixes"),
        pytest.param(HEAD + "const A = " + "1 + " * 20_000 + "1", "WG1109", id="chain"),
        pytest.param(HEAD + "type A = a" + "[]" * 20_000, "WG1109", id="lists of lists"),
        pytest.param(HEAD + "const A = " + "9" * 1_000_000, "WG1105", id="digits"),
        pytest.param(HEAD + 'rule a "' + "x" * 1_000_000, "WG1102", id="text without end"),
        pytest.param(HEAD + 'rule a "\ud800"', "WG1101", id="lone surrogate"),
        pytest.param("\0" * 100_000, "WG1101", id="zeros"),
        pytest.param("`" * 100_000, "WG1102", id="backticks"),
        pytest.param("", "WG1116", id="nothing"),
    ],
)
def test_harmful_text_is_a_diagnostic(text: str, code: str) -> None:
    assert set(codes(text)) == {code}


def test_nesting_up_to_the_bound_is_read() -> None:
    depth = MAX_NESTING - 1
    assert codes(HEAD + f"struct A {{ a : {'{ a : ' * depth}u8{'}' * depth} }}") == []
    assert codes(HEAD + f"struct A {{ a : {'{ a : ' * (depth + 1)}u8{'}' * (depth + 1)} }}") == ["WG1109"]


def test_errors_are_bounded() -> None:
    _, report = read(HEAD + "struct A { a }\n" * 3_000)
    assert len(report.diagnostics) == 1_000


TOKENS = st.sampled_from(
    '{ } ( ) [ ] : = := == => .. , ; . @ \' " x" ` // /// \n if in lenient match only until where any message '
    "struct enum union session state example A b 1 0x 16 MiB -> \\ é".split(" ")
)


@given(st.lists(TOKENS, max_size=40), st.sampled_from((" ", "")))
@settings(max_examples=150)
def test_any_words_give_a_tree_or_diagnostics(words: list[str], between: str) -> None:
    codes(HEAD + between.join(words))


@given(st.data())
@settings(max_examples=60)
def test_a_damaged_protocol_gives_diagnostics_within_it(data: st.DataObject) -> None:
    text = (ROOT / "idl" / "lumberjack.wire").read_text(encoding="utf-8")[:6000]
    at = data.draw(st.integers(0, len(text)))
    n_removed = data.draw(st.integers(0, 8))
    damaged = text[:at] + data.draw(TOKENS) + text[at + n_removed :]
    _, report = read(damaged)
    for diagnostic in report.diagnostics:
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(damaged)
