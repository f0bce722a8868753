"""kt.to_casadi, kt.to_torch and kt.to_jax where their packages are missing or broken."""

import sys

import pytest

import kinetree as kt
from kinetree.base import lazy_imports
from kinetree.errors import KinetreeError

PACKAGES = ("casadi", "torch", "jax")


@pytest.fixture
def forget(monkeypatch):
    """Forget the file that knows a package, as if it had not been imported."""

    def run(package):
        name = f"kinetree.interop.{package}"
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(lazy_imports, "_imported", {})

    return run


@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_says_what_to_install(package, monkeypatch, forget):
    forget(package)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(KinetreeError, match=rf"^kt.to_{package} needs the package {package}: pip install 'kinetree\["):
        getattr(kt, f"to_{package}")(kt.load("planar2").mass_matrix)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_broken_package_raises_its_own_error(package, monkeypatch, forget, tmp_path):
    forget(package)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / f"{package}.py").write_text("import a_part_of_it_that_is_missing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_part_of_it_that_is_missing"):
        getattr(kt, f"to_{package}")(kt.load("planar2").mass_matrix)
