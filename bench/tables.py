"""Testudo: the tables of the benchmarks, and what was reached.

SPDX-License-Identifier: BSD-2-Clause
"""
import platform
import statistics

CAPTION = """\
time: of the run, building included, less what the kernel let the thread wait
for a processor (threads: all of it); ratios are medians of neighbouring runs.
pause: longest batch of operations, less such waits. part: least part of any
50 ms that was the program's. calls: for memory, by the library's count, or
all, by strace."""


def machine():
    """A line that names the machine."""
    model = platform.machine()
    memory = 0
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file
                     if line.startswith("model name")]
        model = f"{len(names)} x {names[0]}" if names else model
        with open("/proc/meminfo", encoding="ascii") as file:
            memory = int(file.readline().split()[1]) / 2**20
    except OSError:
        pass
    return f"{model}, {memory:.0f} GiB, {platform.system()} " \
           f"{platform.release()}"


def align(rows):
    """Rows of words as lines, the first column to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        words = [word.rjust(width) for word, width in zip(row, widths)]
        words[0] = row[0].ljust(widths[0])
        lines.append("  ".join(words).rstrip())
    return lines


def seconds(value):
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"),
                                (1, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


WORST = "utilisation_50ms_of_worst_thread"


def part(series, name):
    """The least part of 50 ms that was the program's."""
    if WORST in series.reports[name][0]["figures"]:
        return series.median(name, "figures", WORST)
    return series.median(name, "utilisation", "50ms")


HEAD = ["case", "collector", "time", "build", "per op", "ratio", "median",
        "99 %", "99.9 %", "longest", "part", "peak MiB", "faults", "calls"]


def build_time(series, name):
    """The part of the time in which the heap was built, if there was one."""
    times = [report["seconds"] - report["work_seconds"] -
             report["build_waited"] for report in series.reports[name]]
    return seconds(statistics.median(times)) if times[0] > 1e-3 else ""


def row(series, name, base):
    """One collector's figures of a case."""
    if name in series.failures or not series.reports[name]:
        return [series.case.name, name, "failed"] + [""] * (len(HEAD) - 3)
    get = lambda *path: series.median(name, *path)
    ratio = series.ratio(name, base) if base in series.reports else None
    calls = get("library", "calls")
    if name in series.calls:
        calls = sum(series.calls[name].values())
    return [series.case.name, name, seconds(get(series.case.clock)),
            build_time(series, name),
            seconds(get(series.case.clock) / get("operations")),
            "" if name == base or ratio is None else f"{ratio:.2f}",
            seconds(get("pause", "median")), seconds(get("pause", "p99")),
            seconds(get("pause", "p999")), seconds(get("pause", "own")),
            f"{part(series, name):.2f}",
            f"{get('peak') / 2**20:.0f}", f"{get('faults'):.0f}",
            "" if calls < 0 else f"{calls:.0f}"]


def figures(all_series, base):
    """The table of all figures."""
    rows = [HEAD]
    for series in all_series:
        rows += [row(series, name, base) for name in series.reports]
    return "\n".join([*align(rows), "", CAPTION])


def goals(all_series, ours, base):
    """Tuples of text, value, limit: what must be reached."""
    for series in all_series:
        case = series.case
        if ours in series.failures:
            yield f"{case.name}: runs", 1, 0
        if not series.reports.get(ours):
            continue
        against = bool(series.reports.get(base))
        if case.ratio is not None and against:
            yield f"{case.name}: time against {base}", \
                series.ratio(ours, base), case.ratio
        if case.longest is not None:
            yield f"{case.name}: longest pause, ms", \
                1e3 * series.median(ours, "pause", "own"), 1e3 * case.longest
        if against:
            yield f"{case.name}: peak memory against {base}", \
                series.median(ours, "peak") / series.median(base, "peak"), 1


def verdicts(goals_found):
    """The table of goals; and how many were missed."""
    rows = [["goal", "is", "at most", ""]]
    missed = 0
    for text, value, limit in goals_found:
        reached = value <= limit
        missed += not reached
        rows.append([text, f"{value:.3g}", f"{limit:.3g}",
                     "pass" if reached else "FAIL"])
    return "\n".join(align(rows)), missed


def counters(all_series):
    """One line on hardware counters, or a table of them."""
    rows = [["case", "collector"]]
    why = "not tried"
    for series in all_series:
        for name, reports in series.reports.items():
            found = reports[0]["counters"] if reports else {}
            why = found.get("unavailable", why)
            names = [key for key in found if key != "unavailable"]
            if names and len(rows[0]) == 2:
                rows[0] += names
            if names:
                rows.append([series.case.name, name] +
                            [f"{found.get(key, 0):.3g}"
                             for key in rows[0][2:]])
    if len(rows) == 1:
        return f"hardware counters: this machine has none to offer ({why})"
    return "\n".join(align(rows))


def synchronisations(all_series):
    """Page-table synchronisations between processors, of the machine."""
    rows = [["page-table synchronisations", "collector", "number"]]
    for series in all_series:
        for name, reports in series.reports.items():
            if reports and "shootdowns" in reports[0]:
                number = series.median(name, "shootdowns")
                rows.append([series.case.name, name, f"{number:.0f}"])
    if len(rows) == 1:
        return "page-table synchronisations: the kernel does not count them"
    return "\n".join([*align(rows), "(of the whole machine, meanwhile)"])
