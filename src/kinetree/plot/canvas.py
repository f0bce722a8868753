"""Figures and axes to draw into: matplotlib is imported here, and never pyplot, so nothing is global."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentTypeError, short

COLORS = ("#2563eb", "#ea580c", "#059669", "#c026d3", "#ca8a04", "#0891b2", "#dc2626", "#4f46e5", "#65a30d", "#db2777")
"""Of lines, in order: told apart also by those who see fewer colours, since their lightness differs."""
DASHES = ("-", "--", ":", "-.")
"""Of lines beyond as many as there are colours."""
GREY, LIGHT, DARK = "#9ca3af", "#e5e7eb", "#374151"
GOOD, BAD = "#059669", "#dc2626"
SEQUENTIAL = "viridis"


def axes_for(ax: Any, size: tuple[float, float] = (6.4, 4.0), **options: Any) -> Any:
    """The axes given, or those of a new figure of this size [inch]."""
    if ax is None:
        return new_figure(size).subplots(**options)
    if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
        raise ArgumentTypeError(f"ax is {short(ax)}; expected axes of matplotlib, or None for a new figure")
    return ax


def several_axes(ax: Any, rows: int, columns: int, size: tuple[float, float], **options: Any) -> list[Any]:
    """The axes given, or those of a new figure: as many as rows times columns."""
    count = rows * columns
    if ax is None:
        made = new_figure(size).subplots(rows, columns, squeeze=False, **options)
        return list(made.ravel())
    given = list(ax.ravel()) if hasattr(ax, "ravel") else list(ax) if isinstance(ax, Sequence) else [ax]
    if len(given) != count:
        raise ArgumentTypeError(f"ax is {short(ax)}; expected {count} axes of matplotlib, or None for a new figure")
    return [axes_for(each) for each in given]


def new_figure(size: tuple[float, float]) -> Any:
    """A figure of its own, drawn without a window, which notebooks show."""
    with extra("plot", "plots are drawn by the package matplotlib"):
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and slow to import
    figure = Figure(figsize=size, layout="constrained", dpi=120)
    figure._repr_png_ = lambda: _png(figure)
    return figure


def tidy(ax: Any) -> None:
    """A light grid, and no box around."""
    ax.grid(True, color=LIGHT, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(color=GREY, labelcolor=DARK, labelsize="small")


def legend(ax: Any, count: int, **options: Any) -> None:
    """Names of lines above the axes, or beside them where there are many."""
    if count > 8:
        ax.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, **options)
    elif count > 0:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3, "columnspacing": 1.2}
        inches = ax.get_window_extent().width / ax.get_figure().dpi
        columns = max(1, min(count, int(inches / 1.4)))
        ax.legend(fontsize="small", ncols=columns, frameon=False, **place, **options)


def style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": DASHES[k // len(COLORS) % len(DASHES)]}


def _png(figure: Any) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()
