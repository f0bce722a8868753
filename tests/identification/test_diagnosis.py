"""Wrong units, signs, times and joints at rest are told in a sentence; good recordings pass without one."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.diagnosis import check_velocities, findings
from kinetree.identification.recording import read_recording
from kinetree.identification.unknowns import Unknowns
from recorded_motions import exact

ARM = kt.load("planar2")
GOOD = exact(ARM, noise=0.01)
FIRST, SECOND = ARM.joint_names


def told(**changes):
    recordings = read_recording(ARM, GOOD | changes)
    return findings(Unknowns.of(ARM, None, ("damping",), 0.1), recordings)


def test_nothing_is_wrong_with_a_good_recording():
    (good,) = read_recording(ARM, GOOD)
    check_velocities(ARM, good)
    assert told() == []
    noisy = GOOD["v"] + 0.05 * np.random.default_rng(0).normal(size=GOOD["v"].shape)
    check_velocities(ARM, read_recording(ARM, GOOD | {"v": noisy})[0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"q": np.degrees(GOOD["q"])}, f"dq/dt of '{FIRST}' is 57.* times v; is that q in degrees and v in rad/s"),
        ({"v": np.degrees(GOOD["v"])}, "is that q in rad and v in degrees/s"),
        ({"t": 1e3 * GOOD["t"]}, "is that t in ms"),
        ({"v": GOOD["v"][:, ::-1]}, f"v of '{FIRST}' is not the rate of its q"),
        ({"v": -GOOD["v"]}, "is not the rate of its q"),
    ],
)
def test_velocities_that_are_not_the_rate_of_positions(changes, sentence):
    (wrong,) = read_recording(ARM, GOOD | changes)
    with pytest.raises(kt.ArgumentError, match=sentence):
        check_velocities(ARM, wrong)


def test_torques_in_other_units_or_directions():
    assert told(tau=1e3 * GOOD["tau"]) == ["torques are 1e+03 times those of the model: are they in N m and N?"]
    assert told(tau=GOOD["tau"] * [1.0, -1.0]) == [f"torques of {SECOND} have the opposite sign of the model's"]


@pytest.mark.parametrize("change", [0.0, -1.0, 180.0 / np.pi, np.pi / 180.0])
def test_accelerations_that_are_not_the_rate_of_velocities(change):
    """They are told; measured ones with noise of a fifth of their size are not."""
    sentence = f"a of {SECOND} is not the rate of v: are both in SI units?"
    assert sentence in told(a=GOOD["a"] * [1.0, change])
    noise = 0.2 * GOOD["a"].std(axis=0) * np.random.default_rng(0).normal(size=GOOD["a"].shape)
    assert told(a=GOOD["a"] + noise) == []


def test_series_of_different_times():
    late = np.roll(GOOD["tau"], 6, axis=0)  # 30 ms
    assert told(tau=late) == ["torques fit best 30 ms later: tau and q are not in step"]
    assert told(tau=np.roll(GOOD["tau"], -4, axis=0)) == ["torques fit best 20 ms earlier: tau and q are not in step"]


def test_a_joint_at_rest():
    still = {name: GOOD[name] * [1.0, 0.0] for name in ("q", "v", "a")}
    tau = ARM.inverse_dynamics(*still.values())
    assert told(**still, tau=tau)[0] == f"{SECOND} does not move (less than 0.001 rad or m)"


def test_positions_far_beyond_limits():
    arm = kt.load("arm6")
    recording = exact(arm, duration=1.0)
    recording["q"] = np.degrees(recording["q"])
    found = findings(Unknowns.of(arm, None, (), 0.1), read_recording(arm, recording))
    assert any("are positions in degrees or mm?" in sentence for sentence in found)


def test_torques_that_are_zero():
    with pytest.raises(kt.ArgumentError, match="tau is zero in all samples; expected torques"):
        told(tau=np.zeros_like(GOOD["tau"]))
    assert told(tau=GOOD["tau"] * [1.0, 0.0]) == [], "one of them may be"


def test_series_of_different_times_where_some_torques_are_mere_noise():
    """A slow motion of an arm whose wrist needs less than the noise: damping takes up much of a shift."""
    arm = kt.load("arm6")
    good = exact(arm, noise=0.05)
    unknowns = Unknowns.of(arm, None, ("damping", "friction"), 0.1)
    assert findings(unknowns, read_recording(arm, good)) == []
    for samples, sentence in ((3, "15 ms later"), (-12, "60 ms earlier")):
        late = good | {"tau": np.roll(good["tau"], samples, axis=0)}
        found = findings(unknowns, read_recording(arm, late))
        assert found == [f"torques fit best {sentence}: tau and q are not in step"]


def test_times_in_milliseconds_without_velocities_to_compare():
    changes = {"t": 1e3 * GOOD["t"], "v": 1e-3 * GOOD["v"], "a": 1e-6 * GOOD["a"]}
    assert "samples are 5 s apart: is t in seconds?" in told(**changes)
