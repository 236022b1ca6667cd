#!/usr/bin/env python3
"""losses.py ORRERY ORRERY_TRAIN [SCENARIO...]

Trains on servers that are processes of this machine, and takes servers away: a worker with a
notice, the chief, half the cluster at once, a chief that hangs and comes back, every server one
after the other, a parameter server. Each loss comes when training has gone on after the one before,
so nothing depends on the speed of the machine. Training has to reach its target. At the end the
files have to agree: what the shards have put into the parameters, what the Conductor has counted,
and the ledger.
"""
import contextlib
import csv
import json
import math
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "transient"))
from prices import prices

PATIENCE = 240  # seconds; only a failure takes that long
STEPS_BETWEEN = 60
TARGET = 0.8
BATCH = 128
# Twenty seconds of the provider pass in one; the notice in zone "warned" is half a second.
COMPRESSION = 20
PRICES = prices((["here"], "spot", 0.36, True, None), (["warned"], "spot", 0.36, True, "10s"),
                (["here", "warned"], "on-demand", 1.08, True, None),
                (["here"], "on-demand", 0.14, False, None))


def check(holds, what):
    if not holds:
        raise AssertionError(what)


class Run:
    def __init__(self, orrery, trainer, seed=1):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="orrery-losses-"))
        self.job = self.folder / "job"
        self.run = self.job / "run"
        (self.folder / "prices.toml").write_text(PRICES)
        command = [
            orrery, "transient", "run", "--dir", self.job, "--trainer", trainer,
            "--prices", self.folder / "prices.toml", "--gpu", "CPU",
            "--zone", "here,warned,here,here,here", "--workers", 3, "--servers", 1,
            "--compression", COMPRESSION, "--name", "job", "--replacement", "same", "--model",
            "mlp", "--data", "gaussian", "--batch", BATCH, "--rate", 0.1, "--seed", seed,
            "--time-limit", "1h", "--json", "--quiet",
        ]
        self.errors = open(self.folder / "errors", "wb")
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                        stderr=self.errors)

    def progress(self):
        try:
            return json.loads((self.run / "progress.json").read_text())
        except (OSError, ValueError):
            return {}

    def wait(self, holds, what):
        end = time.monotonic() + PATIENCE
        while not holds():
            if self.process.poll() is not None:
                raise AssertionError(f"the run ended; {what}\n{self.said()}")
            if time.monotonic() > end:
                raise AssertionError(f"not within {PATIENCE} s: {what}; {self.progress()}")
            time.sleep(0.02)

    def said(self):
        """What there is to read after a failure."""
        self.errors.flush()
        text = ""
        for path in (self.folder / "errors", self.run / "processes.csv", self.run / "result.json",
                     *sorted(self.job.glob("servers/*.log"))):
            with contextlib.suppress(OSError):
                text += f"{path.name}:\n{path.read_text()}\n"
        return text

    def trains_on(self, workers, steps=STEPS_BETWEEN):
        before = self.progress().get("gradients", 0)

        def holds():
            now = self.progress()
            return (now.get("training") and now.get("workers", 0) >= workers
                    and now.get("gradients", 0) >= before + steps)

        self.wait(holds, f"{steps} steps more with {workers} workers")
        now = self.progress()
        rate = 1 / math.sqrt(now["workers"])
        check(abs(now["rate_factor"] - rate) < 1e-9, f"the rate of {now['workers']} workers: {now}")

    def members(self):
        """Names of the members that live."""
        found = set()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if len(words) > 4 and words[1] == b"member" and words[2] == str(self.run).encode():
                found.add(words[4].decode())
        return found

    def revoke(self, *names):
        with open(self.job / "revoke", "a", encoding="utf-8") as file:
            file.write("".join(name + "\n" for name in names))
        self.wait(lambda: not self.members() & set(names), f"{names} are gone")

    def chief(self):
        return self.progress()["chief"]

    def checkpoints(self):
        with contextlib.suppress(OSError):
            return (self.run / "checkpoints.csv").read_text().splitlines()[1:]
        return []

    def end(self):
        self.wait(lambda: (self.progress().get("accuracy") or 0) >= TARGET,
                  f"an accuracy of {TARGET}")
        self.process.send_signal(signal.SIGINT)
        output = self.process.communicate(timeout=PATIENCE)[0]
        check(self.process.returncode == 0, self.said())
        return json.loads(output)

    def last_checkpoint(self):
        newest = max(self.run.glob("checkpoint-[0-9]*.orc"), key=lambda path: path.name)
        data = newest.read_bytes()
        length = struct.unpack_from("<Q", data, 8)[0]
        return json.loads(data[32:32 + length])

    def check_counts(self, summary):
        """No step counts twice, and none is left out: three records of the same run."""
        state = self.last_checkpoint()
        handed_out = state["next_sample"] - sum(count for _, count in state["again"])
        check(state["samples_done"] == handed_out, f"samples used and handed out: {state}")
        applied = state["optimizer_batches"] * BATCH
        check(abs(applied - state["samples_done"]) < 0.01, f"the shards applied {applied}: {state}")
        steps = state["gradients_done"]
        check(state["version"] == steps, f"an update is a gradient: {state}")
        check(summary["steps"] == steps, f"{steps} steps in the checkpoint: {summary}")
        with contextlib.closing(sqlite3.connect(self.job / "ledger.db")) as ledger:
            check(ledger.execute("SELECT steps,outcome FROM jobs").fetchall() ==
                  [(steps, "completed")], "the job in the ledger")
            self.check_ledger(ledger, summary)

    def check_ledger(self, ledger, summary):
        with open(self.run / "membership.csv", encoding="utf-8", newline="") as file:
            epochs = [(int(row["workers"]), float(row["rate_factor"]))
                      for row in csv.DictReader(file)]
        rows = ledger.execute("SELECT workers,lr_scale FROM membership ORDER BY epoch").fetchall()
        check(rows == epochs, f"membership {epochs} in the ledger: {rows}")
        check(all(abs(scale - 1 / math.sqrt(workers)) < 1e-5 for workers, scale in rows if workers),
              f"rates {rows}")
        saved = ledger.execute("SELECT step FROM checkpoints ORDER BY step").fetchall()
        kept = {(int(line.split(",")[2]),) for line in self.checkpoints()}
        check(set(saved) == kept, f"checkpoints {kept} in the ledger: {saved}")
        servers = ledger.execute("SELECT host_name,end_reason,requested_at,usd FROM servers "
                                 "JOIN costs ON server=host_name").fetchall()
        # A number is never used again: a later request has a higher one.
        for role in (("chief", "worker"), ("ps",), ("evaluator",)):
            numbers = sorted((requested, int(name.rsplit("-", 1)[1]))
                             for name, _, requested, _ in servers if name.split("-")[1] in role)
            check(len({number for _, number in numbers}) == len(numbers) and
                  [number for _, number in numbers] == sorted(number for _, number in numbers),
                  f"numbers of {role}: {numbers}")
        reasons = [reason for _, reason, *_ in servers]
        check(reasons.count("revoked") == summary["revocations"], f"{reasons}: {summary}")
        check(set(reasons) <= {"revoked", "completed"}, f"{reasons}")
        usd = sum(row[3] for row in servers)
        check(abs(usd - summary["usd"]) < 1e-12, f"{usd} USD: {summary}")
        check(summary["on_demand_usd"] > summary["usd"] > 0, f"{summary}")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()
        left = self.members()
        shutil.rmtree(self.folder, ignore_errors=True)
        return left


