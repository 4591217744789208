"""The playground: pasted text becomes bytes, bytes become trees, a changed field becomes other bytes, and
no input hangs it.
"""

from __future__ import annotations

import base64
import importlib
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.docs_sites import SHIPPED, loaded, shipped_chapter

from wiregen.conformance.vectors.format import Invalid, Valid
from wiregen.schema import model as m
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.declarations import message_page
from wiregen.site.playground.pasted_dumps import dump_of
from wiregen.site.playground.pasted_text import MOST_BYTES, TextError, bytes_of, pasted
from wiregen.site.playground.questions import Questions
from wiregen.site.playground.worker import Workshop

ROOT = Path(__file__).resolve().parents[3]
DATA = bytes(range(40))
WINDOW = "32 57 0000000a"


def protocol(name: str) -> m.Protocol:
    return shipped_chapter(name).protocol


QUESTIONS = Questions(SHIPPED, protocol)


def look(name: str, text: str, **more: Any) -> dict[str, Any]:
    return QUESTIONS.answer({"kind": "look", "protocol": name, "text": text, **more})


def asked(state: str) -> dict[str, Any]:
    """Return the question that the page asks for a link."""
    known = json.loads(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
    return {
        "protocol": known["p"], "role": known["r"], "form": known["f"], "text": known["t"], "before": known["b"], "asides": known["o"],
    }  # fmt: skip


# ---- texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("32 57 0000000a", "32570000000a", id="digits"),
        pytest.param("0x3257", "3257", id="prefixed"),
        pytest.param("0x32, 0x57,\n0x0", "325700", id="a list of a program"),
        pytest.param("\\x32\\x57\\x00", "325700", id="escapes of a program"),
        pytest.param(base64.b64encode(DATA).decode(), DATA.hex(), id="base64"),
        pytest.param(base64.urlsafe_b64encode(b"\xfb\xff\xfe?").decode().rstrip("="), "fbfffe3f", id="base64 of links"),
        pytest.param("00000000: 3257 0000 000a                           2W....", "32570000000a", id="xxd"),
        pytest.param("0000  32 57 00 00 00 0a                                 2W....", "32570000000a", id="Wireshark"),
        pytest.param("00000000  32 57 00 00 00 0a 00 01  02 03                    |2W........|\n0000000a", "32570000000a00010203", id="hexdump -C"),
        pytest.param("32:57:00:00:00:0a", "32570000000a", id="colons"),
        pytest.param("32-57-00-00-00-0A", "32570000000a", id="dashes"),
        pytest.param("%32%57%00", "325700", id="per cent"),
        pytest.param("32 57; 00 00;", "32570000", id="semicolons"),
        pytest.param("unsigned char data[6] = {\n  0x32, 0x57, 0x00, /* 2W. \"x\" */\n  0x00, 0x00, 0x0a // end\n};\nunsigned int data_len = 6;", "32570000000a", id="xxd -i"),
        pytest.param('"\\x32\\x57\\x00\\x00" \\\n"\\x00\\x0a"', "32570000000a", id="Wireshark's escaped string"),
        pytest.param('const char *data = "2W\\0\\0\\0\\n";', "32570000000a", id="string of C"),
        pytest.param("b'2W\\x00\\x00\\x00\\n'", "32570000000a", id="repr of Python"),
        pytest.param("data = bytes.fromhex('32 57 00'\n    '00 00 0a')", "32570000000a", id="fromhex of Python"),
        pytest.param('base64.b64decode("MlcAAAAK")', "32570000000a", id="b64decode of Python"),
        pytest.param("[50, 87, 0, 0, 0, 10]", "32570000000a", id="list of Python"),
        pytest.param("Uint8Array(6) [50, 87, 0, 0, 0, 10]", "32570000000a", id="array of JavaScript"),
        pytest.param("<Buffer 32 57 00 00 00 0a>", "32570000000a", id="buffer of Node.js"),
        pytest.param("new byte[] {50, 87, 0, 0, 0, (byte) 0xfe, -1}", "3257000000feff", id="array of Java"),
        pytest.param("[]byte{0x32, 0x57, 0x0,}", "325700", id="slice of Go"),
        pytest.param("&[0x32u8, 0x57, 0]", "325700", id="slice of Rust"),
        pytest.param("\t0x0000:  3257 0000 000a                           2W....", "32570000000a", id="tcpdump -X"),
        pytest.param("000000 32 57 00 00 00 0a\n000006", "32570000000a", id="od -Ax -tx1"),
        pytest.param("0000000 32 57 00 00 00 0a\n0000006", "32570000000a", id="od -tx1"),
        pytest.param("0000000    32  57  00  00  00  0a                                \n0000006", "32570000000a", id="od -tx1 of macOS"),
        pytest.param("0000000 5732 0000 0a00                              \n0000006", "32570000000a", id="hexdump"),
        pytest.param("0000000 5732 0000 0061\n0000005", "3257000061", id="hexdump of an odd number of bytes"),
        pytest.param("0000000      5732    0000    0a00\n0000006", "32570000000a", id="od -x of macOS"),
        pytest.param("0000000 053462 000000 005000\n0000006", "32570000000a", id="od"),
        pytest.param("0000   32 57 00 00 00 0a 00 00 00 00 00 00 00 00 00 01\n0010   61", "32570000000a0000000000000000000161", id="Wireshark without characters"),
        pytest.param("0000   32 57 00 00 00 0a\n\n0000   32 57 00 00 00 0b", "32570000000a32570000000b", id="Wireshark, two packets"),
        pytest.param("0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000020 5732\n0000022", "00" * 32 + "3257", id="hexdump with equal lines"),
        pytest.param("0000000000000000 32 57 00 00 00 0A                               2W...", "32570000000a", id="Format-Hex of PowerShell"),
        pytest.param("00000000 0000003b 0000000000000005", "000000000000003b0000000000000005", id="digits in groups"),
        pytest.param("00000000 32 57  00 00", "0000000032570000", id="digits in groups of groups"),
        pytest.param("00000001 61\n00000002 62", "00000001610000000262", id="digits in lines"),
        pytest.param("MlcAAAAK\nMlcAAAAK\n", "32570000000a32570000000a", id="base64 in lines"),
        pytest.param("", "", id="nothing"),
    ],
)  # fmt: skip
def test_pasted_text_is_bytes(text: str, expected: str) -> None:
    assert bytes_of(text).hex() == expected


