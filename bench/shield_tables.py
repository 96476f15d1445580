"""Testudo: the tables of bench/shields, and what was reached.

SPDX-License-Identifier: BSD-2-Clause
"""
import math
import statistics

from tables import align, seconds, verdicts

CALLS = {"dirty": 20_000, "deferred": 200_000}  # at most, of random writes
NEAR = 1.1  # a fork against one with protection off
NAMES = {"random": "young pointers stored at random",
         "scatter": "every second page written"}


def by_mode(found):
    """The modes in the order of the manual."""
    order = ("naive", "ranged", "deferred", "dirty", "off")
    return [(mode, found[mode]) for mode in order if mode in found]


def writes(figures):
    for name, found in figures.items():
        rows = [["mode", "mprotect", "ioctl", "sigreturn", "all calls",
                 "user+sys", "elapsed", "with the heap's building"]]
        for mode, one in by_mode(found):
            calls = one.get("kernel", {})
            number = lambda key, calls=calls: f"{calls.get(key, 0):,}"
            times = [seconds(one[key]) if key in one else ""
                     for key in ("processor", "seconds", "real")]
            rows.append([mode, number("mprotect"), number("ioctl"),
                         number("rt_sigreturn"), f"{sum(calls.values()):,}",
                         *times])
        yield "\n".join([f"{name}: {NAMES[name]}", *align(rows)])


def forks(figures):
    if not figures:
        return
    rows = [["mode", "mappings", "fork+exit", "of off", "fork+exec", "of off",
             "a write", "and a 2nd thread", "calls/1000"]]
    for mode, one in by_mode(figures):
        row = [mode]
        if "exit" in one:
            row += [f"{one['mappings']:,.0f}", f"{one['exit']:.1f}/s",
                    f"{one['exit_ratio']:.2f}", f"{one['exec']:.1f}/s",
                    f"{one['exec_ratio']:.2f}"]
        else:
            row += [""] * 5
        if "alone" in one:
            row += [seconds(one["alone"]), seconds(one["together"]),
                    f"{1000 * one['alone_calls']:.1f}"]
        else:
            row += [""] * 3
        rows.append(row)
    yield "\n".join(align(rows))


def ratio(case, mode, key, base):
    """The median of the ratios of runs in the same turn."""
    return statistics.median(
        a[key] / b[key] for a, b in zip(case[mode], case[base]))


def mean(values):
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def choice(figures, base="deferred"):
    if not figures:
        return
    modes = [mode for mode in next(iter(figures.values())) if mode != base]
    rows = [["case", f"{base}:", "user+sys", "elapsed", "pause"]]
    for mode in modes:
        rows[0] += [f"{mode}:", "user+sys", "elapsed", "pause"]
    for name, case in figures.items():
        of = lambda key, case=case: seconds(
            statistics.median(one[key] for one in case[base]))
        row = [name, "", of("processor"), of("seconds"), of("pause")]
        for mode in modes:
            row += ["", f"{ratio(case, mode, 'processor', base):.2f}",
                    f"{ratio(case, mode, 'seconds', base):.2f}",
                    f"{ratio(case, mode, 'pause', base):.2f}"]
        rows.append(row)
    row = ["geometric mean"] + [""] * 4
    for mode in modes:
        row.append("")
        for key in ("processor", "seconds", "pause"):
            ratios = [ratio(c, mode, key, base) for c in figures.values()]
            row.append(f"{mean(ratios):.2f}")
    yield "\n".join([*align([*rows, row]),
                     f"medians; times of {base}, and ratios to them"])


def goals(figures):
    for mode, limit in CALLS.items():
        one = figures.get("writes", {}).get("random", {}).get(mode, {})
        if "kernel" in one:
            yield f"random: system calls in {mode}", \
                sum(one["kernel"].values()), limit
    for mode in CALLS:
        one = figures.get("forks", {}).get(mode, {})
        for what in ("exit", "exec"):
            if what in one:
                yield f"fork+{what}: time in {mode} against off", \
                    1 / one[what + "_ratio"], NEAR


def report(figures):
    """All tables and the goals; and how many of these were missed."""
    parts = [figures["machine"], *writes(figures.get("writes", {})),
             *forks(figures.get("forks", {})),
             *choice(figures.get("choice", {}))]
    text, missed = verdicts(goals(figures))
    return "\n\n".join([*parts, text]), missed