def worker(run):
    run.revoke("job-worker-1")
    run.trains_on(4)
    return {"from_checkpoint": 0, "revocations": 1}


def chief(run):
    epoch = run.progress()["epoch"]
    run.revoke(run.chief())
    run.trains_on(4)
    check(run.progress()["epoch"] > epoch, f"another chief: {run.progress()}")
    return {"from_checkpoint": 0, "revocations": 1}


def half(run):
    chief_then = run.chief()
    run.revoke(chief_then, "job-worker-2" if chief_then != "job-worker-2" else "job-worker-3")
    run.trains_on(4)
    return {"from_checkpoint": 0, "revocations": 2}


def hang(run):
    """The head of the chief hangs and comes back when another member leads the run."""
    *_, pid, epoch = (run.run / "head").read_text().split()
    head = int(pid)
    lease = run.run / "lease" / epoch
    os.kill(head, signal.SIGSTOP)
    run.wait(lambda: run.progress().get("epoch", 0) > int(epoch), "another chief")
    run.trains_on(4)
    before = lease.read_text()
    os.kill(head, signal.SIGCONT)
    run.wait(lambda: not pathlib.Path(f"/proc/{head}").exists(), "the old head has ended")
    run.trains_on(4)
    check(lease.read_text() == before, "the old head renewed its lease")
    return {"from_checkpoint": 0, "revocations": 0}


def every(run):
    for name in ("job-chief-0", "job-worker-1", "job-worker-2", "job-worker-3", "job-evaluator-0"):
        run.revoke(name)
        run.trains_on(4)
    return {"from_checkpoint": 0, "revocations": 5}


def shard(run):
    """A parameter server; what it held comes from the newest checkpoint."""
    run.wait(run.checkpoints, "a checkpoint")
    run.revoke("job-ps-0")
    run.trains_on(4)
    return {"from_checkpoint": 1, "revocations": 1}


SCENARIOS = {"worker": worker, "chief": chief, "half": half, "hang": hang, "every": every,
             "shard": shard}


def main():
    orrery, trainer, *names = sys.argv[1:]
    for name in names or SCENARIOS:
        began = time.monotonic()
        run = Run(orrery, trainer)
        try:
            run.trains_on(4)
            expected = SCENARIOS[name](run)
            summary = run.end()
            if summary["chiefs"] > 1 and name != "shard":
                check(summary["from_shards"] > 0, f"a chief that did not go on: {summary}")
            for key, value in expected.items():
                check(summary[key] == value, f"{name}: {key} is {summary[key]}, not {value}")
            run.check_counts(summary)
        except AssertionError:
            print(run.said(), file=sys.stderr)
            raise
        finally:
            left = run.close()
        check(not left, f"{name}: processes are left: {left}")
        print(f"{name}: {summary['servers']} servers, {summary['chiefs']} chiefs, "
              f"{summary['from_shards']} from shards, {summary['from_checkpoint']} from a "
              f"checkpoint, {summary['steps']} steps, accuracy {summary['accuracy']:.3f}, "
              f"{summary['usd']:.4f} of {summary['on_demand_usd']:.4f} USD, "
              f"{time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
