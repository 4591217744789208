"""A plain relay of asyncio, for `bench_proxy.py`: it forwards both directions, and does nothing else."""

from __future__ import annotations

import asyncio
import sys

CHUNK = 64 << 10


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def main(target: int) -> None:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", target, limit=CHUNK)
        await asyncio.gather(pump(reader, other_writer), pump(other_reader, writer))
        writer.close()
        other_writer.close()

    server = await asyncio.start_server(relay, "127.0.0.1", 0, limit=CHUNK)
    print(f"listening on 127.0.0.1 port {server.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
