import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.schema.naming import (
    Scope,
    camel_case,
    constant_case,
    is_reserved,
    python_name,
    python_names,
    snake_case,
)

IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True)


@pytest.mark.parametrize(
    ("name", "snake", "camel"),
    [
        pytest.param("SegmentRead", "segment_read", "SegmentRead", id="camel"),
        pytest.param("segmentRead", "segment_read", "SegmentRead", id="lower camel"),
        pytest.param("segment_read", "segment_read", "SegmentRead", id="snake"),
        pytest.param("SEGMENT_READ", "segment_read", "SegmentRead", id="constant"),
        pytest.param("HTTPServer", "http_server", "HttpServer", id="run of capitals"),
        pytest.param("V1", "v1", "V1", id="digit"),
        pytest.param("OnNextLastPart", "on_next_last_part", "OnNextLastPart", id="several words"),
        pytest.param("utf8Text", "utf8_text", "Utf8Text", id="digit inside"),
        pytest.param("__", "__", "__", id="no word"),
    ],
)
def test_cases(name: str, snake: str, camel: str) -> None:
    assert (snake_case(name), camel_case(name), constant_case(name)) == (snake, camel, snake.upper())


@given(IDENTIFIERS)
def test_case_conversions_settle_and_stay_identifiers(name: str) -> None:
    for convert in (snake_case, camel_case, constant_case):
        once = convert(name)
        assert once.isidentifier() or once[0].isdigit()
        assert snake_case(snake_case(name)) == snake_case(name)


@pytest.mark.parametrize("scope", Scope)
def test_no_keyword_is_left_as_it_is(scope: Scope) -> None:
    assert [word for word in keyword.kwlist if python_name(word, scope) != word + "_"] == []


@pytest.mark.parametrize(
    ("name", "scope", "expected"),
    [
        pytest.param("class", Scope.MEMBER, "class_", id="keyword"),
        pytest.param("None", Scope.MODULE, "None_", id="constant of the language"),
        pytest.param("type", Scope.MEMBER, "type", id="soft keyword"),
        pytest.param("match", Scope.MEMBER, "match", id="another soft keyword"),
        pytest.param("encode", Scope.MEMBER, "encode_", id="our function"),
        pytest.param("absent", Scope.MEMBER, "absent_", id="our attribute"),
        pytest.param("Decoder", Scope.MODULE, "Decoder_", id="our class"),
        pytest.param("ValueError", Scope.MODULE, "ValueError_", id="builtin a module uses"),
        pytest.param("Text", Scope.MODULE, "Text", id="no builtin"),
        pytest.param("bytes", Scope.MEMBER, "bytes_", id="builtin in annotations"),
        pytest.param("self", Scope.MEMBER, "self_", id="first argument"),
        pytest.param("context", Scope.MEMBER, "context", id="argument of a function, not of a class"),
        pytest.param("context", Scope.FRAME_MEMBER, "context_", id="argument of encode"),
        pytest.param("name", Scope.ENUM_MEMBER, "name_", id="attribute of every member"),
        pytest.param("protobuf", Scope.PACKAGE, "protobuf_", id="protocol named as a module"),
        pytest.param("_runtime", Scope.MODULE, "runtime_", id="leading underscore"),
        pytest.param("__init__", Scope.MEMBER, "init___", id="dunder"),
        pytest.param("_", Scope.MEMBER, "unnamed_", id="underscore alone"),
    ],
)
def test_python_name(name: str, scope: Scope, expected: str) -> None:
    assert python_name(name, scope) == expected


@given(IDENTIFIERS, st.sampled_from(Scope))
def test_a_python_name_is_never_reserved(name: str, scope: Scope) -> None:
    python = python_name(name, scope)
    assert python.isidentifier() and not keyword.iskeyword(python) and not is_reserved(python, scope)


def test_the_protocols_own_frame_keeps_its_name() -> None:
    assert python_name("Frame", Scope.MODULE, granted={"Frame"}) == "Frame"
    assert python_name("Frame", Scope.MODULE) == "Frame_"


def test_names_that_meet_are_collisions_and_those_that_moved_are_told() -> None:
    names = python_names(["class", "class_", "length", "length"], Scope.MEMBER)
    assert [(found.python_name, found.names) for found in names.collisions] == [
        ("class_", ("class", "class_"))
    ]
    assert names.renamed == (("class", "class_"),)
    assert list(names.mapping) == ["class", "class_", "length"]