DUMPS = (
    "xxd", "xxd -g1", "xxd -g4", "xxd -b", "hexdump", "hexdump -C", "od", "od -b", "od -x", "od -t x1", "od -A x -t x1", "od -A x -t x1z",
    "od -A d -t x1", "od -A x -t x2", "od -t x4", "od -t x8",
)  # fmt: skip


@pytest.mark.parametrize("command", DUMPS)
@pytest.mark.parametrize("form", ["auto", "hexdump"])
def test_dumps_of_the_usual_tools_are_read(command: str, form: str) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"there is no {command}")
    for data in (DATA, b"AB CD  EF 01 02", bytes(range(0x30, 0x50)), b"a" * 7, b"a" * 15, bytes(32) + b"2W"):
        dump = subprocess.run(command.split(), input=data, capture_output=True, check=True).stdout.decode()
        assert bytes_of(dump, form) == data, dump


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("32 57", "auto", "hex"),
        ("MlcAAAAK", "auto", "Base64"),
        ("00000000: 3257", "auto", "a hexdump"),
        ("0000000 5732\n0000002", "auto", "a hexdump of 16-bit words, little-endian"),
        ("[50, 87]", "auto", "text of a program"),
        ("hello world", "base64", "Base64"),
    ],
)
def test_how_a_text_was_read_is_said(text: str, form: str, expected: str) -> None:
    assert pasted(text, form).read_as == expected
    assert look("lumberjack", text, form=form)["read_as"] == expected


KNOWN = "neither hex, nor a hexdump, nor text of a program, nor Base64"


