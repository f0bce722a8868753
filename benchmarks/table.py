"""Rows of results as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """One line a row; marked where a ratio has a budget to reach, or seconds a limit ("at most") to keep."""
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(_cell(name, value, row) for name, value in row.items()))
    Console().print(table)


def _cell(name: str, value: Any, row: Mapping[str, Any]) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    if name == "ratio" and isinstance(row.get("budget"), float):
        return _judged(text, value >= row["budget"])
    if name == "seconds" and isinstance(row.get("at most"), float):
        return _judged(text, value <= row["at most"])
    return text


def _judged(text: str, good: bool) -> str:
    return f"[green]{text} ✓[/]" if good else f"[red]{text} ✗[/]"
