"""The robots of example-robot-data: how many there are, how large, and how heavy."""

import numpy as np
import pinocchio as pin
import pytest

from peers import close, readable_urdfs, urdf_files

pytestmark = pytest.mark.all_robots


def test_the_data_has_69_files_and_68_robots():
    assert len(urdf_files()) == 69
    assert len(readable_urdfs()) == 68


def test_size_and_names(case):
    robot, peer = case.robot, case.peer
    assert robot.nv == np.linalg.matrix_rank(peer.G) == peer.G.shape[1]
    close(robot.mass, pin.computeTotalMass(peer.model))
    for name in robot.frame_names:
        assert peer.model.existFrame(name, pin.FrameType.BODY)
