"""Vectors of lists whose items choose among many arms: as many branches as there are options, not as their orders."""

from __future__ import annotations

from pathlib import Path

from wiregen.conformance.samples import Exploration, SampleBasis, SampleValue, explore
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

ARMS = 7
TEXT = f"""wire 1
protocol p {{ source "no document" endian big roles a, b }}
frame F {{ type : u8 := code(body)  length : u16 := size(body)  body : match type in length }}
struct Record {{
  kind : u8 where kind < {ARMS}
  size : u8 := size(data)
  data : match kind {{ {"  ".join(f"{n} => u8[{n}]" for n in range(ARMS - 1))}  _ => bytes[] }} in size
}}
message M 1 {{ n : u8 := count(first)  m : u8 := count(second)  first : Record[n]  second : Record[m] }}
"""


def test_orders_of_the_arms_of_items_are_not_branches(tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(TEXT, encoding="utf-8")
    report = Report()
    subject = load_protocol(path, Sources(), report, (tmp_path,))
    assert subject is not None
    package = make(subject, ("native",), report)
    assert package is not None
    found, taken = Exploration(), 0

    def take(_: SampleValue) -> bool:
        nonlocal taken
        taken += 1
        return True

    explore(SampleBasis(schema=package.schema), take, found, role="a")
    assert {f"Record.data arm {n}" for n in range(1, ARMS + 1)} <= {*found.covered}
    assert taken < 300
