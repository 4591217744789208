"""Answers about bytes: frames as trees, the first error, and copies as Python, command and vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.formats.inspect.secrets import holds_secret, secret_names, without_secrets
from wiregen.formats.inspect.values import HIDDEN
from wiregen.formats.jsonl import Line, LineEncoder, LineError, dumps, error_line
from wiregen.formats.line_maker import LineMaker
from wiregen.generate.escaping import harmless
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.reference.tree import FrameValue, Node
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.stream.context import Context
from wiregen.schema.copies import replace
from wiregen.site.pages.sample_frame import Sample
from wiregen.site.pages.snippets import Snippets
from wiregen.site.playground.both_directions import Aside, BothDirections, DecodedItem, said_until
from wiregen.site.playground.edits import changed, choices_of, text_of
from wiregen.site.playground.followed_sessions import FollowedSessions, SessionEffects
from wiregen.site.playground.shown_values import ShownValues

__all__ = ["PlaygroundReader", "fault_of"]

_MOST_NODES: Final = 4000
_MOST_FRAMES: Final = 200
_MOST_BEFORE: Final = 4096
_MOST_SAID: Final = 16
"""The most bytes, and turns of the conversation, that the copy of a frame may need before itself."""
_DERIVED: Final = ("length", "count", "code", "delimiter", "data")
"""Parts of a field that follow from its value."""


class PlaygroundReader:
    """Reads streams of one protocol for a page."""

    def __init__(self, schema: Schema, snippets: Snippets, name: str) -> None:
        self._schema, self._snippets, self._name = schema, snippets, name
        self._secrets, self._values = secret_names(schema), ShownValues(schema)

    def look(
        self, scene: Scene, data: bytes, asides: tuple[Aside, ...] = (), *, is_connection: bool = False
    ) -> Line:
        """Return the frames in the bytes, as trees; `asides`: the bytes of the other side, by place.

        `is_connection`: both sides are known from the beginning. Then the frames of the other side and the
        effects on sessions are part of the answer.

        Raises:
            DecodeError: The bytes sent before do not conform.
        """
        maker, directions = LineMaker(self._schema), BothDirections(self._schema, scene)
        sessions = self._sessions(directions.known) if is_connection else None
        frames: list[Line] = []
        others: list[Line] = []
        budget, n_left = _MOST_NODES, 0
        for item in directions.decode(data, asides):
            effects = {} if sessions is None else _shown_effects(sessions.effects(item))
            if item.is_aside:
                self._line(maker, item)
                if is_connection and len(others) < _MOST_FRAMES:
                    other, budget = self._other(item, budget)
                    others.append(other | effects | {"after": len(frames)})
            elif len(frames) >= _MOST_FRAMES:
                n_left += 1
            else:
                behind = partial(self._behind, scene, data, asides, item.offset)
                frame, budget = self._frame(maker, item, budget, behind, directions.known)
                frames.append(frame | effects)
        answer: Line = {"hex": data.hex(), "frames": frames, "n_left": n_left}
        return answer | ({"others": others} if is_connection else {})

    def _sessions(self, known: Context) -> FollowedSessions | None:
        if not self._schema.sessions:
            return None
        return FollowedSessions(self._schema, known, hides_keys=bool(self._secrets))

    def _other(self, item: DecodedItem, budget: int) -> tuple[Line, int]:
        """Return a frame of the other side, which cannot be changed, and how many nodes may follow."""
        if isinstance(item.found, DecodeError):
            return self._fault(item, item.found) | {"role": item.role}, budget
        nodes, budget = self._node(item.found, budget, {})
        shown = {"role": item.role, "offset": item.offset, "size": item.size, "message": _title(item.found)}
        return shown | {"tree": nodes}, budget

    def is_sent_by(self, scene: Scene, data: bytes) -> bool:
        """Return whether the bytes are frames with messages that the role of the scene sends, as far as the page shows them."""
        for item in islice(BothDirections(self._schema, scene).decode(data), _MOST_FRAMES):
            if isinstance(item.found, DecodeError):
                return False
            message = self._schema.messages.get(_title(item.found))
            if message is not None and message.role not in (None, scene.role):
                return False
        return True

    def _frame(
        self,
        maker: LineMaker,
        item: DecodedItem,
        budget: int,
        behind: Callable[[], Scene | None],
        known: Context,
    ) -> tuple[dict[str, object], int]:
        """Return a frame for the page, and how many nodes may follow."""
        found = item.found
        if isinstance(found, DecodeError):
            return self._fault(item, found), budget
        is_secret = holds_secret(found, self._secrets)
        line = self._line(maker, item)
        fixed = is_secret or line is None or self._is_piece(line)
        nodes, budget = self._node(found, budget, {} if fixed or line is None else line)
        frame: Line = {"offset": item.offset, "size": item.size, "tree": nodes, "message": _title(found)}
        if line is not None:
            frame["line"] = self._text({**line, "offset": item.offset})
        own = None if is_secret else behind()
        if own is not None:
            sample = Sample(scene=own, data=item.data, tree=found, origin="", known=known)
            frame["copies"] = self._copies(sample, line)
        return frame, budget

    def _fault(self, item: DecodedItem, error: DecodeError) -> Line:
        line = error_line(error, item.data, offset=item.offset, role=item.role)
        shown: Line = {"offset": item.offset, "size": item.size, "line": self._text(line)}
        if self._is_left_open(item):
            return shown | {"left_open": harmless(error.path)}
        return shown | {"fault": fault_of(error, is_hidden=bool(self._secrets))}

    def _is_left_open(self, item: DecodedItem) -> bool:
        """Return whether the only error is the end of the stream: fragments came, and not yet the last one."""
        found = item.found
        is_end = isinstance(found, DecodeError) and found.code == "truncated" and not item.size
        return is_end and str(getattr(found, "path", "")).partition("[")[0] in self._schema.joins

    def edited(
        self, scene: Scene, data: bytes, asides: tuple[Aside, ...], number: int, path: str, text: str
    ) -> bytes:
        """Return the stream with a field of its n-th frame changed.

        Raises:
            LineError, TextError: There is no such field, or the text is not a value for it.
            EncodeError: The protocol does not allow the value.
            DecodeError: The bytes sent before do not conform.
        """
        maker, encoder = LineMaker(self._schema), LineEncoder(self._schema, is_canonical=True)
        n_own = 0
        for item in BothDirections(self._schema, scene).decode(data, asides):
            line = self._line(maker, item)
            if line is None and not item.is_aside:
                break
            if not item.is_aside and n_own == number and line is not None:
                if self._is_piece(line) or not isinstance(item.found, Node):
                    break
                other = encoder.encode(changed(line, item.found, path, text))
                return data[: item.offset] + other + data[item.offset + item.size :]
            if line is not None:
                encoder.encode(line)
            n_own += not item.is_aside
        raise LineError("no frame of this number can be changed")

    def _line(self, maker: LineMaker, item: DecodedItem) -> Line | None:
        if isinstance(item.found, DecodeError):
            return None
        try:
            return maker.decoded(item.found.value, item.data, offset=0, role=item.role)
        except LineError:
            return None

    def _text(self, line: Line) -> str:
        """Return a line as `wiregen decode` prints it, with hidden secrets."""
        return dumps(without_secrets(line, self._schema))

    def _is_piece(self, line: Mapping[str, Any]) -> bool:
        """Return whether a frame is a fragment of a block: it is encoded with the others, not by itself."""
        part = line.get("part")
        return part is not None and self._schema.joins[part["join"]].block is not None

    def _behind(self, scene: Scene, data: bytes, asides: tuple[Aside, ...], offset: int) -> Scene | None:
        """Return the scene of a frame after others. None: the bytes before it are too many to copy.

        The bytes before a frame may decide how to read it.
        """
        if not self._schema.contexts and not self._schema.joins:
            return scene
        said = said_until(scene, data[:offset], asides)
        is_much = sum(len(each) for _, each in said) > _MOST_BEFORE or len(said) > _MOST_SAID
        return None if is_much else replace(scene, before=said)

    def _copies(self, sample: Sample, line: dict[str, object] | None) -> dict[str, str]:
        python = self._snippets.python(sample) if isinstance(sample.tree.value, FrameValue) else ""
        copies = {"command line": self._snippets.decode_command(sample)}
        return copies | ({"Python": python} if python else {}) | {"vector": _vector(sample, line)}

    def _node(self, node: Node, budget: int, line: Mapping[str, object]) -> tuple[dict[str, object], int]:
        """Return a node for the page, and how many more may follow.

        `line`: the values of its frame that may be changed.
        """
        budget -= 1
        shown: dict[str, object] = {
            "name": harmless(node.name),
            "path": harmless(node.path),
            "start": node.start,
            "end": node.end,
        }
        if node.inner:
            shown["inner"] = True
        is_hidden = node.name in self._secrets
        text = HIDDEN if is_hidden else self._values.text_of(node)
        shown |= {
            key: value for key, value in (("value", text), ("note", self._values.note_of(node))) if value
        }
        edit = text_of(line, node.path) if text and node.part not in _DERIVED else None
        if edit is not None:
            shown |= {"can_edit": True, "edit": edit} | choices_of(self._schema, node)
        children = []
        for child in () if is_hidden else node.children:
            if budget <= 0:
                shown["cut"] = True
                break
            each, budget = self._node(child, budget, line)
            children.append(each)
        return shown | ({"children": children} if children else {}), budget


def fault_of(error: DecodeError, *, is_hidden: bool = False) -> dict[str, object]:
    """Return an error for the page, with the message decoded so far.

    `is_hidden`: without values that may be secret.
    """
    facts: Mapping[str, object] = {
        "code": error.code, "rule": error.rule, "path": error.path, "at": error.at, "inner_at": error.inner_at,
        "expected": error.expected, "found": None if is_hidden else error.found,
    }  # fmt: skip
    shown = {
        key: harmless(value) if isinstance(value, str) else value
        for key, value in facts.items()
        if value not in (None, "")
    }
    if error.partial and not is_hidden:
        shown["partial"] = error.partial
    return shown


def _shown_effects(effects: SessionEffects) -> Line:
    """Return effects on sessions for the page; without those of a kind that there is none of."""
    kinds = {"steps": effects.steps, "violations": effects.violations, "notes": effects.notes}
    return {name: list(texts) for name, texts in kinds.items() if texts}


def _title(node: Node) -> str:
    message = getattr(node.value, "message", node.value)
    return harmless(str(getattr(message, "name", node.name)))


def _vector(sample: Sample, line: dict[str, object] | None) -> str:
    before = [{"from": role, "bytes": data.hex()} for role, data in sample.scene.before]
    frames = (
        [{key: line[key] for key in ("message", "header", "fields") if key in line}]
        if line is not None
        else []
    )
    vector = {
        "id": "mine",
        "kind": "valid",
        "before": before,
        "from": sample.scene.role,
        "bytes": sample.data.hex(),
        "frames": frames,
    }
    return dumps({key: value for key, value in vector.items() if value not in (None, [])})
