#!/usr/bin/env python3
"""rate_rules.py [--build DIR] [--seeds N] [--samples N] [--data D] [--json]

Final accuracy with a learning rate that follows the membership, and with one that does not. As in
the published experiment, the training has four stages of equal work with another number of workers
in each; here four workers shrink to one, since workers are revoked. The rate falls to a tenth after
half of the work and again after three quarters. `adaptive` divides the rate of one worker by the
root of the live workers, `naive` by the root of 20 slots. `one worker` is a cluster of the chief
alone. Prints the mean over the seeds, the standard deviation, and adaptive minus naive, paired.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from prices import prices

RULES = {"one worker": ("inverse-root", 0), "adaptive": ("inverse-root", 3), "naive": ("naive", 3)}
PRICES = prices((["here"], "spot", 0.36, True, None), (["here"], "on-demand", 0.14, False, None))
CLUSTER = """name = "job"
prices = "prices.toml"
replacement = "go-on"
[chief]
gpu = "CPU"
zone = "here"
[workers]
count = {workers}
gpu = "CPU"
zone = "here"
[parameter_servers]
zone = "here"
[evaluator]
zone = "here"
[training]
model = "{model}"
data = "{data}"
batch = {batch}
rate = {rate}
rate_rule = "{rule}"
slots = 20
steps = {steps}
seed = {seed}
evaluate_every = {evaluate_every}
arguments = ["--rate-step", "{half}:0.1", "--rate-step", "{three_quarters}:0.1"]
"""


def progress_of(folder):
    try:
        return json.loads((folder / "job" / "run" / "progress.json").read_text())
    except (OSError, ValueError):
        return {}


def shrink(folder, run, samples):
    """A worker is revoked after each quarter of the work."""
    for number, stage in ((3, 1), (2, 2), (1, 3)):
        while progress_of(folder).get("samples", 0) < stage * samples / 4:
            if run.poll() is not None:
                return
            time.sleep(0.02)
        with open(folder / "job" / "revoke", "a", encoding="utf-8") as file:
            file.write(f"job-worker-{number}\n")


def train(options, name, seed):
    rule, workers = RULES[name]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="orrery-rates-"))
    (folder / "prices.toml").write_text(PRICES)
    # The program counts a step as a gradient of one of the first workers.
    steps = options.samples * (workers + 1) // options.batch
    (folder / "job.toml").write_text(CLUSTER.format(
        workers=workers, rule=rule, steps=steps, seed=seed, model=options.model, data=options.data,
        batch=options.batch, rate=options.rate, half=options.samples // 2,
        three_quarters=3 * options.samples // 4, evaluate_every=options.samples // 16))
    command = [options.build / "orrery-whole", "transient", "run", folder / "job.toml", "--dir",
               folder / "job", "--trainer", options.build / "orrery-train", "--json", "--quiet"]
    run = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if workers > 0:
        shrink(folder, run, options.samples)
    output, errors = run.communicate(timeout=1200)
    if run.returncode != 0:
        raise SystemExit(errors)
    table = (folder / "job" / "run" / "membership.csv").read_text().splitlines()[1:]
    shutil.rmtree(folder, ignore_errors=True)
    return json.loads(output), [row.split(",")[2] for row in table]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    here = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=pathlib.Path, default=here / "build" / "release")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=400_000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=0.1, help="of one worker")
    parser.add_argument("--model", default="mlp")
    parser.add_argument("--data", default="teacher")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    results = {name: [] for name in RULES}
    for seed in range(1, options.seeds + 1):
        for name, accuracies in results.items():
            summary, workers = train(options, name, seed)
            accuracies.append(summary["accuracy"])
            print(f"seed {seed}, {name}: {summary['accuracy']:.4f}, {summary['steps']} steps, "
                  f"{summary['revocations']} revoked, workers {' '.join(workers)}",
                  file=sys.stderr, flush=True)
    gains = [ours - naive for ours, naive in zip(results["adaptive"], results["naive"])]
    if options.json:
        print(json.dumps(results | {"adaptive minus naive": gains}))
        return
    for name, values in (results | {"adaptive minus naive": gains}).items():
        spread = statistics.stdev(values) if len(values) > 1 else 0
        print(f"{name:21} {100 * statistics.mean(values):6.2f} % +- {100 * spread:.2f}")


if __name__ == "__main__":
    main()
