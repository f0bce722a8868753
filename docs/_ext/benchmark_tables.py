"""Tables and plots of `benchmarks/results/*.json`, made when the site is built: no number on a page is copied by hand.

`{benchmark-table} calls pin` shows the rows under "pin" in calls.json; `{benchmark-plot}` draws columns of them;
`{benchmark-lost}` lists every row of every file where another was faster; `{benchmark-machine}` says where it ran.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["font.family"] = "sans-serif"
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
Row = Mapping[str, Any]


def result(name: str) -> dict[str, Any]:
    """One file of results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rows_of(name: str, key: str) -> list[Row]:
    """The rows under a key such as 'pin' or 'adam/calls'."""
    return reduce(lambda value, part: value[part], key.split("/"), result(name))


def cell(value: Any) -> str:
    """A number with three digits that count, or a text."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(header: list[str], rows: Iterable[list[str]]) -> nodes.Node:
    """A table that may be scrolled sideways."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]

    def entries(texts: list[str]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))

    group += nodes.thead("", entries(header))
    group += nodes.tbody("", *(entries(row) for row in rows))
    return nodes.table("", group, classes=["benchmark"])


def listed(argument: str | None) -> list[str]:
    """Names between semicolons: some have commas in them."""
    return [part.strip() for part in (argument or "").split(";") if part.strip()]


class _Directive(SphinxDirective):
    required_arguments = 2
    final_argument_whitespace = True
    option_spec: ClassVar = {"columns": directives.unchanged, "where": directives.unchanged}

    def rows(self) -> list[Row]:
        name, key = self.arguments
        self.env.note_dependency(str(RESULTS / f"{name}.json"))
        rows = rows_of(name, key)
        if "where" in self.options:
            column, _, value = self.options["where"].partition("=")
            rows = [row for row in rows if str(row[column.strip()]) == value.strip()]
        return rows

    def columns(self) -> list[str]:
        return listed(self.options.get("columns")) or list(self.rows()[0])


class BenchmarkTable(_Directive):
    """Rows of one file."""

    def run(self) -> list[nodes.Node]:
        columns = self.columns()
        return [table(columns, ([cell(row.get(name)) for name in columns] for row in self.rows()))]


class BenchmarkPlot(_Directive):
    """Bars of some columns, on a logarithmic axis; `:by:` names the columns that make the label of a row."""

    option_spec: ClassVar = _Directive.option_spec | {"by": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        rows, columns, by = self.rows(), self.columns(), listed(self.options["by"])
        figure = Figure(figsize=(5.8, 0.8 + 0.14 * len(columns) * len(rows) + 0.06 * len(rows)))
        ax = figure.subplots()
        for k, column in enumerate(columns):
            places = [row + (k - (len(columns) - 1) / 2) * 0.8 / len(columns) for row in range(len(rows))]
            values = [row.get(column) or float("nan") for row in rows]
            ax.barh(places, values, 0.8 / len(columns), label=column)
        ax.set_xscale("log")
        ax.set_yticks(range(len(rows)), [", ".join(str(row[name]) for name in by) for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=len(columns), frameon=False)
        figure.tight_layout()
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
        drawing = stream.getvalue()
        return [nodes.raw("", f'<div class="plot">{drawing[drawing.index("<svg") :]}</div>', format="html")]


def lost(name: str) -> list[tuple[str, str, float]]:
    """What was slower with kinetree: file, what, and how many times."""
    found = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for ratio in ("ratio", "times kinetree"):
                number = value.get(ratio)
                if isinstance(number, int | float) and number < 1 and not name.startswith("growth"):
                    what = [str(entry) for entry in value.values() if isinstance(entry, str) and entry[:1].isalpha()]
                    found.append((name, ", ".join(what), 1 / number))
            for entry in value.values():
                walk(entry)
        elif isinstance(value, list):
            for entry in value:
                walk(entry)

    walk(result(name))
    return found


class BenchmarkLost(SphinxDirective):
    """Every row of every file where another was faster."""

    def run(self) -> list[nodes.Node]:
        found = [entry for path in sorted(RESULTS.glob("*.json")) for entry in lost(path.stem)]
        if not found:
            return [nodes.paragraph("", "None in the results on record.")]
        return [table(["benchmark", "what", "times slower"], ([file, what, cell(x)] for file, what, x in found))]


class BenchmarkMachine(SphinxDirective):
    """Where a file of results was measured, and with which packages."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        machine = result(self.arguments[0])["machine"]
        packages = machine.pop("packages", {})
        machine["packages"] = ", ".join(f"{name} {version}" for name, version in packages.items()) or None
        return [table(["", ""], ([name, cell(value)] for name, value in machine.items() if value is not None))]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("benchmark-table", BenchmarkTable)
    app.add_directive("benchmark-plot", BenchmarkPlot)
    app.add_directive("benchmark-lost", BenchmarkLost)
    app.add_directive("benchmark-machine", BenchmarkMachine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
