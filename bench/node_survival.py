"""node_survival.py [FAULTS] [--orrery PROGRAM] [--seeds N]: placement by survival under real faults.

FAULTS is the published list of 348 days of faults of 400 servers (docs/systems/faults.md). Prints
the table of that page: lost GPU hours and restarts under `las`, means over the seeds of the jobs.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

SIZES = "8:45/16:20/32:15/64:12/128:8"
LOADS = (0.5, 0.7, 0.9)
INTERVALS = ("30m", "none")
PLACEMENTS = ("consolidated", "survival")


def run(program, faults, load, seed, interval):
    """{placement: (lost GPU hours, restarts)} of one trace."""
    out = subprocess.run(
        [program, "compare", "--trace",
         f"philly-like:jobs=48000,gpus=3200,load={load},seed={seed},sizes={SIZES}",
         "--cluster", "400x8", "--policy", ",".join(f"las:placement={p}" for p in PLACEMENTS),
         "--faults", str(faults), "--checkpoint-interval", interval, "--checkpoint-cost", "1m",
         "--json"], check=True, capture_output=True, text=True).stdout
    runs = json.loads(out)["runs"]
    assert len(runs) == len(PLACEMENTS), [r["policy"] for r in runs]
    return {p: (r["lost_gpu_h"], r["fault_restarts"]) for p, r in zip(PLACEMENTS, runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("faults", nargs="?", type=pathlib.Path,
                        default="../shared/data/faults/fault_trace.json")
    parser.add_argument("--orrery", default="build/release/orrery")
    parser.add_argument("--seeds", type=int, default=8)
    a = parser.parse_args()
    print("| load | checkpoints | lost GPU hours: consolidated | survival "
          "| restarts: consolidated | survival |\n|---|---|---|---|---|---|")
    for interval in INTERVALS:
        for load in LOADS:
            got = [run(a.orrery, a.faults, load, seed, interval) for seed in range(1, a.seeds + 1)]
            mean = [[statistics.mean(g[p][i] for g in got) for p in PLACEMENTS] for i in (0, 1)]
            shown = "none" if interval == "none" else "30 min"
            print(f"| {load} | {shown} | " + " | ".join(f"{x:,.0f}" for x in sum(mean, [])) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
