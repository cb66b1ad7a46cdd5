# plots/results.py: reads a results folder, <folder>/<arm>/seed-<n>/, and refuses what it cannot read.
"""One `Arm` for each folder below the results folder, one `Run` for each seed.

Times are in seconds, rates in Gbit/s, activities in chip-seconds, as in the files. An empty cell is NaN
or None, never 0. A folder without runs, a broken file or a form of another number raises `Unreadable`.
"""
import csv
import json
import math
import pathlib
import statistics
import sys

FORMATS = (1,)


class Unreadable(Exception):
    """What is wrong, with the file, as one line for a person."""


class Run:
    """One seed of one arm. `summary` is summary.json; tables are read when asked for."""

    def __init__(self, folder):
        self.folder = folder
        path = folder / "summary.json"
        try:
            self.summary = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as trouble:
            raise Unreadable(f"{path}: {trouble}") from trouble
        if self.summary.get("format") not in FORMATS:
            raise Unreadable(f"{path}: format must be {FORMATS[-1]}; got {self.summary.get('format')}")
        self.seed = self.summary["seed"]

    def token_shares(self):
        """{what became of it: share of the tokens of steps that stand}, of the whole run; they sum to 1.

        `merged` reached the global model; `overwritten` and `discarded` did not and will not; `in_flight` was in
        no merge at the end. Rolled-back tokens are of steps that do not stand. A run that stepped nowhere has
        all in `merged`, which is a share of nothing.
        """
        account = self.summary["token_account"]
        lost = {"overwritten": account["overwritten"], "discarded": sum(account["discarded"].values()),
                "in_flight": account["in_flight"]}
        standing = account["merged"] + sum(lost.values())
        if standing <= 0:
            return {"merged": 1.0} | dict.fromkeys(lost, 0.0)
        return {"merged": account["merged"] / standing} | {name: tokens / standing for name, tokens in lost.items()}

    def rows(self, name):
        """The table's rows as dictionaries of text; none when the run wrote no such table."""
        path = self.folder / name
        if not path.exists():
            return []
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def columns(self, name, *wanted):
        """The wanted columns as lists of numbers, one list for each, in the order asked for."""
        rows = self.rows(name)
        try:
            return [[float(row[column] or "nan") for row in rows] for column in wanted]
        except (KeyError, ValueError) as trouble:
            raise Unreadable(f"{self.folder / name}: {trouble}") from trouble

    def activity_shares(self):
        """{activity: share of chips x time}, up to the time mark; they sum to 1."""
        spent = self.summary["activity_chip_seconds"]
        total = sum(spent.values())
        if total <= 0:
            raise Unreadable(f"{self.folder / 'summary.json'}: activities sum to {total}")
        return {name: chip_seconds / total for name, chip_seconds in spent.items()}

    def faults(self):
        """[(start_s, end_s, kind, target_kind, target)]; a fault for good ends at infinity."""
        found = []
        for row in self.rows("faults.csv"):
            start_s = float(row["at_s"])
            end_s = start_s + float(row["for_s"]) if row["for_s"] else math.inf
            found.append((start_s, end_s, row["kind"], row["target_kind"], row["target"]))
        return found


class Arm:
    """One training method or setting, with at least one run, by rising seed."""

    def __init__(self, name, runs):
        self.name = name
        self.runs = sorted(runs, key=lambda run: run.seed)

    def median(self, *keys):
        """Median over seeds of a number in summary.json; None when a seed lacks it."""
        values = [number_at(run.summary, keys) for run in self.runs]
        return None if None in values else statistics.median(values)


def number_at(tree, keys):
    """tree[keys[0]][keys[1]]..., or None where the path ends early."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def refuse_mixture(runs):
    """Raises unless all are runs of one experiment by one version: figures average what they find."""
    for key, what in (("set_hash", "another scenario"), ("version", "another version")):
        for run in runs[1:]:
            if run.summary.get(key) != runs[0].summary.get(key):
                raise Unreadable(f"{run.folder}: is of {what} than {runs[0].folder}: {run.summary.get(key)} and "
                                 f"{runs[0].summary.get(key)}; run the comparison again with --force")


def read(folder):
    """All arms of the folder, by falling goodput in merged tokens, then by name."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise Unreadable(f"{folder}: no such folder")
    arms = []
    for below in sorted(folder.iterdir()):
        runs = [Run(path.parent) for path in sorted(below.glob("seed-*/summary.json"))]
        if runs:
            arms.append(Arm(runs[0].summary["arm"], runs))
    refuse_mixture([run for arm in arms for run in arm.runs])
    if not arms:
        raise Unreadable(f"{folder}: holds no <arm>/seed-<n>/summary.json; give the folder of one scenario,"
                         " such as results/minimal")
    return sorted(arms, key=lambda arm: (-(arm.median("goodput", "token") or 0.0), arm.name))


def scenario_name(arms):
    return arms[0].runs[0].summary["scenario"]


def seeds_text(arms):
    """How many seeds stand behind the figure: "1 seed", "5 seeds", "3 to 5 seeds for each arm"."""
    counts = sorted({len(arm.runs) for arm in arms})
    if len(counts) > 1:
        return f"{counts[0]} to {counts[-1]} seeds for each arm"
    return f"{counts[0]} seed" + ("s" if counts[0] > 1 else "")


def time_mark_s(arms):
    """The declared time mark in seconds, or None."""
    return arms[0].median("marks", "time", "at_s")


def region_faults(arms):
    """Region outages that every run met at the same date: sorted [(start_s, end_s, region)]."""
    shared = None
    for arm in arms:
        for run in arm.runs:
            here = {(start_s, end_s, target) for start_s, end_s, _, target_kind, target in run.faults()
                    if target_kind == "region"}
            # A run that ended earlier cannot have met what came later.
            ended_s = run.summary["duration_s"]
            if shared is None:
                shared, until_s = here, ended_s
                continue
            shared = {span for span in shared | here
                      if (span in here or span[0] >= ended_s) and (span in shared or span[0] >= until_s)}
            until_s = max(until_s, ended_s)
    return sorted(shared or [])


def one_figure(draw, file_name):
    """The main of a figure's file: reads the folder named on the command line, draws, says the file.

    Exit codes as the simulator's: 2 wrong usage, 3 a folder or file that cannot be read.
    """
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(f"usage: {sys.argv[0]} RESULTS_FOLDER", file=sys.stderr)
        return 2
    try:
        arms = read(sys.argv[1])
        said = save_or_reason(draw, arms, pathlib.Path(sys.argv[1]) / "plots" / file_name)
    except (Unreadable, OSError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 3
    print(said)
    return 0


def save_or_reason(draw, arms, path):
    """Draws into `path`, and returns the line to print: the file, or why there is none."""
    drawn = draw(arms)
    if isinstance(drawn, str):
        return f"no {path.name}: {drawn}"
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path)
    return str(path)
