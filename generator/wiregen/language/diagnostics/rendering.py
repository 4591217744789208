"""The one entry point of the renderings, by the name of the output format."""

from typing import Final, Literal, assert_never, get_args

from wiregen.language.diagnostics.locations import SourceTexts
from wiregen.language.diagnostics.machine import as_json, github, sarif
from wiregen.language.diagnostics.report import Report
from wiregen.language.diagnostics.terminal import concise, full

OutputFormat = Literal["full", "concise", "json", "github", "sarif", "junit"]
OUTPUT_FORMATS: Final[tuple[OutputFormat, ...]] = get_args(OutputFormat)


def render(
    report: Report, sources: SourceTexts, output_format: OutputFormat = "full", *, colour: bool = False
) -> str:
    """Return the report as text, each line ended; `colour` concerns `full` only."""
    match output_format:
        case "full":
            return full(report, sources, colour=colour)
        case "concise":
            return concise(report, sources)
        case "json":
            return as_json(report, sources)
        case "github":
            return github(report, sources)
        case "sarif":
            return sarif(report, sources)
        case "junit":
            from wiregen.language.diagnostics.junit import junit  # its XML library takes long to import

            return junit(report, sources)
        case _:
            assert_never(output_format)
