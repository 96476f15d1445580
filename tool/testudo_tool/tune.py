"""Testudo: which setting of the shield would save how much.

The program is recorded in modes ranged and deferred; testudo-replay predicts
the calls of each setting from the recording whose requests it shares, and
testudo-calibrate prices them.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from . import kernel

QUEUES = [16, 64, 256, 1024, 16384]
FRESH = [0, 1, 2, 4]
HIT = [2, 6, 16]
RECORDED = {"naive": "ranged", "ranged": "ranged", "dirty": "ranged",
            "deferred": "deferred"}
DEFERRAL = (2, 6)  # as recorded


def source(row):
    """The recorded mode that predicts ROW best: with another deferral the
    writes to every page count, and mode ranged notes them all."""
    mode, _, fresh, hit = row
    if mode == "deferred" and (fresh, hit) != DEFERRAL:
        return "ranged"
    return RECORDED[mode]


# Nanoseconds, where tracking cannot be measured here.
NO_TRACKING = {"track_call": 0, "harvest_page": 0, "kernel_fault": 0,
               "arm_page": 0}


def helper(name):
    """The path of one of the programs built with the tool."""
    here = os.path.dirname(os.path.realpath(__file__))
    places = [os.environ.get("TESTUDO_BINARY_DIR"),
              os.path.join(here, "..", "..", "build"),
              os.path.join(here, "..", "..", "..", "bin")]
    for place in filter(None, places):
        path = os.path.join(place, name)
        if os.access(path, os.X_OK):
            return path
    path = shutil.which(name)
    if path is None:
        raise kernel.Failure(f"{name} is not built")
    return path


def calibrate():
    """Costs on this machine, nanoseconds."""
    done = subprocess.run([helper("testudo-calibrate")], check=False,
                          capture_output=True, text=True)
    kernel.require(["testudo-calibrate"], done.returncode)
    return json.loads(done.stdout)


def settings(modes, tracking):
    """The grid, by mode."""
    for mode in modes:
        if mode == "naive" or mode == "dirty":
            if mode == "naive" or tracking:
                yield mode, 1024, 2, 6
        elif mode == "ranged":
            for queue in QUEUES:
                yield mode, queue, 2, 6
        else:
            for queue in QUEUES:
                for fresh in FRESH:
                    for hit in HIT:
                        yield mode, queue, fresh, hit


def price(row, costs):
    """Predicted seconds of a row: calls, pages changed, hits, tracking."""
    costs = {**NO_TRACKING, **costs}
    return 1e-9 * (row["calls"] * costs["call"]
                   + row["changed"] * costs["page"]
                   + (row["hits"] + row["read_hits"]) * costs["hit"]
                   + row["track_calls"] * costs["track_call"]
                   + row["track_pages"] * costs["arm_page"]
                   + row["harvest_pages"] * costs["harvest_page"]
                   + row["kernel_faults"] * costs["kernel_fault"])


def record(command, mode, path, output):
    """Run COMMAND in MODE and record its shield."""
    environment = {**os.environ, "TESTUDO_SHIELD": mode,
                   "TESTUDO_RECORD": path}
    kernel.measure(command, environment, output)
    if not os.path.isfile(path):
        raise kernel.Failure(f"{command[0]} recorded nothing: does it use "
                             "the library?")


def progress(done, total):
    """A bar on standard error, if somebody looks at it."""
    if sys.stderr.isatty():
        width = 40 * done // total
        end = "\n" if done == total else "\r"
        print(f"testudo: [{'#' * width:40}] {done}/{total}", end=end,
              file=sys.stderr, flush=True)


def replay(path, rows, note):
    """Predictions for ROWS from one recording."""
    process = subprocess.Popen([helper("testudo-replay"), path],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    text = "".join(f"{m} {q} {f} {h}\n" for m, q, f, h in rows)
    process.stdin.write(text)
    process.stdin.close()
    found = []
    for line in process.stdout:
        found.append(json.loads(line))
        note()
    message = process.stderr.read().strip()
    if process.wait() != 0:
        raise kernel.Failure(message.removeprefix("testudo-replay: "),
                             process.returncode)
    return found


def tune_recordings(paths, modes):
    """Rank the grid; PATHS maps a recorded mode to its file."""
    costs = calibrate()
    grid = list(settings(modes, "track_call" in costs))
    done = 0

    def note():
        nonlocal done
        done += 1
        progress(done, len(grid))

    rows = []
    for recorded, path in paths.items():
        part = [row for row in grid
                if source(row) == recorded or len(paths) == 1]
        rows += replay(path, part, note)
    for row in rows:
        row["seconds"] = price(row, costs)
    rows.sort(key=lambda row: row["seconds"])
    return {"costs": costs, "rows": rows}


def tune(command, modes, output):
    with tempfile.TemporaryDirectory() as room:
        paths = {}
        recorded = [RECORDED[m] for m in modes]
        if "deferred" in modes:
            recorded.append("ranged")
        for mode in dict.fromkeys(recorded):
            print(f"testudo: recording {mode}", file=sys.stderr)
            paths[mode] = os.path.join(room, mode)
            record(command, mode, paths[mode], output)
        return tune_recordings(paths, modes)


COLUMNS = [("mode", "mode"), ("queue", "queue"), ("fresh", "fresh"),
           ("hit", "hit"), ("calls", "mprotect"), ("changed", "pages"),
           ("hits", "hits"), ("track_calls", "ioctl"), ("bound", "least")]


def report(result, most=15):
    """The ranked table, the best of each mode at least, and the advice."""
    shown, seen = [], set()
    for index, row in enumerate(result["rows"]):
        if index < most or row["mode"] not in seen:
            shown.append(row)
            seen.add(row["mode"])
    head = [title for _, title in COLUMNS] + ["seconds"]
    body = [[str(row[key]) for key, _ in COLUMNS]
            + [f"{row['seconds']:.4f}"] for row in shown]
    widths = [max(map(len, column)) for column in zip(head, *body)]
    lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths))
             for row in [head, *body]]
    best = result["rows"][0]
    lines += ["", "least: no shield could make fewer calls (mprotect, and in "
              "dirty mode arming)", "recommended: "
              f"TESTUDO_SHIELD={best['mode']} TESTUDO_QUEUE={best['queue']}"]
    if best["mode"] == "deferred":
        lines[-1] += (f" TESTUDO_DEFER_FRESH={best['fresh']}"
                      f" TESTUDO_DEFER_HIT={best['hit']}")
    return "\n".join(lines)


def heat_map(result, path):
    """Predicted calls of deferred mode: scans before a bar against queue."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import colors, pyplot
    except ImportError as error:
        raise kernel.Failure("matplotlib is not installed") from error
    best = {}
    for row in result["rows"]:
        if row["mode"] == "deferred":
            place = (row["fresh"], row["queue"])
            best[place] = min(best.get(place, row["calls"]), row["calls"])
    if not best:
        raise kernel.Failure("nothing of mode deferred to draw")
    table = [[max(best[f, q], 1) for q in QUEUES] for f in FRESH]
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    norm = colors.LogNorm() if min(map(min, table)) < max(map(max, table)) \
        else None
    image = axes.imshow(table, norm=norm, cmap="viridis_r", aspect="auto")
    for y, line in enumerate(table):
        for x, number in enumerate(line):
            axes.text(x, y, f"{number:,}", ha="center", va="center",
                      fontsize=8, color="white",
                      bbox={"facecolor": "#2b2d42", "alpha": 0.6, "pad": 2})
    axes.set_xticks(range(len(QUEUES)), [f"{q:,}" for q in QUEUES])
    axes.set_yticks(range(len(FRESH)), FRESH)
    axes.set_xlabel("queue length")
    axes.set_ylabel("scans before a bar")
    axes.set_title("predicted protection calls, mode deferred")
    figure.colorbar(image)
    figure.savefig(path, dpi=150)
