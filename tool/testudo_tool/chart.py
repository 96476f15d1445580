"""Testudo: a comparison of modes as a picture.

Usage: chart.py DATA PICTURE... where DATA is a JSON file:

  {"workloads": {NAME: {MODE: PROFILE}},
   "marks": {NAME: [{"label": TEXT, "calls": {CALL: NUMBER}}]}}

and each PICTURE names an SVG, PNG or PDF file. A program of its own, so that
matplotlib is not in the memory of the tool that measures.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

try:
    import matplotlib
except ImportError:
    sys.exit("chart.py: matplotlib is not installed")

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from testudo_tool import tally  # noqa: E402

COLOURS = ["#c8553d", "#e9b44c", "#2f6690", "#588157", "#7d5ba6"]
PALE = 0.45       # opacity of user time
INK = "#2b2d42"
FAINT = "#8d99ae"
MOST_CALLS = 8    # kinds of call shown besides the total
LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85,
         "pad": 0.6}
LEAST = 0.5       # where the logarithmic scale begins
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 9,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": FAINT,
    "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False,
    "svg.hashsalt": "testudo",
}


def plain(number, _position=None):
    """A number as a tick: 1, 1000 as 1k, 1000000 as 1M."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def shown_calls(profiles, most=MOST_CALLS):
    """The total, then the most frequent calls of any mode."""
    names = tally.calls(profiles)
    peak = {name: max(p["syscalls"].get(name, 0) for p in profiles.values())
            for name in names}
    names.sort(key=lambda name: -peak[name])
    return ["total", *names[:most]]


def draw_calls(axes, profiles, marks):
    """Bars on a logarithmic scale: a group a call, a bar a mode."""
    names = shown_calls(profiles)
    height = 0.8 / len(profiles)
    for index, (mode, profile) in enumerate(profiles.items()):
        numbers = [profile["syscalls"].get(name, 0) for name in names]
        places = [row + (index - (len(profiles) - 1) / 2) * height
                  for row in range(len(names))]
        axes.barh(places, [max(n - LEAST, 0) for n in numbers],
                  height * 0.92, left=LEAST, label=mode,
                  color=COLOURS[index % len(COLOURS)])
        for place, number in zip(places, numbers):
            axes.text(max(number, LEAST) * 1.15, place, f"{number:,}",
                      va="center", fontsize=7, color=INK, zorder=4,
                      bbox=LABEL)
    draw_marks(axes, names, marks)
    axes.set_xscale("log")
    axes.set_xlim(LEAST, axes.get_xlim()[1] * 6)
    axes.xaxis.set_major_formatter(plain)
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("system calls of the whole process (log scale)")
    axes.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def draw_marks(axes, names, marks):
    """Reference figures: a short line across the group of their call."""
    for index, mark in enumerate(marks):
        dash = ["-", ":", "--"][index % 3]
        label = mark["label"]
        for name, number in mark["calls"].items():
            if name in names:
                row = names.index(name)
                axes.plot([number, number], [row - 0.46, row + 0.46],
                          color=INK, linestyle=dash, linewidth=1.3,
                          label=label)
                label = None


def draw_times(axes, profiles):
    """One bar a mode: user time, and system time in full colour."""
    longest = max(sum(p["seconds"][k] for k in ("user", "sys"))
                  for p in profiles.values())
    for index, profile in enumerate(profiles.values()):
        colour = COLOURS[index % len(COLOURS)]
        user, system = (profile["seconds"][k] for k in ("user", "sys"))
        axes.barh(index, user, 0.66, color=colour, alpha=PALE)
        axes.barh(index, system, 0.66, left=user, color=colour)
        axes.text(user + system + longest * 0.015, index,
                  f"{user:.2f} user + {system:.2f} system s"
                  f" · {profile['peak_kib'] / 1024:,.0f} MiB",
                  va="center", fontsize=7.5, color=INK)
    axes.set_yticks(range(len(profiles)), list(profiles))
    axes.set_xlim(0, longest * 1.75)
    axes.invert_yaxis()
    axes.set_xlabel("processor seconds: pale user, full system")
    axes.grid(axis="x", color=FAINT, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def figure(workloads, marks):
    """A column a workload: calls above, times below."""
    with pyplot.rc_context(STYLE):
        rows = max(1 + min(MOST_CALLS, len(tally.calls(profiles)))
                   for profiles in workloads.values())
        modes = max(len(profiles) for profiles in workloads.values())
        upper, lower = 0.21 * rows * modes + 0.8, 0.34 * modes + 0.7
        picture, axes = pyplot.subplots(
            2, len(workloads), squeeze=False, layout="constrained",
            figsize=(6.4 * len(workloads), upper + lower + 0.6),
            height_ratios=[upper, lower])
        for column, (name, profiles) in enumerate(workloads.items()):
            top, bottom = axes[0][column], axes[1][column]
            draw_calls(top, profiles, marks.get(name, []))
            draw_times(bottom, profiles)
            top.set_title(name, loc="left", fontweight="bold", fontsize=12)
            handles, labels = top.get_legend_handles_labels()
            order = sorted(range(len(labels)),
                           key=lambda i: labels[i] not in profiles)
            top.legend([handles[i] for i in order],
                       [labels[i] for i in order],
                       loc="lower right", frameon=False, fontsize=8)
        picture.suptitle("System calls and time, by mode of the shield",
                         x=0.01, ha="left", fontsize=13)
    return picture


def main(arguments):
    if len(arguments) < 3:
        sys.exit("usage: chart.py DATA PICTURE...")
    with open(arguments[1]) as file:
        data = json.load(file)
    picture = figure(data["workloads"], data.get("marks", {}))
    for path in arguments[2:]:
        metadata = {"Date": None} if path.endswith(".svg") else None
        try:
            picture.savefig(path, dpi=150, metadata=metadata)
        except OSError as error:
            return f"{path}: {error.strerror}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
