"""What a format cannot say: one sentence refuses it, unless the loss is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import ModelError
from kinetree.model.constraints import Constraint, Coupling
from kinetree.model.description import Description


def check_losses(form: str, lost: Sequence[str], lossy: bool) -> None:
    """Raises if there is any, and names the first."""
    if lost and not lossy:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise ModelError(f"{form} has no words for {lost[0]}{more}; lossy=True leaves it out")


def loop_name(constraint: Constraint) -> str:
    """A constraint in words."""
    if isinstance(constraint, Coupling):
        return f"of joint{'s' if constraint.leader else ''} {' and '.join(map(repr, constraint.joints))}"
    return f"of frame{'s' if len(constraint.frames) > 1 else ''} {' and '.join(map(repr, constraint.frames))}"


def check_names(description: Description) -> None:
    """Raises for names that no XML document can have."""
    for kind, names in (
        ("link", description.links),
        ("joint", description.joints),
        ("frame", description.sites),
        ("robot", [description.name]),
    ):
        for name in names:
            if any(ord(character) < 32 for character in name):
                raise ModelError(f"{kind} {name!r} has a control character in its name, which XML has no words for")
