"""Testudo: which setting of the shield would save how much.

The program is recorded once for each grain and each quantum, in mode ranged,
which has the first write to every page; testudo-replay predicts the calls of
each other setting from that, and testudo-calibrate prices them.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import kernel, pictures, tally

QUEUES = [16, 64, 256, 1024, 16384]
FRESH = [0, 2, 4, 8]
HIT = [2, 6, 16]
DEFERRAL = (4, 16)             # what the library has
DEFAULT = ("deferred", 1024, *DEFERRAL)
LEAST_GAIN = 0.01              # of the run's time; less is nothing
GRAINS = [0, 16384, 65536]     # bytes; 0: as the program has it
QUANTA = [0, 262144, 1048576]

# What calibrate measures; the last four only where the kernel tracks writes.
PRICES = {
    "call": "a call that changes the protection of a page",
    "page": "each page that a call changes",
    "hit": "a barrier hit, without the call that it leads to",
    "track_call": "a call that arms a page",
    "arm_page": "each written page that is armed again",
    "harvest_page": "each page that a harvest asks about",
    "kernel_fault": "the first write to an armed page",
}

# Nanoseconds, where tracking cannot be measured here.
NO_TRACKING = {"track_call": 0, "harvest_page": 0, "kernel_fault": 0,
               "arm_page": 0}


def helper(name):
    """The path of one of the programs built with the tool."""
    here = os.path.dirname(os.path.realpath(__file__))
    places = [os.environ.get("TESTUDO_BINARY_DIR"),
              os.path.join(here, "..", "..", "build", "release"),
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


def prices(costs):
    """Those costs as text."""
    lines = [f"{costs[name]:>10,.3f} ns  {name:12}  {meaning}"
             for name, meaning in PRICES.items() if name in costs]
    if "track_call" not in costs:
        lines.append("The kernel does not track writes here.")
    return "\n".join(lines)


def settings(modes, tracking, deferrals=True):
    """The grid of what one recording serves, by mode."""
    for mode in modes:
        if mode in ("naive", "dirty"):
            if mode == "naive" or tracking:
                yield mode, 1024, *DEFERRAL
        elif mode == "ranged" or not deferrals:
            for queue in QUEUES:
                yield mode, queue, *DEFERRAL
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


def variables(row):
    """The environment in which a program has the setting of ROW."""
    named = {"TESTUDO_SHIELD": row["mode"], "TESTUDO_QUEUE": row["queue"]}
    if row["mode"] == "deferred":
        named.update(TESTUDO_DEFER_FRESH=row["fresh"],
                     TESTUDO_DEFER_HIT=row["hit"])
    for name in ("grain", "quantum"):
        if row.get(name):
            named["TESTUDO_" + name.upper()] = row[name]
    return {name: str(value) for name, value in named.items()}


def record(command, setting, path, output):
    """Run COMMAND with SETTING and record its shield; returns its profile."""
    environment = {**os.environ, **variables(setting), "TESTUDO_RECORD": path}
    profile = kernel.measure(command, environment, output, fixed=True)
    if not os.path.isfile(path):
        raise kernel.Failure(f"{command[0]} recorded nothing: does it use "
                             "the library?")
    return profile


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
    try:
        process.stdin.write(text)
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has ended, and tells why
    found = []
    for line in process.stdout:
        found.append(json.loads(line))
        note()
    message = process.stderr.read().strip()
    if process.wait() > 0 and message:
        raise kernel.Failure(message.removeprefix("testudo-replay: "),
                             process.returncode)
    kernel.require(["testudo-replay"], process.returncode)
    return found


def strangeness(row):
    """How many settings of ROW are not what the library has: of equals the
    least strange is the best."""
    return sum((row["mode"] != "deferred", row["queue"] != 1024,
                (row["fresh"], row["hit"]) != DEFERRAL, row["grain"] != 0,
                row["quantum"] != 0))


def rank(recordings, modes):
    """Rank the grid; RECORDINGS are pairs of a path and what it was recorded
    with, as part of a row. "default" is the row of what the library has, or
    None if that grain and quantum were not recorded."""
    costs = calibrate()
    tracking = "track_call" in costs
    grids = [list(settings(modes, tracking, not any(setting.values())))
             for _, setting in recordings]
    total, done, rows, default = sum(map(len, grids)), 0, [], None
    if total == 0:  # of all modes only dirty can be missing
        raise kernel.Failure("no mode to consider: the kernel does not track "
                             "writes here")

    def note():
        nonlocal done
        done += 1
        progress(done, total)

    for (path, setting), grid in zip(recordings, grids):
        asked = len(grid)
        if not any(setting.values()) and DEFAULT not in grid:
            grid = [*grid, DEFAULT]
            total += 1
        found = [{**row, **setting, "seconds": price(row, costs)}
                 for row in replay(path, grid, note)]
        if not any(setting.values()):
            default = found[grid.index(DEFAULT)]
        rows += found[:asked]
    rows.sort(key=lambda row: (row["seconds"], strangeness(row)))
    return {"costs": costs, "rows": rows, "default": default}


def tune_recording(path, modes):
    return rank([(path, {"grain": 0, "quantum": 0})], modes)


def run_seconds(profile):
    """Processor time of a run."""
    return profile["seconds"]["user"] + profile["seconds"]["sys"]


def tune(command, modes, output, grains, quanta):
    points = [(grain, 0) for grain in grains]
    points += [(0, quantum) for quantum in quanta]
    with tempfile.TemporaryDirectory() as room:
        recordings, profiles = [], []
        for index, (grain, quantum) in enumerate(dict.fromkeys(points)):
            setting = {"grain": grain, "quantum": quantum}
            print("testudo: recording"
                  + "".join(f", {name} {value}" for name, value
                            in setting.items() if value), file=sys.stderr)
            path = os.path.join(room, str(index))
            profiles.append(record(
                command, {"mode": "ranged", "queue": 1024, **setting}, path,
                output))
            recordings.append((path, setting))
        return {**rank(recordings, modes), "why": unprotected(profiles[0]),
                "run_seconds": run_seconds(profiles[0])}


def recorded(arenas):
    """Of the statistics of ARENAS those of the one that is recorded: the first
    that the program makes. A child of a fork has it, too, and ends before."""
    return [arena for arena in arenas if "arena" in arena][-1:]


def unprotected(profile):
    """Why the shield of a run may have had nothing to do, from what the
    library says about it; a clause, or None."""
    shield = recorded(profile["shield"]) or profile["shield"]
    if not shield:
        return None
    if shield[0]["mode"] == "off":
        return "the program has its shield off"
    numbers = re.findall(r"\d+", shield[0].get("collections", ""))
    if len(numbers) != 2:
        return None
    number, full = map(int, numbers)
    if number == 0:
        return "there was no collection"
    if number == full:
        return ("each collection was of the whole heap, at once, as those of "
                "small heaps are (TESTUDO_SMALL)")
    return "what was collected needed no barriers"


def counted(command, row, output):
    """The calls that COMMAND makes with the setting of ROW: protection, and in
    dirty mode arming."""
    environment = {**os.environ, **variables(row), kernel.STATISTICS: "on"}
    found = kernel.measure(command, environment, output, True)["shield"]
    shield = recorded(found) or found
    if not shield:
        raise kernel.Failure(f"{command[0]} printed no statistics")
    return sum(int(shield[0].get(name, "0").split()[0])
               for name in ("protection", "arms"))


def verify(result, command, most, output):
    """Run COMMAND with the MOST best settings and, of each mode, the best; not
    at all if MOST is 0."""
    seen = {row["mode"] for row in result["rows"]} if most == 0 else set()
    for index, row in enumerate(result["rows"]):
        if index < most or row["mode"] not in seen:
            seen.add(row["mode"])
            row["predicted"] = row["calls"] + row["arms"]
            row["counted"] = counted(command, row, output)


def difference(row):
    """The predicted calls against those counted, a part of these."""
    return (row["predicted"] - row["counted"]) / max(row["counted"], 1)


def verification(result):
    """What was predicted, what was counted, and the difference."""
    lines = [["setting", "predicted", "counted", "difference"]]
    for row in result["rows"]:
        if "counted" in row:
            lines.append([" ".join(
                f"{name.removeprefix('TESTUDO_').lower()}={value}"
                for name, value in variables(row).items()),
                f"{row['predicted']:,}", f"{row['counted']:,}",
                f"{difference(row):+.2%}"])
    return tally.columns(lines)


COLUMNS = [("mode", "mode"), ("grain", "grain"), ("quantum", "quantum"),
           ("queue", "queue"), ("fresh", "fresh"),
           ("hit", "hit"), ("calls", "mprotect"), ("changed", "pages"),
           ("hits", "hits"), ("track_calls", "ioctl"), ("bound", "least"),
           ("alike", "alike")]


def outcomes(rows):
    """The rows without those that lead to the same as one before them; how
    many there are of each."""
    found = {}
    for row in rows:
        outcome = tuple(row[key] for key in (
            "mode", "grain", "quantum", "calls", "changed", "hits",
            "track_calls", "seconds"))
        if outcome in found:
            found[outcome]["alike"] += 1
        else:
            found[outcome] = {**row, "alike": 0}
    return list(found.values())


WORK = ("calls", "changed", "hits", "read_hits", "track_calls", "arms")


def gain(result):
    """Seconds that the best setting saves against the library's own, and their
    part of the run's time; None for what is not known."""
    default, whole = result["default"], result.get("run_seconds")
    if default is None:
        return None, None
    saved = max(default["seconds"] - result["rows"][0]["seconds"], 0)
    return saved, None if whole is None else saved / max(whole, 0.001)


