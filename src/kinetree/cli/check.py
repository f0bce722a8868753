"""`kinetree check`: what is suspicious about a robot, for people and for continuous integration."""

from __future__ import annotations

from dataclasses import asdict

import typer
from rich.text import Text

from kinetree.cli.facts import Finding, Robot, facts_of
from kinetree.cli.loading import Loading, RobotArgument, robot_command
from kinetree.cli.output import PROBLEM, JsonOption, console, print_json


@robot_command
def check(robot: RobotArgument, loading: Loading, json: JsonOption = False) -> None:
    """What is suspicious in a model that loads: odd inertias, massless links, missing meshes, ignored tags.

    The exit code is 0 if there is nothing, 1 if there is something.
    """
    loaded = loading.load(robot)
    facts = facts_of(loaded.robot, loaded.warnings)
    if json:
        content = {"name": facts.name, "findings": [asdict(finding) for finding in facts.findings]}
        print_json(content | {"warnings": facts.warnings})
    else:
        out = console()
        for line in doubts(facts):
            out.print(line, soft_wrap=True)
    if facts.findings or facts.warnings:
        raise typer.Exit(PROBLEM)


def doubts(facts: Robot) -> list[Text]:
    """Warnings and findings; a warning is a finding too, and is shown once."""
    warned = [finding for finding in facts.findings if any(_says(warning, finding) for warning in facts.warnings)]
    rest = [finding for finding in facts.findings if finding not in warned]
    if not facts.warnings and not rest:
        return [Text("Nothing looks wrong.", style="green")]
    count = len(facts.warnings) + len(rest)
    lines = [Text(f"{count} thing{'s' if count > 1 else ''} to look at", style="bold yellow")]
    lines += [Text(f"! {warning}", style="yellow") for warning in facts.warnings]
    lines += [_line(finding) for finding in rest]
    return lines


def _says(warning: str, finding: Finding) -> bool:
    return warning.endswith(f"{finding.element}: {finding.message}")


def _line(finding: Finding) -> Text:
    line = "" if finding.line is None else f" (line {finding.line})"
    return Text.assemble(
        "- ", (finding.element, "bold"), (line, "dim"), ": " if finding.element else "", finding.message
    )
