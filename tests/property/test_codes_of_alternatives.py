"""An alternative with several codes is written with one of its own, and no other number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.property.schemas import built
from tests.property.test_serialization_constructs import ALL, serializations

TEXT = """
protocol p { source "no document"  endian big  roles a, b }
frame Frame { type : u8 := code(body)  body : match type }
union U : u8 { X 1 : u8  N 6, 200 .. 201 : u8 }
union W : u16 { Y 1 : u8  M 600 .. 700 { v : u8 } }
message A 1 { u : U }
message B 2 { w : W }
"""


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with built(TEXT, tmp_path_factory.mktemp("codes"), "codes_of_alternatives", ALL) as codecs:
        yield codecs


@pytest.mark.parametrize("code", [6, 200, 201])
def test_a_code_of_the_alternative_is_written(codecs: Any, code: int) -> None:
    p = codecs.module
    message = p.A(p.U.N(code=code, value=3))
    assert p.encode(message) == bytes((1, code, 3))
    for each in (p, *serializations("codes_of_alternatives")):
        assert each.decode(each.encode(message)).message == message


@pytest.mark.parametrize("code", [1, 5, 7, 100, 199, 202, 300, -1, None, "6"])
def test_another_code_is_refused_by_all_encoders(codecs: Any, code: Any) -> None:
    p = codecs.module
    for message, path in ((p.A(p.U.N(code=code, value=3)), "A.u"), (p.B(p.W.M(code=code, v=3)), "B.w")):
        for each in (p, *serializations("codes_of_alternatives")):
            with pytest.raises(p.EncodeError) as raised:
                each.encode(message)
            assert raised.value.path.startswith(path)


def test_protobuf_refuses_bytes_with_a_code_of_no_alternative(codecs: Any) -> None:
    p = codecs.module
    protobuf, _ = serializations("codes_of_alternatives")
    good = protobuf.encode(p.A(p.U.N(code=6, value=3)))
    assert protobuf.decode(good).message.u.code == 6
    with pytest.raises(p.DecodeError) as raised:
        protobuf.decode(good.replace(b"\x08\x0c", b"\x08\x64"))  # a zigzag of 6, and of 50
    assert raised.value.code in ("unknown_code", "invalid_value")
