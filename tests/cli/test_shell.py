"""kinetree as a shell sees it: exit codes, streams, pipes, interrupts, a missing package.

Covers: cli/__main__.py, cli/app.py, cli/main.py, cli/output.py.
"""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kinetree as kt
from processes import interruptible

COMMAND = [sys.executable, "-m", "kinetree.cli"]
EVERY = [["--help"], ["--version"], ["info", "humanoid"], ["info", "humanoid", "--json"], ["cache", "size"], ["demo"]]
EVERY += [["check", "arm6"], ["dynamics", "arm6", "--json"], ["export", "arm6", "--to", "urdf"], ["view", "arm6"]]


def test_the_script_is_installed():
    script = Path(sys.executable).parent / "kinetree"
    if not script.exists():
        pytest.skip("kinetree is imported from its sources, without an installation")
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"kinetree {kt.__version__}\n"


def test_help_has_examples(cli):
    assert "kinetree info arm6" in cli("--help").stdout
    single = (
        "info",
        "check",
        "view",
        "ik",
        "dynamics",
        "simulate",
        "equations",
        "export",
        "convert",
        "bench",
        "demo",
        "cache",
    )
    for command in (*([name] for name in single), ["cache", "warm"]):
        text = cli(*command, "--help").stdout
        assert "Examples:" in text
        assert f"kinetree {' '.join(command)}" in text.split("Examples:")[1]


def test_exit_codes_and_streams(shell, tmp_path):
    assert shell("info", "planar2").returncode == 0
    wrong = shell("info", "planar3")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == "error: bundled robot 'planar3' does not exist; did you mean 'planar2'?\n"
    usage = shell("inform")
    assert (usage.returncode, usage.stdout) == (2, "")
    assert "Traceback" not in wrong.stderr + usage.stderr


def test_only_json_on_stdout(shell, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/>'
        '<child link="b"/><mimic joint="nobody"/></joint></robot>'
    )
    run = shell("info", path, "--json")
    assert json.loads(run.stdout)["name"] == "r"
    assert run.stderr.startswith("warning: ")


def test_a_pipe_is_plain(shell):
    text = shell("info", "humanoid", "--base", "floating").stdout
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 120
    assert "\x1b" not in shell("info", "nobody").stderr


def on_a_terminal(*arguments):
    """What a terminal receives, and the exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [*COMMAND, *arguments])
    received = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        received += more
    os.close(terminal)
    return received.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_terminal_has_colours_and_progress(own_cache):
    text, code = on_a_terminal("cache", "warm", "planar2", "-q", "mass_matrix")
    assert code == 0
    assert "\x1b[" in text
    assert "planar2: mass_matrix" in text


@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
@pytest.mark.sampled(4)
def test_a_reader_that_goes_away(arguments):
    run = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run.stdout.close()
    said = run.stderr.read()
    run.stderr.close()
    run.wait()
    assert said == b""
    assert run.returncode in (0, 1, 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
@pytest.mark.sweep
def test_a_full_disk():
    for arguments in (["info", "humanoid"], ["info", "humanoid", "--json"], ["cache", "size"]):
        with open("/dev/full", "w") as full:
            run = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert run.returncode == 1
        assert run.stderr == "error: no space left on device\n"


@pytest.mark.sweep
def test_streams_that_are_closed():
    for redirection in (">&-", "2>&-", ">&- 2>&-"):
        command = f"{' '.join(COMMAND)} info planar2 {redirection}"
        run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert run.returncode == 0
        assert run.stderr == ""


def test_a_terminal_without_unicode(shell):
    run = shell("info", "arm6", "--base", "floating", env={"PYTHONIOENCODING": "ascii"})
    assert run.returncode == 0, run.stderr
    assert run.stdout.isascii() and "shoulder_pan" in run.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_an_interrupt_while_compiling(own_cache):
    run = interruptible([*COMMAND, "cache", "warm", "humanoid"])
    deadline = time.monotonic() + 60
    while not list(own_cache.glob("*.kinetree")) and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    said, problems = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, "")
    assert "Traceback" not in problems
    assert not list(own_cache.glob("*part"))


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_packages(package):
    code = f"import sys; sys.modules[{package!r}] = None; from kinetree.cli.main import main; main()"
    run = subprocess.run([sys.executable, "-c", code, "info", "arm6"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == f"The command line needs {package}, which is not installed: pip install 'kinetree[cli]'\n"


@pytest.mark.sweep
def test_the_demo_needs_neither():
    code = "import sys; sys.modules['typer'] = sys.modules['rich'] = None; from kinetree.cli.demo import run; "
    code += "run(states=1000, walks=False)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "Mass matrix" in run.stdout


def test_help_imports_no_peer():
    code = (
        "import sys; from kinetree.cli.app import app; app(['--help'], standalone_mode=False);"
        "slow = {'pinocchio', 'mujoco', 'matplotlib', 'scipy', 'viser', 'sympy', 'kinetree.simulation', 'kinetree.ik'};"
        "assert not slow & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_the_pager_case(shell):
    if shutil.which("head") is None:
        pytest.skip("needs head")
    command = f"{' '.join(COMMAND)} info humanoid | head -1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("humanoid\n", "")
