"""A protocol as the templates of a Python package print it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from wiregen.generate.views.python.class_views import ClassView, EnumView, NumberView, UnionView
from wiregen.generate.views.python.classes import ClassBuilder
from wiregen.generate.views.python.codings import coding_view
from wiregen.generate.views.python.frame_views import (
    FrameView,
    LayoutFunctionsView,
    MessageWriterView,
    PieceView,
    PreambleCodec,
    PreambleView,
)
from wiregen.generate.views.python.layout_builder import LayoutBuilder
from wiregen.generate.views.python.module_views import ModuleView, rank
from wiregen.generate.views.python.names import attribute, caseless
from wiregen.generate.views.python.shared import Shared
from wiregen.generate.views.python.text import class_name, declaration_doc
from wiregen.schema import model as m
from wiregen.schema.circles import varied
from wiregen.schema.copies import replace
from wiregen.schema.naming import Namespace, python_name, snake_case
from wiregen.schema.walk import attributes, compresses

__all__ = ["ModuleBuilder", "ModuleView"]

_Named: TypeAlias = FrameView | UnionView | EnumView | NumberView


class ModuleBuilder:
    """Builds the view of one protocol's package; `schema`: its schema as JSON."""

    def __init__(self, protocol: m.Protocol, schema: str, source: str) -> None:
        self._protocol = protocol
        self._schema = schema
        self._source = source
        self._shared = Shared(protocol)
        self._classes = ClassBuilder(self._shared)
        self._all_shared = [self._shared]

    def build(self) -> ModuleView:
        """Return the view.

        Raises:
            UnsupportedError: A declaration does not have a Python form.
        """
        protocol = self._protocol
        layouts = self._layouts()
        frames = layouts[0].frames
        structs = tuple(self._classes.data(struct) for struct in protocol.structs)
        unions = tuple(self._classes.union(union) for union in protocol.unions)
        messages = tuple(self._message(message, layouts[0]) for message in protocol.messages)
        preambles = tuple(self._preamble(preamble) for preamble in protocol.preambles)
        enums = tuple(self._classes.enum(enum) for enum in protocol.enums)
        constants = self._classes.constants()
        classes = (*structs, *(message.data for message in messages), *(each.data for each in preambles))
        classes += tuple(variety for union in unions for variety in union.varieties)
        exports = self._exports(classes, (*frames, *unions, *enums, *constants))
        refused = [text for shared in self._all_shared for text in shared.refused]
        return ModuleView(
            name=python_name(protocol.name, Namespace.PACKAGE),
            wire_name=protocol.name,
            source=self._source,
            doc=declaration_doc(protocol.doc, protocol.notes, protocol.sources),
            constants=constants,
            limits=self._classes.limits(),
            limit_slots=tuple(sorted(attribute(name) for name in self._shared.limits)),
            enums=enums,
            structs=structs,
            unions=unions,
            codings=tuple(coding_view(coding, self._shared) for coding in protocol.codings),
            preambles=preambles,
            messages=messages,
            layouts=layouts,
            frames=frames,
            onlys=self._shared.onlys(),
            message_annotation=" | ".join(self._message_names(messages)),
            struct_constants=self._shared.structs.constants(),
            uses=self._uses(layouts, classes, frames, refused),
            exports=tuple(sorted(exports, key=rank)),
            imports=tuple(sorted(exports, key=_import_rank)),
            roles=protocol.roles,
            frame_readers=self._by_role(layouts, "reader"),
            frame_writers=self._by_role(layouts, "writer"),
            frame_classes=self._frame_classes(messages),
            variants=tuple(variant.name for variant in protocol.variants),
            joins=tuple(self._piece(join) for join in protocol.joins if join.block is not None),
            has_joins=bool(protocol.joins),
            has_context=bool(protocol.contexts),
            has_shared_codes=self._shared.has_shared_codes,
            has_role=self._shared.has_shared_codes or bool(protocol.contexts),
            speaking=self._speaking(),
            no_state=self._no_state(),
            has_compression=compresses(protocol),
            compiles_whole_frames=not refused,
            uses_reference=bool(refused) or any(join.block is not None for join in protocol.joins),
            is_plain=self._is_plain(frames, refused),
            schema=tuple(self._schema.splitlines()),
        )

    def _layouts(self) -> tuple[LayoutFunctionsView, ...]:
        """Return the protocol's own layout and those of its variants."""
        shared = (self._shared, *(self._variant(variant) for variant in self._protocol.variants))
        return tuple(LayoutBuilder(each, self._classes).build() for each in shared)

    def _exports(self, classes: tuple[ClassView, ...], others: tuple[_Named, ...]) -> set[str]:
        """Return the names that the package exports; a nested class is reached through its outer class."""
        names = {view.name for view in classes if "." not in view.qualified}
        return names | {view.name for view in others} | set(self._offered())

    def _is_plain(self, frames: tuple[FrameView, ...], refused: list[str]) -> bool:
        protocol = self._protocol
        around = (protocol.variants, protocol.contexts, protocol.preambles, protocol.frames[1:], refused)
        if any(around) or protocol.joins or frames[0].unknown:
            return False
        if any(field.is_required for field in frames[0].header):
            return False
        return not any(each.may_be_absent for each in attributes(protocol.frames[0].fields))

    def _speaking(self) -> tuple[str, ...]:
        """Return the declarations that rules of contexts and joins refer to."""
        protocol = self._protocol
        settings = [each.target for context in protocol.contexts for each in context.settings]
        settings += [each.target for join in protocol.joins for each in (*join.parts, *join.lasts)]
        clearings = [each for context in protocol.contexts for each in context.clearings]
        clearings += [each for join in protocol.joins for each in join.clearings]
        return tuple(sorted({*settings, *(name for each in clearings for name in each.targets)}))

    def _no_state(self) -> str:
        """Return the conditions, in addition to default options, under which a frame is read without a state."""
        context = " and context is None" if self._protocol.contexts else ""
        return context + (" and from_role is None" if "role" in self._shared.uses else "")

    def _offered(self) -> Iterator[str]:
        yield from ("Limits", "decode", "decode_message", "encode", "Decoder")
        yield from ("DecodeError", "EncodeError", "NeedMoreData")
        yield from (class_name(join.name) for join in self._protocol.joins if join.block is not None)
        if self._protocol.contexts or self._protocol.joins:
            yield from ("Context", "decode_conversation")
        if "Unknown" in self._shared.uses:
            yield "Unknown"

    def _message_names(self, messages: tuple[MessageWriterView, ...]) -> list[str]:
        names = [message.data.name for message in messages]
        names += [class_name(join.name) for join in self._protocol.joins if join.block is not None]
        return [*names, "Unknown"] if "Unknown" in self._shared.uses else names

    def _variant(self, variant: m.Variant) -> Shared:
        """Return the protocol with a variant's layouts in place of its own."""
        shared = Shared(varied(self._protocol, variant), f"_in_{snake_case(variant.name)}", self._shared)
        self._all_shared.append(shared)
        return shared

    def _message(self, message: m.Message, layout: LayoutFunctionsView) -> MessageWriterView:
        frame = self._shared.frame_of_message(message)
        view = next(each for each in layout.frames if each.wire_name == frame.name)
        is_whole = bool(view.table) and message.code is not None
        writer = self._shared.writer(message.name) if is_whole else ""
        writes = [write for write in layout.codecs[message.name].writes if write.name == writer]
        return MessageWriterView(
            data=self._classes.data(message),
            frame=replace(view, header=self._classes.header(frame, message.name)),
            writer=writer,
            encode=layout.methods.get(message.name),
            has_compression=any(write.has_compression for write in writes),
            role=message.role if frame.role is None and self._is_code_shared(message) else None,
        )

    def _is_code_shared(self, message: m.Message) -> bool:
        """Return whether the other role has another message of this code."""
        codes = [each.code for each in self._protocol.messages]
        return message.code is not None and codes.count(message.code) > 1

    def _preamble(self, preamble: m.Preamble) -> PreambleView:
        return PreambleView(
            data=self._classes.data(preamble),
            role=preamble.role,
            codecs=tuple(
                PreambleCodec(
                    variant=self._variant_of(shared),
                    reader=shared.inner_reader(preamble.name),
                    writer=shared.inner_writer(preamble.name),
                )
                for shared in self._all_shared
            ),
        )

    def _variant_of(self, shared: Shared) -> str | None:
        """Return the name of the variant that a layout belongs to."""
        return self._protocol.variants[self._all_shared.index(shared) - 1].name if shared.suffix else None

    @staticmethod
    def _piece(join: m.Join) -> PieceView:
        assert join.block is not None
        doc = declaration_doc(join.doc, join.notes, extra=f"A piece of `{'.'.join(join.block)}`.")
        return PieceView(
            name=class_name(join.name), wire_name=join.name, frame=class_name(join.block[0]), doc=doc
        )

    def _frame_classes(self, messages: tuple[MessageWriterView, ...]) -> tuple[tuple[str, str], ...]:
        if len(self._protocol.frames) == 1:
            return ()
        pieces = [join for join in self._protocol.joins if join.block is not None]
        frames = dict.fromkeys(class_name(frame.name) for frame in self._protocol.frames)
        return (
            *((frame, frame) for frame in frames),
            *((message.data.name, message.frame.name) for message in messages),
            *((class_name(join.name), class_name(join.block[0])) for join in pieces if join.block),
        )

    def _by_role(self, layouts: tuple[LayoutFunctionsView, ...], what: str) -> tuple[tuple[str, str], ...]:
        """Return the function for each variant and role (or frame class), if there are several."""
        if len(self._protocol.frames) == 1 and not self._protocol.variants:
            return ()
        rows = []
        for shared, layout in zip(self._all_shared, layouts, strict=True):
            variant = self._variant_of(shared)
            if what == "writer":
                rows += [(f"({variant!r}, {view.name})", view.writer) for view in layout.frames]
                continue
            for role in (None, *self._protocol.roles):
                frame = shared.frame_of(role)
                rows.append((f"({variant!r}, {role!r})", shared.reader(frame.name)))
        return tuple(rows)

    def _uses(
        self,
        layouts: tuple[LayoutFunctionsView, ...],
        classes: tuple[ClassView, ...],
        frames: tuple[FrameView, ...],
        refused: list[str],
    ) -> frozenset[str]:
        fields = [field for owner in (*frames,) for field in owner.header]
        fields += [field for view in classes for field in view.fields]
        found = {
            "REQUIRED": any(field.is_required_late for field in fields),
            "BY_MESSAGE": any(field.by_message for field in fields),
            "DEFAULT": any(field.has_list_apart for field in fields),
            "UUID": any(field.has_uuid for field in fields),
            "UUID now": any(field.makes_uuid for field in fields),
            "dict_view": any(lazy.form == "dict" for view in classes for lazy in view.views),
            "json_view": any(lazy.form == "json" for view in classes for lazy in view.views),
            "type": any(lazy.form == "type" for view in classes for lazy in view.views),
            "Record": len(classes) > len(self._protocol.messages)
            or any(join.block is not None for join in self._protocol.joins),
            "Struct": bool(self._shared.structs.constants()),
            "built": bool(refused) or any(lazy.form == "type" for view in classes for lazy in view.views),
        }
        return frozenset(name for name, is_used in found.items() if is_used) | self._shared.uses


def _import_rank(name: str) -> tuple[int, tuple[str, str]]:
    """Return the key that sorts names in imports: like `rank`, but ignoring case."""
    return rank(name)[0], caseless(name)
