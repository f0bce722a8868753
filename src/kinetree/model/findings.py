"""What is found in a model besides the robot itself: where it stands, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kinetree.errors import ModelError, printable

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The worst first."""


@dataclass(frozen=True)
class Finding:
    """A finding about a model that loads.

    "note"      something was left out, or read in one of several ways; the dynamics are the author's
    "warning"   the dynamics may not be the author's, or the file breaks the rules of its format
    "error"     a fault that `kt.load` refuses; with repair=True, and the message says what was assumed
    """

    message: str
    element: str = ""
    line: int | None = None
    severity: Severity = "note"
    file: str = ""
    """The file or document, if it was read from one."""
    count: int = 1
    """How many elements it is about."""

    def __str__(self) -> str:
        where = self.element + (f" (line {self.line})" if self.line is not None else "")
        return printable(f"{where}: {self.message}" if where else self.message)


def refuse(findings: tuple[Finding, ...], source: str) -> None:
    """Raises if there is more than notes among them."""
    serious = [finding for finding in findings if finding.severity != "note"]
    if serious:
        first, more = serious[0], f" (and {len(serious) - 1} more)" if len(serious) > 1 else ""
        where = f"{source}, line {first.line}" if first.line is not None else source
        problem = ModelError(f"{where}: {first.element}: {first.message}{more}; strict=True refuses such warnings")
        problem.findings = findings
        raise problem
