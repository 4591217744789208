"""A context that remembers the code of a frame, where the frame's message has no layout or no code."""

from __future__ import annotations

from pathlib import Path

from tests.property.codecs import Wishes
from tests.property.schemas import built

TEXT = """
protocol p { source "no document"  endian big  roles client, server }
limits { frame = 4 KiB  open = 10 }
frame Request from client { xid : u8  type : u8 := code(body)  body : match type in u8 }
frame Reply from server { xid : u8  body : match asked[xid] { 1 => Pong  _ => Empty } }
message Ping 1 from client { }
message Pong from server { x : u8 }
message Empty from server { }
context asked : u8 per xid from client { set Request.type  clear Reply }
"""


def test_the_code_of_a_message_without_a_layout_is_remembered_as_it_was_read(tmp_path: Path) -> None:
    with built(TEXT, tmp_path, "contexts_of_unknown_codes") as codecs:
        p, told = codecs.module, Wishes(from_role="client")
        data = bytes.fromhex("01 63 00")
        assert codecs.compiled(data, told) == codecs.reference(data, told)
        context = p.Context()
        (frame,) = p.Decoder(from_role="client", context=context).feed(data)
        assert frame.message == p.Unknown(0x63, b"")
        (reply,) = p.Decoder(from_role="server", context=context).feed(b"\x01")
        assert reply.message == p.Empty()
        assert codecs.compiled_items([data], told) == codecs.reference_items([data], told)
