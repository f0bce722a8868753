"""The CPUs for which this machine can run code: its own, and all that KINETREE_CPU may name."""

from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.target import NAMED, architecture

RUNNABLE = ["", *(name for name in NAMED[architecture()] if not host(name).lacking)]
"""Names for `host`; the empty one is this machine's own CPU."""
FUSING = [name for name in RUNNABLE if host(name).fuses]
