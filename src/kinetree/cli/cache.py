"""`kinetree cache`: the machine code that is kept on disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.progress import Progress
from rich.text import Text

import kinetree as kt
from kinetree.cli.loading import Loading, robot_argument, robot_command
from kinetree.cli.output import (
    JsonOption,
    console,
    counted,
    examples,
    guarded,
    option,
    print_json,
    print_table,
    progress,
    table_of,
)
from kinetree.compiler import archive as archives
from kinetree.compiler import cpu_names, host

app = typer.Typer(rich_markup_mode="rich", invoke_without_command=True)

CpuOption: TypeAlias = Annotated[
    list[str] | None, option("CPU by its KINETREE_CPU name; may be repeated.", metavar="NAME")
]
ArchiveArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="Archive file.")]

OFF = "switched off (KINETREE_CACHE=0, or no place to keep it in)"


@app.callback(epilog=examples("kinetree cache", "kinetree cache warm arm6 humanoid", "kinetree cache clear --json"))
@guarded
def cache(context: typer.Context, json: JsonOption = False) -> None:
    """Manage compiled code on disk: folder, size, clear, compile in advance, copy to other machines."""
    if context.invoked_subcommand is None:
        _show({"where": _where(), "bytes": kt.cache.size()}, f"{_where() or OFF}\n{_size(kt.cache.size())}", json)


@app.command()
@guarded
def where(json: JsonOption = False) -> None:
    """Print the folder of the cache; KINETREE_CACHE_DIR sets it."""
    _show({"where": _where()}, _where() or OFF, json)


@app.command()
@guarded
def size(json: JsonOption = False) -> None:
    """Print the size on disk; KINETREE_CACHE_MB limits it."""
    _show({"bytes": kt.cache.size()}, _size(kt.cache.size()), json)


@app.command()
@guarded
def clear(json: JsonOption = False) -> None:
    """Remove all entries; code is compiled again on next use."""
    freed = kt.cache.size()
    removed = kt.cache.clear()
    _show({"removed": removed, "bytes": freed}, f"removed {counted(removed, 'entry', 'entries')}, {_size(freed)}", json)


@app.command(
    epilog=examples("kinetree cache warm arm6 robot.urdf", "kinetree cache warm arm6 -q mass_matrix --cpu x86-64-v3")
)
@robot_command
def warm(
    robots: Annotated[list[str], robot_argument("Paths of model files, or bundled names.")],
    loading: Loading,
    quantity: Annotated[
        list[str] | None, option("Compile only this quantity; may be repeated.", "--quantity", "-q", metavar="NAME")
    ] = None,
    batch: Annotated[bool, option("Also compile for batches.")] = True,
    cpu: CpuOption = None,
    json: JsonOption = False,
) -> None:
    """Compile quantities of robots in advance, for this CPU or for named CPUs; later processes load them."""
    if kt.cache.where() is None:
        raise kt.ArgumentError("the cache is switched off, so nothing would be kept")
    loaded = {name: loading.load_aloud(name).robot for name in robots}  # all first: a wrong name should not wait
    with progress() as bar:
        filled = [_filled(bar, name, robot, quantity or [], batch, cpu or []) for name, robot in loaded.items()]
    if json:
        print_json({"robots": filled, "bytes": kt.cache.size()})
        return
    table = table_of("robot", "quantities", "seconds", left=("robot",))
    for one in filled:
        table.add_row(Text(one["robot"]), str(len(one["quantities"])), f"{one['seconds']:.2f}")
    print_table(table, console())
    print(f"\n{_size(kt.cache.size())} in {_where()}")


@app.command(epilog=examples("kinetree cache export fleet.cache --cpu x86-64-v3 --cpu x86-64-v4"))
@guarded
def export(file: ArchiveArgument, cpu: CpuOption = None, json: JsonOption = False) -> None:
    """Export the cache to FILE for other machines: all entries, or those for named CPUs."""
    archive = kt.cache.export_archive(file, cpus=cpu or [])
    text = f"{_counts(archive)}, {_size(archive.bytes)}\nSHA-256 {archive.sha256}"
    _show({"cpus": archive.cpus, "bytes": archive.bytes, "sha256": archive.sha256}, text, json)


@app.command("import", epilog=examples("kinetree cache import fleet.cache", "kinetree cache import f.cache --sha256 …"))
@guarded
def import_(
    file: ArchiveArgument,
    sha256: Annotated[str | None, option("Import FILE only if it has this SHA-256.", metavar="DIGITS")] = None,
    json: JsonOption = False,
) -> None:
    """Import an exported FILE into the cache. kinetree runs its code: import only files that you trust."""
    archive = kt.cache.import_archive(file, sha256=sha256)
    text = f"{_counts(archive)}, {archive.added} of them new"
    runnable = [name for name in cpu_names() if name in archive.cpus and not host(name).lacking]
    if archives.own_cpu() not in archive.cpus and runnable:
        text += f"\nThis machine uses them with KINETREE_CPU={runnable[-1]}"
    content = {"cpus": archive.cpus, "added": archive.added, "bytes": archive.bytes, "sha256": archive.sha256}
    _show(content, text, json)


def _counts(archive: kt.cache.Archive) -> str:
    """How many entries there are for each CPU."""
    return ", ".join(f"{counted(count, 'entry', 'entries')} for {cpu}" for cpu, count in archive.cpus.items())


def _filled(
    bar: Progress, name: str, robot: kt.Robot, quantities: Sequence[str], batch: bool, cpus: Sequence[str]
) -> dict[str, Any]:
    """Compile what is asked for of one robot, with a line of progress; its name, the quantities and the seconds."""
    task = bar.add_task(name, total=None)
    start = time.perf_counter()
    done: list[str] = []

    def report(word: str, before: int, total: int) -> None:
        bar.update(task, completed=before, total=total, description=f"{name}: {word}")
        bar.refresh()  # at once: the next turn of the clock may come too late
        done.append(word)

    kt.cache.warm(robot, *quantities, batch=batch, cpus=cpus, report=report)
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
