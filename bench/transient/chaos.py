#!/usr/bin/env python3
"""chaos.py [--build DIR] [--replicas N] [--minutes M] [--every S] [--cores C] [--seed N] [--json]

Trains twice at the same time on servers that are processes of this machine: with a fault every S
seconds, and without faults. Prints the ratio of the steps within the same window, so that other
load on the machine weighs on both alike. Each worker has a quota of C cores while it trains, so
that the others do not become faster when one is lost. Its start-up has none.

Faults, drawn by the seed: a server is killed with all its processes (27 of 62); it is revoked with
a notice of 2 s (12); its worker's process is killed (12); its worker's process hangs for 3 s (11).
The chief is as likely to be hit as any other. The parameter server and the evaluator are not.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from prices import prices

KINDS = {"kill": 27, "notice": 12, "crash": 12, "hang": 11}
HANG_S = 3
PRICES = prices((["here"], "spot", 0.36, True, "2s"), (["here"], "on-demand", 1.08, True, None),
                (["here"], "on-demand", 0.14, False, None))


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def children_of(pid):
    try:
        return [int(child) for child in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def below(pid):
    found = []
    for child in children_of(pid):
        found += [child] + below(child)
    return found


def send(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def memory_bytes(pid):
    """Its share of the pages that it has in memory."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Arm:
    """One `orrery transient run`. Only its own processes are looked at, by its process tree."""

    def __init__(self, options, name):
        self.name = name
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"orrery-chaos-{name}-"))
        (self.folder / "prices.toml").write_text(PRICES)
        command = [
            options.build / "orrery-whole", "transient", "run", "--dir", self.folder / "job",
            "--trainer", options.build / "orrery-train", "--prices", self.folder / "prices.toml",
            "--gpu", "CPU", "--zone", "here", "--workers", options.replicas - 1, "--servers", 1,
            "--name", name, "--replacement", "same", "--model", options.model, "--data",
            options.data, "--batch", options.batch, "--rate", 0.02, "--time-limit", "4h",
            "--seed", options.seed, "--json", "--quiet",
        ]
        if options.cores > 0:
            command += ["--cores", f"CPU={options.cores}"]
        self.log = open(self.folder / "errors", "wb")
        self.run = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                    stderr=self.log)

    def progress(self):
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / "job" / "run" / "progress.json").read_text())
        return {}

    def ready(self, replicas):
        now = self.progress()
        return bool(now.get("training")) and now.get("workers", 0) >= replicas

    def servers(self):
        """{name: (keeper, member)} of chief and workers that live: the processes of a server are
        below its keeper."""
        found = {}
        for keeper in children_of(self.run.pid):
            for member in children_of(keeper):
                words = words_of(member)
                if len(words) > 6 and words[1] == b"member" and words[6] in (b"chief", b"worker"):
                    found[words[4].decode()] = (keeper, member)
        return found

    @staticmethod
    def worker_of(member):
        return [pid for pid in children_of(member) if words_of(pid)[1:2] == [b"part"]]

    def revoke(self, name):
        with open(self.folder / "job" / "revoke", "a", encoding="utf-8") as file:
            file.write(name + "\n")

    def memory(self):
        return sum(memory_bytes(pid) for pid in [self.run.pid] + below(self.run.pid))

    def throttled(self):
        """The part of the periods in which a worker's quota ran out; the median of the workers."""
        parts = []
        for _, member in self.servers().values():
            for pid in self.worker_of(member):
                with contextlib.suppress(OSError, ValueError, KeyError, ZeroDivisionError):
                    parts.append(throttled_part(pid))
        return statistics.median(parts) if parts else None

    def end(self):
        self.run.send_signal(signal.SIGINT)
        output = self.run.communicate(timeout=120)[0]
        return json.loads(output or b"{}")

    def close(self, keep):
        if self.run.poll() is None:
            self.run.kill()
            self.run.wait()
        self.log.close()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def throttled_part(pid):
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        root = "/sys/fs/cgroup/cpu" if "cpu" in names.split(",") else "/sys/fs/cgroup"
        if names and "cpu" not in names.split(","):
            continue
        stat = pathlib.Path(root + path + "/cpu.stat").read_text().split()
        values = dict(zip(stat[::2], map(int, stat[1::2])))
        return values["nr_throttled"] / values["nr_periods"]
    raise KeyError("no cgroup")


