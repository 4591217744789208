"""A captured session on the screen, and its bytes encoded again from the decoded frames."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CAPTURE = HERE / "captures" / "pylogbeat-unicode.pcap"
SENT = HERE / "captures" / "pylogbeat-unicode.writer.bin"
WIREGEN = Path(sys.executable).parent / "wiregen"

NEXT = """
what to try next
  .venv/bin/wiregen decode lumberjack --pcap examples/captures/npm-w10-plain.pcap
  .venv/bin/wiregen decode lumberjack --hex '32 57 0000000a'
  .venv/bin/wiregen decode lumberjack --pcap YOUR.pcap --port 5044
  the protocol itself: idl/lumberjack.wire; what came of it: generated/python/wireproto/lumberjack/
"""


def main() -> int:
    """Decode, encode again, compare; return 1 if the bytes differ."""
    show_tree()
    lines = decoded_lines()
    with tempfile.TemporaryDirectory() as folder:
        made = encoded(lines, Path(folder))
    sent = SENT.read_bytes()
    if made != sent:
        print(f"the bytes differ: {len(sent)} were sent, {len(made)} were made", file=sys.stderr)
        return 1
    print(
        f"{len(sent)} bytes from the client, decoded to {len(lines)} lines, encoded again: the bytes are the same"
    )
    print(NEXT, end="")
    return 0


def show_tree() -> None:
    """Print the capture as people read it."""
    print(f"$ wiregen decode lumberjack --pcap examples/captures/{CAPTURE.name} --format tree", flush=True)
    wiregen("decode", "lumberjack", "--pcap", str(CAPTURE), "--format", "tree", output=None)
    print(flush=True)


def decoded_lines() -> list[bytes]:
    """Return the client's frames, one JSON line each; the server's acknowledgements are the other stream."""
    lines = wiregen("decode", "lumberjack", "--pcap", str(CAPTURE), "--format", "jsonl").splitlines()
    return [line for line in lines if json.loads(line)["from"] == "writer"]


def encoded(lines: list[bytes], folder: Path) -> bytes:
    """Return the bytes that `wiregen encode` makes of the lines."""
    source, target = folder / "frames.jsonl", folder / "frames.bin"
    source.write_bytes(b"\n".join(lines) + b"\n")
    wiregen("encode", "lumberjack", str(source), "-o", str(target))
    return target.read_bytes()


def wiregen(*arguments: str, output: int | None = subprocess.PIPE) -> bytes:
    """Return the output of the command; with `output` None it goes to the screen."""
    return subprocess.run([WIREGEN, *arguments], check=True, stdout=output).stdout or b""


if __name__ == "__main__":
    sys.exit(main())
