"""What `kinetree demo` and `make demo` show; one file for each part."""

from kinetree.cli.demo.show import run

__all__ = ["run"]
