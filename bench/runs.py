"""Testudo: running the workloads, one collector after the other.

SPDX-License-Identifier: BSD-2-Clause
"""
import json
import mmap
import os
import re
import statistics
import subprocess
import tempfile

from builds import Failure

TIMEOUT = 900
WARM_LEAST = 2 << 30  # bytes of heap for which memory is got ready
WARM_TIMES = 1.4  # so many times the heap
WARM_PART = 0.8  # of the available memory, at most
POPULATE_WRITE = 23  # MADV_POPULATE_WRITE, of Linux 5.14
LINE = re.compile(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$")


def arguments(options):
    return [f"--{name}={value}" for name, value in options.items()]


def shootdowns():
    """Page-table synchronisations between processors so far, in the whole
    machine; None where the kernel does not count them."""
    try:
        with open("/proc/interrupts", encoding="ascii") as file:
            for line in file:
                if line.split()[0] == "TLB:":
                    return sum(int(word) for word in line.split()[1:]
                               if word.isdigit())
    except OSError:
        pass
    return None


def available():
    """Bytes of memory that could be used, or infinity."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    return float("inf")


def warm(heap):
    """Touch as much memory as a program with a large HEAP will. Where the host
    of a virtual machine takes memory back that is free, the first to use it
    again waits for it, longer than all else takes."""
    if heap < WARM_LEAST:
        return
    size = int(min(WARM_TIMES * heap, WARM_PART * available()))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    try:
        with mmap.mmap(-1, size, flags=flags) as memory:
            memory.madvise(POPULATE_WRITE)
    except OSError:
        pass  # refused, or an older kernel


def run(program, options, environment=None, prefix=()):
    """One run: its report, with `own` and `shootdowns` added."""
    command = [*prefix, str(program), *arguments(options)]
    before = shootdowns()
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False,
                              env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)}: more than {TIMEOUT} s") from None
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: status {done.returncode}\n"
                      f"{done.stderr.strip()}")
    report = json.loads(done.stdout)
    report["own"] = report["seconds"] - report["waited"]
    if before is not None:
        report["shootdowns"] = shootdowns() - before
    return report


def system_calls(program, options, environment=None):
    """Calls by name as the kernel counts them, in a run of its own."""
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as file:
        run(program, options, environment,
            ("strace", "-f", "-c", "-o", file.name))
        calls = {}
        for line in file:
            match = LINE.match(line.rstrip())
            if match and match.group(2) != "total":
                calls[match.group(2)] = int(match.group(1))
    return calls


class Series:
    """The reports of one case for each collector, run in turns. A collector
    that fails has the text of its failure in `failures`."""

    def __init__(self, case, names):
        self.case = case
        self.reports = {name: [] for name in names}
        self.failures = {}
        self.calls = {}

    def median(self, name, *path):
        """The median of a member of a collector's reports, or None."""
        values = []
        for report in self.reports[name]:
            for key in path:
                report = report[key]
            values.append(report)
        return statistics.median(values) if values else None

    def ratio(self, name, base):
        """Median of the ratios of times, each of neighbouring runs."""
        clock = self.case.clock
        pairs = zip(self.reports[name], self.reports[base])
        ratios = [a[clock] / b[clock] for a, b in pairs]
        return statistics.median(ratios) if ratios else None

    def as_json(self):
        return {"case": self.case.name, "clock": self.case.clock,
                "reports": self.reports, "failures": self.failures,
                "calls": self.calls}


def series(case, programs, environments, repeat, log, strace=False):
    """Run a case for each collector in turn, REPEAT times. PROGRAMS maps
    the collector's name to its programs by workload."""
    programs = {name: built for name, built in programs.items()
                if case.workload in built}
    result = Series(case, programs)
    for turn in range(repeat):
        for name, built in programs.items():
            if name in result.failures:
                continue
            log(f"{case.name}: {name}, {turn + 1} of {repeat}")
            warm(case.options.get("heap", 0))
            try:
                result.reports[name].append(
                    run(built[case.workload], case.options,
                        environments.get(name)))
            except Failure as failure:
                result.failures[name] = str(failure)
                log(f"FAILED: {failure}")
    for name, built in programs.items():
        if strace and name not in result.failures:
            log(f"{case.name}: {name}, system calls")
            result.calls[name] = system_calls(
                built[case.workload], case.options, environments.get(name))
    return result
