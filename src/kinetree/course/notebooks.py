"""Sheets as notebooks: what is asked, and a blank for the answer with its check."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kinetree.base.files import write_text
from kinetree.course.exercise import Exercise
from kinetree.course.sheets import SHEETS
from kinetree.course.sheets.listed import exercises


def write_notebooks(folder: str | os.PathLike[str]) -> list[Path]:
    """Write a notebook for every sheet into a folder, which is created if necessary."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    for number, title in SHEETS.items():
        path = place / f"{int(number):02}_{title.lower().replace(' ', '_').replace(',', '')}.ipynb"
        write_text(path, json.dumps(_notebook(number, title), indent=1, ensure_ascii=False) + "\n")
        written.append(path)
    return written


def _notebook(number: str, title: str) -> dict[str, Any]:
    cells = [
        _text(f"# {number} {title}\n\nReplace each `...` by your answer and run the cell to check it."),
        _code("import numpy as np\nimport kinetree as kt\nfrom kinetree.course import check, given"),
    ]
    for exercise in exercises():
        if exercise.sheet == number:
            cells += [_text(f"## {exercise.number} {exercise.title}\n\n{exercise.text}"), _code(_blank(exercise))]
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{number}-{k}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _blank(exercise: Exercise) -> str:
    if exercise.draw is not None:
        return f"def answer({exercise.arguments}):\n    return ...\n\n\ncheck({exercise.number!r}, answer)"
    names = ", ".join(f"data.{name}" for name in exercise.given)
    return f"data = given({exercise.number!r})  # {names}\nanswer = ...\ncheck({exercise.number!r}, answer)"


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
