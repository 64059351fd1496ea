"""The plots of a report, as SVG text.

Two plots of the same numbers have the same bytes: identifiers are salted, there is no date, and text stays text, so no
font is embedded. Ink and grid have no colour of their own but take it from a style sheet in the file, so a plot can be
read on a light and on a dark page.
"""

import io
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LogNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

# Stand-ins for what the style sheet colours. No plot uses them for anything else.
INK, GRID = "#010203", "#040506"
STYLE = (
    "<style>svg{--ink:#23282e;--grid:#d8d8d2}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e4e2dc;--grid:#43474c}}</style>"
)
# Colours and shapes of the splits; they can be told apart without the colour.
SPLIT_COLOUR = {"train": "#8fb3b8", "validation": "#c9761a", "test": "#b0437a", "sockette": "#4f7bd0"}
SPLIT_MARKER = {"validation": "v", "test": "s", "sockette": "D"}
SPLIT_LINE = {"validation": (0, (5, 1.5)), "test": "-", "sockette": (0, (1, 1.2))}

RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "socket",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

# Inches at 72 points: a plot is as wide as a phone, and drawn larger where there is room. Margins are given, because
# measuring every text to find them takes longer than drawing.
WIDTH, TOP, BOTTOM, LEFT, RIGHT = 4.5, 0.32, 0.48, 0.48, 0.16
LINE = 0.24
CHARACTER = 0.073
LONGEST_NAME = 24
BINS = 30


def class_shares(counts: Mapping[str, Mapping[str, int]], title: str) -> str:
    """A line per class: its share of train as a bar, of the other splits as marks.

    `counts` is split to class to items.
    """
    names = [_short(f"{number} {name}") for number, name in enumerate(next(iter(counts.values())))]
    with _style():
        figure, axes = _figure(LINE * len(names), LEFT / 2 + CHARACTER * max(map(len, names)))
        place = np.arange(len(names))
        for split, of in counts.items():
            share = _shares(list(of.values()))
            if split == "train":
                axes.barh(place, share, height=0.62, color=SPLIT_COLOUR[split], label=split)
            elif share.any():
                axes.plot(
                    share, place, SPLIT_MARKER[split], color=SPLIT_COLOUR[split], markersize=5, fillstyle="none",
                    markeredgewidth=1.3, label=split, clip_on=False,
                )  # fmt: skip
        # A label name is no formula, whatever dollar signs it holds.
        axes.set_yticks(place, names, parse_math=False)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(_percent)
        return _shares_svg(figure, axes, "y", "share of the split", title)


def distribution(values: Mapping[str, np.ndarray], edges: np.ndarray, title: str, label: str, log: bool = False) -> str:
    """A histogram per split as shares: train filled, the others as lines. `values` is split to numbers.

    `log` spaces the (whole, positive) numbers on a logarithmic axis.
    """
    with _style():
        figure, axes = _figure(1.6, LEFT)
        place = np.log10(edges) if log else edges
        for split, numbers in values.items():
            share = _shares(np.histogram(numbers, edges)[0])
            if split == "train":
                axes.stairs(share, place, fill=True, color=SPLIT_COLOUR[split], label=split)
            elif share.any():
                style = {"color": SPLIT_COLOUR[split], "linestyle": SPLIT_LINE[split], "linewidth": 1.3}
                axes.stairs(share, place, label=split, **style)
        axes.set_xlim(place[0], place[-1])
        axes.set_ylim(0)
        if log:
            narrow = MaxNLocator(5, integer=True).tick_values(edges[0], edges[-1])
            wide = np.outer(10.0 ** np.arange(8), (1, 2, 5)).ravel()
            ticks = narrow if edges[-1] < 10 * edges[0] else wide
            ticks = ticks[(ticks >= edges[0]) & (ticks <= edges[-1])]
            axes.set_xticks(np.log10(ticks), [f"{tick:,.0f}" for tick in ticks])
        else:
            axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(_percent)
        return _shares_svg(figure, axes, "x", label, title)


