"""A law for tests of derivatives in other libraries."""

import kinetree as kt


@kt.compile(shapes={"gain": (2, 2)})
def law(robot, q, v, gain):
    """Results of several shapes, with a branch and an argument that some of them do not depend on."""
    return {"energy": robot.kinetic_energy(q, v), "both": (gain @ gain, kt.where(kt.less(v, 0.0), q, 2.0 * q))}
