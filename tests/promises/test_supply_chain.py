"""What is installed to build, test and release is pinned by hash, and nothing is installed unasked."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def requirements(lock):
    """Names with what stands behind them, lines joined."""
    text = re.sub(r"\\\n\s*", " ", lock.read_text())
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_has_a_version_and_hashes(lock):
    found = requirements(lock)
    assert found
    for line in found:
        assert re.match(r"[A-Za-z0-9._-]+(\[[\w,-]+\])?==\S+", line), f"{line[:80]} is not pinned"
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", line), f"{line[:80]} has no hash"
        assert "://" not in line.partition("--hash")[0], "from an index alone"


def test_the_lock_files_are_those_that_make_installs():
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"\$\(call lock,(\w+)", makefile))
    assert {lock.stem for lock in LOCKS} == named
    assert "--require-hashes" in makefile
    installs = [line for line in makefile.splitlines() if "pip install" in line and "uv" not in line]
    assert installs and all("--require-hashes" in line or "--no-deps" in line for line in installs)


def test_packages_for_the_browser_have_hashes():
    lock = json.loads((ROOT / "requirements" / "pyodide" / "package-lock.json").read_text())
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert packages and all(each["integrity"].startswith("sha512-") for each in packages.values())
    makefile = (ROOT / "Makefile").read_text()
    assert "npm ci --silent --ignore-scripts" in makefile and "npm install" not in makefile


def test_core_has_the_dependencies_of_the_package_and_no_others():
    core = {re.match(r"[\w-]+", line)[0] for line in requirements(ROOT / "requirements" / "core.lock")}
    assert core == {"numpy", "llvmlite"}


def test_nothing_is_installed_unasked():
    """Tests in a browser are skipped where there is none."""
    recipes = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("\t")]
    for line in recipes:
        said = re.sub(r'echo "[^"]*"', "", line)
        assert not re.search(r"apt-get|apt install|brew|sudo|curl|wget|playwright install", said), line


def test_a_release_lists_its_components_and_hashes():
    package, release = (
        (ROOT / "Makefile").read_text().partition(f"\n{target}:")[2].partition("\n\n")[0]
        for target in ("package", "release")
    )
    assert "--no-isolation" in package and release.startswith(" package\n")
    assert "cyclonedx-py" in release and "SHA256SUMS" in release


# -- SECURITY.md -------------------------------------------------------------------------------------------------------


def promises():
    section = (ROOT / "SECURITY.md").read_text().partition("## Guarantees")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in row) for row in rows[1:]]


def test_every_promise_of_the_threat_model_names_its_tests():
    assert len(promises()) >= 12
    for what, promise, test in promises():
        path = ROOT / test.strip("`")
        assert what and promise and path.exists(), test
        files = [path] if path.is_file() else list(path.glob("test_*.py"))
        assert any("def test_" in file.read_text() for file in files)


def test_numbers_in_the_threat_model_are_those_of_the_code():
    from kinetree.geometry import limits as mesh  # noqa: PLC0415
    from kinetree.model.loaders import dh, mujoco_compiler, xacro, xml  # noqa: PLC0415

    text = {what: promise for what, promise, _ in promises()}
    assert f"{xml.MOST_BYTES >> 20} MB, {xml.MOST_ELEMENTS // 1000} 000 elements, {xml.DEEPEST} levels" in text["URDF"]
    assert f"{mujoco_compiler.MEMORY >> 30} GB and {mujoco_compiler.SECONDS} s" in text["MJCF"]
    assert f"{xacro.MEMORY >> 30} GB and {xacro.SECONDS} s, to at most {xacro.MOST_BYTES >> 20} MB" in text["xacro"]
    assert f"{dh.MOST_BYTES >> 20} MB" in text["tables (TOML)"]
    sizes = f"{mesh.MOST_BYTES >> 20} MB, {mesh.MOST_TEXT >> 20} MB of text, {mesh.MOST_TRIANGLES // 10**6} million"
    assert sizes in text["meshes"] and f"{mesh.MOST_PIXELS >> 20} million pixels" in text["meshes"]


@pytest.mark.parametrize("page", ["models.md", "viewer.md"])
def test_the_guides_lead_to_the_threat_model(page):
    assert "](security.md)" in (ROOT / "docs" / page).read_text()
    assert "../SECURITY.md" in (ROOT / "docs" / "security.md").read_text()
