"""Views to text: the one Jinja environment.

Invariant: a view's free text never becomes code; it passes `docstring`, `comment`, `literal` or autoescape.
"""

from functools import cache
from pathlib import Path, PurePosixPath

from wiregen.generate.escaping import code, comment, dashes, docstring, literal, markdown, slashes
from wiregen.generate.own_files import templates_folder
from wiregen.generate.python_layout import laid_out

__all__ = [
    "COPIED_RUNTIME",
    "Emitter",
    "as_laid_out",
    "render",
    "rendered_text",
    "target_suffix",
]

COPIED_RUNTIME = ".._runtime"
"""The package from which generated code imports a runtime that is copied into its own tree."""

_PYTHON = frozenset({".py", ".pyi"})
_MARKUP = frozenset({".html", ".svg", ".xml"})
_TEMPLATE = frozenset({".jinja", ".j2"})


class Emitter:
    """Renders the templates of folders, those of the first folder first.

    `runtime` in a template is the package from which generated code imports the runtime.
    """

    def __init__(self, *folders: Path, runtime: str = COPIED_RUNTIME) -> None:
        import jinja2  # not loaded by callers that only need the folder of the templates

        from wiregen.generate.compiled_templates import compiled_templates

        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            autoescape=_is_markup,
            undefined=jinja2.StrictUndefined,
            bytecode_cache=compiled_templates(),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters.update(
            docstring=docstring,
            comment=comment,
            literal=literal,
            slashes=slashes,
            dashes=dashes,
            markdown=markdown,
            code=code,
            breakable=_breakable,
        )
        self._environment.globals["runtime"] = runtime

    def render(self, template_name: str, view: object) -> str:
        """Return the text of a template with the variables `view` and `runtime`.

        Python (`….py`, `….py.jinja`) is formatted.

        Raises:
            jinja2.TemplateError: The template is missing, or names an attribute that the view does not have.
            ValueError: The text is not Python.
        """
        return as_laid_out(template_name, self.text(template_name, view))

    def text(self, template_name: str, view: object) -> str:
        """Return the text of a template before Python is formatted.

        Raises:
            jinja2.TemplateError: As for `render`.
        """
        return self._environment.get_template(template_name).render(view=view)


def render(
    template_name: str, view: object, templates: Path | None = None, runtime: str = COPIED_RUNTIME
) -> str:
    """Return the text of a template of the folder `templates`, or of wiregen's own; see `Emitter.render`."""
    return _emitter(templates, runtime).render(template_name, view)


def rendered_text(template_name: str, view: object, templates: Path | None, runtime: str) -> str:
    """Return the same before Python is formatted."""
    return _emitter(templates, runtime).text(template_name, view)


def as_laid_out(template_name: str, text: str) -> str:
    """Return the text that a template rendered, formatted if it is Python.

    Raises:
        ValueError: The text is not Python.
    """
    suffix = target_suffix(template_name)
    if suffix not in _PYTHON:
        return text
    try:
        return laid_out(text, is_stub=suffix == ".pyi")
    except ValueError as error:
        error.add_note(f"in the output of template {template_name}")
        raise


@cache
def _emitter(templates: Path | None, runtime: str) -> Emitter:
    return Emitter(*([] if templates is None else [templates]), templates_folder(), runtime=runtime)


def _is_markup(template_name: str | None) -> bool:
    return template_name is not None and target_suffix(template_name) in _MARKUP


def target_suffix(template_name: str) -> str:
    """Return the suffix of the file that a template renders."""
    path = PurePosixPath(template_name)
    return PurePosixPath(path.stem).suffix if path.suffix in _TEMPLATE else path.suffix


def _breakable(name: str) -> str:
    """Return the HTML of a name that may be continued in the next line after a `_` and a `.` within it."""
    from markupsafe import Markup, escape

    return escape(name).replace("_", Markup("_<wbr>")).replace(".", Markup(".<wbr>"))
