"""The examples run, and so does every block of Python and every shell command in the documents."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = [  # scenes in MuJoCo run in tests/control/test_closed_loops_*.py
    pytest.param(path, id=path.name, marks=[pytest.mark.long] * ("mujoco" in path.stem and "circle" not in path.stem))
    for path in sorted((ROOT / "examples").glob("*.py"))
]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
APART = ("casadi", "jax", "torch")
"""Packages that are not there by default; `make test-interop` has them."""
NAMES = [path.relative_to(ROOT).as_posix() for path in DOCUMENTS]


def skip_without_packages(text):
    """Skip the test of a text that imports a package that is not installed."""
    for package in APART:
        if re.search(rf"^import {package}\b", text, flags=re.MULTILINE):
            pytest.importorskip(package, reason=f"{package} is not installed: make test-interop")


@pytest.mark.parametrize("path", EXAMPLES)
@pytest.mark.sampled(20)
def test_example_runs(path, tmp_path):
    skip_without_packages(path.read_text())
    run = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip(), "an example shows something"
    assert not run.stderr
    if path.name[0].isdigit():
        picture = tmp_path / "pictures" / f"{path.stem}.png"
        assert picture.read_bytes()[:4] == b"\x89PNG", "it ends in a picture"
        assert f"({path.name})" in (ROOT / "examples" / "README.md").read_text(), "its README lists it"


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
@pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning")  # of PyTorch about itself
@pytest.mark.sampled(8)
def test_document_runs(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text()
    skip_without_packages(text)
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    assert blocks or "```{" in text, f"{path.name} has no code, nor what the site fills in"
    code = ""
    for block in blocks:  # each on the lines that it has in the page, so that errors name them
        code += "\n" * (text.count("\n", 0, block.start(1)) - code.count("\n")) + block[1]
    exec(compile(code, str(path), "exec"), {})
    printed = capsys.readouterr().out
    for shown in re.findall(r"^```text\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE):
        assert shown in printed, f"{path.name} shows what was not printed:\n{shown}"
    for promised in re.findall(r"print\(.*\) +# (.*)", path.read_text()):
        assert promised.rstrip("… ") in printed, f"{path.name} promises {promised!r}"


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if "```console" in path.read_text()], ids=lambda path: path.name
)
@pytest.mark.sweep
def test_commands_print_what_is_shown(path, tmp_path):
    """After `$ command` stand the lines of its output; … alone stands for any lines, at the end of one for its rest."""
    script = tmp_path / "kinetree"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kinetree.cli "$@"\n')
    script.chmod(0o755)
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    environment = plain | {"PATH": f"{tmp_path}{os.pathsep}{plain['PATH']}", "KINETREE_CACHE_DIR": str(tmp_path / "c")}
    for block in re.findall(r"^```console\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
            options = {"shell": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            run = subprocess.run(command, env=environment, cwd=tmp_path, check=False, **options)
            printed = "".join(f"{line.rstrip()}\n" for line in run.stdout.splitlines())
            pattern = re.sub(r"^…\n", "(?s:.*)", re.escape(shown).replace("\\\n", "\n"), flags=re.MULTILINE)
            assert re.fullmatch(pattern.replace("…\n", ".*\n"), printed), f"{command} prints\n{printed}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=NAMES)
def test_links_lead_somewhere(path):
    prose = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert "://" in target or (path.parent / target).exists(), target


def test_the_equations_in_the_readme_are_those_of_the_source():
    block = re.search(r"^```\n(for i, p.*?)^```", (ROOT / "README.md").read_text(), flags=re.DOTALL | re.MULTILINE)
    assert block is not None
    lines = [line.strip() for line in block[1].splitlines()]
    source = (ROOT / "src/kinetree/algorithms/rnea.py").read_text().splitlines()
    positions = [[line.strip() for line in source].index(line) for line in lines]
    assert positions == list(range(positions[0], positions[0] + len(lines)))
