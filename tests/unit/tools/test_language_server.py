"""`wiregen lsp` as an editor uses it: a whole session over stdio, driven by pygls' own client."""

import asyncio
import json
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs the extra `lsp`")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from wiregen.tools.editor.server import make_server

ROOT = Path(__file__).parents[3]
PATIENCE = 120
"""Seconds after which an answer is missing; a machine may be busy."""
SHARED = """protocol shared {
  endian big
}

/// A point.
struct Point {
  x : u16
  y : u16
}
"""
TEXT = """protocol plane {
  endian big
  roles  pilot, tower
}

import shared : Point

limits {
  frame = 1 KiB
}

enum Colour : u8 {
  RED  = 1
  BLUE = 2
}

/// Says *where* the plane is; <b>not</b> markup, nor a [link](command:run).
message Seen 1 from pilot {
  colour : Colour
  /// How many.
  n      : u16
  where_ : Point[n]
  height : u32 if colour == RED
}

message Clear 2 from tower {
  until_ : u8 where until_ > 3
}

frame Frame {
  type : u8 := code(body)
  body : match type
}
"""


@dataclass
class Editor:
    """An editor with one folder of files, of which some are open."""

    client: LanguageClient
    folder: Path
    shown: dict[str, list[lsp.Diagnostic]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def identifier(self, name: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(uri=self.uri(name))

    def open(self, name: str, text: str) -> None:
        self.texts[name], self.versions[name] = text, 1
        item = lsp.TextDocumentItem(uri=self.uri(name), language_id="wire", version=1, text=text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))

    def change(self, name: str, old: str, new: str) -> None:
        """Replace one piece of an open text, as typing does."""
        text = self.texts[name]
        assert text.count(old) == 1
        at = text.index(old)
        self.texts[name] = text.replace(old, new)
        self.versions[name] += 1
        edit = lsp.TextDocumentContentChangePartial(
            range=lsp.Range(start=place(text, at), end=place(text, at + len(old))), text=new
        )
        identifier = lsp.VersionedTextDocumentIdentifier(uri=self.uri(name), version=self.versions[name])
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(text_document=identifier, content_changes=[edit])
        )

    async def findings(self, name: str) -> list[lsp.Diagnostic]:
        """Return the findings of the newest version of an open text, once they are shown."""
        key = f"{self.uri(name)} {self.versions[name]}"
        async with asyncio.timeout(PATIENCE):
            while key not in self.shown:
                self.news.clear()
                await self.news.wait()
        return self.shown[key]

    def at(self, name: str, mark: str) -> dict[str, Any]:
        """Return the place of the `|` in a piece of text, for a request."""
        piece = mark.replace("|", "")
        assert self.texts[name].count(piece) == 1, piece
        offset = self.texts[name].index(piece) + mark.index("|")
        return {"text_document": self.identifier(name), "position": place(self.texts[name], offset)}


def place(text: str, offset: int) -> lsp.Position:
    before = text[:offset].split("\n")
    return lsp.Position(line=len(before) - 1, character=len(before[-1]))


def lines(locations: object) -> list[tuple[str, int]]:
    """Return the names of files and the numbers of lines, from 1."""
    assert isinstance(locations, Iterable)
    return [(Path(each.uri).name, each.range.start.line + 1) for each in locations]


class _Client(LanguageClient):
    """A client that knows how its server ended."""

    exit_code: int | None = None

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.exit_code = server.returncode

    async def leave(self) -> None:
        """Take leave of the server; one that does not end has to say what it does."""
        await answered(self.shutdown_async(None))
        self.exit(None)
        process = self._server
        assert process is not None
        assert process.stderr is not None
        try:
            await answered(self.stop())  # type: ignore[no-untyped-call]
        except TimeoutError:
            process.send_signal(signal.SIGABRT)
            pytest.fail((await answered(process.stderr.read())).decode())
        assert (self.exit_code, await answered(process.stderr.read())) == (0, b"")


@asynccontextmanager
async def editing(folder: Path) -> AsyncIterator[Editor]:
    client = _Client("tests", "1")
    editor = Editor(client=client, folder=folder)

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(given: lsp.PublishDiagnosticsParams) -> None:
        editor.shown[f"{given.uri} {given.version}"] = list(given.diagnostics)
        editor.news.set()

    await client.start_io(sys.executable, "-X", "faulthandler", "-m", "wiregen", "lsp", cwd=folder)
    try:
        encodings: list[lsp.PositionEncodingKind | str] = [
            lsp.PositionEncodingKind.Utf8,
            lsp.PositionEncodingKind.Utf16,
        ]
        general = lsp.GeneralClientCapabilities(position_encodings=encodings)
        given = lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(general=general), root_uri=folder.as_uri()
        )
        async with asyncio.timeout(PATIENCE):
            answer = await client.initialize_async(given)
        assert answer.capabilities.position_encoding == lsp.PositionEncodingKind.Utf16
        client.initialized(lsp.InitializedParams())
        yield editor
    finally:
        await client.leave()


