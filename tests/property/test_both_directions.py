"""Two frames by role, contexts that one direction sets for the other, a preamble: read as they come, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.property.codecs import Codecs
from tests.property.schemas import built

TEXT = (Path(__file__).parent / "both_directions.wire").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    with built(TEXT, tmp_path_factory.mktemp("both"), "both_directions") as found:
        yield found


def test_a_conversation_is_read_byte_by_byte(codecs: Codecs) -> None:
    p = codecs.module
    context = p.Context()
    context.restore({"sizes": [["a", 2, 3]], "kinds": []})
    sent = [
        ("a", p.Hi(3, "me"), p.Hi(3, "me").encode()),
        ("a", setup := p.Req(p.Setup(3, 1, True), key=2), p.encode(setup)),
        ("a", data := p.Req(p.Data(2, b"abc"), key=1), p.encode(data, context=context, from_role="a")),
        ("b", answer := p.Resp(p.One(1, []), key=2), p.encode(answer)),
        ("b", other := p.Resp(p.Fail("no"), key=9, status=2), p.encode(other)),
    ]
    context.restore({"sizes": [], "kinds": []})
    chunks = [(role, bytes([byte])) for role, _, octets in sent for byte in octets]
    kinds = [(role, frame) for role, frame in p.decode_conversation(chunks)]
    assert [role for role, _ in kinds] == ["a", "a", "a", "b", "b"]
    assert [type(frame).__name__ for _, frame in kinds] == ["Hi", "Req", "Req", "Resp", "Resp"]
    assert [frame for _, frame in kinds][:3] == [frame for _, frame, _ in sent][:3]
    assert kinds[4][1] == other


def test_a_secret_is_not_shown(codecs: Codecs) -> None:
    assert "me" not in repr(codecs.module.Hi(3, "me")).replace("name", "")


def test_what_no_request_explains_is_kept_where_its_end_is_known(codecs: Codecs) -> None:
    p = codecs.module
    octets = p.encode(p.Resp(p.One(1, []), key=77))
    assert p.decode(octets, from_role="b").message == p.Unknown(None, octets[7:12])
    with pytest.raises(p.DecodeError) as error:
        p.decode(octets, from_role="b", strict=True)
    assert error.value.code == "missing_context"
