"""What `make demo` and `kinetree demo` run. With a folder as argument it leaves text and plots there."""

import sys
from pathlib import Path

from kinetree.cli.demo import run

run(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
