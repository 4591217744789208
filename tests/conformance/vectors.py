"""Vectors in one form: those written by hand for this repository, and those of other makers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.names import CODES, LIMITS, MESSAGES, RULES

HERE = Path(__file__).resolve().parent
CAPTURES = HERE / "data" / "captures"
"""Captures of real clients, with the streams of each direction and the events that each client was asked to send."""

Vector = dict[str, Any]


def own_vectors() -> list[Vector]:
    """Return the vectors written by hand for this repository."""
    vectors: list[Vector] = json.loads((HERE / "lumberjack_vectors.json").read_text(encoding="utf-8"))[
        "vectors"
    ]
    return vectors


def foreign_vectors() -> list[Vector]:
    """Return the vectors of other makers in our form."""
    file = kept("lumberjack")
    return [*map(_valid, file["valid"]), *map(_malformed, file["malformed"])]


def kept(name: str) -> dict[str, Any]:
    """Return a file of other makers' vectors that is kept in this repository."""
    file: dict[str, Any] = json.loads((HERE / "data" / f"{name}.json").read_text(encoding="utf-8"))
    return file


def bytes_of(vector: Vector) -> bytes:
    """Return the bytes of a vector: hexadecimal, or pieces of which some are repeated."""
    pieces = vector["bytes"]
    if isinstance(pieces, str):
        return bytes.fromhex(pieces)
    return b"".join(_piece(piece) for piece in pieces)


def _piece(piece: Mapping[str, Any]) -> bytes:
    if "hex" in piece:
        return bytes.fromhex(piece["hex"])
    return bytes.fromhex(piece["repeat"]) * int(piece["count"])


# ---- from the makers' form to ours


def _valid(entry: Mapping[str, Any]) -> Vector:
    return {
        "id": entry["id"],
        "kind": "valid",
        "from": entry["from"],
        "bytes": entry["hex"],
        "encodes": "exact" if entry["encode"] == "exact" else "same_meaning",
        "frames": [_line(frame) for frame in entry["frames"]],
    }


def _malformed(entry: Mapping[str, Any]) -> Vector:
    """Return an invalid vector; a frame that only the session or the application refuses is valid for the codec."""
    expected = entry["expect"]
    limits = {LIMITS[name]: value for name, value in entry["limits"].items()}
    vector = {"id": entry["id"], "from": entry["from"], "bytes": entry["hex"], "limits": limits}
    if entry["stage"] != "codec" or expected["kind"] is None:
        return {**vector, "kind": entry["stage"] if expected["kind"] else "codec", "encodes": "exact"}
    error = {"code": CODES[expected["kind"]], "rule": expected["kind"] if expected["kind"] in RULES else None}
    # The makers say where a cut frame begins, we say where the first missing byte is.
    if expected["kind"] == "truncated":
        error |= {"at": len(entry["hex"]) // 2, "frame_offset": expected["offset"]}
    else:
        error |= {"at": expected["offset"]}
    return {**vector, "kind": "invalid", "frames_before": expected["frames_before"], "error": error}


def _line(frame: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "message": MESSAGES[frame["type"]],
        "header": {"version": f"V{frame['version']}"},
        "fields": _fields(frame),
    }


def _fields(frame: Mapping[str, Any]) -> dict[str, Any]:
    match frame["type"]:
        case "W":
            return {"size": frame["window"]}
        case "A":
            return {"sequence": frame["seq"]}
        case "C":
            return {"frames": [_line(inner) for inner in frame["inner"]]}
        case "J":
            return {"sequence": frame["seq"], "document": frame["payload_hex"], **_view(frame["payload_hex"])}
        case _:
            pairs = [{"key": _text(key), "value": _text(value)} for key, value in frame["pairs_hex"]]
            return {"sequence": frame["seq"], "pairs": pairs}


def _view(document: str) -> dict[str, Any]:
    """Return the JSON beside a document that is JSON."""
    try:
        return {"document_json": json.loads(bytes.fromhex(document).decode("utf-8"))}
    except ValueError:
        return {}


def _text(octets: str) -> str | dict[str, str]:
    try:
        return bytes.fromhex(octets).decode("utf-8")
    except UnicodeDecodeError:
        return {"hex": octets}
