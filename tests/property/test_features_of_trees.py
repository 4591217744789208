"""Trees whose protocols need one feature of the runtime, two, or all: each has what it needs, and type-checks by itself."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import settings
from tests.once import mypy_cache
from tests.property import agreement, grown, values
from tests.property.codecs import Wishes
from tests.property.schemas import built, outputs_of
from tests.property.test_every_construct import damaged

from wiregen.generate.runtime_features import Feature, features_of
from wiregen.generate.writer import write
from wiregen.runtime.reference.objects import build

IS_SOAK = settings.get_current_profile_name() == "soak"
HEAD = """
protocol p { source "document" endian big roles a, b }
limits { frame = 1 KiB }
coding Num : u8 { 0 .. 0xFC  0xFE => u16 }
union Value : u8 { Nothing 0  Small 1 : u8 }
struct Chunk { size : u16 := count(data)  more : bool  data : bytes[size] }
message Plain 1 { k : u8  v : utf8[u8] }
"""
FRAME = "frame F { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }"
SPREAD = 'frame F { type : u8 := code(body)  note : utf8[until x"00"] = ""  body : match type in u16 }'
DIVIDED = """
frame F { type : u8 := code(body)  more : bool = false  block : { body : match type } in u16 }
join Piece : F.block { part F.block when more  last F.block when not more }
"""
LINES = {
    Feature.BIT_FIELDS: "message Bits 10 { a : u3  b : u5 }",
    Feature.CHOICES: "message Choices 11 { v : Value  n : u8  m : match n { 0 => u8  _ => u16 } }",
    Feature.CHUNKS: "message Chunks 12 { v : bytes[] in Chunk[until not more] }",
    Feature.COMPRESSION: "limits { inflated = 4 KiB }\nmessage Packed 13 { v : bytes[] in zlib[u16] }",
    Feature.CONTEXTS: (
        "message Open 14 { x : u8  flag : bool }\n"
        "message Use 15 { x : u8  more : u16 if known[x] }\n"
        "message Stop 21 { x : u8 }\n"
        "context known : bool per x { set Open.flag  clear Stop }"
    ),
    Feature.EXTENTS: "",
    Feature.FLOATS: "message Floats 22 { v : f32  w : f64 }",
    Feature.FRAGMENTS: "",
    Feature.JSON_VIEWS: "message Texts 23 { v : utf8[u8] as json }",
    Feature.LISTS: "message Lists 16 { v : u16[u8] }",
    Feature.LIST_FUNCTIONS: "message Differ 17 { v : u8[u8] where distinct(v) }",
    Feature.MODIFIED_UTF8: "message Java 18 { v : mutf8[u8] }",
    Feature.REMAINING: "message Rest 19 { v : u8  w : u8 if remaining > 0 }",
    Feature.VARIABLE_WIDTH: "message Wide 20 { v : varint  w : Num }",
}
BRINGS = {
    Feature.CHOICES: {Feature.LISTS},
    Feature.FRAGMENTS: {Feature.CONTEXTS},
    Feature.LIST_FUNCTIONS: {Feature.LISTS},
}
"""Features whose lines need others."""
SINGLE = [(), *((feature,) for feature in Feature)]
PAIRS = [*combinations(Feature, 2)] if settings.get_current_profile_name() == "soak" else []
SOME = [*SINGLE, *PAIRS, tuple(Feature)]


def text_of(features: tuple[Feature, ...]) -> str:
    frame = DIVIDED if Feature.FRAGMENTS in features else SPREAD if Feature.EXTENTS in features else FRAME
    return "\n".join((HEAD, frame, *(LINES[feature] for feature in features)))


def named(features: tuple[Feature, ...]) -> str:
    return "all" if len(features) > 2 else "_".join(feature.name.lower() for feature in features) or "none"


@pytest.mark.parametrize("features", [pytest.param(each, id=named(each)) for each in SOME])
def test_a_tree_has_what_its_protocol_needs(features: tuple[Feature, ...], tmp_path: Path) -> None:
    dice = random.Random(named(features))
    with built(text_of(features), tmp_path, f"tree_{named(features)}") as codecs:
        brought = {other for feature in features for other in BRINGS.get(feature, ())}
        unneeded = {Feature.EXTENTS} if Feature.FRAGMENTS in features else set()  # the frame is another
        assert features_of(codecs.schema) == {*features, *brought} - unneeded
        for value, data in grown.frames(codecs.schema, dice, 12):
            frame = build(codecs.schema, value, vars(codecs.module))
            assert codecs.compiled_encode(frame) == codecs.reference_encode(frame) == data
            agreement.check_bytes(codecs, data, Wishes())
            for _ in range(6):
                agreement.check_bytes(codecs, damaged(data, dice), Wishes())
            agreement.check_stream(codecs, data + data, [1, len(data) // 2, len(data)], Wishes())
            again = type(frame.message).from_dict(frame.message.to_dict())
            assert again == frame.message or "nan" in repr(again)  # which is not equal to itself
            values.put(dice.choice(list(values.spots(frame))), object())
            agreement.check_refusal(codecs, frame)


def test_trees_type_check_by_themselves(tmp_path: Path) -> None:
    chosen = SINGLE if IS_SOAK else SINGLE[::4]
    names = [f"typed_{named(features)}" for features in chosen]
    for features, name in zip(chosen, names, strict=True):
        outputs = outputs_of(text_of(features), tmp_path, name)
        write(tuple(each for each in outputs if each.path.parts[0] == "python"), tmp_path / name)
    places = os.pathsep.join(str(tmp_path / name / "python") for name in names)
    packages = [part for name in names for part in ("-p", name)]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache(), *packages],
        env=os.environ | {"MYPYPATH": places},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout
