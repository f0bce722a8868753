"""Parts that are imported when they are first asked for, and what a signal handler may do meanwhile."""

import os
import subprocess
import sys

import pytest

from kinetree.base.lazy_imports import importing

BODY = """
import os, signal
os.kill(os.getpid(), signal.SIGALRM)
for _ in range(100_000):
    pass
done = True
"""
CODE = """
import signal, sys
import kinetree as kt
from kinetree.base.lazy_imports import importing

class Interrupt(BaseException):
    pass

def handle(number, frame):
    raise Interrupt

signal.signal(signal.SIGALRM, handle)
try:
    importing("interrupted_part")
    raise SystemExit("nothing was raised")
except Interrupt:
    pass
assert sys.modules["interrupted_part"].done
assert importing("interrupted_part") is sys.modules["interrupted_part"]
"""


@pytest.mark.skipif(os.name != "posix", reason="about signals of POSIX")
def test_a_handler_that_raises_while_a_part_is_imported(tmp_path):
    """Raised inside of Python's import system, it may leave a lock taken that every import and every fork needs."""
    (tmp_path / "interrupted_part.py").write_text(BODY)
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    ended = subprocess.run([sys.executable, "-c", CODE], env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_what_does_not_exist():
    with pytest.raises(ModuleNotFoundError, match=r"kinetree\.nothing"):
        importing("kinetree.nothing")