@pytest.mark.parametrize(
    ("text", "form", "expected", "fitting"),
    [
        ("00000000: 3257 0000 000a   2W....", "hex", "not hex; it looks like a hexdump", "hexdump"),
        ("MlcAAAAK", "hexdump", "not a hexdump; it looks like Base64", "base64"),
        ("[50, 87]", "hex", "not hex; it looks like text of a program", "program"),
        ("32 57", "program", "not text of a program; it looks like hex", "hex"),
        ("hello world", "auto", f"{KNOWN}; it looks like words; in quotes their characters are read", None),
        ("password", "auto", f"{KNOWN}; it looks like words; in quotes their characters are read", "base64"),
        ("face ad hoc", "auto", f"{KNOWN}; it looks like words; in quotes their characters are read", None),
        ("32 5", "auto", f"{KNOWN}; it looks like hex with an odd number of digits: 3", None),
        ("32 57\n00 0g", "auto", f"{KNOWN}; line 2 is not hex from column 5: `g`", None),
        ("0x123 4", "hex", "not hex; its groups are not pairs of hexadecimal digits", None),
        ("hello world!", "base64", "not Base64; it looks like words; in quotes their characters are read", None),
    ],
)  # fmt: skip
def test_an_error_says_what_the_text_looks_like(
    text: str, form: str, expected: str, fitting: str | None
) -> None:
    with pytest.raises(TextError) as caught:
        bytes_of(text, form)
    assert (str(caught.value), caught.value.fitting_form) == (expected, fitting)
    assert look("lumberjack", text, form=form) == {"wrong": expected} | (
        {"fitting_form": fitting} if fitting else {}
    )


def test_an_error_in_what_was_sent_before_names_it() -> None:
    answer = look("lumberjack", WINDOW, before=[{"role": "reader", "text": "password"}])
    assert answer == {
        "wrong": f"frames sent before: {KNOWN}; it looks like words; in quotes their characters are read"
    }


def test_a_dump_of_a_huge_number_of_equal_lines_is_none() -> None:
    row = " ".join(["00"] * 16)
    assert dump_of(f"00000000  {row}\n*\n7fffffff0", MOST_BYTES) is None


@given(st.binary(min_size=1, max_size=60))
def test_base64_that_is_not_digits_is_read(data: bytes) -> None:
    octets = b"\xff\xff\xff" + data  # four slashes
    assert bytes_of(base64.b64encode(octets).decode()) == octets


@pytest.mark.parametrize("digits", ["٠٠٠٠", "٠٠٠", "٠٠٠٠٠٠", "٠٠٠٠ ٠٠٠٠"])
def test_digits_of_other_scripts_are_no_bytes_of_a_dump(digits: str) -> None:
    with pytest.raises(TextError):
        pasted(f"0000000  {digits}")


@given(st.binary(min_size=1, max_size=60))
def test_digits_alone_are_never_a_dump(data: bytes) -> None:
    assert pasted(data.hex()).form == "hex" and bytes_of(data.hex(" ")) == data


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0", "hex"),
        ("0x32 0xg", "hex"),
        ("\\x3\\", "hex"),
        ("zz!", "auto"),
        ("0g", "hex"),
        ("a", "what"),
        ("'\\q'", "program"),
        ("[256]", "program"),
        ("x", "program"),
        ("00" * (MOST_BYTES + 1), "hex"),
    ],
)
def test_what_is_no_bytes_is_refused(text: str, form: str) -> None:
    with pytest.raises(TextError):
        bytes_of(text, form)


# ---- answers


def nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(below for child in node.get("children", []) for below in nodes(child))]


def test_bytes_are_a_tree() -> None:
    answer = look("lumberjack", WINDOW)
    (frame,) = answer["frames"]
    assert (frame["message"], frame["offset"], frame["size"], answer["hex"]) == (
        "Window",
        0,
        6,
        "32570000000a",
    )
    found = {leaf["path"]: (leaf["start"], leaf["end"], leaf.get("value")) for leaf in nodes(frame["tree"])}
    assert found["Window.size"] == (2, 6, "10")
    assert found["Frame.type"][:2] == (1, 2)
    assert {each["path"] for each in nodes(frame["tree"]) if each.get("can_edit")} == {
        "Frame.version",
        "Window.size",
    }
    assert "lj" not in frame["copies"]["command line"] and "--from writer" in frame["copies"]["command line"]
    vector = json.loads(frame["copies"]["vector"])
    assert (vector["bytes"], vector["frames"][0]["message"]) == ("32570000000a", "Window")
    exec(frame["copies"]["Python"], {})  # noqa: S102 - that it runs is the point