def session(run: Callable[[Editor], Coroutine[Any, Any, None]], folder: Path) -> None:
    (folder / "shared.wire").write_text(SHARED, encoding="utf-8")

    async def whole() -> None:
        async with editing(folder) as editor:
            editor.open("plane.wire", TEXT)
            await run(editor)

    asyncio.run(whole())


async def answered(request: Awaitable[Any]) -> Any:
    async with asyncio.timeout(PATIENCE):
        return await request


def test_findings_follow_the_text_and_a_fix_repairs_it(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        assert await editor.findings("plane.wire") == []
        editor.change("plane.wire", "height : u32 if colour", "height : u32 if color")
        (finding,) = await editor.findings("plane.wire")
        assert (finding.code, finding.severity, finding.range.start.line) == (
            "WG2001",
            lsp.DiagnosticSeverity.Error,
            22,
        )
        assert "did you mean `colour`" in finding.message
        given = lsp.CodeActionParams(
            text_document=editor.identifier("plane.wire"),
            range=finding.range,
            context=lsp.CodeActionContext(diagnostics=[finding]),
        )
        (action,) = await answered(editor.client.text_document_code_action_async(given))
        (edit,) = action.edit.changes[editor.uri("plane.wire")]
        assert (edit.new_text, edit.range) == ("colour", finding.range)
        editor.change("plane.wire", "if color ", f"if {edit.new_text} ")
        assert await editor.findings("plane.wire") == []

    session(run, tmp_path)


def test_a_syntax_error_leaves_the_other_declarations_usable(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        editor.change("plane.wire", "message Clear 2 from tower {", "message Clear 2 frm tower {")
        assert [each.code for each in await editor.findings("plane.wire")] == ["WG1111"]
        given = lsp.DefinitionParams(**editor.at("plane.wire", "colour : Col|our"))
        assert lines(await answered(editor.client.text_document_definition_async(given))) == [
            ("plane.wire", 12)
        ]

    session(run, tmp_path)


def test_hover_has_declaration_layout_and_docs_that_are_no_markup(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        async def hovered(mark: str) -> str:
            given = lsp.HoverParams(**editor.at("plane.wire", mark))
            found = await answered(editor.client.text_document_hover_async(given))
            assert found is not None
            return str(found.contents.value)

        message = await hovered("message Se|en 1")
        assert message.startswith("```wire\nmessage Seen 1 from pilot {\n```\n\nat least 3 bytes\n\nSays ")
        assert "\\<b\\>not\\</b\\>" in message or "&lt;b&gt;" in message
        assert "[link](" not in message
        assert (
            await hovered("n|      : u16")
            == "```wire\nn      : u16\n```\n\nfield of `Seen`\n\noffset 1, 2 bytes\n\nHow many."
        )
        assert "offset 3, " in await hovered("where|_ : Point")
        assert "4 bytes" in await hovered("Poi|nt[n]")
        assert (await hovered("n      : u1|6")).endswith("2 bytes, big endian")

    session(run, tmp_path)


def test_uses_are_found_and_renamed_in_all_files(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        given = lsp.DefinitionParams(**editor.at("plane.wire", "where_ : Po|int"))
        assert lines(await answered(editor.client.text_document_definition_async(given))) == [
            ("shared.wire", 6)
        ]
        (tmp_path / "plane.wire").write_text(TEXT, encoding="utf-8")
        editor.open("shared.wire", SHARED)
        where = editor.at("shared.wire", "struct Po|int")
        context = lsp.ReferenceContext(include_declaration=True)
        found = await answered(
            editor.client.text_document_references_async(lsp.ReferenceParams(**where, context=context))
        )
        assert lines(found) == [("plane.wire", 6), ("plane.wire", 22), ("shared.wire", 6)]
        for place_ in (where, editor.at("plane.wire", "where_ : Po|int")):
            texts = await renamed(editor, place_, "Place")
            assert texts == {"shared.wire": [(6, "Place")], "plane.wire": [(6, "Place"), (22, "Place")]}
        editor.change("shared.wire", "/// A point.", "/// A point:\n/// two numbers.")  # not saved
        texts = await renamed(editor, editor.at("plane.wire", "where_ : Po|int"), "Place")
        assert texts == {"shared.wire": [(7, "Place")], "plane.wire": [(6, "Place"), (22, "Place")]}

    session(run, tmp_path)


async def renamed(editor: Editor, where: dict[str, Any], name: str) -> dict[str, list[tuple[int, str]]]:
    """Return the edits of each file: the number of the line, from 1, and the new text."""
    given = lsp.RenameParams(**where, new_name=name)
    found = await answered(editor.client.text_document_rename_async(given))
    return {
        Path(uri).name: [(each.range.start.line + 1, each.new_text) for each in edits]
        for uri, edits in found.changes.items()
    }


def users_of_point(folder: Path, n_files: int) -> None:
    for number in range(n_files):
        text = f"protocol user{number} {{ endian big }}\nimport shared : Point\nstruct A {{ at : Point }}\n"
        (folder / f"user{number}.wire").write_text(text, encoding="utf-8")


def test_other_requests_are_answered_while_uses_are_searched(tmp_path: Path) -> None:
    """Both requests are sent before the first answer, which needs hundreds of files."""
    users_of_point(tmp_path, 300)
    answers: list[str] = []

    async def noted(name: str, answer: Awaitable[Any]) -> Any:
        found = await answered(answer)
        answers.append(name)
        return found

    async def run(editor: Editor) -> None:
        editor.open("shared.wire", SHARED)
        await editor.findings("shared.wire")
        where = editor.at("shared.wire", "struct Po|int")
        given = lsp.ReferenceParams(**where, context=lsp.ReferenceContext(include_declaration=False))
        found, hover = await asyncio.gather(
            noted("uses", editor.client.text_document_references_async(given)),
            noted("hover", editor.client.text_document_hover_async(lsp.HoverParams(**where))),
        )
        assert len(found) == 602  # two of them in a text that is not saved
        assert hover is not None
        assert answers == ["hover", "uses"]

    session(run, tmp_path)


def test_a_renaming_is_given_up_when_a_text_changes(tmp_path: Path) -> None:
    users_of_point(tmp_path, 300)

    async def run(editor: Editor) -> None:
        editor.open("shared.wire", SHARED)
        await editor.findings("shared.wire")
        given = lsp.RenameParams(**editor.at("shared.wire", "struct Po|int"), new_name="Place")
        renaming = asyncio.ensure_future(editor.client.text_document_rename_async(given))
        await asyncio.sleep(0)  # it is sent
        editor.change("shared.wire", "/// A point.", "/// A place.")
        with pytest.raises(JsonRpcException, match="a text has changed") as caught:
            await answered(renaming)
        assert caught.value.code == lsp.LSPErrorCodes.ContentModified

    session(run, tmp_path)


def test_a_name_that_changes_the_meaning_of_others_is_refused(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        editor.change("plane.wire", "  until_ : u8 where until_ > 3", "  until_ : u8 where remaining > 3")
        with pytest.raises(JsonRpcException, match="means something else"):
            await renamed(editor, editor.at("plane.wire", "until|_ : u8"), "remaining")

    session(run, tmp_path)


def test_a_file_with_syntax_errors_is_not_renamed_in_part(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        editor.change("plane.wire", "message Clear 2 from tower {", "message Clear 2 frm tower {")
        with pytest.raises(JsonRpcException, match="correct the errors in plane.wire first"):
            await renamed(editor, editor.at("plane.wire", "enum Col|our"), "Shade")

    session(run, tmp_path)


@pytest.mark.parametrize("name", ["2nd", "Colour", "point", "a b"])
def test_a_name_that_breaks_the_file_is_refused(tmp_path: Path, name: str) -> None:
    async def run(editor: Editor) -> None:
        given = lsp.RenameParams(**editor.at("plane.wire", "message Cl|ear"), new_name=name)
        with pytest.raises(JsonRpcException, match=name):
            await answered(editor.client.text_document_rename_async(given))

    session(run, tmp_path)


def test_completion_offers_what_is_known_at_the_place(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        async def completed(mark: str) -> dict[str, lsp.CompletionItemKind | None]:
            given = lsp.CompletionParams(**editor.at("plane.wire", mark))
            found = await answered(editor.client.text_document_completion_async(given))
            return {each.label: each.kind for each in found}

        types = await completed("n      : |u16")
        assert types["Colour"] == lsp.CompletionItemKind.Enum
        assert types["Point"] == lsp.CompletionItemKind.Struct
        assert types["u32"] == types["match"] == lsp.CompletionItemKind.Keyword
        assert "n" not in types
        values = await completed("if colour == R|ED")
        assert values["RED"] == lsp.CompletionItemKind.EnumMember
        assert values["colour"] == lsp.CompletionItemKind.Field
        assert values["size"] == lsp.CompletionItemKind.Function
        assert "height" not in values
        assert {"pilot", "tower"} <= (await completed("message Seen 1 from |pilot")).keys()
        assert "message" in await completed("|frame Frame")
        assert await completed("/// How |many") == {}
        editor.change(
            "plane.wire",
            "  until_ : u8 where until_ > 3",
            "  until_ : u8 where until_ == '\"' and until_ > 3",
        )
        assert "until_" in await completed("and un|til_ > 3")
        assert await completed("until_ == '|\"'") == {}

    session(run, tmp_path)


def test_the_views_of_a_file(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        document = editor.identifier("plane.wire")
        symbols = await answered(
            editor.client.text_document_document_symbol_async(
                lsp.DocumentSymbolParams(text_document=document)
            )
        )
        assert [(each.name, each.detail) for each in symbols] == [
            ("plane", "protocol"), ("frame", "limit"), ("Colour", "enum"), ("Seen", "message"), ("Clear", "message"), ("Frame", "frame"),
        ]  # fmt: skip
        assert [each.name for each in symbols[3].children] == ["colour", "n", "where_", "height"]
        folds = await answered(
            editor.client.text_document_folding_range_async(lsp.FoldingRangeParams(text_document=document))
        )
        assert (17, 23) in [(each.start_line, each.end_line) for each in folds]
        everything = lsp.Range(
            start=lsp.Position(line=0, character=0), end=lsp.Position(line=99, character=0)
        )
        hints = await answered(
            editor.client.text_document_inlay_hint_async(
                lsp.InlayHintParams(text_document=document, range=everything)
            )
        )
        assert [(each.position.line + 1, each.label) for each in hints if each.position.line < 24] == [
            (19, "@0"), (21, "@1"), (22, "@3"), (23, "@3+m"),
        ]  # fmt: skip
        tokens = await answered(
            editor.client.text_document_semantic_tokens_full_async(
                lsp.SemanticTokensParams(text_document=document)
            )
        )
        assert len(tokens.data) % 5 == 0
        assert min(tokens.data) >= 0

    session(run, tmp_path)


def test_a_file_is_formatted_as_by_fmt(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        given = lsp.DocumentFormattingParams(text_document=editor.identifier("plane.wire"), options=options)
        editor.change("plane.wire", "  colour : Colour", "    colour:Colour")
        (edit,) = await answered(editor.client.text_document_formatting_async(given))
        assert edit.new_text == TEXT
        editor.change("plane.wire", "    colour:Colour", "  colour : Colour")
        assert not await answered(editor.client.text_document_formatting_async(given))

    session(run, tmp_path)


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "100 %, läuft + c:"
    folder.mkdir()

    async def run(editor: Editor) -> None:
        assert await editor.findings("plane.wire") == []
        editor.change("plane.wire", "n      : u16", "n      : Zap")
        assert [each.code for each in await editor.findings("plane.wire")] == ["WG2001"]
        editor.open("shared.wire", SHARED.replace("Point", "Place"))
        assert "WG2001" in [each.code for each in await editor.findings("plane.wire")]

    session(run, folder)


def test_texts_that_are_not_saved_import_each_other(tmp_path: Path) -> None:
    async def run(editor: Editor) -> None:
        text = (
            'protocol new { source "x" endian big roles a, b }\nimport newer : Seen\nstruct A { x : Seen }\n'
        )
        editor.open("new.wire", text)
        assert "WG1008" in [each.code for each in await editor.findings("new.wire")]
        editor.shown.clear()
        editor.open("newer.wire", 'protocol newer { source "x" endian big roles a, b }\ntype Seen = u8\n')
        assert "WG1008" not in [each.code for each in await editor.findings("new.wire")]
        assert "WG7013" not in [each.code for each in await editor.findings("newer.wire")]
        editor.shown.clear()
        editor.change("new.wire", "import newer : Seen", "// newer")
        assert "WG7013" in [each.code for each in await editor.findings("newer.wire")]

    session(run, tmp_path)


def test_requests_that_cannot_be_fulfilled_are_not_logged(tmp_path: Path) -> None:
    given = lsp.HoverParams(
        text_document=lsp.TextDocumentIdentifier(uri=(tmp_path / "none.wire").as_uri()),
        position=lsp.Position(line=0, character=0),
    )

    async def run(editor: Editor) -> None:
        with pytest.raises(JsonRpcException, match="there is no text"):
            await answered(editor.client.text_document_hover_async(given))

    session(run, tmp_path)


def test_an_editor_that_is_gone_is_not_told_so(caplog: pytest.LogCaptureFixture) -> None:
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"id": 2, "method": "shutdown", "params": None},
        {"method": "exit", "params": None},
    ]
    bodies = (json.dumps({"jsonrpc": "2.0"} | each).encode() for each in messages)
    requests = BytesIO(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies))
    gone = BytesIO()
    gone.close()
    make_server().start_io(requests, gone)
    assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == [
        "Error sending data"
    ] * 2
