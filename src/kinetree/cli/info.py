"""`kinetree info`: what a robot is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kinetree.cli.check import all_findings
from kinetree.cli.facts import PASSIVE, Bound, Joint, Robot, facts_of
from kinetree.cli.loading import Loading, RobotArgument, robot_command
from kinetree.cli.output import JsonOption, console, counted, natural_width, print_json, print_table, say, table_of

BAR = 20
"""Columns of the longest bar."""
NONE = "–"
AXES = {
    tuple(sign * (i == k) for i in range(3)): f"{mark}{letter}"
    for k, letter in enumerate("xyz")
    for sign, mark in ((1.0, ""), (-1.0, "-"))
}


@robot_command
def info(robot: RobotArgument, loading: Loading, json: JsonOption = False) -> None:
    """Show a robot: tree of joints, limits, masses, and suspicious values."""
    loaded = loading.load(robot)
    facts = facts_of(loaded.robot, loaded.warnings)
    if json:
        print_json(facts.content())
        for warning in facts.warnings:
            say("warning", warning, "bold yellow")
    else:
        show(facts, console())


def show(facts: Robot, out: Console) -> None:
    """The facts in sections."""
    tree = _tree(facts)
    if natural_width(tree, out) > out.width:
        tree = _tree(facts, with_limits=False)  # they are below, too
    out.print(_headline(facts))
    for title, content in (
        ("Tree", tree),
        ("Coordinates, in the order of q and v", _coordinates(facts)),
        ("Masses", _masses(facts)),
    ):
        if content.row_count:
            out.print(Text(f"\n{title}", style="bold cyan"))
            print_table(content, out)
    out.print()
    for line in all_findings(facts):
        out.print(line)


def _headline(facts: Robot) -> Group:
    held = "floating base" if facts.base == "floating" else "fixed base"
    gravity = ", ".join(f"{x:g}" for x in facts.gravity)
    lines = [
        Text(facts.name, style="bold"),
        Text(f"{held} · nq {facts.nq} · nv {facts.nv} · {facts.mass:.4g} kg moving · gravity ({gravity}) m/s²"),
    ]
    if facts.visuals or facts.collisions:
        counts = f"{counted(facts.visuals, 'visual')} · {counted(facts.collisions, 'collision')}"
        missing = counted(len(facts.missing_meshes), "mesh", "meshes") + " not found"
        lines.append(Text.assemble(counts, (f" · {missing}", "yellow") if facts.missing_meshes else ""))
    return Group(*lines)


# -- the tree -------------------------------------------------------------------------------------------------------


def _tree(facts: Robot, with_limits: bool = True) -> Table:
    """A row for every joint; a joint that is the only one on its link stands below the one before, so that long chains
    stay narrow."""
    follows = any(joint.mimics is not None for joint in facts.joints)
    limits = ["limits" if with_limits else "follows"] if with_limits or follows else []
    columns = ("joint", "type", *limits, "moves")
    table = table_of(*columns, "mass [kg]", left=columns)
    bodies = [body.name for body in facts.bodies]
    masses = dict(zip(bodies, _aligned([body.mass for body in facts.bodies]), strict=True))
    children: dict[str | None, list[Joint]] = {}
    for joint in facts.joints:
        children.setdefault(joint.parent, []).append(joint)
    root = facts.root if facts.base == "fixed" else None
    table.add_row(Text(root or "world", style="bold"))
    for guides, joint in _branches(root, children):
        cells = [Text.assemble((guides, "cyan"), joint.name), Text(f"{joint.type} {_axis(joint)}")]
        cells += [Text(_range(joint) if with_limits or joint.mimics is not None else "")] * len(limits)
        cells += [Text(joint.child), Text(masses.get(joint.child, ""))]
        table.add_row(*cells, style="dim" if joint.type == "fixed" else "")
    return table


def _branches(root: str | None, children: dict[str | None, list[Joint]]) -> Iterator[tuple[str, Joint]]:
    """Every joint below a link, depth first, with the guides to draw before it."""

    def forks(below: list[Joint], indent: str) -> list[tuple[str, str, Joint]]:
        drawn = [(f"{indent}├─ ", f"{indent}│  ", joint) for joint in below[:-1]]
        drawn += [(f"{indent}└─ ", f"{indent}   ", joint) for joint in below[-1:]]
        return drawn[::-1]

    waiting = forks(children.get(root, []), "")
    while waiting:
        guides, indent, joint = waiting.pop()
        yield guides, joint
        below = children.get(joint.child, [])
        waiting += [(indent, indent, below[0])] if len(below) == 1 else forks(below, indent)


def _axis(joint: Joint) -> str:
    """x, y or z where it is one of them."""
    if joint.axis is None:
        return ""
    return AXES.get(tuple(joint.axis)) or f"({', '.join(f'{x:.3g}' for x in joint.axis)})"


def _range(joint: Joint) -> str:
    """The limits; of a mimic joint, what it follows."""
    if joint.mimics is not None:
        factor = "" if joint.mimics.multiplier == 1.0 else f"{joint.mimics.multiplier:.4g} · "
        offset = f" {joint.mimics.offset:+.4g}" if joint.mimics.offset else ""
        return f"= {factor}{joint.mimics.joint}{offset}"
    if joint.lower is None and joint.upper is None:
        return ""
    return f"{_number(joint.lower)} … {_number(joint.upper)} {joint.unit}"


# -- coordinates and masses -----------------------------------------------------------------------------------------


def _coordinates(facts: Robot) -> Table:
    owners = [joint for joint in facts.joints if joint.q_index is not None]
    extras = [name for name in PASSIVE if any(getattr(joint, name) for joint in owners)]
    off = "" if facts.passive else " (off)"
    titles = [name if name == "armature" else f"{name}{off}" for name in extras]
    names = ("q", "v", "joint", "lower", "upper", "", "degrees", "velocity", "effort")
    table = table_of(*names, *titles, left=("joint", ""))
    for joint in owners:
        assert joint.q_index is not None and joint.v_index is not None
        speed, force = {"rad": ("rad/s", "N m"), "m": ("m/s", "N")}.get(joint.unit or "", ("", ""))
        table.add_row(
            _indices(joint.q_index, joint.q_size), _indices(joint.v_index, joint.v_size), Text(joint.name),
            _each(joint.lower, ".3f"), _each(joint.upper, ".3f"), joint.unit or "",
            Text(_degrees(joint), style="dim"), _number(joint.velocity, speed), _number(joint.effort, force),
            *(_number(getattr(joint, name)) for name in extras),
        )  # fmt: skip
    return table


def _indices(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}–{first + count - 1}"


def _number(value: Bound, unit: str = "") -> str:
    return NONE if value is None else f"{_each(value, '.4g')} {unit}".rstrip()


def _each(value: Bound, style: str) -> str:
    values = value if isinstance(value, list) else [value]
    return ", ".join(NONE if number is None else format(number, style) for number in values)


def _degrees(joint: Joint) -> str:
    if joint.unit != "rad" or not isinstance(joint.lower, float) or not isinstance(joint.upper, float):
        return ""
    return f"{math.degrees(joint.lower):.1f}° … {math.degrees(joint.upper):.1f}°"


def _masses(facts: Robot) -> Table:
    table = table_of("body", "mass [kg]", "share", "", left=("body", ""))
    largest = max((body.share for body in facts.bodies), default=0.0)
    *masses, total = _aligned([body.mass for body in facts.bodies] + [facts.mass])
    for body, mass in zip(facts.bodies, masses, strict=True):
        table.add_row(Text(body.name), mass, f"{body.share:.1%}", _bar(body.share / largest if largest else 0.0))
    if facts.bodies:
        table.add_row("all that moves", total, "", "", style="bold")
    return table


def _bar(length: float) -> Text:
    """A bar in half columns; anything that is there shows."""
    halves = max(round(2 * BAR * length), 1 if length else 0)
    return Text("━" * (halves // 2) + "╸" * (halves % 2), style="cyan")


def _aligned(values: Sequence[float]) -> list[str]:
    """Four digits of each, all with as many decimals, so that the points stand below each other."""
    decimals = max(len(f"{value:.4g}".partition(".")[2]) for value in values) if values else 0
    return [f"{value:.{min(decimals, 6)}f}" for value in values]
