"""`kinetree cache`: the machine code that is kept on disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.text import Text

import kinetree as kt
from kinetree.cli.loading import Loading, robot_argument, robot_command
from kinetree.cli.output import (
    JsonOption,
    console,
    examples,
    guarded,
    print_json,
    print_table,
    progress,
    table_of,
)

app = typer.Typer(rich_markup_mode="rich", invoke_without_command=True)

OFF = "switched off (KINETREE_CACHE=0, or no place to keep it in)"


@app.callback(epilog=examples("kinetree cache", "kinetree cache warm arm6 humanoid", "kinetree cache clear --json"))
@guarded
def cache(context: typer.Context, json: JsonOption = False) -> None:
    """The machine code that is kept on disk: where, how much; empty it or fill it ahead of time."""
    if context.invoked_subcommand is None:
        _show({"where": _where(), "bytes": kt.cache.size()}, f"{_where() or OFF}\n{_size(kt.cache.size())}", json)


@app.command()
@guarded
def where(json: JsonOption = False) -> None:
    """The folder; KINETREE_CACHE_DIR names another."""
    _show({"where": _where()}, _where() or OFF, json)


@app.command()
@guarded
def size(json: JsonOption = False) -> None:
    """How much is on disk; KINETREE_CACHE_MB bounds it."""
    _show({"bytes": kt.cache.size()}, _size(kt.cache.size()), json)


@app.command()
@guarded
def clear(json: JsonOption = False) -> None:
    """Remove everything; it will be compiled again when it is needed."""
    freed = kt.cache.size()
    removed = kt.cache.clear()
    plural = "entry" if removed == 1 else "entries"
    _show({"removed": removed, "bytes": freed}, f"removed {removed} {plural}, {_size(freed)}", json)


@app.command(
    epilog=examples("kinetree cache warm arm6 robot.urdf", "kinetree cache warm arm6 -q mass_matrix --no-batch")
)
@robot_command
def warm(
    robots: Annotated[list[str], robot_argument("Paths of URDF files, or bundled names.")],
    loading: Loading,
    quantity: Annotated[
        list[str] | None,
        typer.Option("--quantity", "-q", metavar="NAME", help="Only this one; may be repeated.", show_default=False),
    ] = None,
    batch: Annotated[bool, typer.Option(help="Compile for batches, too.")] = True,
    json: JsonOption = False,
) -> None:
    """Compile the quantities of robots now, so that later processes only load them."""
    if kt.cache.where() is None:
        raise kt.ArgumentError("the cache is switched off, so nothing would be kept")
    loaded = {name: loading.load_aloud(name).robot for name in robots}  # all first: a wrong name should not wait
    with progress() as bar:
        filled = [_filled(bar, name, robot, quantity or [], batch) for name, robot in loaded.items()]
    if json:
        print_json({"robots": filled, "bytes": kt.cache.size()})
        return
    table = table_of(("robot", "left"), ("quantities", "right"), ("seconds", "right"))
    for one in filled:
        table.add_row(Text(one["robot"]), str(len(one["quantities"])), f"{one['seconds']:.2f}")
    print_table(table, console())
    print(f"\n{_size(kt.cache.size())} in {_where()}")


def _filled(bar: Progress, name: str, robot: kt.Robot, quantities: Sequence[str], batch: bool) -> dict[str, Any]:
    """Compile what is asked for of one robot, with a line of progress; its name, the quantities and the seconds."""
    task = bar.add_task(name, total=None)
    start = time.perf_counter()
    done: list[str] = []

    def report(word: str, before: int, total: int) -> None:
        bar.update(task, completed=before, total=total, description=f"{name}: {word}")
        bar.refresh()  # at once: the next turn of the clock may come too late
        done.append(word)

    kt.cache.warm(robot, *quantities, batch=batch, report=report)
    bar.remove_task(task)
    return {"robot": name, "quantities": done, "seconds": time.perf_counter() - start}


def _where() -> str | None:
    folder = kt.cache.where()
    return None if folder is None else str(folder)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"


def _show(content: dict[str, object], text: str, json: bool) -> None:
    if json:
        print_json(content)
    else:
        print(text)
