"""Every call that a table of names promises exists: names of the lectures, and what other libraries call things."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

import kinetree as kt
from kinetree import trajectories

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    "course/index.md",
    *(
        f"coming_from/{name}.md"
        for name in (
            *("pinocchio", "mujoco", "drake", "pink", "tsid"),
            *("robotics_toolbox", "matlab", "modern_robotics", "spatial_v2"),
        )
    ),
]
CALL = re.compile(r"\b(robot|frame|kt|trajectories)((?:\.[A-Za-z_]\w*)+)")


@pytest.fixture(scope="module")
def scope():
    robot = kt.load("arm6", base="floating")
    return {"kt": kt, "robot": robot, "frame": robot.frame("tool0"), "trajectories": trajectories}


def rows(page: str):
    """The cells of the tables of a page, those of the header left out."""
    for line in (DOCS / page).read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) >= 2 and not set(cells[0]) <= set("-: "):
            yield cells


def calls(page: str):
    """What stands in the column of this library: the last of lectures, the first of other libraries."""
    for cells in rows(page):
        cell = cells[-1] if page.startswith("course") else cells[0]
        for code in re.findall(r"`([^`]+)`", cell):
            yield from CALL.findall(re.sub(r'"[^"]*"', "", re.sub(r"robot\.frame\([^)]*\)", "frame", code)))


@pytest.mark.parametrize("page", PAGES)
def test_every_call_in_a_table_of_names_exists_and_is_documented(page, scope):
    found = list(calls(page))
    assert len(found) >= 10
    for root, path in found:
        value = attrgetter(path[1:])(scope[root])
        assert not callable(value) or value.__doc__, f"{root}{path} has no docstring"


def test_the_lectures_have_their_names():
    """What students look for by its symbol."""
    listed = {f"{root}{path}" for root, path in calls("course/index.md")}
    assert {
        "kt.rotations.H",
        "kt.se3.E_e",
        "kt.unskew",
        "kt.rotations.vector_rate",
        "kt.Transform.motion_matrix",
        "kt.Motion.cross_force_matrix",
        "robot.joint_axes",
        "robot.body_velocities",
        "robot.body_accelerations",
        "robot.newton_euler",
        "robot.composite_inertias",
        "robot.coriolis_matrix_by_jacobians",
        "robot.passive_forces",
    } <= listed


@pytest.mark.parametrize("page", PAGES[1:])
def test_what_everyone_looks_for_is_in_every_table(page):
    """Locked and joined robots, loops, exp and log, places of joints in q, frames, a viewer."""
    listed = {f"{root}{path}" for root, path in calls(page)}
    assert {"kt.edit.lock", "robot.loops", "kt.rotations.exp", "kt.rotations.log", "robot.joint"} <= listed
    assert {"robot.frame_names", "robot.view"} <= listed and any(
        name.startswith("kt.edit.") for name in listed - {"kt.edit.lock"}
    )
