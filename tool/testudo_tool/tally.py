"""Testudo: tallies as text.

SPDX-License-Identifier: BSD-2-Clause
"""


def clock(seconds):
    """Seconds in the shape of the shell's time command."""
    return f"{int(seconds // 60)}m{seconds % 60:.3f}s"


def tally(profile):
    """One profile in the shape of the report: calls, then times."""
    counts = profile["syscalls"]
    width = max(len(str(number)) for number in counts.values())
    lines = [f"{number:{width}} {name}" for name, number in counts.items()]
    seconds = profile["seconds"]
    lines += ["", f"real {clock(seconds['wall'])}",
              f"user {clock(seconds['user'])}",
              f"sys  {clock(seconds['sys'])}",
              f"peak {profile['peak_kib']:,} KiB"]
    return "\n".join(lines)


def factor(number):
    """A factor of at least 1, to three figures."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def ratio(number, base):
    """NUMBER compared with BASE, short: 1/170, or 1.25x."""
    if number == base:
        return "1"
    if number == 0 or base == 0:
        return "-"
    if number < base:
        return f"1/{factor(base / number)}"
    return f"{factor(number / base)}x"


def calls(profiles):
    """Names of all system calls in PROFILES, the most frequent first."""
    totals = {}
    for profile in profiles.values():
        for name, number in profile["syscalls"].items():
            totals[name] = totals.get(name, 0) + number
    total = totals.pop("total")
    assert total == sum(totals.values())
    return sorted(totals, key=lambda name: (-totals[name], name))


def system_share(profile):
    """System time as a part of processor time, 0 to 1."""
    seconds = profile["seconds"]
    spent = seconds["user"] + seconds["sys"]
    return seconds["sys"] / spent if spent else 0.0


def rows(profiles):
    """Rows of the comparison: a name and a cell for each mode. A cell is a
    text and, for what is compared, the number."""
    for name in [*calls(profiles), "total"]:
        numbers = [profile["syscalls"].get(name, 0)
                   for profile in profiles.values()]
        yield name, [(f"{number:,}", number) for number in numbers]
    yield None
    for key, label in (("wall", "real s"), ("user", "user s"),
                       ("sys", "system s")):
        numbers = [profile["seconds"][key] for profile in profiles.values()]
        yield label, [(f"{number:.3f}", number) for number in numbers]
    yield "system share", [(f"{system_share(profile):.1%}", None)
                           for profile in profiles.values()]
    numbers = [profile["peak_kib"] for profile in profiles.values()]
    yield "peak KiB", [(f"{number:,}", number) for number in numbers]


def comparison(title, profiles):
    """Profiles side by side, one column a mode; beside each the ratio to
    the first."""
    lines = [[title, *sum(([mode, ""] for mode in profiles), [])], None]
    for row in rows(profiles):
        if row is None:
            lines.append(None)
            continue
        name, cells = row
        base = cells[0][1]
        line = [name]
        for index, (text, number) in enumerate(cells):
            compared = index > 0 and number is not None
            line += [text, ratio(number, base) if compared else ""]
        lines.append(line)
    return columns(lines)


def columns(lines):
    """Lines of cells, aligned; None is a rule."""
    full = [line for line in lines if line is not None]
    widths = [max(len(line[i]) for line in full) for i in range(len(full[0]))]
    text = []
    for line in lines:
        if line is None:
            shown = [width for width in widths if width]
            text.append("-" * (sum(shown) + 2 * (len(shown) - 1)))
            continue
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width)
                  for cell, width in zip(line[1:], widths[1:]) if width]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)
