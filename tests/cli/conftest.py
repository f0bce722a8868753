"""The command line inside this process, and as a shell sees it."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from kinetree.cli.app import app

COLOUR = ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "GITHUB_ACTIONS", "CLICOLOR_FORCE", "TERM")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path_factory):
    """No wishes of the developer's shell, and a cache of its own."""
    for name in COLOUR:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KINETREE_CACHE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def cli():
    """Runs a command line and returns its result; what went wrong in Python is raised."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, (result.stdout, result.stderr)
        return result

    return run


@pytest.fixture
def shell():
    """Runs `kinetree` as a process."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "kinetree.cli", *map(str, arguments)]
        environment = os.environ | options.pop("env", {})
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **options)

    return run