@pytest.mark.parametrize(
    ("name", "role", "text", "path", "part", "value", "note"),
    [
        ("lumberjack", "writer", WINDOW, "Frame.version", "version", "V2 (0x32)", None),
        ("lumberjack", "writer", WINDOW, "Frame.type", "type", "87 (0x57)", "Window, derived"),
        ("geode", "client", "6e 00000008 00000001 00 00 0003 01 0000 29 29 29", "Connect.mode", "mode", "WHOLE (0x6e)", None),
        ("pravega", "client", "ffffff81 00000008 0000000f 00000005", "Frame.type", "type", "-127 (0xffffff81)", "Hello, derived"),
    ],
)  # fmt: skip
def test_numbers_that_stand_for_something_are_in_hexadecimal_too(
    name: str, role: str, text: str, path: str, part: str, value: str, note: str | None
) -> None:
    tree = look(name, text, role=role)["frames"][0]["tree"]
    found = next(node for node in nodes(tree) if (node["path"], node["name"]) == (path, part))
    assert (found["value"], found.get("note")) == (value, note)


def test_codes_of_alternatives_are_in_hexadecimal_too() -> None:
    example = next(
        each for each in QUESTIONS.answer({"kind": "protocols"})["protocols"] if each["name"] == "geode"
    )
    frames = look("geode", example["example"], role=example["example_role"])["frames"]
    codes = [node["value"] for node in nodes(frames[1]["tree"]) if node["name"] == "code"]
    assert codes == ["57 (0x39)", "41 (0x29)", "87 (0x57)"]


def test_a_fault_shows_what_could_be_read() -> None:
    answer = look("lumberjack", f"{WINDOW} 32 44 00000001 00000001 00000003 61")
    good, bad = answer["frames"]
    assert good["message"] == "Window"
    assert (bad["fault"]["code"], bad["fault"]["path"]) == ("truncated", "Data.pairs[0].key")
    assert bad["fault"]["partial"]["fields"]["sequence"] == 1


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("writer", "324100000007", "reader"),
        ("reader", "324100000007", None),
        ("reader", WINDOW, "writer"),
        ("reader", "00", None),
        ("writer", f"{WINDOW} 324100000007", None),
    ],
)
def test_the_role_that_may_have_sent_the_bytes_is_named(role: str, text: str, expected: str | None) -> None:
    assert look("lumberjack", text, role=role).get("fitting_role") == expected


def test_a_changed_field_is_other_bytes() -> None:
    edit = QUESTIONS.answer
    text = f"{WINDOW} 32 57 00000001"
    question = {
        "kind": "edit",
        "protocol": "lumberjack",
        "text": text,
        "frame": 1,
        "path": "Window.size",
        "value": "0x",
    }
    assert "is not a number" in edit(question)["wrong"]
    assert edit({**question, "value": "258"})["hex"] == "32570000000a325700000102"
    assert edit({**question, "path": "Frame.version", "value": "V1"})["hex"] == "32570000000a315700000001"
    assert edit({**question, "value": str(2**40)})["wrong"]
    assert "nothing to change" in edit({**question, "path": "Window.no"})["wrong"]
    assert "no frame of this number" in edit({**question, "frame": 7})["wrong"]


def test_a_text_grows_and_its_length_with_it() -> None:
    from wireproto import lumberjack as lj

    data = lj.encode(lj.Data(1, [lj.Pair(key="line", value="hello")]), version=lj.Version.V1)
    question = {"kind": "edit", "protocol": "lumberjack", "text": data.hex(), "frame": 0}
    answer = QUESTIONS.answer({**question, "path": "Data.pairs[0].value", "value": "hello there"})
    message = lj.decode_message(bytes.fromhex(answer["hex"]))
    assert isinstance(message, lj.Data) and message.pairs[0].value == "hello there"


def test_what_was_sent_before_says_how_to_read() -> None:
    vectors = shipped_chapter("geode").vectors
    assert vectors is not None
    vector = next(
        each
        for each in vectors.vectors
        if isinstance(each, Valid) and len(each.before) > 1 and isinstance(each.bytes, str)
    )
    before = [{"role": sent.from_role, "text": sent.bytes} for sent in vector.before]
    answer = look("geode", str(vector.bytes), role=vector.from_role, before=before)
    assert "fault" not in answer["frames"][0], answer
    wrong = look("geode", "00", before=[{"role": "client", "text": "ffff"}])
    assert wrong["wrong"] and wrong["fault"]["code"]


