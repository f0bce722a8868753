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
MOST_ROWS = 12
"""Of a table that is shown as it is."""
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
        try:
            rows = rows_of(name, key)
        except (OSError, KeyError) as error:
            raise self.error(f"benchmarks/results/{name}.json has no rows under {key}: {error}") from None
        if "where" in self.options:
            column, _, value = self.options["where"].partition("=")
            rows = [row for row in rows if str(row[column.strip()]) == value.strip()]
        return rows

    def columns(self) -> list[str]:
        return listed(self.options.get("columns")) or list(self.rows()[0])


class BenchmarkTable(_Directive):
    """Rows of one file; many of them are unfolded by a click, so that the page can be read."""

    def run(self) -> list[nodes.Node]:
        columns, rows = self.columns(), self.rows()
        shown = table(columns, ([cell(row.get(name)) for name in columns] for row in rows))
        if len(rows) <= MOST_ROWS:
            return [shown]
        opening = f"<details><summary>{len(rows)} rows: {', '.join(columns)}</summary>"
        return [nodes.raw("", opening, format="html"), shown, nodes.raw("", "</details>", format="html")]


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


RATIOS = ("ratio", "batch ratio", "times kinetree")
"""Columns that say how many times longer the other took."""
CONTENDERS = ("solver", "call")
"""Columns that say who it was, where every contender has a row; the columns before it say what was done."""


def lost(name: str) -> list[tuple[str, str, float]]:
    """What was slower with kinetree: what, who was faster, and how many times."""
    return [entry for rows in _lists(result(name)) for entry in (*_by_columns(rows), *_by_rows(rows))]


def _lists(value: Any) -> Iterable[list[Row]]:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield value
    for entry in value.values() if isinstance(value, dict) else ():
        yield from _lists(entry)


def _by_columns(rows: list[Row]) -> Iterable[tuple[str, str, float]]:
    """Rows that have the times of both."""
    for row in rows:
        other = next((key.partition(" [")[0] for key in row if key.startswith(("pin [", "adam"))), "another")
        other = str(row.get("solver", row.get("by", other)))
        for column in RATIOS:
            number = row.get(column)
            if isinstance(number, int | float) and number < 1 and "one thread [ms]" not in row:
                what = f"{_words(row)} (batch)" if column == "batch ratio" else _words(row)
                yield what, other, 1 / number
        if "pin [s]" in row and row["seconds"] > row["pin [s]"]:
            yield f"loading {_words(row)}", "pin", row["seconds"] / row["pin [s]"]


def _by_rows(rows: list[Row]) -> Iterable[tuple[str, str, float]]:
    """Contenders one below the other: the median of each is compared with that of kinetree."""
    who = next((column for column in CONTENDERS if column in rows[0]), None)
    if who is None or "median [µs]" not in rows[0]:
        return
    first = next(iter(rows[0]))
    own = {row[first]: row["median [µs]"] for row in rows if row[who] == "kinetree"}
    for row in rows:
        if row[who] == "nothing" or row[who].startswith("kinetree"):
            continue
        if row[first] in own and row["median [µs]"] < own[row[first]]:
            what = f"{first}: {row[first]}" if first not in ("robot", "programs") else str(row[first])
            yield what, row[who], own[row[first]] / row["median [µs]"]


def _words(row: Row) -> str:
    kinds = ("robot", "quantity", "contacts", "problem")
    return ", ".join(str(row[kind]) for kind in kinds if kind in row)


class BenchmarkLost(SphinxDirective):
    """Every row of every file where another was faster."""

    def run(self) -> list[nodes.Node]:
        found = [(path.stem, *entry) for path in sorted(RESULTS.glob("*.json")) for entry in lost(path.stem)]
        if not found:
            return [nodes.paragraph("", "None in the results on record.")]
        header = ["benchmark", "what", "who was faster", "how many times"]
        return [table(header, ([file, what, who, cell(x)] for file, what, who, x in found))]


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
