"""Protocols of `n` declarations of one kind: each family gives the text of a .wire file that grows with `n` and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

_HEAD = """\
wire 1
/// A protocol that is large in one way.
protocol large {
  source "a file made for measuring"
  endian big
  roles  client, server
}
"""
_FRAME = """\
/// A frame.
frame Frame {
  type : u16 := code(body)
  body : match type
}
"""
_FIRST = """\
/// The first message.
message First 0 {
  number : u32
}
"""
_LIMITS = """\
limits {
  /// The longest frame.
  frame = 1 MiB
}
"""


def structs(n: int) -> str:
    """Return a protocol of `n` structs, each a field of one message."""
    declared = _lines(f"/// Struct {i}.\nstruct S{i} {{\n  a : u32\n  b : u8\n}}" for i in range(n))
    fields = _lines(f"  s{i} : S{i}" for i in range(n))
    return f"{_HEAD}{_LIMITS}{_FRAME}{declared}/// Holds them.\nmessage Holder 1 {{\n{fields}}}\n"


def unused_structs(n: int) -> str:
    """Return a protocol of `n` structs that no message holds."""
    declared = _lines(f"/// Struct {i}.\nstruct S{i} {{\n  a : u32\n}}" for i in range(n))
    return f"{_HEAD}{_FRAME}{_FIRST}{declared}"


def enum_members(n: int) -> str:
    """Return a protocol with an enum of `n` members."""
    members = _lines(f"  M{i} = {i}" for i in range(n))
    return f"{_HEAD}{_FRAME}/// Kinds.\nenum Kind : u32 {{\n{members}}}\n/// Holds it.\nmessage Holder 1 {{\n  kind : Kind\n}}\n"


def bit_flags(n: int) -> str:
    """Return a protocol with `n` enums of two members, each a field of one message."""
    declared = _lines(f"/// Enum {i}.\nenum E{i} : u8 {{ OFF{i} = 0  ON{i} = 1 }}" for i in range(n))
    fields = _lines(f"  e{i} : E{i} = ON{i}" for i in range(n))
    return f"{_HEAD}{_FRAME}{declared}/// Holds them.\nmessage Holder 1 {{\n{fields}}}\n"


def alternatives(n: int) -> str:
    """Return a protocol with a union of `n` alternatives."""
    inner = _lines(f"  V{i} {i} : u{8 * (1 + i % 4)}" for i in range(n))
    return f"{_HEAD}{_FRAME}/// A value.\nunion Value : u32 {{\n{inner}}}\n/// Holds it.\nmessage Holder 1 {{\n  value : Value\n}}\n"


def messages(n: int) -> str:
    """Return a protocol of `n` messages with codes."""
    declared = _lines(f"/// Message {i}.\nmessage Message{i} {i} {{\n  number : u32\n}}" for i in range(n))
    return f"{_HEAD}{_FRAME}{declared}"


def messages_of_roles(n: int) -> str:
    """Return a protocol of `n` messages, half of them from each role."""
    roles = ("client", "server")
    declared = _lines(
        f"/// Message {i}.\nmessage Message{i} {i // 2} from {roles[i % 2]} {{\n  number : u32\n}}"
        for i in range(n)
    )
    return f"{_HEAD}{_FRAME}{declared}"


def fields(n: int) -> str:
    """Return a protocol with a message of `n` fields."""
    inner = _lines(f"  f{i} : u{8 * (1 + i % 4)}" for i in range(n))
    return f"{_HEAD}{_FRAME}/// Holds them.\nmessage Holder 1 {{\n{inner}}}\n"


def sized_fields(n: int) -> str:
    """Return a protocol with a message of `n` texts with their lengths."""
    inner = _lines(f"  f{i} : utf8[u16]" for i in range(n))
    return f"{_HEAD}{_LIMITS}{_FRAME}/// Holds them.\nmessage Holder 1 {{\n{inner}}}\n"


def conditional_fields(n: int) -> str:
    """Return a protocol with a message of `n` fields that depend on one field, with a requirement each."""
    inner = _lines(f"  f{i} : u16 if kind == {i} where f{i} < {i + 2}" for i in range(n))
    return f"{_HEAD}{_FRAME}/// Holds them.\nmessage Holder 1 {{\n  kind : u16\n{inner}}}\n"


def derived_fields(n: int) -> str:
    """Return a protocol with a message of `n` lengths and, after them, `n` runs of bytes."""
    lengths = _lines(f"  n{i} : u16 := size(b{i})" for i in range(n))
    runs = _lines(f"  b{i} : bytes[n{i}]" for i in range(n))
    return f"{_HEAD}{_LIMITS}{_FRAME}/// Holds them.\nmessage Holder 1 {{\n{lengths}{runs}}}\n"


def aliases(n: int) -> str:
    """Return a protocol of `n` type aliases, in chains of ten."""
    declared = _lines(f"/// Alias {i}.\ntype A{i} = {f'A{i - 1}' if i % 10 else 'u16'}" for i in range(n))
    inner = _lines(f"  f{i} : A{i}" for i in range(9, n, 10))
    return f"{_HEAD}{_FRAME}{declared}/// Holds them.\nmessage Holder 1 {{\n{inner}}}\n"


def constants(n: int) -> str:
    """Return a protocol of `n` constants, each said by means of the one before."""
    declared = _lines(f"/// Constant {i}.\nconst C{i} = {f'C{i - 1} + 1' if i % 60 else i}" for i in range(n))
    inner = _lines(f"  f{i} : u32 = C{i}" for i in range(0, n, 8))
    return f"{_HEAD}{_FRAME}{declared}/// Holds them.\nmessage Holder 1 {{\n{inner}}}\n"


def constants_backwards(n: int) -> str:
    """Return a protocol of `n` constants, each said by means of the one after."""
    declared = _lines(
        f"/// Constant {i}.\nconst C{i} = {f'C{i + 1} + 1' if i % 60 != 59 and i + 1 < n else i}"
        for i in range(n)
    )
    return f"{_HEAD}{_FRAME}{_FIRST}{declared}"


def rows(n: int) -> str:
    """Return a protocol with a session of one state and `n` rows, each about a message with another value."""
    inner = _lines(f"    client First when number == {i} => {{}}" for i in range(n))
    return f"{_HEAD}{_FRAME}{_FIRST}/// A session.\nsession Talk {{\n  state open {{\n{inner}    any any => {{}}\n  }}\n}}\n"


def states(n: int) -> str:
    """Return a protocol with a session of `n` states, each leading to the next."""
    inner = _lines(
        f"  state s{i} {{\n    client First => s{(i + 1) % n}\n    any any => {{}}\n  }}" for i in range(n)
    )
    return f"{_HEAD}{_FRAME}{_FIRST}/// A session.\nsession Talk {{\n{inner}}}\n"


def rows_of_messages(n: int) -> str:
    """Return a protocol of `n` messages and a session with a row for each."""
    inner = _lines(f"    client Message{i} => {{ last = {i} }}" for i in range(n))
    return f"{messages(n)}/// A session.\nsession Talk {{\n  var last : u32 = 0\n  state open {{\n{inner}    any any => {{}}\n  }}\n}}\n"


def variables(n: int) -> str:
    """Return a protocol with a session of `n` variables and a row that sets each."""
    declared = _lines(f"  var v{i} : u32 = 0" for i in range(n))
    inner = _lines(f"    client First when v{i} < number => {{ v{i} = number }}" for i in range(n))
    return f"{_HEAD}{_FRAME}{_FIRST}/// A session.\nsession Talk {{\n{declared}  state open {{\n{inner}    any any => {{}}\n  }}\n}}\n"


def sessions(n: int) -> str:
    """Return a protocol of `n` sessions."""
    declared = _lines(
        f"/// Session {i}.\nsession Talk{i} {{\n  state open {{\n    any any => {{}}\n  }}\n}}"
        for i in range(n)
    )
    return f"{_HEAD}{_FRAME}{_FIRST}{declared}"


def rules(n: int) -> str:
    """Return a protocol of `n` rules, each named by a field, and `n` ledgers about it."""
    declared = _lines(f'rule rule_{i} "A number is below {i + 1}." {{ source "here" }}' for i in range(n))
    entries = _lines(
        f'ledger {i} "open {i}" {{\n  document "a"\n  peers "b"\n  decision "c"\n  reason "d"\n  about Holder\n}}'
        for i in range(n)
    )
    inner = _lines(f"  f{i} : u32 where f{i} < {i + 1} @rule(rule_{i})" for i in range(n))
    return f"{_HEAD}{_FRAME}/// Holds them.\nmessage Holder 1 {{\n{inner}}}\n{declared}{entries}"


def documentation(n: int) -> str:
    """Return a protocol with `n` lines of documentation on one message, and on one field."""
    lines = _lines(f"/// Line {i} of the `Holder`." for i in range(n))
    return f"{_HEAD}{_FRAME}{lines}message Holder 1 {{\n{lines}  number : u32\n}}\n"


def comments(n: int) -> str:
    """Return a protocol with `n` lines of comments."""
    return f"{_HEAD}{_FRAME}{_lines(f'// Comment {i}.' for i in range(n))}{_FIRST}"


def arms(n: int) -> str:
    """Return a protocol with a match of `n` arms."""
    inner = _lines(f"    {i} => u{8 * (1 + i % 4)}" for i in range(n))
    return f"{_HEAD}{_FRAME}/// Holds it.\nmessage Holder 1 {{\n  kind : u32\n  value : match kind {{\n{inner}    _ => u8\n  }}\n}}\n"


def arms_of_an_enum(n: int) -> str:
    """Return a protocol with a match over an enum of `n` members, one arm for each."""
    members = _lines(f"  M{i} = {i}" for i in range(n))
    inner = _lines(f"    M{i} => u{8 * (1 + i % 4)}" for i in range(n))
    held = f"message Holder 1 {{\n  kind : Kind\n  value : match kind {{\n{inner}  }}\n}}\n"
    return f"{_HEAD}{_FRAME}/// Kinds.\nenum Kind : u32 {{\n{members}}}\n/// Holds it.\n{held}"


def reserved(n: int) -> str:
    """Return a protocol with `n` ranges of reserved codes, of an enum and of the messages."""
    ranges = _lines(f'  reserved {4 * i + 2} .. {4 * i + 3} "range {i}"' for i in range(n))
    settings = _HEAD.replace("}\n", ranges + "}\n")
    return f"{settings}{_FRAME}{_FIRST}/// Kinds.\nenum Kind : u32 {{\n  M = 0\n{ranges}}}\n/// Holds it.\nmessage Holder 1 {{\n  kind : Kind\n}}\n"


def codings(n: int) -> str:
    """Return a protocol of `n` integers in several widths, each a field of one message."""
    declared = _lines(
        f"/// Coding {i}.\ncoding N{i} : u8 {{ 0 .. 0xFC  0xFE => u16  0xFF => u32 }}" for i in range(n)
    )
    fields_ = _lines(f"  f{i} : N{i}" for i in range(n))
    return f"{_HEAD}{_FRAME}{declared}/// Holds them.\nmessage Holder 1 {{\n{fields_}}}\n"


def contexts(n: int) -> str:
    """Return a protocol of `n` contexts that one message sets and another one reads."""
    declared = _lines(
        f"/// Context {i}.\ncontext c{i} : u32 per id {{ set First.number  clear Holder }}" for i in range(n)
    )
    inner = _lines(f"  f{i} : bytes[c{i}[id]]" for i in range(n))
    first = _FIRST.replace("number : u32", "id : u8\n  number : u32")
    return f"{_HEAD}{_LIMITS}{_FRAME}{first}/// Holds them.\nmessage Holder 1 {{\n  id : u8\n{inner}}}\n{declared}"


def examples(n: int) -> str:
    """Return a protocol of `n` examples."""
    declared = _lines(f'example "number {i}" First({i}) = x"0000 {i:08x}"' for i in range(n))
    return f"{_HEAD}{_FRAME}{_FIRST}{declared}"


def expression(n: int) -> str:
    """Return a protocol with a requirement of `n` terms in lists of twenty."""
    lists = _lines(
        f"  where number not in [{', '.join(str(20 * i + j) for j in range(20))}]" for i in range(n // 20)
    )
    return f"{_HEAD}{_FRAME}/// Holds it.\nmessage Holder 1 {{\n  number : u32\n{lists}}}\n"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


FAMILIES: Final[Mapping[str, Callable[[int], str]]] = {
    each.__name__.replace("_", " "): each
    for each in (
        structs, unused_structs, enum_members, bit_flags, alternatives, messages, messages_of_roles, fields, sized_fields,
        conditional_fields, derived_fields, aliases, constants, constants_backwards, rows, states, rows_of_messages, variables,
        sessions, rules, documentation, comments, arms, arms_of_an_enum, reserved, codings, contexts, examples, expression,
    )
}  # fmt: skip
