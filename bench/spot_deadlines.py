"""spot_deadlines.py [DATA] [--orrery PROGRAM] [--work H] [--starts N]: policies for a deadline over spot traces.

DATA is a folder with the published spot traces at any depth (docs/systems/spot-deadlines.md). Each
zone alone and all zones of a folder together are planned with every policy, slack, change-over and
start. Prints tables in Markdown. Fails if a deadline was missed, or where orrery-spot is not below
uniform-progress.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time

SLACKS = (5, 10, 20, 35, 50)  # percent of the work
CHANGEOVERS = ("2m", "6m", "15m", "30m")
POLICIES = ("on-demand", "greedy", "uniform-progress", "skynomad", "ross", "orrery-spot")
# The prior of orrery-spot was fitted to the lifetimes and gaps in these folders.
FITTED = ("aws-10-26-2022", "aws-04-19-2023", "aws-08-27-2023")
# Zones of one folder with several kinds of machine are also planned by kind.
KINDS = ("k80_1", "k80_8", "v100_1", "v100_8")


class Sums:
    def __init__(self):
        self.cost = collections.Counter()
        self.optimum = self.on_demand = 0.0
        self.runs = self.missed = 0

    def add(self, run):
        self.cost[run["policy"]] += run["cost"]
        self.missed += not run["met"]
        if run["policy"] == POLICIES[0]:
            self.optimum += run["optimal_cost"]
            self.on_demand += run["on_demand_cost"]
            self.runs += 1

    def ratio(self, policy):
        return self.cost[policy] / self.optimum


def sets_of(data):
    """{name: [file...]} of zones together, and of zones alone."""
    folders = collections.defaultdict(list)
    for file in sorted(data.rglob("*.json")):
        folders[file.parent.name].append(file)
    together, alone = {}, {}
    for folder, files in folders.items():
        together[f"{folder}, {len(files)} zones"] = (folder, files)
        kinds = {kind: [f for f in files if f.stem.endswith(kind)] for kind in KINDS}
        if sum(map(bool, kinds.values())) > 1:
            for kind, some in kinds.items():
                together[f"{folder} {kind}, {len(some)} zones"] = (folder, some)
        for file in files:
            alone[f"{folder} {file.stem}"] = (folder, [file])
    return together, alone


def plan(arguments, files):
    """Yields (slack, run) for all slacks, change-overs and starts."""
    lengths = []
    for file in files:
        trace = json.loads(file.read_text())
        lengths.append(len(trace["data"]) * trace["metadata"]["gap_seconds"])
    work = min(arguments.work * 3600, int(min(lengths) / 2.2) // 3600 * 3600)
    slacks = {round(work * (1 + slack / 100)): slack for slack in SLACKS}
    done = subprocess.run(
        [arguments.orrery, "transient", "plan", "--json", "--work", f"{work}s",
         "--trace", ",".join(map(str, files)), "--policy", ",".join(POLICIES),
         "--deadline", ",".join(f"{seconds}s" for seconds in slacks),
         "--changeover", ",".join(CHANGEOVERS), "--starts", str(arguments.starts)],
        stdout=subprocess.PIPE, check=True)  # fmt: skip
    for run in json.loads(done.stdout)["runs"]:
        yield slacks[round(run["deadline_s"])], run


def table(title, rows):
    print(f"\n## {title}\n")
    print("| | runs | optimum / on-demand | " + " | ".join(POLICIES) + " |")
    print("|---|--:|--:|" + "--:|" * len(POLICIES))
    for name, sums in rows.items():
        cells = [f"{sums.ratio(policy):.3f}" for policy in POLICIES]
        print(f"| {name} | {sums.runs} | {sums.optimum / sums.on_demand:.3f} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="?", default="../shared/data/spot", type=pathlib.Path)
    parser.add_argument("--orrery", default="build/release/orrery")
    parser.add_argument("--work", type=int, default=48, help="hours; less where a trace is short")
    parser.add_argument("--starts", type=int, default=6)
    arguments = parser.parse_args()
    began = time.monotonic()
    together, alone = sets_of(arguments.data)
    if not together:
        sys.exit(f"{arguments.data}: holds no traces; name the folder of the spot traces")
    by = {title: collections.defaultdict(Sums)
          for title in ("Sets of zones", "Single zones", "Slack", "Change-over", "Fitted and held out")}  # fmt: skip
    ratios = []
    for title, sets in (("Sets of zones", together), ("Single zones", alone)):
        where = "sets" if sets is together else "single zones"
        for name, (folder, files) in sets.items():
            part = "fitted" if folder in FITTED else "held out"
            for slack, run in plan(arguments, files):
                by[title][name].add(run)
                by["Slack"][f"{where}, {slack} %"].add(run)
                by["Change-over"][f"{where}, {run['changeover_s'] / 60:.0f} min"].add(run)
                by["Fitted and held out"][f"{where}, {part}"].add(run)
                if sets is together and run["policy"] == "orrery-spot":
                    ratios.append(run["cost"] / run["optimal_cost"])
    for title, rows in by.items():
        table(title, rows)
    faults = []
    for title in ("Sets of zones", "Single zones"):
        for name, sums in by[title].items():
            if sums.missed:
                faults.append(f"{name}: {sums.missed} deadlines missed")
            ours, theirs = sums.ratio("orrery-spot"), sums.ratio("uniform-progress")
            if ours >= theirs and ours > 1 + 1e-3:
                faults.append(f"{name}: orrery-spot {ours:.4f}, uniform-progress {theirs:.4f}")
    rows = by["Sets of zones"].values()
    mean = sum(sums.ratio("orrery-spot") for sums in rows) / len(rows)
    runs = sum(sums.runs for title in ("Sets of zones", "Single zones") for sums in by[title].values())
    print(f"\norrery-spot over the optimum: {mean:.4f} in the mean of the sets, "
          f"{sum(ratios) / len(ratios):.4f} in the mean of their runs")  # fmt: skip
    print(f"{runs} plans of {len(POLICIES)} policies in {time.monotonic() - began:.0f} s")
    print("\n".join(faults) or "no deadline missed, and orrery-spot below uniform-progress everywhere")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
