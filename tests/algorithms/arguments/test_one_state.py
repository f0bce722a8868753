"""Algorithms, called as the course calls them, read their arguments as robots do, and refuse what is not one state."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from kinetree.algorithms import aba, derivatives, factorization, jacobian, newton_euler, rnea
from kinetree.algorithms.arguments.one_state import POSITIONS, VELOCITIES
from peers import close


def algorithms_of_a_state():
    """Every public function of `kinetree.algorithms` that takes a model and arrays of a state."""
    found = {}
    for entry in pkgutil.walk_packages(algorithms.__path__, "kinetree.algorithms."):
        module = importlib.import_module(entry.name)
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                parameters = tuple(inspect.signature(function).parameters)
                if parameters[:1] == ("model",) and set(parameters) & (POSITIONS | VELOCITIES):
                    found[f"{entry.name.split('.')[-1]}.{name}"] = function
    del found["wrenches.external_forces"]  # takes wrenches that have been read
    del found["regularity.require_regular"]  # computes nothing
    del found["tendon_paths.tendon_states"], found["tendon_paths.over_joints"]  # steps of algorithms
    del found["frame_drives.drive_states"], found["composite.total"]  # likewise
    return found


ALGORITHMS = algorithms_of_a_state()


@pytest.fixture(scope="module")
def robot():
    return kt.load("arm6").eager


def arguments(robot, function):
    """Arguments of one state, by name."""
    rng = np.random.default_rng(0)
    constraints = robot.constrained([kt.Contact("tool0", "point")]).constraints
    known = {
        "model": robot.model,
        "frame": robot.model.frame("tool0"),
        "constraints": constraints,
        "reference": "local",
        "kind": "spatial",
        "point": "center-of-mass",
        "task": ("x", "rz"),
        "position": "cartesian",
        "rotation": "quaternion",
        "restitution": np.zeros(1),
    }
    given = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in known:
            given[name] = known[name]
        elif name in POSITIONS | VELOCITIES:
            given[name] = robot.random(rng) if name in POSITIONS else rng.normal(size=robot.nv)
        else:
            assert parameter.default is not parameter.empty, name
    return given


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_refuses_what_is_not_one_state(name, robot):
    function = ALGORITHMS[name]
    given = arguments(robot, function)
    for key in given.keys() & (POSITIONS | VELOCITIES):
        for wrong in (given[key][:-1], np.zeros(7), np.zeros((4, 6)), np.float64(1.0)):
            with pytest.raises(kt.ArgumentError, match=rf"{key} has shape .*; expected \(6,\)"):
                function(**(given | {key: wrong}))
        with pytest.raises(kt.ArgumentTypeError, match=f"{key} "):
            function(**(given | {key: ["a"] * 6}))
    with pytest.raises(kt.ArgumentTypeError, match=r"model is <Robot .*; expected a kinetree.Model, such"):
        function(**(given | {"model": robot}))
    for key in given.keys() & {"reference", "kind", "point", "task", "position", "rotation", "frame"}:
        with pytest.raises((kt.ArgumentError, kt.UnknownNameError), match=f"{key} .*'nothing'"):
            function(**(given | {key: "nothing"}))


def test_the_walk_finds_the_algorithms():
    assert {"rnea.inverse_dynamics", "aba.forward_dynamics", "crba.mass_matrix", "jacobian.frame_jacobian"} <= set(
        ALGORITHMS
    )
    assert len(ALGORITHMS) > 80


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_wrenches_by_name_of_frame_act_as_they_do_on_robots(order, base_velocity):
    robot = kt.load("quadruped", base="floating", spatial_order=order, base_velocity=base_velocity).eager
    rng = np.random.default_rng(1)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    first, second = robot.frame_names[3], robot.frame_names[-1]
    wrenches = {first: rng.normal(size=6), second: kt.Wrench(rng.normal(size=6), "local")}
    model = robot.model
    tau = robot.inverse_dynamics(q, v, a, wrenches)
    assert np.abs(tau - robot.inverse_dynamics(q, v, a)).max() > 0.1
    close(rnea.inverse_dynamics(model, q, v, a, wrenches), tau, 1e-12)
    close(newton_euler.inverse_dynamics(model, list(q), v, a, f_ext=wrenches), tau, 1e-12)
    close(rnea.bias_forces(model, q, v, wrenches), robot.bias_forces(q, v, wrenches), 1e-12)
    for algorithm in (aba, factorization):
        close(algorithm.forward_dynamics(model, q, v, tau, wrenches), a, 1e-8)
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v, a, wrenches)
    slopes = derivatives.inverse_dynamics_derivatives(model, q, v, a, wrenches)
    close(slopes[0], by_q, 1e-11)
    close(slopes[1], by_v, 1e-11)


def test_forces_on_bodies_and_wrenches_at_frames_add_up(robot):
    q, rest, six = robot.random(2), np.zeros(6), np.arange(6.0)
    tip = robot.frame("tool0").jacobian(q)
    body = robot.frame(robot.body_names[1]).jacobian(q, "local")
    both = rnea.bias_forces(robot.model, q, rest, {"tool0": six, 2: kt.Force.from_vector(2 * six)})
    close(both, robot.gravity_forces(q) - tip.T @ six - body.T @ (2 * six), 1e-12)


@pytest.mark.parametrize(
    ("f_ext", "sentence"),
    [
        ({"tool": np.zeros(6)}, "frame 'tool' does not exist; did you mean 'tool0'"),
        ({7: kt.Force.zero()}, "f_ext has the key 7; expected a body, 1 to 6, or a frame"),
        ({2: np.zeros(6)}, r"f_ext\[2\] is array.*; expected a Force"),
        ({"tool0": np.zeros(3)}, r"f_ext\['tool0'\] has shape \(3,\); expected \(6,\)"),
        ({"tool0": kt.Force.zero()}, "the wrench at 'tool0' is a Force; expected a 6-vector"),
        ([1.0] * 6, "f_ext is .*; expected a dict"),
        (None, "f_ext is None; expected a dict"),
    ],
)
def test_other_forces_are_refused(f_ext, sentence, robot):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError, kt.UnknownNameError), match=sentence):
        rnea.inverse_dynamics(robot.model, np.zeros(6), np.zeros(6), np.zeros(6), f_ext)


def test_frames_go_by_name_too(robot):
    q = robot.random(3).tolist()
    close(jacobian.frame_jacobian(robot.model, "tool0", q, "local"), robot.frame("tool0").jacobian(q, "local"), 0.0)


def test_the_articulated_body_algorithm_says_that_it_has_no_mimic_joints():
    rng = np.random.default_rng(0)
    builder = kt.ModelBuilder("gripper")
    builder.link("palm")
    for side in ("left", "right"):
        builder.link(side, kt.Inertia.from_com(0.1, (0, 0, 0.02), 1e-4 * np.eye(3)))
        mimic = kt.Mimic("left_slide", -1.0) if side == "right" else None
        builder.joint(f"{side}_slide", "prismatic", "palm", side, mimic=mimic)
    robot = kt.Robot(builder.build())
    with pytest.raises(kt.ArgumentError, match="'gripper' has mimic joints, which ABA cannot express"):
        aba.forward_dynamics(robot.model, robot.random(rng), np.zeros(1), np.zeros(1))
