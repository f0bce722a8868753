"""Rows of results as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """One line a row; a ratio is green where it meets its budget, red where it does not."""
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(_cell(name, value, row) for name, value in row.items()))
    Console().print(table)


def _cell(name: str, value: Any, row: Mapping[str, Any]) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    if name == "ratio" and "budget" in row:
        return f"[{'green' if value >= row['budget'] else 'red'}]{text}[/]"
    return text
