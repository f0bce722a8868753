"""What all commands share: where they write, and what they say when something is wrong."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeAlias

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

import kinetree as kt
from kinetree.base.files import why_not_written, write_text
from kinetree.cli.main import INTERRUPTED, discard_stdout
from kinetree.cli.numbers import plain
from kinetree.errors import printable

PIPE_WIDTH = 120
"""Columns where nobody knows how wide it may be."""
UNBOUNDED = 100_000
PROBLEM = 1

NUMBERS = re.compile(r"\[\n\s+((?:(?:null|true|false|-?\d[-+.\deE]*),?\s+)+)\]")
"""A list of them as json writes it, over several lines; no string has such a break."""

P = ParamSpec("P")


def option(help: str, *names: str, **more: Any) -> Any:
    """An option with this help text; without names, it is called as its parameter."""
    return typer.Option(*names, help=help, **more)


JsonOption: TypeAlias = Annotated[bool, option("Print one JSON document on stdout.", "--json")]


class _Console(Console):
    """A console that leaves a broken pipe to the command, and shows what a name would have a terminal do."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_shown(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Stdout: in colour on a terminal, plain in a pipe."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return _Console(width=PIPE_WIDTH if piped else None, highlight=False, emoji=False, markup=False)


def console_for_notes() -> Console:
    """Stderr: progress, warnings, errors."""
    return _Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def _shown(text: str) -> str:
    """Lines without anything in them that a terminal would obey."""
    return "\n".join(map(printable, text.split("\n")))


def examples(*lines: str) -> str:
    """The end of a help text."""
    return "\n".join(["Examples:", *(f"  {line}" for line in lines)])


def print_json(content: object) -> None:
    """One document on stdout, arrays as lists, lists of numbers in one line each."""
    text = json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)
    lines = NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"
    sys.stdout.write("".join(json.dumps(c)[1:-1] if c != "\n" and not c.isprintable() else c for c in lines))


def counted(number: int, word: str, plural: str = "") -> str:
    """A number of things in words: 1 mesh, 2 meshes."""
    return f"{number} {word if number == 1 else plural or f'{word}s'}"


def table_of(*titles: str, left: Collection[str]) -> Table:
    """A table without lines; the cells of columns with these titles are on the left, others on the right."""
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(title, justify="left" if title in left else "right", no_wrap=True)
    return table


def natural_width(table: Table, out: Console) -> int:
    """Columns it needs to show everything."""
    return Measurement.get(out, out.options.update(max_width=UNBOUNDED), table).maximum


def print_table(table: Table, out: Console) -> None:
    """Rows as wide as they are: where a terminal is too narrow it breaks them itself, and nothing is lost."""
    width = out.width
    out.width = max(width, natural_width(table, out))
    out.print(table, crop=False)
    out.width = width


def say(word: str, sentence: str, style: str) -> None:
    """Prints a sentence on stderr."""
    console_for_notes().print(Text.assemble((f"{word}: ", style), sentence))


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with an end that fits a shell: one sentence and no traceback where the input is at fault."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with notes_on_stderr():
                command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            discard_stdout()
            raise typer.Exit(141) from None  # what a shell sees of any program whose reader went away
        except typer.BadParameter as problem:
            if kwargs.get("json"):
                print_json({"error": problem.format_message()})
            raise
        except (kt.KinetreeError, OSError) as problem:
            said = why_not_written(problem) if isinstance(problem, OSError) else str(problem)
            if isinstance(problem, OSError) and problem.filename is None:
                discard_stdout()  # should it be full, it must not be tried again
            elif kwargs.get("json"):
                print_json({"error": said})
            say("error", said, "bold red")
            raise typer.Exit(PROBLEM) from None

    return run


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """Warnings of the library as sentences on stderr."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say("warning", str(message), "bold yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("always", kt.ModelWarning)
        warnings.simplefilter("always", kt.CacheWarning)
        warnings.showwarning = show
        yield


def progress() -> Progress:
    """A bar on stderr that disappears when the work is done; nothing where stderr is not a terminal."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    notes = console_for_notes()
    return Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal)


@contextmanager
def working(words: str) -> Iterator[None]:
    """A bar for work whose end nobody knows: it moves for as long as the work takes."""
    with progress() as bar:
        bar.add_task(words, total=None)
        yield


def place_for(path: Path | None, option: str, suffixes: Sequence[str] = ()) -> None:
    """Refuse a file that cannot be written, before the work is done whose result it is for."""
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"{path.name!r}; expected a name that ends with {', '.join(suffixes)}", param_hint=option
        )
    if not path.parent.is_dir():
        raise kt.ArgumentError(f"{option} is {path}: there is no folder {path.parent}")


def written(text: str, out: Path | None) -> None:
    """A document to stdout, or to a file with a word about it on stderr."""
    text = text if text.endswith("\n") else f"{text}\n"
    if out is None:
        sys.stdout.write(_shown(text) if sys.stdout.isatty() else text)
    else:
        write_text(out, text)
        say("written", str(out), "bold green")
