"""Testudo: compiling the workloads for each collector.

SPDX-License-Identifier: BSD-2-Clause
"""
import dataclasses
import os
import pathlib
import subprocess

BENCH = pathlib.Path(__file__).resolve().parent
TOP = BENCH.parent
# Aligned, since where a loop of a few nanoseconds lies is worth a quarter of
# it.
FLAGS = ["-std=gnu11", "-O2", "-g", "-fno-strict-aliasing",
         "-falign-functions=64", "-falign-loops=64", "-Wall",
         "-Wextra", f"-I{TOP}"]
COMMON = ["main.c", "measure.c", "counters.c"]


class Failure(Exception):
    """Something could not be built or run; the text says what."""


@dataclasses.dataclass(frozen=True)
class Collector:
    """How to compile for one collector. SOURCES are those of its heap; it runs
    the workloads in ONLY, or all."""
    name: str
    flags: tuple
    sources: tuple
    libraries: tuple
    only: tuple = None


def boehm():
    return Collector("boehm", ("-DBENCH_BOEHM",), ("gc_boehm.c",),
                     ("-lgc", "-lm", "-pthread"))


# The workloads that want nothing of a collector but memory.
MEMORY_ONLY = ("bigheap", "churn", "deep", "pinned", "scatter", "sparse",
               "storm", "trees")


def none():
    """No collector: what the time of the others has beneath it."""
    return Collector("none", ("-DBENCH_NONE",), ("gc_none.c",), ("-lm",),
                     MEMORY_ONLY)


def interface(name, include, library):
    """A collector behind mps.h, by its include folder and library."""
    folder = os.path.dirname(os.path.abspath(library))
    return Collector(name, (f"-I{include}",), ("gc_mps.c", "gc_mps_weak.c"),
                     (library, f"-Wl,-rpath,{folder}", "-lm", "-pthread"))


def compiler():
    return os.environ.get("CC", "cc")


def run_compiler(arguments):
    command = [compiler(), *map(str, arguments)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\n{done.stderr}")


def workloads():
    """The names of all workloads."""
    return sorted(path.stem.removeprefix("work_")
                  for path in BENCH.glob("work_*.c"))


def build(collector, names, output):
    """Compile the named workloads; a dictionary from name to program. One
    that the library cannot link is left out if the library is another's."""
    folder = pathlib.Path(output) / collector.name
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "common.a"
    archive.unlink(missing_ok=True)
    objects = []
    for source in (*COMMON, *collector.sources):
        objects.append(folder / (source[:-2] + ".o"))
        run_compiler([*FLAGS, *collector.flags, "-c", BENCH / source, "-o",
                      objects[-1]])
    subprocess.run(["ar", "rcs", archive, *objects], check=True)
    programs = {}
    for name in names:
        programs[name] = folder / name
        run_compiler([*FLAGS, *collector.flags, BENCH / f"work_{name}.c",
                      archive, *collector.libraries, "-o", programs[name]])
    return programs


def build_plain(source, output, flags=(), libraries=()):
    """Compile one program that uses no collector."""
    program = pathlib.Path(output) / pathlib.Path(source).stem
    program.parent.mkdir(parents=True, exist_ok=True)
    run_compiler([*FLAGS, *flags, source, "-o", program, *libraries, "-lm"])
    return program
