"""The pictures of the course are those that `tools/course_figures.py` draws, and every page that explains has one."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from course_figures import FIGURES, FOLDER, drawn

NUMBER = re.compile(r"-?\d+\.?\d*")


def test_every_page_that_explains_has_a_picture_equations_lines_of_the_source_and_a_number():
    for path in sorted(FOLDER.glob("*.md")):
        if path.stem in ("index", "exercises", "browser", "lectures"):
            continue
        text = path.read_text(encoding="utf-8")
        assert re.search(r"!\[.+\]\(\w+\.svg\)", text), path.name
        assert "$" in text and "```{source}" in text and "assert" in text, path.name
        assert re.search(r"number\s+to\s+check\s+by\s+hand", text), path.name


def test_every_picture_is_shown_once():
    pages = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    assert {path.stem for path in FOLDER.glob("*.svg")} >= set(FIGURES)
    assert {path.name: pages.count(f"]({path.name})") for path in FOLDER.glob("*.svg")} == {
        path.name: 1 for path in FOLDER.glob("*.svg")
    }


@pytest.mark.parametrize("name", sorted(FIGURES))
@pytest.mark.sampled(6)
def test_a_picture_shows_what_the_library_computes(name):
    """Words and shapes are equal; coordinates to a pixel, because rounding may fall to either side."""
    kept, now = (FOLDER / f"{name}.svg").read_text(encoding="utf-8"), drawn(name)
    assert NUMBER.sub("#", kept) == NUMBER.sub("#", now), "python tools/course_figures.py"
    pairs = zip(NUMBER.findall(kept), NUMBER.findall(now), strict=True)
    assert all(abs(float(one) - float(other)) <= 1.0 for one, other in pairs)
