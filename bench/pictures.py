#!/usr/bin/env python3
"""Testudo: the pictures of the benchmarks.

Usage: pictures.py FIGURES.json FOLDER: writes times.svg, pauses.svg and
growth.svg, or shields.svg if the figures are those of the shield's modes. A
program of its own because the interpreter that has matplotlib
may not be the one that runs the suite.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import pathlib
import statistics
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("pictures.py: matplotlib is not installed")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

COLOURS = ["#1b6ca8", "#d1813b", "#5a9367", "#8d5a97"]


def operation_time(one, report):
    """Nanoseconds, by the clock of the case, as in the table."""
    return 1e9 * report[one["clock"]] / report["operations"]


def longest_pause(_, report):
    """Milliseconds."""
    return 1e3 * report["pause"]["own"]


def bars(axes, series, names, value):
    """A bar for each collector of each case, of VALUE(case, report)."""
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        places, heights = [], []
        for j, one in enumerate(series):
            reports = one["reports"].get(name)
            if reports:
                places.append(j + i * width)
                heights.append(statistics.median(value(one, report)
                                                 for report in reports))
        axes.bar(places, heights, width, label=name, color=COLOURS[i % 4])
    axes.set_xticks([j + 0.4 - width / 2 for j in range(len(series))],
                    [one["case"] for one in series], rotation=45,
                    ha="right", fontsize=7)
    axes.set_yscale("log")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)


def bar_picture(figures, names, value, label, file):
    figure, axes = pyplot.subplots(figsize=(9, 4))
    bars(axes, figures["series"], names, value)
    axes.set_ylabel(label)
    axes.set_title(figures["machine"], fontsize=8)
    figure.tight_layout()
    figure.savefig(file)


def growth_picture(figures, file):
    growth = figures["growth"]
    titles = figures["growth_titles"]
    figure, row = pyplot.subplots(1, len(titles) + 1, figsize=(13, 3.5))
    for axes, (key, title) in zip(row, titles.items()):
        for i, (name, values) in enumerate(growth.items()):
            points = [(x, y) for x, y in values[key] if y > 0]
            if points:
                axes.loglog(*zip(*points), "o-", label=name,
                            color=COLOURS[i % 4])
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("heap, MiB")
        axes.grid(alpha=0.3)
    row[0].legend(fontsize=8)
    passes = figures["bits"]
    for name, values in passes["passes"].items():
        row[-1].loglog(passes["n"], [1e6 * s for s in values], ".-",
                       label=name)
    row[-1].set_title("pass over a bit table, us", fontsize=9)
    row[-1].set_xlabel("bits")
    row[-1].legend(fontsize=7)
    row[-1].grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file)


def pairs(axes, modes, labels, values, unit):
    """Two bars for each mode."""
    for i, (label, heights) in enumerate(zip(labels, values)):
        bars_drawn = axes.bar([j + 0.4 * i for j in range(len(modes))],
                              heights, 0.4, label=label, color=COLOURS[i])
        axes.bar_label(bars_drawn, [f"{h:,.0f}" if h >= 100 else f"{h:.3g}"
                                    for h in heights], fontsize=7)
    axes.set_xticks([j + 0.2 for j in range(len(modes))], modes)
    axes.set_ylabel(unit)
    axes.set_ylim(top=1.2 * max(map(max, values)))
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8, loc="upper left")


def shields_picture(figures, file):
    """Forks a second in each mode, and what a second thread costs."""
    forks = figures["forks"]
    modes = [m for m in ("naive", "ranged", "deferred", "dirty", "off")
             if {"exit", "alone"} <= forks.get(m, {}).keys()]
    values = {key: [forks[m][key] for m in modes]
              for key in ("exit", "exec", "alone", "together")}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.5))
    pairs(left, modes, ("fork, exit", "fork, exec, exit"),
          (values["exit"], values["exec"]), "a second")
    pairs(right, modes, ("one thread", "with a second thread at work"),
          ([1e9 * v for v in values["alone"]],
           [1e9 * v for v in values["together"]]), "ns a write (processor)")
    right.legend(fontsize=8, loc="upper right")
    left.set_title("forks from a process with old vectors", fontsize=9)
    right.set_title("young pointers stored at random", fontsize=9)
    figure.suptitle(figures["machine"], fontsize=8)
    figure.tight_layout()
    figure.savefig(file)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: pictures.py FIGURES.json FOLDER")
    figures = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    pyplot.rcParams["svg.fonttype"] = "none"
    if "collectors" not in figures:
        if figures.get("forks"):
            shields_picture(figures, folder / "shields.svg")
        return
    names = figures["collectors"]
    if figures["series"]:
        bar_picture(figures, names, operation_time,
                    "ns an operation, build included", folder / "times.svg")
        bar_picture(figures, names, longest_pause, "longest pause, ms",
                    folder / "pauses.svg")
    if figures.get("growth"):
        growth_picture(figures, folder / "growth.svg")


if __name__ == "__main__":
    main()
