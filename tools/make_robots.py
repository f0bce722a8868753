"""Writes the bundled robots: python tools/make_robots.py [folder]

Their numbers are inventions, chosen to be plausible and easy to remember, but for those of flying robots. x points
forward, y to the left, z up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from flying_robots import fixed_wing, hexarotor, quadrotor, quadrotor_arm
from urdf_writer import RIGHT_ANGLE, Limits, Vector, Writer, box, cylinder, sphere

FOLDER = Path(__file__).parent.parent / "src" / "kinetree" / "robots"


def planar2() -> Writer:
    """Two bobs on two rods that weigh nothing."""
    robot = Writer(
        "planar2",
        "The textbook's planar arm in the vertical plane of x and z. At q = 0 both rods point along x; positive angles "
        "raise them. The rods weigh nothing: all mass is in the spheres, 2 kg at 1 m and 1 kg at 0.5 m.",
    )
    robot.link("base_link", 1, box(0.1, 0.06, 0.1, at=(0, 0.06, 0), colour="dark"))
    robot.joint("shoulder", "continuous", "base_link", "upper_arm_link", "-y", Limits(60, 10))
    robot.link(
        "upper_arm_link",
        2,
        sphere(0.05, at=(1, 0, 0), colour="accent"),
        cylinder(0.012, 1, at=(0.5, 0, 0), along="x", drawn_only=True),
        cylinder(0.02, 0.06, at=(0, 0.01, 0), along="y", drawn_only=True),
    )
    robot.joint("elbow", "continuous", "upper_arm_link", "forearm_link", "-y", Limits(20, 10), at=(1, 0, 0))
    robot.link(
        "forearm_link",
        1,
        sphere(0.05, at=(0.5, 0, 0), colour="accent"),
        cylinder(0.012, 0.5, at=(0.25, 0, 0), along="x", drawn_only=True),
    )
    robot.frame("tip", "forearm_link", at=(0.5, 0, 0))
    return robot


def cartpole() -> Writer:
    """A pole that wants to fall."""
    robot = Writer(
        "cartpole",
        "A cart that is pushed along a rail, and a pole of 1 m that swings freely in front of it. At q = 0 the pole "
        "stands. The pivot has no motor: its effort is 0.",
    )
    robot.link("base_link", 4, box(2.6, 0.04, 0.04, colour="dark"))
    robot.joint("slide", "prismatic", "base_link", "cart_link", "x", Limits(30, 4, -1.1, 1.1))
    robot.link("cart_link", 1, box(0.24, 0.14, 0.1))
    robot.joint("pivot", "continuous", "cart_link", "pole_link", "y", Limits(0, 20), at=(0, -0.09, 0))
    robot.link(
        "pole_link",
        0.2,
        cylinder(0.01, 1, at=(0, 0, 0.5), colour="accent"),
        cylinder(0.02, 0.04, along="y", colour="dark", drawn_only=True),
    )
    robot.frame("tip", "pole_link", at=(0, 0, 1))
    return robot


def arm6() -> Writer:
    """Offset joints, as industrial arms of this size have."""
    robot = Writer(
        "arm6",
        "A six-joint arm of about 25 kg with 0.9 m reach: three large joints, a three-axis wrist. At q = 0 it points "
        "up. Each link has the inertia of one solid cylinder; the hubs at shoulder and elbow are only drawn.",
    )
    half_turn, turn = 3.14159265, 6.2831853
    robot.link("base_link", 6, cylinder(0.09, 0.12, at=(0, 0, 0.06), colour="dark"))

    def joint(name: str, parent: str, child: str, axis: str, limits: Limits, at: Vector) -> None:
        robot.joint(name, "revolute", parent, child, axis, limits, at)

    joint("shoulder_pan", "base_link", "shoulder_link", "z", Limits(150, 2.6, -half_turn, half_turn), (0, 0, 0.2))
    robot.link("shoulder_link", 4.5, cylinder(0.075, 0.16, along="y", colour="accent"))
    joint("shoulder_lift", "shoulder_link", "upper_arm_link", "y", Limits(150, 2.6, -2.2, 2.2), (0, 0.05, 0))
    robot.link(
        "upper_arm_link",
        8,
        cylinder(0.06, 0.42, at=(0, 0.09, 0.21)),
        cylinder(0.068, 0.13, at=(0, 0.095, 0), along="y", colour="dark", drawn_only=True),
    )
    joint("elbow", "upper_arm_link", "forearm_link", "y", Limits(100, 3.1, -2.6, 2.6), (0, 0.02, 0.42))
    robot.link(
        "forearm_link",
        3.6,
        cylinder(0.05, 0.38, at=(0, 0, 0.19)),
        cylinder(0.062, 0.19, at=(0, 0.04, 0), along="y", colour="accent", drawn_only=True),
    )
    joint("wrist_1", "forearm_link", "wrist_1_link", "y", Limits(28, 3.5, -half_turn, half_turn), (0, 0, 0.38))
    robot.link("wrist_1_link", 1.4, cylinder(0.045, 0.11, at=(0, 0.02, 0), along="y", colour="accent"))
    joint("wrist_2", "wrist_1_link", "wrist_2_link", "z", Limits(28, 3.5, -half_turn, half_turn), (0, 0.09, 0))
    robot.link("wrist_2_link", 1.3, cylinder(0.045, 0.11, at=(0, 0, 0.02)))
    joint("wrist_3", "wrist_2_link", "wrist_3_link", "y", Limits(28, 3.5, -turn, turn), (0, 0, 0.1))
    robot.link("wrist_3_link", 0.35, cylinder(0.04, 0.04, at=(0, 0.02, 0), along="y", colour="dark"))
    robot.frame("tool0", "wrist_3_link", at=(0, 0.05, 0), rpy=(-RIGHT_ANGLE, 0, 0), joint="tool_mount")
    return robot


def arm7() -> Writer:
    """Spherical shoulder, elbow, spherical wrist."""
    robot = Writer(
        "arm7",
        "A seven-joint arm of 18 kg, jointed like a human one: three axes meet in the shoulder, three in the wrist. "
        "Shoulder to elbow 0.41 m, elbow to wrist 0.37 m, wrist to tool 0.12 m: 0.9 m reach. At q = 0 it points up.",
    )

    def joint(name: str, parent: str, child: str, axis: str, z: float, limits: Limits) -> None:
        robot.joint(name, "revolute", parent, child, axis, limits, at=(0, 0, z))

    robot.link("base_link", 4, cylinder(0.09, 0.14, at=(0, 0, 0.07), colour="dark"))
    joint("shoulder_pan", "base_link", "shoulder_link", "z", 0.18, Limits(180, 2, -2.9, 2.9))
    robot.link(
        "shoulder_link",
        3.2,
        cylinder(0.075, 0.1, at=(0, 0, 0.01)),
        cylinder(0.07, 0.15, at=(0, 0, 0.12), along="y", colour="accent"),
    )
    joint("shoulder_lift", "shoulder_link", "upper_arm_link", "y", 0.12, Limits(180, 2, -2, 2))
    robot.link("upper_arm_link", 3, cylinder(0.062, 0.15, at=(0, 0, 0.135)))
    joint("upper_arm_roll", "upper_arm_link", "elbow_link", "z", 0.21, Limits(100, 2.4, -2.9, 2.9))
    robot.link(
        "elbow_link",
        2.6,
        cylinder(0.056, 0.16, at=(0, 0, 0.08)),
        cylinder(0.058, 0.13, at=(0, 0, 0.2), along="y", colour="accent"),
    )
    joint("elbow", "elbow_link", "forearm_link", "y", 0.2, Limits(100, 2.4, -2.3, 2.3))
    robot.link("forearm_link", 2, cylinder(0.05, 0.14, at=(0, 0, 0.12)))
    joint("forearm_roll", "forearm_link", "wrist_link", "z", 0.19, Limits(60, 3, -2.9, 2.9))
    robot.link(
        "wrist_link",
        1.6,
        cylinder(0.044, 0.15, at=(0, 0, 0.075)),
        cylinder(0.044, 0.1, at=(0, 0, 0.18), along="y", colour="accent"),
    )
    joint("wrist_bend", "wrist_link", "hand_link", "y", 0.18, Limits(40, 3.5, -2.1, 2.1))
    robot.link("hand_link", 1.2, cylinder(0.04, 0.06, at=(0, 0, 0.06)))
    joint("wrist_roll", "hand_link", "flange_link", "z", 0.09, Limits(40, 3.5, -3, 3))
    robot.link("flange_link", 0.4, cylinder(0.034, 0.03, at=(0, 0, 0.015), colour="dark"))
    robot.frame("tool0", "flange_link", at=(0, 0, 0.03), joint="tool_mount")
    return robot


def quadruped() -> Writer:
    """Four legs of three joints, all knees backward."""
    robot = Writer(
        "quadruped",
        "A walking machine of 30 kg with four legs of three joints: hip abduction (haa), hip flexion (hfe), knee "
        "flexion (kfe). At q = 0 the legs are straight; with hfe 0.6 and kfe -1.2 it stands, base_link 0.5 m above the "
        "ground. The frame of a foot is the centre of its sphere, radius 0.028 m.",
    )
    robot.link(
        "base_link",
        14.8,
        box(0.58, 0.17, 0.13),
        box(0.08, 0.12, 0.08, at=(0.32, 0, 0.01), colour="dark"),
        box(0.24, 0.13, 0.03, at=(0, 0, 0.08), colour="dark"),
    )
    for end, x in (("front", 0.22), ("hind", -0.22)):
        for side, s in (("left", 1), ("right", -1)):
            _quadruped_leg(robot, f"{end}_{side}", x, s)
    return robot


def _quadruped_leg(robot: Writer, leg: str, x: float, s: int) -> None:
    """s is 1 on the left, -1 on the right."""
    robot.comment(f"{leg.replace('_', ' ')} leg")
    hip, thigh, shank = f"{leg}_hip_link", f"{leg}_thigh_link", f"{leg}_shank_link"
    robot.joint(
        f"{leg}_haa", "revolute", "base_link", hip, "x", Limits(60, 12, *_outward(s, -0.5, 0.8)), at=(x, s * 0.11, 0)
    )
    robot.link(
        hip,
        1.3,
        cylinder(0.05, 0.12, along="x", colour="dark"),
        cylinder(0.045, 0.04, at=(0, s * 0.055, 0), along="y", colour="dark"),
    )
    robot.joint(f"{leg}_hfe", "revolute", hip, thigh, "y", Limits(60, 12, -1.2, 2.2), at=(0, s * 0.1, 0))
    robot.link(thigh, 1.9, cylinder(0.055, 0.05, along="y", colour="accent"), box(0.06, 0.036, 0.24, at=(0, 0, -0.15)))
    robot.joint(f"{leg}_kfe", "revolute", thigh, shank, "y", Limits(80, 12, -2.6, 0), at=(0, 0, -0.29))
    robot.link(
        shank,
        0.6,
        cylinder(0.035, 0.048, along="y", colour="accent"),
        cylinder(0.016, 0.24, at=(0, 0, -0.15)),
        sphere(0.028, at=(0, 0, -0.28), colour="dark"),
    )
    robot.frame(f"{leg}_foot", shank, at=(0, 0, -0.28))


def humanoid() -> Writer:
    """Two legs, two arms, a torso and a head."""
    robot = Writer(
        "humanoid",
        "A human-shaped robot of 60 kg and 1.6 m with 31 joints: 6 in each leg, 7 in each arm, 3 in the waist, 2 in "
        "the neck. At q = 0 it stands straight with its arms down, base_link (the pelvis) 0.97 m above its soles. Roll "
        "is about x, pitch about y, yaw about z; positive pitch bends the waist forward and swings legs and arms "
        "backward.",
    )
    robot.link("base_link", 6, box(0.16, 0.24, 0.1, colour="dark"))
    for side, s in (("left", 1), ("right", -1)):
        _humanoid_leg(robot, side, s)
    robot.comment("waist and chest")
    robot.joint("waist_yaw", "revolute", "base_link", "waist_yaw_link", "z", Limits(100, 5, -1.2, 1.2), at=(0, 0, 0.05))
    robot.link("waist_yaw_link", 1, cylinder(0.075, 0.05, at=(0, 0, 0.015)))
    robot.joint(
        "waist_roll", "revolute", "waist_yaw_link", "waist_roll_link", "x", Limits(100, 5, -0.4, 0.4), at=(0, 0, 0.05)
    )
    robot.link("waist_roll_link", 1, cylinder(0.04, 0.14, along="x", colour="dark"))
    robot.joint(
        "waist_pitch", "revolute", "waist_roll_link", "chest_link", "y", Limits(150, 5, -0.3, 0.9), at=(0, 0, 0.05)
    )
    robot.link(
        "chest_link",
        13.2,
        cylinder(0.05, 0.18, along="y", colour="dark"),
        box(0.14, 0.2, 0.1, at=(0, 0, 0.07)),
        box(0.19, 0.29, 0.16, at=(0, 0, 0.19)),
        box(0.02, 0.14, 0.06, at=(0.095, 0, 0.2), colour="accent", drawn_only=True),
    )
    for side, s in (("left", 1), ("right", -1)):
        _humanoid_arm(robot, side, s)
    robot.comment("neck and head; the frame `head` lies between the eyes")
    robot.joint("neck_yaw", "revolute", "chest_link", "neck_link", "z", Limits(10, 6, -1.4, 1.4), at=(0, 0, 0.27))
    robot.link("neck_link", 0.6, cylinder(0.04, 0.05, at=(0, 0, 0.02), colour="dark"))
    robot.joint("neck_pitch", "revolute", "neck_link", "head_link", "y", Limits(10, 6, -0.6, 0.7), at=(0, 0, 0.04))
    robot.link(
        "head_link",
        3.6,
        sphere(0.09, at=(0, 0, 0.08)),
        box(0.03, 0.11, 0.04, at=(0.075, 0, 0.09), colour="dark", drawn_only=True),
    )
    robot.frame("head", "head_link", at=(0.09, 0, 0.09))
    return robot


def _humanoid_leg(robot: Writer, side: str, s: int) -> None:
    robot.comment(f"{side} leg; the frame of a sole lies on the ground below the ankle")
    hip_yaw, hip_roll, thigh = f"{side}_hip_yaw_link", f"{side}_hip_roll_link", f"{side}_thigh_link"
    shank, ankle, foot = f"{side}_shank_link", f"{side}_ankle_link", f"{side}_foot_link"

    def joint(name: str, parent: str, child: str, axis: str, at: Vector, limits: Limits) -> None:
        robot.joint(f"{side}_{name}", "revolute", parent, child, axis, limits, at)

    joint("hip_yaw", "base_link", hip_yaw, "z", (0, s * 0.095, -0.06), Limits(60, 8, *_outward(s, -0.5, 0.9)))
    robot.link(hip_yaw, 1.2, cylinder(0.055, 0.05))
    joint("hip_roll", hip_yaw, hip_roll, "x", (0, 0, -0.04), Limits(120, 8, *_outward(s, -0.3, 0.8)))
    robot.link(hip_roll, 1.2, cylinder(0.04, 0.12, along="x", colour="dark"))
    joint("hip_pitch", hip_roll, thigh, "y", (0, 0, -0.05), Limits(160, 10, -2, 0.6))
    robot.link(thigh, 5, cylinder(0.05, 0.12, along="y", colour="accent"), cylinder(0.065, 0.28, at=(0, 0, -0.18)))
    joint("knee", thigh, shank, "y", (0, 0, -0.36), Limits(180, 10, 0, 2.4))
    robot.link(shank, 3.2, cylinder(0.052, 0.1, along="y", colour="accent"), cylinder(0.048, 0.28, at=(0, 0, -0.18)))
    joint("ankle_pitch", shank, ankle, "y", (0, 0, -0.35), Limits(80, 10, -0.9, 0.7))
    robot.link(ankle, 0.4, cylinder(0.035, 0.07, along="y", colour="dark"))
    joint("ankle_roll", ankle, foot, "x", (0, 0, -0.04), Limits(40, 10, -0.4, 0.4))
    robot.link(
        foot, 1.2, box(0.1, 0.06, 0.05, at=(0, 0, -0.015)), box(0.24, 0.1, 0.03, at=(0.04, 0, -0.055), colour="dark")
    )
    robot.frame(f"{side}_sole", foot, at=(0, 0, -0.07))


def _humanoid_arm(robot: Writer, side: str, s: int) -> None:
    robot.comment(f"{side} arm; the frame of a hand lies in the middle of its palm")
    shoulder_pitch, shoulder_roll = f"{side}_shoulder_pitch_link", f"{side}_shoulder_roll_link"
    upper_arm, elbow, forearm = f"{side}_upper_arm_link", f"{side}_elbow_link", f"{side}_forearm_link"
    wrist, palm = f"{side}_wrist_link", f"{side}_palm_link"

    def joint(name: str, parent: str, child: str, axis: str, at: Vector, limits: Limits) -> None:
        robot.joint(f"{side}_{name}", "revolute", parent, child, axis, limits, at)

    joint("shoulder_pitch", "chest_link", shoulder_pitch, "y", (0, s * 0.165, 0.21), Limits(50, 8, -3, 1.2))
    robot.link(shoulder_pitch, 0.8, cylinder(0.042, 0.05, at=(0, s * 0.005, 0), along="y", colour="dark"))
    joint(
        "shoulder_roll", shoulder_pitch, shoulder_roll, "x", (0, s * 0.055, 0), Limits(50, 8, *_outward(s, -0.2, 2.8))
    )
    robot.link(shoulder_roll, 0.8, cylinder(0.048, 0.1, along="x", colour="accent"))
    joint("shoulder_yaw", shoulder_roll, upper_arm, "z", (0, 0, -0.05), Limits(30, 8, *_outward(s, -1.5, 1.5)))
    robot.link(upper_arm, 1.5, cylinder(0.04, 0.18, at=(0, 0, -0.09)))
    joint("elbow", upper_arm, elbow, "y", (0, 0, -0.21), Limits(40, 8, -2.4, 0))
    robot.link(elbow, 0.5, cylinder(0.036, 0.08, along="y", colour="accent"), cylinder(0.032, 0.08, at=(0, 0, -0.06)))
    joint("wrist_yaw", elbow, forearm, "z", (0, 0, -0.1), Limits(15, 8, *_outward(s, -1.8, 1.8)))
    robot.link(forearm, 0.9, cylinder(0.034, 0.12, at=(0, 0, -0.06)))
    joint("wrist_pitch", forearm, wrist, "y", (0, 0, -0.14), Limits(10, 8, -0.9, 0.9))
    robot.link(wrist, 0.2, cylinder(0.024, 0.05, along="y", colour="dark"))
    joint("wrist_roll", wrist, palm, "x", (0, 0, -0.03), Limits(10, 8, *_outward(s, -0.7, 0.7)))
    robot.link(
        palm,
        0.4,
        box(0.07, 0.03, 0.1, at=(0, 0, -0.045)),
        box(0.06, 0.022, 0.07, at=(0, 0, -0.13), colour="dark"),
        box(0.02, 0.022, 0.06, at=(0.045, 0, -0.065), colour="dark"),
    )
    robot.frame(f"{side}_hand", palm, at=(0, 0, -0.07))


def _outward(s: int, inward: float, outward: float) -> tuple[float, float]:
    """Bounds of a roll or yaw, whose positive sense is outward on the left (s = 1) and inward on the right."""
    return (inward, outward) if s > 0 else (-outward, -inward)


ROBOTS: tuple[Callable[[], Writer], ...] = (
    *(planar2, cartpole, arm6, arm7, quadruped, humanoid),
    *(quadrotor, hexarotor, quadrotor_arm, fixed_wing),
)


def main(folder: Path) -> None:
    """Write one file for each robot."""
    for robot in ROBOTS:
        (folder / f"{robot.__name__}.urdf").write_text(robot().text(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
