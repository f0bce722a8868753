"""`kinetree check`: what is to know about a robot's file, for people and for continuous integration."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.text import Text

import kinetree as kt
from kinetree.cli.facts import Robot, facts_of, told
from kinetree.cli.loading import Loading, RobotArgument, robot_command
from kinetree.cli.output import PROBLEM, JsonOption, console, counted, option, print_json
from kinetree.model.findings import SEVERITIES, Finding

STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@robot_command
def check(
    robot: RobotArgument,
    loading: Loading,
    strict: Annotated[bool, option("Exit with code 1 for warnings, too.", "--strict")] = False,
    json: JsonOption = False,
) -> None:
    """Check a model: faults, impossible inertias, massless links, missing meshes, ignored tags.

    The command repairs faults where possible, so that it can list all of them. The exit code
    is 1 if there is an error, with --strict also if there is a warning, and 0 otherwise.
    """
    try:
        loaded = loading.load(robot, repair=True)
        facts = facts_of(loaded.robot, loaded.warnings)
        name, findings = facts.name, facts.findings
    except kt.ModelError as problem:
        if not problem.findings:
            raise
        name, findings = robot, list(problem.findings)
    if json:
        print_json({"name": name, "findings": list(map(told, findings))})
    else:
        out = console()
        for line in _listed(findings):
            out.print(line, soft_wrap=True)
    if any(finding.severity == "error" or (strict and finding.severity == "warning") for finding in findings):
        raise typer.Exit(PROBLEM)


def all_findings(facts: Robot) -> list[Text]:
    """The findings, and warnings of loading that are none."""
    found = {finding.message for finding in facts.findings}
    others = [warning for warning in facts.warnings if not any(warning.endswith(message) for message in found)]
    return _listed([*facts.findings, *(Finding(warning, severity="warning") for warning in others)])


def _listed(findings: list[Finding]) -> list[Text]:
    """The worst first."""
    if not findings:
        return [Text("Nothing looks wrong.", style="green")]
    counts = Counter(finding.severity for finding in findings)
    kinds = [kind for kind in SEVERITIES if counts[kind]]
    headline = ", ".join(counted(counts[kind], kind) for kind in kinds)
    ordered = [finding for kind in kinds for finding in findings if finding.severity == kind]
    return [Text(headline, style=STYLES[kinds[0]]), *map(_line, ordered)]


def _line(finding: Finding) -> Text:
    line = "" if finding.line is None else f" (line {finding.line})"
    return Text.assemble(
        (f"{finding.severity:8}", STYLES[finding.severity]),
        (finding.element, "bold"),
        (line, "dim"),
        ": " if finding.element else "",
        finding.message,
    )
