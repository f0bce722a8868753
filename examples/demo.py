"""The dynamics of a bundled six-joint arm, printed: what `make demo` and `kinetree demo` run."""

from kinetree.cli.demo import run

run()
