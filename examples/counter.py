#!/usr/bin/env python3
"""counter.py N [--step SECONDS] [--file FILE]: counts to N, and continues where it was stopped.

The smallest job that uses the whole job protocol: it reports progress, keeps a checkpoint, stops at
the agreed iteration, and resumes. Without Orrery it counts all the same; a checkpoint is then kept
only if --file names one.
"""
import argparse
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients" / "python"))
import orrery_job  # noqa: E402


def load(file):
    try:
        return int(file.read_text())
    except (FileNotFoundError, ValueError):
        return 0


def save(file, count):
    draft = file.with_name(file.name + ".new")
    draft.write_text("{}\n".format(count))
    os.replace(str(draft), str(file))  # a checkpoint is there whole or not at all


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, metavar="N", help="count up to here")
    parser.add_argument("--step", type=float, default=0.1, metavar="SECONDS", help="for each count")
    parser.add_argument("--file", type=pathlib.Path, help="the checkpoint")
    arguments = parser.parse_args()

    terminated = []
    signal.signal(signal.SIGTERM, lambda number, frame: terminated.append(number))
    with orrery_job.connect() as job:
        file = arguments.file
        if file is None and job.checkpoint_dir:
            file = pathlib.Path(job.checkpoint_dir) / "count.{}".format(job.rank)
        start = count = load(file) if file else 0
        print("counting from {} to {}".format(start, arguments.n), flush=True)
        for step in job.steps(range(start, arguments.n)):
            time.sleep(arguments.step)
            count = step + 1
            if terminated:
                break
        if file:
            save(file, count)
            job.checkpointed(count)
        if terminated:
            print("terminated after {}".format(count), flush=True)
            job.close()
            return 128 + terminated[0]
        print("{} at {}".format(job.stop_reason if job.stopping else "done", count), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
