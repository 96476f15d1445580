"""Testudo: which benchmarks there are, and what each must reach.

SPDX-License-Identifier: BSD-2-Clause
"""
import dataclasses

MIB, GIB = 1 << 20, 1 << 30
MODES = ("naive", "ranged", "deferred", "dirty", "off")
PAUSE = 0.1  # seconds: the library's setting where a case sets none


@dataclasses.dataclass(frozen=True)
class Case:
    """A workload with its options. RATIO is the target for its time against
    the Boehm collector, LONGEST for its longest pause in seconds; None: none.
    KINDS are the sets it belongs to. CLOCK is what is compared: "own" is the
    time less what the kernel let the thread wait, "seconds" is all of it."""
    name: str
    workload: str
    options: dict
    ratio: float = None
    longest: float = None
    sets: tuple = ("quick", "full")
    repeat: int = 5
    clock: str = "own"


def case(name, ratio=None, longest=None, sets=("quick", "full"), repeat=5,
         clock="own", **options):
    return Case(name, name.split()[0], options, ratio, longest, sets, repeat,
                clock)


FULL = ("full",)

CASES = [
    case("churn", 0.4, 0.005, ops=20_000_000),
    case("trees", 0.5, PAUSE, ops=20_000_000, depth=16),
    case("trees 16 deep, chain", None, PAUSE, ops=20_000_000, depth=16,
         nursery=150, gen1=170),
    case("deep", 0.7, PAUSE, ops=20_000_000, depth=1000),
    case("pinned", None, PAUSE, ops=10_000_000, heap=100_000 * 24),
    case("bigheap 4 MiB", None, PAUSE, heap=4 * MIB, ops=3_000_000),
    case("bigheap 14 MiB", None, PAUSE, heap=14 * MIB, ops=3_000_000),
    case("bigheap 64 MiB, fixed", None, PAUSE, repeat=3, heap=64 * MIB,
         ops=3_000_000, fixed=1),
    case("bigheap 64 MiB, chain", None, PAUSE, repeat=3, heap=64 * MIB,
         ops=3_000_000, nursery=150, gen1=170),
    case("bigheap 0.25 GiB", 0.4, PAUSE, repeat=3, heap=GIB // 4,
         ops=5_000_000),
    case("bigheap 0.25 GiB, long", None, PAUSE, FULL, 1, heap=GIB // 4,
         ops=40_000_000),
    case("bigheap 1 GiB", 0.4, PAUSE, FULL, 3, heap=GIB, ops=10_000_000),
    case("bigheap 1 GiB, 10 ms", 0.4, 0.01, FULL, 3, heap=GIB,
         ops=10_000_000, pause=10_000),
    case("bigheap 4 GiB", 0.4, PAUSE, FULL, 1, heap=4 * GIB, ops=10_000_000),
    case("bigheap 4 GiB, 10 ms", 0.4, 0.01, FULL, 1, heap=4 * GIB,
         ops=10_000_000, pause=10_000),
    case("bigheap 12 GiB", None, PAUSE, FULL, 1, heap=12 * GIB,
         ops=10_000_000),
    case("storm 0.25 GiB", 0.5, PAUSE, repeat=3, heap=GIB // 4,
         ops=2_000_000),
    case("storm 0.25 GiB, chain", None, PAUSE, repeat=3, heap=GIB // 4,
         ops=2_000_000, nursery=150, gen1=170),
    case("storm 1 GiB", 0.5, PAUSE, FULL, 3, heap=GIB, ops=5_000_000),
    case("storm 1 GiB, 10 ms", 0.5, 0.01, FULL, 3, heap=GIB, ops=5_000_000,
         pause=10_000),
    case("scatter 0.25 GiB", 0.5, PAUSE, repeat=3, heap=GIB // 4,
         ops=1_000_000),
    case("scatter 1 GiB", 0.5, PAUSE, FULL, 3, heap=GIB, ops=4_000_000),
    case("sparse 0.25 GiB", None, PAUSE, repeat=3, heap=GIB // 4,
         ops=2_000_000, depth=64),
    case("threads 2", None, PAUSE, clock="seconds", threads=2, ops=4_000_000),
    case("threads 8", None, PAUSE, clock="seconds", threads=8, ops=1_000_000),
    case("threads 8, chain", None, PAUSE, clock="seconds", threads=8,
         ops=1_000_000, nursery=150, gen1=170),
    case("threads 32", None, PAUSE, FULL, clock="seconds", threads=32,
         ops=1_000_000),
    case("weak", None, PAUSE, ops=2_000_000),
    case("finalize", None, PAUSE, ops=2_000_000),
    case("manual mvff", None, None, heap=2 * MIB, ops=2_000_000, kind=0),
    case("manual mvt", None, None, heap=2 * MIB, ops=2_000_000, kind=1),
    case("manual mfs", None, None, heap=2 * MIB, ops=2_000_000, kind=2),
    case("fork", None, None, repeat=3, heap=GIB // 4, ops=30),
    case("fork and exec", None, None, repeat=3, heap=GIB // 4, ops=30,
         kind=1),
]

# Every workload at a size for tests: milliseconds, in any mode.
TINY = {
    "churn": dict(ops=200_000),
    "trees": dict(ops=100_000, depth=8),
    "deep": dict(ops=100_000, depth=500),
    "pinned": dict(ops=100_000, heap=1000 * 24),
    "bigheap": dict(heap=2 * MIB, ops=50_000),
    "storm": dict(heap=2 * MIB, ops=20_000),
    "scatter": dict(heap=2 * MIB, ops=5_000),
    "sparse": dict(heap=2 * MIB, ops=20_000, depth=16),
    "minor": dict(heap=4 * MIB, ops=20_000),
    "threads": dict(threads=3, ops=50_000),
    "weak": dict(ops=20_000),
    "finalize": dict(ops=50_000),
    "manual": dict(heap=MIB, ops=20_000),
    "fork": dict(heap=MIB, ops=3),
}


def select(set_name, patterns):
    """The cases of a set whose names begin with one of the patterns; with
    patterns, the cases of every set."""
    if not patterns:
        return [c for c in CASES if set_name in c.sets]
    return [c for c in CASES
            if any(c.name == p or c.workload == p for p in patterns)]
