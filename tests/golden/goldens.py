"""goldens.py ORRERY [--update] [--only REGEX] [--jobs N]

Runs every policy in every world over a generated trace and compares the event log of each run, byte
for byte, with the one committed in tests/golden/logs. --update writes the new logs and lists what
changed. A case that a world refuses has its message as its golden.

The traces are made here, with whole-number arithmetic only, so they are the same on every machine.
"""
import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LOGS = pathlib.Path(__file__).resolve().parent / "logs"
WORLDS = ("orrery", "muri", "elasticflow", "synergy")
# Policies as `orrery policies` lists them, and variants that take another path through the code.
VARIANTS = (
    "fifo:backfill=false", "sjf:preempt=true", "srtf:preempt=false", "las:promote=2:limits=1h",
    "las:placement=spread", "muri-s:packing=2", "muri-s:matching=none", "muri-l:ordering=worst",
    "muri-s:variant=reference", "elasticflow:scale-up=reference:admission=batch",
    "elasticflow:admission=none",
    "srtf+proportional", "srtf+greedy", "srtf+tune", "srtf+opt", "srtf+tune+", "fifo+tune+place",
    "las+tune", "ftf+greedy",
)  # fmt: skip
JOBS = 60
LIMITS = {"chronus": 12}  # searches for the best packing: 48 s for 60 jobs in ElasticFlow's world
CLUSTER = """name = "golden"
[[nodes]]
count = 2
name = "left"
gpus = 4
cpus = 24
memory_gb = 250
gpu_memory_gb = 32
gpu_type = "V100"
switch = 0
[[nodes]]
count = 2
name = "right"
gpus = 4
cpus = 24
memory_gb = 250
gpu_memory_gb = 32
gpu_type = "V100"
switch = 1
"""
STAGES = ("0.082;0.072;0.067", "0.0007;0.416;0.04", "0.3;0.02;0.1", "0.05;0.05;0.3")
SCALING = {2: 19, 4: 34, 8: 55, 16: 70}  # tenths of the speed on one GPU
GPUS = (1, 1, 1, 1, 2, 2, 4, 8)


class Numbers:
    """A linear congruential generator: the same numbers in every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


def write_trace(path, jobs, seed, mean_gap):
    numbers = Numbers(seed)
    now = 0
    rows = []
    for job in range(jobs):
        gap = numbers.below(3 * mean_gap)
        now += gap if job % 3 else 0  # some jobs arrive at the same instant
        gpus = GPUS[numbers.below(len(GPUS))]
        iteration_ms = 100 + numbers.below(900)
        iterations = 200 + numbers.below(40) ** 3
        duration = iterations * iteration_ms // 1000
        deadline = now + 60 + duration * (60 + numbers.below(240)) // 100 if numbers.below(3) else ""
        alone = 10_000 * 1000 // iteration_ms // (10 if gpus == 1 else SCALING[gpus])  # 1/1000 iterations a second
        counts = [1, *(count for count in SCALING)]
        speeds = [alone * (10 if count == 1 else SCALING[count]) // 10 for count in counts]
        speeds[counts.index(gpus)] = 0
        exact = {count: f"{speed / 1000:.3f}" for count, speed in zip(counts, speeds)}
        exact[gpus] = repr(1000 / iteration_ms)
        needs_cpus = numbers.below(3)  # 0: none, 1: some, 2: many
        cpus = (1, 3, 6, 12)
        steps = {0: (1, 1, 1, 1), 1: (0.5, 1, 1.25, 1.25), 2: (0.25, 1, 1.75, 2.5)}[needs_cpus]
        memory = (20, 62.5, 125)
        host = [step if size > 20 else min(step, 0.75) for step in steps for size in memory]
        rows.append({
            "job_id": f"job-{job}", "submit_s": now, "gpus": gpus, "iterations": iterations,
            "iteration_s": iteration_ms / 1000, "model": ("vgg16", "bert", "gpt2", "dqn")[job % 4],
            "user": f"user-{job % 3}", "batch_size": 16, "priority": numbers.below(2),
            "deadline_s": deadline, "deadline_kind": "soft" if numbers.below(4) == 0 else "hard",
            "start_cost_s": numbers.below(20), "stages_s": STAGES[job % 4], "stage_slots": "2;1;1",
            "speed_gpus": ";".join(str(count) for count in counts),
            "speeds": ";".join(exact[count] for count in counts),
            "host_cpus": ";".join(str(count) for count in cpus),
            "host_memory_gb": ";".join(str(size) for size in memory),
            "host_speeds": ";".join(str(speed) for speed in host),
        })  # fmt: skip
    lines = [",".join(rows[0])] + [",".join(str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def cases(orrery):
    listed = json.loads(subprocess.run([orrery, "policies", "--json"], check=True, capture_output=True).stdout)
    names = [policy["name"] for policy in listed["policies"]]
    for world in WORLDS:
        for policy in [*names, *VARIANTS]:
            yield world, policy


def file_of(world, policy):
    return LOGS / world / (re.sub(r"[:=]", "_", policy) + ".xz")


def run(orrery, folder, world, policy):
    """The event log of a run, or what the command said instead; a line each."""
    log = folder / (file_of(world, policy).stem + "." + world + ".jsonl")
    call = [orrery, "simulate", "--trace", "golden.csv", "--cluster", "golden.toml", "--policy", policy,
            "--semantics", world, "--seed", "7", "--events", log.name, "--quiet", "--threads", "1",
            "--limit", str(LIMITS.get(policy, JOBS))]  # fmt: skip
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode == 2:
        return f"refused: {done.stderr}"
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(call)}: exit {done.returncode}: {done.stderr}")
    return log.read_text()


def first_difference(old, new):
    before, after = old.splitlines(), new.splitlines()
    for line, (left, right) in enumerate(zip(before, after), 1):
        if left != right:
            return f"line {line}:\n    - {left[:300]}\n    + {right[:300]}"
    return f"{len(before)} lines before, {len(after)} now"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    arguments.add_argument("orrery", type=os.path.abspath)
    arguments.add_argument("--update", action="store_true", help="write the new logs")
    arguments.add_argument("--only", default="", help="only WORLD/POLICY that match this pattern")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    asked = arguments.parse_args()
    chosen = [case for case in cases(asked.orrery) if re.search(asked.only, "/".join(case))]
    changed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_trace(folder / "golden.csv", jobs=JOBS, seed=22, mean_gap=150)
        (folder / "golden.toml").write_text(CLUSTER)
        with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
            logs = pool.map(lambda case: run(asked.orrery, folder, *case), chosen)
            for (world, policy), log in zip(chosen, logs):
                file = file_of(world, policy)
                known = lzma.open(file, "rt").read() if file.exists() else None
                if log == known:
                    continue
                changed += 1
                what = "is new" if known is None else "differs, " + first_difference(known, log)
                print(f"{world}/{policy} {what}")
                if asked.update:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(lzma.compress(log.encode(), preset=9 | lzma.PRESET_EXTREME))
    left = []
    if not asked.only:
        wanted = {file_of(*case) for case in chosen}
        left = [file for file in sorted(LOGS.glob("*/*.xz")) if file not in wanted]
        for file in left:
            print(f"{file.relative_to(LOGS)} belongs to no policy any more")
            if asked.update:
                file.unlink()
    print(f"{len(chosen)} event logs, {changed} changed, {len(left)} without a policy")
    return 1 if (changed or left) and not asked.update else 0


if __name__ == "__main__":
    sys.exit(main())