def test_secrets_are_hidden() -> None:
    vectors = shipped_chapter("pravega").vectors
    assert vectors is not None
    vector = next(
        each
        for each in vectors.vectors
        if isinstance(each, Valid)
        and each.frames
        and each.frames[0].get("fields", {}).get("delegation_token")
    )
    answer = look("pravega", str(vector.bytes), role=vector.from_role)
    (frame,) = answer["frames"]
    assert "copies" not in frame and not any("can_edit" in each for each in nodes(frame["tree"]))
    (shown,) = [leaf for leaf in nodes(frame["tree"]) if leaf["name"] == "delegation_token"]
    assert shown["value"] == "··" and "children" not in shown


@pytest.mark.parametrize("name", SHIPPED)
def test_every_vector_is_shown_or_named_wrong(name: str) -> None:
    vectors = shipped_chapter(name).vectors
    assert vectors is not None
    joins = {join.name for join in protocol(name).joins}
    for vector in vectors.vectors[::7]:
        if (
            not isinstance(vector, Valid | Invalid)
            or not isinstance(vector.bytes, str)
            or vector.variant
            or vector.limits
            or vector.strict
        ):
            continue
        if not all(isinstance(sent.bytes, str) for sent in vector.before):
            continue
        before = [{"role": sent.from_role, "text": sent.bytes} for sent in vector.before]
        if len(before) > 8:
            continue
        answer = look(name, vector.bytes, role=vector.from_role, before=before)
        codes = [frame["fault"]["code"] for frame in answer["frames"] if "fault" in frame]
        left_open = [frame["left_open"] for frame in answer["frames"] if "left_open" in frame]
        assert all(each.split("[")[0] in joins for each in left_open), vector.id
        if left_open and isinstance(vector, Invalid):
            codes.append("truncated")  # where bytes end for good it is one
        assert codes == ([vector.error.code] if isinstance(vector, Invalid) else []), vector.id
        json.dumps(answer)


