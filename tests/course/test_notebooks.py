"""Sheets as notebooks: blanks that run, and say that nothing is answered yet."""

import json

import pytest

from kinetree.course import SHEETS, exercises, write_notebooks


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    return write_notebooks(tmp_path_factory.mktemp("sheets") / "new")


def test_there_is_one_for_every_sheet_with_all_its_exercises(notebooks):
    assert len(notebooks) == len(SHEETS) and notebooks == sorted(notebooks)
    texts = "".join(path.read_text() for path in notebooks)
    for exercise in exercises():
        assert f"## {exercise.number} {exercise.title}" in texts


@pytest.mark.sweep
def test_blanks_run(notebooks):
    for path in notebooks:
        cells = json.loads(path.read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        names = {}
        for source in code:
            *lines, last = source.splitlines()
            exec("\n".join(lines), names)
            if last.startswith("check"):
                assert not eval(last, names)
            else:
                exec(last, names)
        assert len({cell["id"] for cell in cells}) == len(cells)


def test_a_second_time_replaces_them(notebooks):
    again = write_notebooks(notebooks[0].parent)
    assert again == notebooks
