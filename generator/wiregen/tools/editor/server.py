"""The server: documents that an editor opens and changes, and the requests about them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, json_rpc, lsp_method
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from wiregen import __version__
from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.formatter import format_source
from wiregen.language.source import shipped_protocols
from wiregen.tools.editor.analysis import Analysis, analyse
from wiregen.tools.editor.code_actions import code_actions
from wiregen.tools.editor.completion import complete
from wiregen.tools.editor.declared_names import NameOccurrence
from wiregen.tools.editor.hover import hover
from wiregen.tools.editor.inlay_hints import inlay_hints
from wiregen.tools.editor.navigation import RenameError, definitions, importers, references, rename
from wiregen.tools.editor.outline import folding_ranges, symbols
from wiregen.tools.editor.positions import offset_of, range_of, whole
from wiregen.tools.editor.problems import problems
from wiregen.tools.editor.semantic_tokens import LEGEND, semantic_tokens

__all__ = ["make_server"]

_AtName: TypeAlias = (
    lsp.HoverParams | lsp.DefinitionParams | lsp.ReferenceParams | lsp.PrepareRenameParams | lsp.RenameParams
)
"""The requests about the name at a position."""
_Step = TypeVar("_Step")
_QUIET: Final = 0.15
"""Seconds without a change after which a text is checked."""


class _Documents:
    """The open texts, each analysed once for each version. They are known by their paths: a URI may be written in several ways."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._known: dict[Path, Analysis] = {}
        self._waiting: dict[Path, asyncio.TimerHandle] = {}
        self._imported: dict[Path, frozenset[tuple[str, str]]] = {}
        self._n_changes = 0
        self._is_over = False

    def analysis(self, uri: str) -> Analysis:
        """Return what is known of a text.

        Raises:
            JsonRpcException: It is not open, and there is no such file.
        """
        found = self.of_file(_path_of(uri))
        if found is None:
            raise JsonRpcException(f"there is no text {uri}", code=lsp.ErrorCodes.InvalidParams)
        return found

    def with_text(self, path: Path, text: str) -> Analysis:
        """Return what would be known of a file with another text."""
        found = self._analysed(path, {path.as_posix(): text})
        assert found is not None  # nothing is read but the text
        return found

    def with_texts(self, texts: Mapping[Path, str]) -> Iterator[Analysis]:
        """Yield what would be known of some files with other texts."""
        changed = {path.as_posix(): text for path, text in texts.items()}
        yield from filter(None, (self._analysed(path, changed) for path in texts))

    def of_file(self, path: Path) -> Analysis | None:
        """Return what is known of a file, which may be open; None if it cannot be read."""
        known = self._known.get(path)
        if known is None:
            known = self._analysed(path, {})
            if known is not None and path in self._opened():
                self._known[path] = known
        return known

    def _analysed(self, path: Path, changed: Mapping[str, str]) -> Analysis | None:
        config = load_config(path.parent if path.parent.is_dir() else Path.cwd(), Report())
        return analyse(path, (*config.sources, shipped_protocols()), {**self.texts(), **changed})

    def _opened(self) -> dict[Path, TextDocument]:
        return {_path_of(each.uri): each for each in self._server.workspace.text_documents.values()}

    def texts(self) -> dict[str, str]:
        """Return the open texts by the names of their files."""
        return {path.as_posix(): document.source for path, document in self._opened().items()}

    async def in_turns(self, steps: Iterable[_Step]) -> list[_Step]:
        """Return the results of long work on many files; other requests are answered between its steps.

        Raises:
            JsonRpcException: A text has changed meanwhile, so that the results do not fit together.
        """
        n_changes, found = self._n_changes, []
        for step in steps:
            found.append(step)
            await asyncio.sleep(0)
            if self._n_changes != n_changes:
                raise JsonRpcException("a text has changed", code=lsp.LSPErrorCodes.ContentModified)
        return found

    def changed(self, uri: str) -> None:
        """Forget what was known of a text and of those that import it, and show their findings soon."""
        self._n_changes += 1
        path = _path_of(uri)
        importing = [each for each, analysis in self._known.items() if analysis.imports(path)]
        for each in dict.fromkeys((path, *importing)):
            self._known.pop(each, None)
            self.check_soon(each)

    def check_soon(self, path: Path) -> None:
        """Show the findings of a text once it has not changed for a moment."""
        if path in self._waiting:
            self._waiting.pop(path).cancel()
        if not self._is_over:
            self._waiting[path] = asyncio.get_running_loop().call_later(_QUIET, self.check, path)

    def end(self) -> None:
        """Show nothing more: the editor leaves."""
        self._is_over = True
        for path in tuple(self._waiting):
            self._waiting.pop(path).cancel()

    def check(self, path: Path) -> None:
        """Show the findings of a text that is still open."""
        self._waiting.pop(path, None)
        document = self._opened().get(path)
        if document is None:
            return
        analysis = self.analysis(document.uri)
        self._show(document.uri, problems(analysis), document.version)
        self._check_imported(path, analysis.imported)

    def _check_imported(self, path: Path, imported: frozenset[tuple[str, str]]) -> None:
        """Show the findings of the open texts from which a text imports other names than before: whether they are used."""
        files = {stem for stem, _ in self._imported.get(path, frozenset()) ^ imported}
        self._imported[path] = imported
        for other in self._opened():
            if other != path and other.stem in files:
                self._known.pop(other, None)
                self.check_soon(other)

    def check_again(self) -> None:
        """Show the findings of all open texts: a file that they import has changed."""
        self._known.clear()
        for path in self._opened():
            self.check_soon(path)

    def close(self, uri: str) -> None:
        """Read a text from its file again where others import it."""
        self.changed(uri)
        self._check_imported(_path_of(uri), frozenset())
        self._show(uri, [], None)

    def _show(self, uri: str, found: list[lsp.Diagnostic], version: int | None) -> None:
        given = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        self._server.text_document_publish_diagnostics(given)


