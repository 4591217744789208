"""The site of 300 messages against rendering one of its pages 300 times: CPU, as a ratio inside one run.

`--quick`: one round, for the tests.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "generator"))

from wiregen.generate.emitter import render  # noqa: E402
from wiregen.generate.frontend import load_protocol  # noqa: E402
from wiregen.generate.writer import Output  # noqa: E402
from wiregen.language.diagnostics import Report  # noqa: E402
from wiregen.language.source import Sources  # noqa: E402
from wiregen.site.pages.chapter import Book, Chapter  # noqa: E402
from wiregen.site.pages.declarations import message_page, wire_text  # noqa: E402
from wiregen.site.pages.page_paths import DOCUMENT  # noqa: E402
from wiregen.site.pages.site import build_site  # noqa: E402

GOAL = 10.0
N_MESSAGES = 300
MOST_BYTES = 60 * 1024

HEAD = """
/// Many messages, for a measurement.
protocol many { source "None" endian big roles asker, answerer }
limits { frame = 64 KiB }
/// What all have in front.
frame Frame {
  type   : u16 := code(body)
  length : u32 := size(body)
  body   : match type in length
}
/// A name and its value.
struct Pair { key : utf8[u16]  value : utf8[u16] }
/// How sure.
enum Grade : u8 { LOW = 0  HIGH = 1 }
rule bounded "Counts are at most 1000." { source "Section 2" }
"""

MESSAGE = """
/// What `Message{n}` says of item {n}: enough to fill a page.
message Message{n} {n} from {role} @source("Section {n}") {{
  /// Whose it is.
  id      : u64
  grade   : Grade = LOW
  /// Counted from 1.
  count   : u16 where count <= 1000 @rule(bounded)
  name    : utf8[u16]
  pairs   : Pair[u16]
  data    : bytes[u32]
  flag    : bool
}}
"""


def chapter(n_messages: int) -> Chapter:
    """Return a protocol of so many messages, checked."""
    roles = ("asker", "answerer")
    text = HEAD + "".join(MESSAGE.format(n=n, role=roles[n % 2]) for n in range(1, n_messages + 1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "many.wire")
        path.write_text(text, encoding="utf-8")
        sources, report = Sources(), Report()
        subject = load_protocol(path, sources, report, ())
    assert subject is not None, [each.message for each in report.diagnostics]

    def text_of(place: str) -> str:
        span = subject.origins.get(place)
        return "" if span is None else wire_text(sources[span.source].text, span.start, span.end)

    return Chapter(protocol=subject.protocol, text_of=text_of)


def seconds(action: Callable[[], object], n_rounds: int) -> float:
    """Return the least CPU seconds of several rounds."""
    taken = []
    for _ in range(n_rounds):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> int:
    n_rounds = 1 if "--quick" in sys.argv else 3
    made = chapter(N_MESSAGES)
    book = Book(made)
    view = message_page(book, book.protocol.messages[0])
    render("docs/message.html.jinja", view)  # compiled once, on either side
    build_site([chapter(1)])

    def pages() -> None:
        for _ in range(N_MESSAGES):
            render("docs/message.html.jinja", view)

    outputs: tuple[Output, ...] = ()

    def whole() -> None:
        nonlocal outputs
        outputs = build_site([made])

    one, site = seconds(pages, n_rounds), seconds(whole, n_rounds)
    size = sum(len(output.content) for output in outputs)
    single = (each for each in outputs if each.path.suffix == ".html" and each.path.stem != DOCUMENT)
    largest = max(len(output.content) for output in single)
    print(f"site of {N_MESSAGES} messages, {size / 2**20:.1f} MiB")
    print(f"  one page, {N_MESSAGES} times  {one:.3f} s CPU")
    print(f"  the whole site        {site:.3f} s CPU")
    print("goals")
    print(f"  site / pages  {site / one:.1f}  (at most {GOAL:.0f})")
    print(f"  largest page  {largest / 1024:.1f} KiB  (at most {MOST_BYTES // 1024})")
    return 0 if site <= GOAL * one and largest <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
