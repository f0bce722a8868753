"""The sheet of an identification has what was measured, fitted and left, and every base parameter."""

import numpy as np
import pytest

import kinetree as kt
from recorded_motions import exact

pytest.importorskip("matplotlib")
ARM = kt.load("planar2")


def test_a_sheet(tmp_path):
    result = kt.identification.identify(ARM, exact(ARM, noise=0.1))
    figure = kt.plot.identification(result)
    *torques, parameters = figure.axes
    assert len(torques) == 2 and ARM.joint_names[0] in torques[0].get_title(loc="left")
    measured, fitted, left = (line.get_ydata() for line in torques[1].lines[:3])
    assert np.allclose(measured - fitted, left) and np.std(left) == pytest.approx(0.1, rel=0.2)
    assert len(parameters.get_yticklabels()) == len(result.base)
    figure.savefig(tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 10_000


def test_what_is_not_seen_is_crossed_out():
    recording = exact(ARM, noise=0.1)
    still = {name: recording[name] * [1.0, 0.0] for name in ("q", "v", "a")}
    tau = ARM.inverse_dynamics(*still.values()) + 0.1 * np.random.default_rng(0).normal(size=still["q"].shape)
    figure = kt.plot.identification(kt.identification.identify(ARM, recording | still | {"tau": tau}))
    labels = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert "not identifiable" in labels


def test_what_is_no_result():
    with pytest.raises(kt.ArgumentTypeError, match=r"result is 3; expected what kt\.identification\.identify returns"):
        kt.plot.identification(3)
