"""Runs a script of this folder in a process of its own that may take only so much time and memory.

The file is run as a script, by `limited_process`. It imports the standard library only. Its stdin begins with a line of
JSON: the limits, the script, and where that finds its packages. The script reads the rest.
"""

from __future__ import annotations

import json
import sys


def bound(memory: int, seconds: int) -> None:
    """Lets this process have no more than this; on Windows, only the process that waits for it keeps time."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    # of all memory, Linux counts as data what can be written to; other systems count addresses
    memory_limit = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    for limit, most in ((memory_limit, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(limit)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(limit, (most, most))
        except (OSError, ValueError):
            continue  # macOS refuses limits of memory


def main() -> None:
    """Take on the limits, then become the script."""
    order = json.loads(sys.stdin.buffer.readline())
    bound(order["memory"], order["seconds"])
    sys.path += order["packages"]
    with open(order["script"], "rb") as file:
        code = compile(file.read(), order["script"], "exec")
    exec(code, {"__name__": "__main__", "__file__": order["script"]})


if __name__ == "__main__":
    main()
