"""Testudo: how times grow with the heap, and bit-table passes with n.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import math
import statistics
import subprocess

import builds
import runs
import tables

MIB = 1 << 20
SIZES = {"quick": [32, 64, 128, 256, 512],
         "full": [256, 512, 1024, 2048, 4096, 8192, 12288]}
REPEAT = {"quick": 3, "full": 2}
# A nursery of one size, or the library might choose it by the heap. Some forty
# collections pass before what deferral has learned of the written pages stays
# the same, so there must be many more.
MINOR = {"ops": 40_000_000, "nursery": 8192}
MINOR_ENVIRONMENT = {"TESTUDO_ADAPT": "off"}
MINOR_REPEAT = 3  # one run in some meets a stop of the whole machine
MOST_MINOR = 1.3  # of the time at the smallest heap, at the largest
NAMES = {"operation": "time per operation, us",
         "minor": "minor collection, ms",
         "pause": "longest pause, ms"}


def exponent(points):
    """The exponent of y in x by least squares of logarithms; points with
    y = 0 say nothing. None without two of them."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(logs) < 2:
        return None
    mean_x = statistics.fmean(x for x, _ in logs)
    mean_y = statistics.fmean(y for _, y in logs)
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    if spread == 0:
        return None
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread


def own_work(report):
    """Seconds of an operation, the build and waits left out."""
    waited = report["waited"] - report["build_waited"]
    return (report["work_seconds"] - waited) / report["operations"]


def minor(report):
    """Seconds of a collection, slices added up; 0 if there was none."""
    number = report["library"]["work_collections"]
    return report["work_lost"] / number if number > 0 else 0


def one(built, options, repeat, log):
    """The median of each measure of one collector at one size of heap, as
    far as it gets."""
    values = {key: [] for key in NAMES}
    try:
        for _ in range(repeat):
            report = runs.run(built["bigheap"], options)
            values["operation"].append(1e6 * own_work(report))
            values["pause"].append(1e3 * report["pause"]["own"])
        for _ in range(MINOR_REPEAT):
            report = runs.run(built["minor"], {**options, **MINOR},
                              MINOR_ENVIRONMENT)
            values["minor"].append(1e3 * minor(report))
    except builds.Failure as failure:
        log(f"FAILED: {failure}")
    return {key: statistics.median(list_of)
            for key, list_of in values.items() if list_of}


def measure(programs, set_name, fits, limited, log):
    """For each collector and measure, points of heap in MiB and value."""
    found = {name: {key: [] for key in NAMES} for name in programs}
    for size in SIZES[set_name]:
        if not fits(size * MIB):
            log(f"growth: {size} MiB: left out, no memory for it")
            continue
        options = limited({"heap": size * MIB, "ops": 2_000_000})
        for name, built in programs.items():
            log(f"growth: {size} MiB, {name}")
            medians = one(built, options, REPEAT[set_name], log)
            for key, value in medians.items():
                found[name][key].append((size, value))
    return found


def bits(output):
    """Seconds of each pass over a bit table of n bits, for growing n. The
    library that is measured need not be ours, nor show what is inside."""
    program = builds.build_plain(
        builds.TOP / "test/growth_bits.c", output,
        [f"-I{builds.TOP / 'include'}", "-DCONFIG_VAR_RASH"],
        [builds.TOP / "code/bits.c"])
    done = subprocess.run([program], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def report(found, passes):
    """The table of growth, as text."""
    sizes = sorted({size for values in found.values()
                    for points in values.values() for size, _ in points})
    rows = [["measure", "collector", *(f"{size} MiB" for size in sizes),
             "exponent"]]
    for key, title in NAMES.items():
        for name, values in found.items():
            by_size = dict(values[key])
            power = exponent(values[key])
            rows.append([title, name,
                         *(f"{by_size[size]:.3g}" if size in by_size else ""
                           for size in sizes),
                         "" if power is None else f"{power:.2f}"])
    lines = tables.align(rows)
    lines.append("")
    rows = [["pass over a bit table, us", *map(str, passes["n"]),
             "exponent"]]
    for name, values in passes["passes"].items():
        # What is below a microsecond is mostly the clock.
        points = [(n, 1e6 * s) for n, s in zip(passes["n"], values)]
        long = [point for point in points if point[1] >= 1]
        rows.append([name, *(f"{value:.3g}" for _, value in points),
                     f"{exponent(long) or 0:.2f}"])
    return "\n".join(lines + tables.align(rows))


def goals(found, passes, ours):
    """As tables.goals."""
    points = [y for _, y in found.get(ours, {}).get("minor", []) if y > 0]
    if len(points) > 1:
        yield "minor collection: largest heap against smallest", \
            points[-1] / points[0], MOST_MINOR
    for name, values in passes["passes"].items():
        long = [(n, s) for n, s in zip(passes["n"], values) if s >= 1e-6]
        power = exponent(long)
        if power is not None:
            yield f"{name} over a bit table: exponent in n", power, 1.15
