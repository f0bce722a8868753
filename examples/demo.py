"""What `make demo` and `kinetree demo` run. A folder as argument gets text, plots and an animated page."""

import sys
from pathlib import Path

from kinetree.cli.demo import run

run(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