def test_a_capture_is_its_connections() -> None:
    capture = (ROOT / "examples" / "captures" / "npm-w10-plain.pcap").read_bytes()
    answer = connections(capture)
    [connection] = answer["connections"]
    opener, other = connection["sides"]
    assert not answer["is_cut"] and (opener["end"], other["end"]) == ("", "")
    frames = look("lumberjack", opener["hex"], role="writer")["frames"]
    assert [frame["message"] for frame in frames] == ["Window", *["Data"] * 10]
    assert look("lumberjack", other["hex"], role="reader")["frames"][0]["message"] == "Ack"
    spoken = [sum(size for side, size in connection["turns"] if side == each) for each in (0, 1)]
    assert spoken == [len(opener["hex"]) // 2, len(other["hex"]) // 2]


def test_the_first_part_of_a_capture_is_what_is_in_it() -> None:
    capture = (ROOT / "examples" / "captures" / "npm-w10-plain.pcap").read_bytes()
    [whole], [part] = (connections(data)["connections"] for data in (capture, capture[: len(capture) // 2]))
    long, short = (each["sides"][0]["hex"] for each in (whole, part))
    assert 0 < len(short) < len(long) and long.startswith(short)


def connections(capture: bytes) -> dict[str, Any]:
    return QUESTIONS.answer({"kind": "capture", "data": base64.b64encode(capture).decode()})


def test_what_the_other_side_said_meanwhile_says_how_to_read() -> None:
    """An id that is used again: each answer is read by the request before it, and not by the last one."""
    from wireproto import geode

    value = geode.GeodeValue.Integer(1)
    requests: list[Any] = [
        geode.PutRequest("r", value, geode.GeodeValue.Null(), geode.GeodeValue.Null()),
        geode.GetRequest("r", value, geode.GeodeValue.Null()),
    ]
    answers: list[Any] = [geode.PutResponse(True), geode.GetResponse(value)]
    context = geode.Context()
    said: list[tuple[Any, bytes]] = [("client", b"n")]
    for request, answer in zip(requests, answers, strict=True):
        turns: tuple[tuple[Any, Any], ...] = (("client", request), ("server", answer))
        for role, message in turns:
            data = geode.encode(message, correlation_id=7, from_role=role, context=context)
            geode.decode(data, from_role=role, context=context)
            said.append((role, data))
    own, asides = b"", []
    for role, data in said:
        if role == "server":
            own += data
        else:
            asides.append({"at": len(own), "role": role, "text": data.hex()})
    frames = look("geode", own.hex(), role="server", asides=asides)["frames"]
    assert [frame["message"] for frame in frames] == ["PutResponse", "GetResponse"]
    assert "--before client:" in frames[1]["copies"]["command line"]
    exec(frames[1]["copies"]["Python"], {})  # noqa: S102 - that it runs is the point
    question = {
        "kind": "edit",
        "protocol": "geode",
        "role": "server",
        "text": own.hex(),
        "asides": asides,
        "frame": 0,
    }
    changed = QUESTIONS.answer({**question, "path": "PutResponse.success", "value": "false"})
    assert [frame["message"] for frame in changed["frames"]] == ["PutResponse", "GetResponse"]
    assert bytes.fromhex(changed["hex"])[: len(said[2][1])] != said[2][1]


def of_capture(side: int) -> dict[str, Any]:
    """Return the question about one direction of a captured connection, with the other side's bytes in between."""
    [each] = connections((ROOT / "examples" / "captures" / "npm-w10-plain.pcap").read_bytes())["connections"]
    asides, at, roles = [], [0, 0], ("writer", "reader")
    for who, size in each["turns"]:
        if who != side:
            text = each["sides"][who]["hex"][2 * at[who] : 2 * (at[who] + size)]
            asides.append({"at": at[side], "role": roles[who], "text": text})
        at[who] += size
    return {"text": each["sides"][side]["hex"], "role": roles[side], "asides": asides}


@pytest.mark.parametrize("side", [0, 1])
def test_both_sides_of_a_connection_are_shown_in_their_order(side: int) -> None:
    answer = look("lumberjack", **of_capture(side), is_connection=True)
    own, [*others] = answer["frames"], answer["others"]
    assert (len(own), len(others)) == ((11, 1), (1, 11))[side]
    assert {each["after"] for each in others} == ({11}, {0})[side]
    assert {each["role"] for each in others} == ({"reader"}, {"writer"})[side]
    [ack] = (own, others)[1 - side]
    assert ack["steps"] == ["Transfer: waiting → idle"]
    assert not any("violations" in each for each in (*own, *others))
    assert not any("edit" in node for each in others for node in nodes(each["tree"]))


def test_violations_of_a_connection_are_shown() -> None:
    question = of_capture(0)
    early = [{**each, "at": 0} for each in question["asides"]]  # an answer before there is a question
    [ack] = look("lumberjack", **{**question, "asides": early}, is_connection=True)["others"]
    assert ack["after"] == 0
    assert len(ack["violations"]) == 1 and "[Transfer in idle]" in ack["violations"][0]
    assert "others" not in look("lumberjack", **question)


def test_a_field_of_few_values_has_them() -> None:
    text = "0000000c 0000003b 0000000000000005 0016 73686f702f6f72646572732f302e2365706f63682e30 01 00 00 "
    [frame] = look("pravega", f"{text}0000018bcfe56800 0000000000001000 0000000000000400", role="server")[
        "frames"
    ]
    found = {node["path"]: node["choices"] for node in nodes(frame["tree"]) if "choices" in node}
    assert len(found) == 3 and set(map(tuple, found.values())) == {("false", "true")}
    [frame] = look("lumberjack", "32570000000a", role="writer")["frames"]
    [version] = [node for node in nodes(frame["tree"]) if "choices" in node]
    assert (version["edit"], version["choices"], "is_open" in version) == ("V2", ["V1", "V2"], False)


@pytest.mark.parametrize("name", SHIPPED)
def test_examples_of_the_site_open_as_what_they_are(name: str) -> None:
    book = Book(shipped_chapter(name))
    for message in book.protocol.messages:
        sample = message_page(book, message).sample
        assert sample is not None
        answer = QUESTIONS.answer({"kind": "look", **asked(sample.play)})
        shown = [frame["message"] for frame in answer["frames"] if "left_open" not in frame]
        assert shown == [message.name], answer


def test_pieces_without_the_last_one_leave_something_open() -> None:
    from wireproto import reactive_streams as rs

    piece = rs.encode(rs.OnNextPart(3, 5, b"join"), from_role="client")
    frames = look("reactive_streams", piece.hex(), role="client")["frames"]
    assert [set(frame) >= {"tree"} for frame in frames] == [True, False]
    assert frames[-1]["left_open"] == "Element[3, 5]" and "fault" not in frames[-1]
    cut = look("reactive_streams", piece[:-1].hex(), role="client")["frames"]
    assert cut[-1]["fault"]["code"] == "truncated"


def test_what_is_no_capture_is_said() -> None:
    assert QUESTIONS.answer({"kind": "capture", "data": "AAAA"})["wrong"]


@pytest.mark.parametrize(
    "question",
    [
        None, [], {}, {"kind": "look"}, {"kind": "look", "protocol": "../x", "text": ""}, {"kind": "look", "protocol": 1, "text": ""},
        {"kind": "look", "protocol": "lumberjack", "text": 5}, {"kind": "look", "protocol": "lumberjack", "text": "00", "role": "nobody"},
        {"kind": "look", "protocol": "lumberjack", "text": "00", "before": [1] * 99}, {"kind": "look", "protocol": "lumberjack", "text": "00", "role": []},
        {"kind": "edit", "protocol": "lumberjack", "text": "00", "frame": True, "path": "", "value": ""}, {"kind": "look", "protocol": "lumberjack", "text": "00", "asides": 5}, {"kind": "look", "protocol": "lumberjack", "text": "00", "asides": [5]},
        {"kind": "look", "protocol": "lumberjack", "text": "00", "asides": [{"at": 0, "role": "x", "text": "00"}]}, {"kind": "look", "protocol": "lumberjack", "text": "00", "asides": [{"at": 0, "text": "zz"}]},
        {"kind": "capture"}, {"kind": "none", "protocol": "lumberjack", "text": ""},
    ],
)  # fmt: skip
def test_wrong_questions_have_an_answer(question: Any) -> None:
    assert QUESTIONS.answer(question)["wrong"]


def test_protocols_have_roles_and_an_example_that_is_read() -> None:
    for each in QUESTIONS.answer({"kind": "protocols"})["protocols"]:
        assert each["roles"] == list(protocol(each["name"]).roles)
        answer = look(each["name"], each["example"], role=each["example_role"])
        assert answer["frames"] and all("tree" in frame for frame in answer["frames"])
        assert "fitting_role" not in answer


def test_controls_of_peers_are_escapes(tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(
        'protocol p { source "None" endian big roles a, b }\nlimits { frame = 1 KiB }\n'
        "frame Frame { type : u8 := code(body)  body : match type }\nmessage M 1 from a { text : utf8[u8] }\n"
    )
    questions = Questions(("p",), lambda name: loaded(path)[0].protocol)
    data = b"\x01\x05\x1b\xe2\x80\xaea"
    answer = questions.answer({"kind": "look", "protocol": "p", "text": data.hex()})
    shown = next(leaf["value"] for leaf in nodes(answer["frames"][0]["tree"]) if leaf["name"] == "text")
    assert "\x1b" not in shown and "\u202e" not in shown and "\\" in shown


# ---- bounds


MAKER = """
import time

def make():
    def answer(question):
        if question == "sleep":
            time.sleep(600)
        if question == "eat":
            return {"size": len(bytearray(4 << 30))}
        return {"echo": question}

    return answer
"""


def test_who_takes_too_long_or_too_much_is_ended_and_the_next_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "maker_of_answers.py").write_text(MAKER)
    monkeypatch.syspath_prepend(str(tmp_path))
    workshop = Workshop(importlib.import_module("maker_of_answers").make, seconds=5)
    try:
        assert workshop.ask("one") == {"echo": "one"}
        start = time.monotonic()
        assert "too long" in workshop.ask("sleep")["wrong"]
        assert time.monotonic() - start < 90
        assert workshop.ask("two") == {"echo": "two"}
        assert workshop.ask("eat")["wrong"]
        assert workshop.ask("three") == {"echo": "three"}
    finally:
        workshop.close()


# ---- malformed questions


DEEP = json.loads("[" * 900 + "]" * 900)
NO_QUESTIONS: dict[str, Any] = {
    "nesting": DEEP,
    "nesting in a field": {"kind": "look", "protocol": "lumberjack", "text": DEEP},
    "nesting in what was before": {"kind": "look", "protocol": "lumberjack", "text": "", "before": DEEP},
    "wrong Base64": {"kind": "capture", "data": "A"},
    "Base64 of other letters": {"kind": "capture", "data": "é\u0000!"},
    "half a character": {"kind": "look", "protocol": "lumberjack", "text": "\ud800"},
    "half a character for a name": {"kind": "look", "protocol": "\udfff", "text": ""},
    "half a character in Base64": {"kind": "capture", "data": "\ud800"},
    "a huge number": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": 10**4000, "path": "x", "value": ""},
    "a number below zero": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": -1, "path": "Window.size", "value": "1"},
    "not a number": {"kind": "look", "protocol": "lumberjack", "text": WINDOW, "asides": [{"at": float("nan"), "text": ""}]},
    "no number is larger": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": float("inf")},
    "a huge place": {"kind": "look", "protocol": "lumberjack", "text": WINDOW, "asides": [{"at": 10**4000, "text": "00"}]},
    "a value of huge digits": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": 0, "path": "Window.size", "value": "9" * 5000},
    "a value of nesting": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": 0, "path": "Window.size", "value": "[" * 100_000},
    "a path of brackets": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": 0, "path": "[" * 10_000, "value": "1"},
    "a path of huge digits": {"kind": "edit", "protocol": "lumberjack", "text": WINDOW, "frame": 0, "path": f"Window[{'9' * 5000}]", "value": "1"},
    "a kind that is a list": {"kind": [], "protocol": "lumberjack", "text": ""},
    "a role that is a mapping": {"kind": "look", "protocol": "lumberjack", "role": {}, "text": ""},
    "a form that is a list": {"kind": "look", "protocol": "lumberjack", "form": [], "text": ""},
    "a protocol of a path": {"kind": "look", "protocol": "../../etc/passwd", "text": ""},
    "nothing": None,
    "text": "look",
}  # fmt: skip


@pytest.mark.parametrize("question", NO_QUESTIONS.values(), ids=NO_QUESTIONS.keys())
def test_a_question_that_is_none_is_answered_as_one(question: Any) -> None:
    answer = QUESTIONS.answer(question)
    assert "wrong" in answer or "frames" in answer
    json.dumps(answer, allow_nan=False).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["hex", "auto", WINDOW, "writer"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["kind", "text", "at", "role", "x"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(
    kind=st.sampled_from(["look", "edit", "capture", "protocols"]) | JSON,
    more=st.dictionaries(
        st.sampled_from(
            ["protocol", "text", "form", "role", "before", "asides", "data", "frame", "path", "value"]
        ),
        JSON,
    ),
    is_known=st.booleans(),
)
def test_any_json_is_answered(kind: Any, more: dict[str, Any], is_known: bool) -> None:
    known = {"protocol": "lumberjack", "text": WINDOW} if is_known else {}
    json.dumps(QUESTIONS.answer({**more, **known, "kind": kind}), allow_nan=False).encode()


def test_no_question_ends_the_process_that_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Data that JSON cannot hold is refused before it is sent; an error of ours is reported, and is one answer."""
    (tmp_path / "maker_that_fails.py").write_text(
        "import os\n"
        "def make():\n"
        "    def answer(question):\n"
        "        return {'number': os.getpid()} if question == 'number' else question['there is none']\n"
        "    return answer\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    workshop = Workshop(importlib.import_module("maker_that_fails").make, seconds=60)
    try:
        first = workshop.ask("number")
        assert isinstance(first["number"], int)
        for question in (*NO_QUESTIONS.values(), {1: {2}}, b"bytes"):
            assert "wrong" in workshop.ask(question)
        assert workshop.ask("number") == first
    finally:
        workshop.close()
    assert "there is none" in capfd.readouterr().err