def _path_of(uri: str) -> Path:
    """Return the path of a file; a text that has none is one in the working folder."""
    return Path(to_fs_path(uri) or uri.rpartition(":")[2] or "untitled").absolute()


class _Server(LanguageServer):
    """Tells the editor about its errors, but not that it could not tell the editor something."""

    def report_server_error(self, error: Exception, source: type[PyglsError | JsonRpcException]) -> None:
        if source is not JsonRpcInternalError:
            super().report_server_error(error, source)


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """Return whether something is for the log: the editor has the answer to a request that cannot be fulfilled."""
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcException)


class _Utf16Protocol(LanguageServerProtocol):
    """Counts columns in UTF-16 units, which every editor knows: `positions` does."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[object, object, lsp.InitializeResult]:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = [lsp.PositionEncodingKind.Utf16]
        return (yield from super().lsp_initialize(params))


def make_server() -> LanguageServer:
    """Return a server without a connection; `start_io` serves stdin and stdout."""
    server = _Server("wiregen", __version__, protocol_cls=_Utf16Protocol)
    logging.getLogger(json_rpc.__name__).addFilter(_is_no_refusal)
    documents = _Documents(server)
    _add_documents(server, documents)
    _add_names(server, documents)
    _add_views(server, documents)
    _add_changes(server, documents)
    return server


def _add_documents(server: LanguageServer, documents: _Documents) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def open_text(given: lsp.DidOpenTextDocumentParams) -> None:
        documents.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def change_text(given: lsp.DidChangeTextDocumentParams) -> None:
        documents.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def save_text(given: lsp.DidSaveTextDocumentParams) -> None:
        documents.check_again()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def close_text(given: lsp.DidCloseTextDocumentParams) -> None:
        documents.close(given.text_document.uri)

    @server.feature(lsp.SHUTDOWN)
    @server.feature(lsp.EXIT)
    def leave(*given: object) -> None:
        documents.end()


def _add_names(server: LanguageServer, documents: _Documents) -> None:
    def placed_at(given: _AtName) -> tuple[Analysis, NameOccurrence | None]:
        analysis = documents.analysis(given.text_document.uri)
        return analysis, analysis.name_at(offset_of(analysis.source, given.position))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def show_hover(given: lsp.HoverParams) -> lsp.Hover | None:
        analysis, placed = placed_at(given)
        text = None if placed is None else hover(analysis, placed)
        if placed is None or text is None:
            return None
        contents = lsp.MarkupContent(kind=lsp.MarkupKind.Markdown, value=text)
        return lsp.Hover(contents=contents, range=range_of(analysis.source, placed.name.span))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def find_definitions(given: lsp.DefinitionParams) -> list[lsp.Location]:
        analysis, placed = placed_at(given)
        return [] if placed is None else definitions(analysis, placed)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def find_references(given: lsp.ReferenceParams) -> list[lsp.Location]:
        analysis, placed = placed_at(given)
        if placed is None:
            return []
        declared = analysis.declared_at(placed)
        files = await documents.in_turns(importers(analysis, declared, documents.of_file, documents.texts()))
        return references(files, declared, with_declarations=given.context.include_declaration)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(given: lsp.PrepareRenameParams) -> lsp.Range | None:
        analysis, placed = placed_at(given)
        if placed is None or not analysis.declared_at(placed):
            return None
        return range_of(analysis.source, placed.name.span)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename_name(given: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        analysis, placed = placed_at(given)
        if placed is None:
            return None
        declared = analysis.declared_at(placed)
        files = await documents.in_turns(importers(analysis, declared, documents.of_file, documents.texts()))
        try:
            renaming = rename(files, declared, given.new_name)
            await documents.in_turns(map(renaming.check, documents.with_texts(renaming.texts)))
        except RenameError as error:
            raise JsonRpcException(str(error), code=lsp.LSPErrorCodes.RequestFailed) from None
        return lsp.WorkspaceEdit(changes=renaming.edits)


def _add_views(server: LanguageServer, documents: _Documents) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def list_symbols(given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return symbols(documents.analysis(given.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def list_folds(given: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return folding_ranges(documents.analysis(given.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def colour_names(given: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return semantic_tokens(documents.analysis(given.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def show_offsets(given: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        analysis = documents.analysis(given.text_document.uri)
        start, end = (offset_of(analysis.source, each) for each in (given.range.start, given.range.end))
        return inlay_hints(analysis, start, end)


def _add_changes(server: LanguageServer, documents: _Documents) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", ":", "@"]))
    def complete_word(given: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        analysis = documents.analysis(given.text_document.uri)
        offset = offset_of(analysis.source, given.position)
        return complete(analysis, offset, lambda text: documents.with_text(analysis.source.path, text))

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def format_text(given: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        source = documents.analysis(given.text_document.uri).source
        text = format_source(source, Report())
        return (
            [] if text is None or text == source.text else [lsp.TextEdit(range=whole(source), new_text=text)]
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    def list_fixes(given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        analysis = documents.analysis(given.text_document.uri)
        start, end = (offset_of(analysis.source, each) for each in (given.range.start, given.range.end))
        return code_actions(analysis, start, end)
