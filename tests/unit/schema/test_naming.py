import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.schema.naming import (
    Namespace,
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


@pytest.mark.parametrize("scope", Namespace)
def test_no_keyword_is_left_as_it_is(scope: Namespace) -> None:
    assert [word for word in keyword.kwlist if python_name(word, scope) != word + "_"] == []


@pytest.mark.parametrize(
    ("name", "scope", "expected"),
    [
        pytest.param("class", Namespace.MEMBER, "class_", id="keyword"),
        pytest.param("None", Namespace.MODULE, "None_", id="constant of the language"),
        pytest.param("type", Namespace.MEMBER, "type", id="soft keyword"),
        pytest.param("match", Namespace.MEMBER, "match", id="another soft keyword"),
        pytest.param("encode", Namespace.MEMBER, "encode_", id="our function"),
        pytest.param("absent", Namespace.MEMBER, "absent_", id="our attribute"),
        pytest.param("Decoder", Namespace.MODULE, "Decoder_", id="our class"),
        pytest.param("ValueError", Namespace.MODULE, "ValueError_", id="builtin a module uses"),
        pytest.param("Text", Namespace.MODULE, "Text", id="no builtin"),
        pytest.param("bytes", Namespace.MEMBER, "bytes_", id="builtin in annotations"),
        pytest.param("self", Namespace.MEMBER, "self_", id="first argument"),
        pytest.param("context", Namespace.MEMBER, "context", id="argument of a function, not of a class"),
        pytest.param("context", Namespace.FRAME_MEMBER, "context_", id="argument of encode"),
        pytest.param("name", Namespace.ENUM_MEMBER, "name_", id="attribute of every member"),
        pytest.param("protobuf", Namespace.PACKAGE, "protobuf_", id="protocol named as a module"),
        pytest.param("_runtime", Namespace.MODULE, "runtime_", id="leading underscore"),
        pytest.param("__init__", Namespace.MEMBER, "init___", id="dunder"),
        pytest.param("_", Namespace.MEMBER, "unnamed_", id="underscore alone"),
    ],
)
def test_python_name(name: str, scope: Namespace, expected: str) -> None:
    assert python_name(name, scope) == expected


@given(IDENTIFIERS, st.sampled_from(Namespace))
def test_a_python_name_is_never_reserved(name: str, scope: Namespace) -> None:
    python = python_name(name, scope)
    assert python.isidentifier() and not keyword.iskeyword(python) and not is_reserved(python, scope)


def test_the_protocols_own_frame_keeps_its_name() -> None:
    assert python_name("Frame", Namespace.MODULE, granted={"Frame"}) == "Frame"
    assert python_name("Frame", Namespace.MODULE) == "Frame_"


def test_names_that_meet_are_collisions_and_those_that_moved_are_told() -> None:
    names = python_names(["class", "class_", "length", "length"], Namespace.MEMBER)
    assert [(found.python_name, found.names) for found in names.collisions] == [
        ("class_", ("class", "class_"))
    ]
    assert names.renamed == (("class", "class_"),)
    assert list(names.mapping) == ["class", "class_", "length"]
