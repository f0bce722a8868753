"""The examples of docs/coming_from/ beside the libraries that they come from, where these are installed."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "coming_from"


@pytest.mark.parametrize(("page", "packages"), [("pink", ("pink", "quadprog"))])
def test_both_sides_of_a_page_run_and_agree(page, packages):
    """Blocks marked `py` are the other library's: they follow ours and compare."""
    for package in ("pinocchio", *packages):
        pytest.importorskip(package)
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```", (FOLDER / f"{page}.md").read_text(), re.DOTALL | re.MULTILINE)
    code = "\n".join(blocks)
    assert packages[0] in code and code.count("assert") >= 2
    exec(compile(code, f"{page}.md", "exec"), {})
