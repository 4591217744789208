"""Servers that read Lumberjack events and acknowledge each window, for `bench_receiver.py`: `python receivers.py NAME`."""

from __future__ import annotations

import asyncio
import struct
import sys
import zlib

HEAD = struct.Struct(">II")


async def by_hand(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The least that keeps the protocol's framing: no limits, no sessions, no errors but those of Python."""
    left, sequence, events = 0, 0, []
    try:
        while True:
            kind = (await reader.readexactly(2))[1]
            if kind == 0x57:
                left = int.from_bytes(await reader.readexactly(4), "big")
                continue
            if kind == 0x43:
                size = int.from_bytes(await reader.readexactly(4), "big")
                body = zlib.decompress(await reader.readexactly(size))
                position = 0
                while position < len(body):
                    sequence, size = HEAD.unpack_from(body, position + 2)
                    position += 10 + size
                    events.append(body[position - size : position])
                    left -= 1
            else:
                sequence, size = HEAD.unpack(await reader.readexactly(8))
                events.append(await reader.readexactly(size))
                left -= 1
            if left == 0:
                events = []
                writer.write(b"2A" + sequence.to_bytes(4, "big"))
                await writer.drain()
    except asyncio.IncompleteReadError:
        writer.close()


async def main(name: str) -> None:
    if name == "by_hand":
        server = await asyncio.start_server(by_hand, "127.0.0.1", 0, limit=1 << 20)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()
    from wireproto import lumberjack as lj
    from wireproto.lumberjack import aio

    async def handle(peer: aio.Peer) -> None:
        transfer = peer.connection.transfer
        async for frame in peer:
            match frame.message:
                case lj.Compressed(frames=frames):
                    await peer.send(lj.Ack(frames[-1].message.sequence))
                case lj.Json(sequence=sequence) if transfer.left == 0 and not peer.n_waiting:
                    await peer.send(lj.Ack(sequence))

    listening = await aio.serve(handle, "127.0.0.1", 0)
    print(listening.port, flush=True)
    await listening.wait_closed()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
