"""scale.py [--jobs N,N] [--policies P,P] [--gpus N] [--orrery PROGRAM]: large simulations.

Prints the table of docs/benchmarks.md#scale: one process a row, on one thread. Seconds and memory
are those of the whole process, so making the jobs is counted.
"""
import argparse
import json
import os
import subprocess
import sys
import time


def run(program, jobs, gpus, policy, load):
    """(seconds, CPU seconds, peak MB, the run's summary) of one process."""
    command = [program, "simulate", "--trace",
               f"philly-like:jobs={jobs},seed=1,gpus={gpus},load={load}", "--cluster",
               f"{gpus // 8}x8", "--policy", policy, "--threads", "1", "--quiet", "--json"]
    begun = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return (time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
            json.loads(out)["runs"][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", default="1000000,10000000")
    parser.add_argument("--policies", default="fifo,srtf,las")
    parser.add_argument("--gpus", type=int, default=100_000)
    parser.add_argument("--load", default="0.8")
    parser.add_argument("--orrery", default="build/release/orrery")
    a = parser.parse_args()
    print("| policy | load | jobs | seconds | CPU s | simulation, CPU s | peak MB | longest queue "
          "| GPU use while jobs arrive |\n|---|---|---|---|---|---|---|---|---|")
    for policy in a.policies.split(","):
        for jobs in map(int, a.jobs.split(",")):
            wall, cpu, peak, r = run(a.orrery, jobs, a.gpus, policy, a.load)
            print(f"| `{policy}` | {a.load} | {jobs:,} | {wall:.1f} | {cpu:.1f} | {r['cpu_s']:.1f} "
                  f"| {peak:,.0f} | {r['max_queue']:,} "
                  f"| {100 * r['arrivals_gpu_utilisation']:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
