"""The kind of each declaration, in the terms of the Language Server Protocol: for outlines, completion and colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lsprotocol.types import CompletionItemKind, SemanticTokenTypes, SymbolKind

from wiregen.language import syntax
from wiregen.tools.editor.declared_names import Declaring

__all__ = ["KINDS", "EditorKind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorKind:
    """`word`: its name in texts."""

    word: str
    symbol: SymbolKind
    item: CompletionItemKind
    token: SemanticTokenTypes


def _kind(word: str, symbol: SymbolKind, token: SemanticTokenTypes) -> EditorKind:
    return EditorKind(word=word, symbol=symbol, item=CompletionItemKind[symbol.name], token=token)


KINDS: Final[dict[type[Declaring], EditorKind]] = {
    syntax.Alias: _kind("type", SymbolKind.TypeParameter, SemanticTokenTypes.Type),
    syntax.Coding: _kind("coding", SymbolKind.Struct, SemanticTokenTypes.Type),
    syntax.Const: _kind("constant", SymbolKind.Constant, SemanticTokenTypes.Macro),
    syntax.Context: _kind("context", SymbolKind.Variable, SemanticTokenTypes.Variable),
    syntax.Enum: _kind("enum", SymbolKind.Enum, SemanticTokenTypes.Enum),
    syntax.Field: _kind("field", SymbolKind.Field, SemanticTokenTypes.Property),
    syntax.Frame: _kind("frame", SymbolKind.Class, SemanticTokenTypes.Class),
    syntax.Join: _kind("join", SymbolKind.Class, SemanticTokenTypes.Class),
    syntax.Limit: _kind("limit", SymbolKind.Constant, SemanticTokenTypes.Macro),
    syntax.Member: _kind("member", SymbolKind.EnumMember, SemanticTokenTypes.EnumMember),
    syntax.Message: _kind("message", SymbolKind.Class, SemanticTokenTypes.Class),
    syntax.Option: _kind("option", SymbolKind.Property, SemanticTokenTypes.Variable),
    syntax.Preamble: _kind("preamble", SymbolKind.Class, SemanticTokenTypes.Class),
    syntax.Protocol: _kind("protocol", SymbolKind.Module, SemanticTokenTypes.Namespace),
    syntax.RolesSetting: _kind("role", SymbolKind.Interface, SemanticTokenTypes.Parameter),
    syntax.Rule: _kind("rule", SymbolKind.Event, SemanticTokenTypes.Event),
    syntax.Session: _kind("session", SymbolKind.Module, SemanticTokenTypes.Namespace),
    syntax.SessionRoles: _kind("role", SymbolKind.Interface, SemanticTokenTypes.Parameter),
    syntax.State: _kind("state", SymbolKind.Event, SemanticTokenTypes.Event),
    syntax.Struct: _kind("struct", SymbolKind.Struct, SemanticTokenTypes.Struct),
    syntax.Union: _kind("union", SymbolKind.Enum, SemanticTokenTypes.Enum),
    syntax.Var: _kind("variable", SymbolKind.Variable, SemanticTokenTypes.Variable),
    syntax.Variant: _kind("variant", SymbolKind.Module, SemanticTokenTypes.Namespace),
    syntax.Variety: _kind("alternative", SymbolKind.Struct, SemanticTokenTypes.Class),
}
