"""A network learns inverse kinematics in PyTorch: the loss is measured where the arm ends up, not in joint angles.

    network: target (3) → q (6)        loss: ‖position of the tool at q - target‖²

Nobody shows the network a right answer. The gradient of the loss goes through the kinematics, `kt.to_torch`, whose
backward is a compiled kernel for the whole batch.

    python 46_a_network_that_reaches.py [folder for the picture]
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

import kinetree as kt

STEPS, BATCH = 400, 512
torch.manual_seed(0)
torch.set_num_threads(1)  # the network is small
robot = kt.load("arm6")


@kt.compile
def position(robot, q):
    """Where the tool is."""
    return robot.frame("tool0").pose(q)[:3, 3]


reach = kt.to_torch(position.bind(robot))
HOME = np.array([0.0, -0.6, 1.1, -0.5, 0.4, 0.0])
home, middle = (torch.from_numpy(x).float() for x in (HOME, position(robot, HOME)))


def targets(count, seed):
    """Places that the arm reaches with its elbow in front of it."""
    rng = np.random.default_rng(seed)
    q = HOME + rng.uniform(-0.4, 0.4, size=(count, 6))
    return torch.from_numpy(position(robot, q)).float()


width = 96
network = torch.nn.Sequential(
    *(torch.nn.Linear(3, width), torch.nn.Tanh(), torch.nn.Linear(width, width), torch.nn.Tanh()),
    *(torch.nn.Linear(width, 6), torch.nn.Tanh()),
)
optimizer = torch.optim.Adam(network.parameters(), lr=4e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
start, losses = time.perf_counter(), []
for step in range(STEPS):
    wanted = targets(BATCH, step + 1)
    q = home + network(5.0 * (wanted - middle))
    loss = (reach(q) - wanted).square().sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
print(f"{STEPS} steps with batches of {BATCH}: {time.perf_counter() - start:.1f} s")

unseen = targets(2000, 0)
with torch.no_grad():
    q = home + network(5.0 * (unseen - middle))
miss = (reach(q) - unseen).norm(dim=1)
typical, most = (100 * float(distance) for distance in (miss.median(), miss.max()))
print(f"distance to targets it has not seen: {typical:.1f} cm in the middle, {most:.1f} cm at most")
assert miss.median() < 0.03 and losses[-1] < 0.02 * losses[0]

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
axes.semilogy(np.sqrt(losses))
axes.set(xlabel="step", ylabel="distance to the targets of a batch [m]", title="Learned through the kinematics")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "46_a_network_that_reaches.png", dpi=150)
print("drawn in", folder / "46_a_network_that_reaches.png")