def advice(result):
    """Lines: what is recommended, and what it saves."""
    best = " ".join(f"{name}={value}" for name, value
                    in variables(result["rows"][0]).items())
    saved, part = gain(result)
    if saved is None:
        return [f"recommended: {best}", "(What that saves is not known: the "
                "program was not run with its own grain and quantum.)"]
    text = f"{saved:.4f} s less than the default"
    if part is not None:
        text += f", {part:.1%} of the run's processor time"
    if saved == 0:
        return ["nothing to gain: no setting is better than the default"]
    if part is not None and part < LEAST_GAIN:
        return [f"nothing to gain: the best takes {text}"]
    return [f"recommended: {best}", f"It takes {text}."]


def report(result, most=15):
    """The ranked table, the best of each mode at least, and the advice; or why
    there is none."""
    default = result["default"]
    if default and not any(default[name] for name in WORK):
        why = result.get("why") or ("a heap that is collected as a whole, as "
                                    "small ones are, needs no barriers "
                                    "(TESTUDO_SMALL)")
        return f"nothing to gain: by default nothing is protected; {why}"
    shown, seen = [], set()
    for index, row in enumerate(outcomes(result["rows"])):
        if index < most or row["mode"] not in seen:
            shown.append(row)
            seen.add(row["mode"])
    head = [title for _, title in COLUMNS] + ["seconds"]
    body = [[str(row[key] or ("-" if key in ("grain", "quantum") else 0))
             for key, _ in COLUMNS]
            + [f"{row['seconds']:.4f}"] for row in shown]
    widths = [max(map(len, column)) for column in zip(head, *body)]
    lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths))
             for row in [head, *body]]
    lines += ["", "least: no shield could make fewer calls (mprotect, and in "
              "dirty mode arming)",
              "alike: so many more settings of queue and deferral lead to the "
              "same", *advice(result)]
    return "\n".join(lines)


def heat_map(result, path):
    """Predicted calls of the modes with a queue: grain against its length."""
    drawn = {}
    for mode in ("ranged", "deferred"):
        points = [(row["grain"], row["queue"], row["calls"])
                  for row in result["rows"]
                  if row["mode"] == mode and not row["quantum"]
                  and (row["fresh"], row["hit"]) == DEFERRAL]
        if points:
            drawn[mode] = points
    pictures.draw("heat.py", {"queues": QUEUES, "modes": drawn}, path)
