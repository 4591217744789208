"""`wiregen lint`: assumptions in checked .wire files, and information that readers would miss in them."""

import sys
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import has_colour, tell
from wiregen.tools.cli.protocols import chosen_names, completions, configuration, exit_code, load
from wiregen.tools.cli.rewriting import Rewritten

if TYPE_CHECKING:
    from wiregen.language.diagnostics import OutputFormat, Report
    from wiregen.language.source import Sources

__all__ = ["verb"]


@click.command("lint")
@click.argument("names", nargs=-1, metavar="[FILE|NAME]...", shell_complete=completions)
@shared_options.output_format
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME",
    help="Apply only this rule, for example `no-doc`. May be repeated.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Remove declarations and imports without a use, and suppressions of nothing; write the files in canonical form.",
)
@click.option(
    "--diff",
    is_flag=True,
    help="Write nothing; print the changes of --fix, and exit with 1 if there are any.",
)
def verb(
    names: tuple[str, ...], output_format: "OutputFormat", rules: tuple[str, ...], fix: bool, diff: bool
) -> int:
    """Lint .wire files, or protocols by name. Without names, lint all sources of the configuration.

    Listings (assumed, errata, deprecated, untied-rule) are notes. Findings (no-source, no-doc, no-field-doc, unused) are warnings:
    with them the exit code is 1. `wiregen explain NAME` explains each rule. A comment `// wiregen: allow(RULE) reason` suppresses
    the findings of its line or, on a line of its own, of the next one; unused-allow, unknown-allow and bare-allow judge such comments.
    """
    from wiregen.generate.protocol_files import protocol_files, source_files
    from wiregen.language.diagnostics import Report, render
    from wiregen.language.importers import imported_names
    from wiregen.language.source import Sources
    from wiregen.tools.cli.lint_fixes import linted, with_fixes

    chosen = _chosen(rules)
    report, sources = Report(), Sources()
    config = configuration(report)
    outcomes, rewritten = [], []
    for name in names or chosen_names((*source_files(config), *protocol_files(config)), config):
        checked = Report()
        subject = load(name, config, sources, checked)
        if subject is None or checked.has_errors:
            report.merge(checked)
            continue
        path = sources[subject.origins[subject.protocol.path].source].path
        before = linted(subject, sources, chosen, imported_names(path, (path.parent, *config.sources)))
        after = with_fixes(before, config, chosen) if fix or diff else before
        rewritten.append(Rewritten(source=before.source, path=before.source.path, text=after.source.text))
        sources.add(after.source)
        outcomes.append(f"{subject.protocol.name}: {_outcome(after.findings, chosen)}")
        report.merge(after.findings)
    if diff:
        return _show(rewritten, report, sources)
    for each in rewritten:
        each.write()
    sys.stdout.write(render(report, sources, output_format, colour=has_colour(sys.stdout)))
    for outcome in outcomes:
        tell(outcome)
    return _end(report)


def _show(rewritten: "list[Rewritten]", report: "Report", sources: "Sources") -> int:
    """Print what --fix would change, and on stderr the errors of files that are wrong."""
    from wiregen.language.diagnostics import render

    for each in rewritten:
        sys.stdout.write(each.diff())
    errors = report.only(lambda each: each.severity == "error")
    sys.stderr.write(render(errors, sources, colour=has_colour(sys.stderr)))
    if errors.has_errors:
        return exit_code(errors)
    return FINDINGS if any(each.is_changed for each in rewritten) else DONE


def _chosen(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rules of these names or codes, or all rules without names."""
    from wiregen.language.diagnostics import did_you_mean
    from wiregen.language.linter import RULES

    by_code = {rule.code: rule.name for rule in RULES.values()}
    chosen = tuple(by_code.get(name.upper(), name.lower()) for name in names)
    for name, found in zip(names, chosen, strict=True):
        if found not in RULES:
            way_out = did_you_mean(found, RULES) or f"the rules are {', '.join(RULES)}"
            raise Failure(f"there is no rule `{name}`", way_out)
    return chosen or tuple(RULES)


def _outcome(report: "Report", rules: tuple[str, ...]) -> str:
    """Return the number of entries of each listing and of findings in a file: `7 assumed, 1 errata, no findings`."""
    from wiregen.language.linter import RULES

    codes = [diagnostic.code for diagnostic in report.diagnostics]
    parts = [
        f"{codes.count(rule.code)} {rule.name}"
        for rule in RULES.values()
        if rule.is_listing and rule.name in rules
    ]
    n_findings = sum(diagnostic.severity == "warning" for diagnostic in report.diagnostics)
    if any(not RULES[name].is_listing for name in rules):
        parts.append("1 finding" if n_findings == 1 else f"{n_findings or 'no'} findings")
    text = ", ".join(parts)
    return f"{text}; {report.n_dropped} more not counted" if report.n_dropped else text


def _end(report: "Report") -> int:
    if report.has_errors:
        return exit_code(report)
    return FINDINGS if any(each.severity == "warning" for each in report.diagnostics) else DONE