class Faults:
    def __init__(self, arm, seed):
        self.arm = arm
        self.random = random.Random(seed)
        self.counts = dict.fromkeys(KINDS, 0)
        self.of_chiefs = 0
        self.hung = []  # (until, pids)

    def tick(self, now):
        send([pid for until, pids in self.hung if until <= now for pid in pids], signal.SIGCONT)
        self.hung = [each for each in self.hung if each[0] > now]

    def strike(self, now):
        servers = self.arm.servers()
        kind = self.random.choices(list(KINDS), weights=KINDS.values())[0]
        choice = self.random.random()
        if not servers:
            return None
        name = sorted(servers)[int(choice * len(servers))]
        keeper, member = servers[name]
        workers = self.arm.worker_of(member)
        if kind == "kill":
            send([keeper], signal.SIGKILL)
        elif kind == "notice":
            self.arm.revoke(name)
        elif not workers:  # it has just been hit
            return None
        elif kind == "crash":
            send(workers, signal.SIGKILL)
        else:
            send(workers, signal.SIGSTOP)
            self.hung.append((now + HANG_S, workers))
        self.counts[kind] += 1
        self.of_chiefs += name == self.arm.progress().get("chief")
        return f"{kind} {name}"


def wait_until_ready(arms, options):
    end = time.monotonic() + 600
    while not all(arm.ready(options.replicas) for arm in arms):
        for arm in arms:
            if arm.run.poll() is not None:
                raise SystemExit(f"chaos.py: {arm.name} ended; see {arm.folder}/errors")
        if time.monotonic() > end:
            raise SystemExit(f"chaos.py: not all of {options.replicas} replicas came")
        time.sleep(0.2)


def measure(arms, options, note):
    calm, hit = arms
    wait_until_ready(arms, options)
    faults = Faults(hit, options.seed)
    began = time.monotonic()
    first = [arm.progress()["gradients"] for arm in arms]
    seconds = options.minutes * 60
    next_fault, next_note = began + options.every / 2, began + 60
    memory = sum(arm.memory() for arm in arms)
    if memory > options.memory_gib * 2**30:
        raise SystemExit(f"chaos.py: {memory / 2**30:.2f} GiB; use fewer replicas")
    while (now := time.monotonic()) < began + seconds:
        faults.tick(now)
        if now >= next_fault:
            note(f"{now - began:.0f} s: {faults.strike(now)}")
            next_fault += options.every
        if now >= next_note:
            steps = [arm.progress()["gradients"] - at for arm, at in zip(arms, first)]
            memory = max(memory, sum(arm.memory() for arm in arms))
            note(f"{now - began:.0f} s: {steps[1]} of {steps[0]} steps, "
                 f"{steps[1] / max(1, steps[0]):.4f}")
            next_note += 60
        for arm in arms:
            if arm.run.poll() is not None:
                raise SystemExit(f"chaos.py: {arm.name} ended; see {arm.folder}/errors")
        time.sleep(0.05)
    steps = [arm.progress()["gradients"] - at for arm, at in zip(arms, first)]
    throttled = calm.throttled()
    faults.tick(float("inf"))
    summary = hit.end()
    calm.end()
    return {
        "replicas": options.replicas, "minutes": options.minutes, "cores": options.cores,
        "faults": sum(faults.counts.values()), "kinds": faults.counts,
        "of_chiefs": faults.of_chiefs, "steps": steps[1], "steps_without_faults": steps[0],
        "ratio": steps[1] / steps[0], "chiefs": summary["chiefs"],
        "from_shards": summary["from_shards"], "from_checkpoint": summary["from_checkpoint"],
        "servers": summary["servers"], "throttled": throttled,
        "memory_gib": round(memory / 2**30, 2), "load": os.getloadavg()[0],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    here = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=pathlib.Path, default=here / "build" / "release")
    parser.add_argument("--replicas", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=float, default=30, help="seconds from fault to fault")
    parser.add_argument("--cores", type=float, default=0.02, help="of each worker; 0: no quota")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default="mlp")
    parser.add_argument("--data", default="teacher")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--memory-gib", type=float, default=6, help="of both runs; above: an error")
    parser.add_argument("--keep", action="store_true", help="the folders of the runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()

    def note(text):
        print(text, file=sys.stderr, flush=True)

    arms = []
    try:
        for name in ("calm", "hit"):
            arms.append(Arm(options, name))
        result = measure(arms, options, note)
    finally:
        for arm in arms:
            arm.close(options.keep)
    if options.json:
        print(json.dumps(result))
        return
    kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
    print(f"{result['faults']} faults ({kinds}; {result['of_chiefs']} of a chief) on "
          f"{options.replicas} replicas in {options.minutes:g} min: {result['steps']} of "
          f"{result['steps_without_faults']} steps, {100 * result['ratio']:.1f} %")


if __name__ == "__main__":
    main()