def heat_map(tasks: Sequence[str], corpora: Sequence[str], counts: np.ndarray, title: str) -> str:
    """Counts of a task (row) in another (column), with a frame around the tasks of each corpus."""
    side = 0.19 * len(tasks)
    margin = 0.2 + 0.062 * max(map(len, tasks))
    whole = margin + side + RIGHT
    with _style({"axes.grid": False, "font.size": 8}):
        figure = Figure(figsize=(whole, whole))
        axes = figure.add_axes((margin / whole, RIGHT / whole, side / whole, side / whole))
        shown = np.ma.masked_less(counts, 1)
        most = max(2, int(counts.max(initial=0)))
        axes.imshow(shown, cmap="YlOrBr", norm=LogNorm(0.5, most * 2), interpolation="nearest")
        for row, column in zip(*np.nonzero(counts), strict=True):
            number = int(counts[row, column])
            dark = _luminance(axes.images[0].cmap(axes.images[0].norm(number))) < 0.45
            colour = "#ffffff" if dark else "#1a1a1a"
            axes.text(column, row, _tight(number), ha="center", va="center", fontsize=6, color=colour)
        for axis in ("x", "y"):
            axes.tick_params(axis=axis, length=0)
        axes.set_xticks(np.arange(len(tasks)), tasks, rotation=90, parse_math=False)
        axes.set_yticks(np.arange(len(tasks)), tasks, parse_math=False)
        axes.xaxis.tick_top()
        edges = np.arange(len(tasks) + 1) - 0.5
        axes.hlines(edges, -0.5, len(tasks) - 0.5, color=GRID, linewidth=0.4)
        axes.vlines(edges, -0.5, len(tasks) - 0.5, color=GRID, linewidth=0.4)
        axes.spines[:].set_visible(False)
        start = 0
        for stop in range(1, len(tasks) + 1):
            if stop == len(tasks) or corpora[stop] != corpora[start]:
                _frame(axes, start, stop)
                start = stop
        return _svg(figure, title)


def edges(values: Mapping[str, np.ndarray], scale: tuple[float, float] | None = None) -> np.ndarray:
    """Edges of histogram bins over all splits, and over `scale` where there is one.

    Without a scale they are whole numbers, which get a bin each as long as there are few of them.
    """
    every = np.concatenate([*values.values(), np.array(scale or ())])
    if not len(every):
        return np.array([0.0, 1.0])
    low, high = float(every.min()), float(every.max())
    if scale is None and high - low < BINS:
        return np.arange(low - 0.5, high + 1)
    return np.linspace(low, high if high > low else low + 1, BINS + 1)


def log_edges(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Edges of histogram bins for lengths (whole numbers of 1 or more), about equally wide on a logarithmic scale."""
    every = np.concatenate(list(values.values()))
    low, high = max(int(every.min(initial=10**9)), 1), int(every.max(initial=1))
    return np.unique(np.geomspace(min(low, high), high + 1, BINS + 1).round())


def _style(more: Mapping[str, object] | None = None) -> AbstractContextManager:
    """What is set while a plot is drawn, whatever the settings of the user."""
    return style.context(["default", RC | (more or {})])


def _figure(height: float, left: float) -> tuple[Figure, Axes]:
    """A figure around axes of this height, with this much room for the names on the left; all in inches."""
    whole = height + TOP + BOTTOM
    figure = Figure(figsize=(WIDTH, whole))
    axes = figure.add_axes((left / WIDTH, BOTTOM / whole, 1 - (left + RIGHT) / WIDTH, height / whole))
    return figure, axes


def _shares_svg(figure: Figure, axes: Axes, bare: str, label: str, title: str) -> str:
    """The finished plot: no grid and no ticks on the axis `bare`, a legend above."""
    axes.grid(visible=False, axis=bare)
    axes.tick_params(length=0)
    axes.set_xlabel(label)
    handles, names = axes.get_legend_handles_labels()
    # In the order of the splits: matplotlib puts bars last.
    order = sorted(range(len(names)), key=lambda number: list(SPLIT_COLOUR).index(names[number]))
    shown = [handles[number] for number in order], [names[number] for number in order]
    figure.legend(*shown, loc="upper right", ncols=4, handlelength=1.6, borderpad=0.2, columnspacing=1.4)
    return _svg(figure, title)


def _shares(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    counts = np.asarray(counts, dtype=float)
    return counts / max(counts.sum(), 1)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _percent(share: float, _: int) -> str:
    return f"{100 * share:.3g}%"


def _tight(number: int) -> str:
    """A count in at most four characters."""
    return str(number) if number < 1000 else f"{number / 1000:.0f}k"


def _luminance(colour) -> float:
    return float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))


def _frame(axes: Axes, start: int, stop: int) -> None:
    low, high = start - 0.5, stop - 0.5
    axes.plot([low, high, high, low, low], [low, low, high, high, low], color=INK, linewidth=0.9, clip_on=False)


def _svg(figure: Figure, title: str) -> str:
    """The figure as SVG that names itself."""
    stream = io.StringIO()
    with warnings.catch_warnings():
        # A glyph that the measuring font lacks: the browser has one.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None, "Title": title})
    svg = stream.getvalue().replace(INK, "var(--ink)").replace(GRID, "var(--grid)")
    head, body = svg.split("<defs>", 1)
    return f"{head}{STYLE}<defs>{body}"
