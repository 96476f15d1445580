"""Testudo: the grid of testudo tune as a heat map: predicted calls by grain
and queue length.

Usage: heat.py DATA PICTURE... where DATA is a JSON file:

  {"queues": [LENGTH, ...],
   "modes": {MODE: [[GRAIN, QUEUE, CALLS], ...]}}

A program of its own for the reason in chart.py.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("heat.py: matplotlib is not installed")

matplotlib.use("Agg")

from matplotlib import colors, pyplot  # noqa: E402


def draw(axes, mode, points, queues):
    """One mode: a line a grain, a column a queue length."""
    calls = {(grain, queue): max(number, 1) for grain, queue, number in points}
    grains = sorted({grain for grain, _ in calls})
    table = [[calls[g, q] for q in queues] for g in grains]
    low, high = min(map(min, table)), max(map(max, table))
    axes.imshow(table, norm=colors.LogNorm(low, high) if low < high else None,
                cmap="viridis_r", aspect="auto")
    for y, line in enumerate(table):
        for x, number in enumerate(line):
            axes.text(x, y, f"{number:,}", ha="center", va="center",
                      fontsize=9, color="white",
                      bbox={"facecolor": "#2b2d42", "edgecolor": "none",
                            "alpha": 0.6, "pad": 2})
    axes.set_xticks(range(len(queues)), [f"{q:,}" for q in queues])
    axes.set_yticks(range(len(grains)),
                    [f"{g >> 10} KiB" if g else "default" for g in grains])
    axes.set_xlabel("queue length")
    axes.set_ylabel("grain")
    axes.set_title(f"predicted protection calls, mode {mode}", fontsize=11)


def main(arguments):
    if len(arguments) < 3:
        sys.exit("usage: heat.py DATA PICTURE...")
    with open(arguments[1], encoding="utf-8") as file:
        data = json.load(file)
    modes = data["modes"]
    figure, places = pyplot.subplots(
        1, len(modes), figsize=(6 * len(modes), 3.4), layout="constrained",
        squeeze=False)
    for axes, (mode, points) in zip(places[0], modes.items()):
        draw(axes, mode, points, data["queues"])
    for path in arguments[2:]:
        try:
            figure.savefig(path, dpi=150)
        except OSError as error:
            return f"{path}: {error.strerror}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
