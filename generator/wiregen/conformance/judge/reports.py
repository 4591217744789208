"""Verdicts as text for people, JSON for programs, and JUnit XML for build servers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from wiregen.conformance.judge.expected_failures import Tally
from wiregen.conformance.judge.verdict import Verdict
from wiregen.language.diagnostics.junit import attribute, content

__all__ = ["FORMATS", "as_json", "as_junit", "as_text"]

FORMATS: Final = ("text", "json", "junit")


def as_text(tally: Tally, expected: Mapping[str, str], name: str) -> Iterator[str]:
    """Yield lines: each failure with the expected and the found answer, then the totals."""
    for verdict in tally.failed:
        yield f"failed: {verdict.id}"
        yield from (f"  {finding}" for finding in verdict.findings)
    for verdict in tally.mended:
        yield f"passed, although expected to fail: {verdict.id}{_because(expected[verdict.id])}"
    for id_ in tally.strangers:
        yield f"expected to fail, but not among the vectors: {id_}"
    for reason, n_skipped in Counter(verdict.reason for verdict in tally.skipped).items():
        yield f"skipped {n_skipped}: {reason}"
    troubles = Counter(found for verdict in tally.failed for found in _troubles(verdict))
    if troubles:
        counted = ", ".join(f"{count} {trouble}" for trouble, count in sorted(troubles.items()))
        yield f"failed without an answer: {counted}"
    yield f"{name}: {_sums(tally)}"


def _troubles(verdict: Verdict) -> Iterator[str]:
    """Yield how a program failed to give an answer to a vector."""
    found = [finding.found for finding in verdict.findings if finding.expected == "an answer"]
    yield from dict.fromkeys(
        "not asked" if "not asked:" in each else each.partition(":")[0] for each in found[:1]
    )


def as_json(tally: Tally, expected: Mapping[str, str], name: str, notes: Sequence[str] = ()) -> str:
    """Return one object: the totals, all verdicts that are not plain passes, and notes about the whole run."""
    groups = ("failed", "known", "mended", "skipped")
    shown = {group: [_object(verdict) for verdict in getattr(tally, group)] for group in groups}
    report: dict[str, object] = {
        "name": name,
        "passed": len(tally.passed),
        **shown,
        "strangers": list(tally.strangers),
    }
    report["notes"] = list(notes)
    return json.dumps(report, indent=1)


def as_junit(tally: Tally, expected: Mapping[str, str], name: str, notes: Sequence[str] = ()) -> str:
    """Return a suite with a case for each vector; notes about the whole run are its output."""
    bad = (*tally.failed, *tally.mended)
    quiet = (*tally.skipped, *tally.known)
    n_tests = len(tally.passed) + len(bad) + len(quiet)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuite name={attribute(name)} tests='{n_tests}' failures='{len(bad)}' skipped='{len(quiet)}'>",
        *(f"<testcase name={attribute(verdict.id)}/>" for verdict in tally.passed),
        *(
            _case(verdict, "failure", _told(verdict) or "passed, although expected to fail")
            for verdict in bad
        ),
        *(_case(verdict, "skipped", verdict.reason or expected.get(verdict.id, "")) for verdict in quiet),
        *([f"<system-out>{content(chr(10).join(notes))}</system-out>"] if notes else []),
        "</testsuite>",
    ]
    return "\n".join(lines)


def _sums(tally: Tally) -> str:
    n_all = sum(
        len(group) for group in (tally.passed, tally.failed, tally.skipped, tally.known, tally.mended)
    )
    parts = [
        f"{n_all} vectors",
        f"{len(tally.passed) + len(tally.mended)} passed",
        f"{len(tally.failed)} failed",
    ]
    parts += [f"{len(tally.known)} failed as expected"] if tally.known else []
    parts += [f"{len(tally.skipped)} skipped"] if tally.skipped else []
    return ", ".join(parts)


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _object(verdict: Verdict) -> dict[str, object]:
    findings = [
        {"check": each.check, "expected": each.expected, "found": each.found} for each in verdict.findings
    ]
    return {"id": verdict.id, **({"findings": findings} if findings else {"reason": verdict.reason})}


def _case(verdict: Verdict, kind: str, message: str) -> str:
    return f"<testcase name={attribute(verdict.id)}><{kind} message={attribute(message)}/></testcase>"


def _told(verdict: Verdict) -> str:
    return "; ".join(map(str, verdict.findings))
