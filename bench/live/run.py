#!/usr/bin/env python3
"""bench/live/run.py: Orrery's live scheduler and Slurm, one after the other, on this machine, with ratios.

Needs root and what tools/packages.txt lists under [bench-live] (--install calls tools/setup for
it), and `ninja -C build/release live_benches`. Everything is on loopback and in a folder that is
removed at the end. Both sides have the same places for jobs (4 nodes, 8 jobs each) and the same
disk; what Orrery acknowledges is on it, while Slurm writes its state every few seconds. What agents
and slurmd keep is in memory.

Each figure is the median of several runs, with the least and the most. Where others took more than
a quarter of the processors' time meanwhile no ratio is printed; where others work, `nice -n -20` keeps
most of what they do away from both sides.
"""
import argparse
import contextlib
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUSY_MOST = 0.25
NODES, PLACES = 4, 8


def call(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def others_busy(seconds=1.0):
    """The part of all processors' time that other processes used while we did nothing."""
    def ticks():
        numbers = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(1, total_after - total)


class Figure:
    def __init__(self, values):
        self.values = sorted(values)
        self.median = statistics.median(values)

    def __str__(self):
        return f"{self.median:,.4g} ({self.values[0]:,.4g} to {self.values[-1]:,.4g})"


class Orrery:
    """A scheduler and its agents, as processes of the built program."""

    def __init__(self, build, folder, memory):
        self.program = build / "orrery"
        self.load = build / "bench/live/live_bench"
        self.folder, self.memory = folder, memory
        self.state = folder / "state"
        self.processes = []

    def start(self, policy="fifo", agents=0):
        """Seconds until its address is known."""
        (self.state / "address").unlink(missing_ok=True)
        begin = time.monotonic()
        self.processes = [self.run("serve", "--state", self.state, "--rest", "127.0.0.1:0",
                                   "--policy", policy)]
        while not (self.state / "address").exists():
            if self.processes[0].poll() is not None:
                sys.exit(f"orrery serve has ended; see {self.folder}/serve.log")
            time.sleep(0.001)
        took = time.monotonic() - begin
        for i in range(agents):
            self.start_agent(f"n{i + 1}")
        while agents and call(self.program, "nodes", "--state", self.state).count("n") < agents:
            time.sleep(0.05)
        return took

    def start_agent(self, name):
        address = (self.state / "address").read_text().strip()
        credentials = self.folder / f"credentials-{name}"
        token = call(self.program, "token", "--state", self.state, "--role", "agent")
        subprocess.run([self.program, "join", "--server", address, "--role", "agent", "--name",
                        name, "--credentials", credentials], check=True, text=True, input=token,
                       stdout=subprocess.DEVNULL)
        self.processes.append(self.run("agent", "--state", self.memory / f"agent-{name}",
                                       "--server", address, "--credentials", credentials,
                                       "--name", name, "--gpus", PLACES))

    def run(self, command, *words):
        with open(self.folder / f"{command}.log", "a", encoding="utf-8") as log:
            return subprocess.Popen([str(word) for word in (self.program, command, *words)],
                                    stdout=log, stderr=log)

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.processes[0].pid}/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+)", status).group(1)) / 1024

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
        self.processes = []

    def clear(self):
        for left in (*self.folder.iterdir(), *self.memory.iterdir()):
            shutil.rmtree(left) if left.is_dir() else left.unlink()

    def seconds(self, what, *words):
        return float(call(self.load, what, self.state, *words))

    def commands(self, count, socket=True):
        if not socket:
            (self.state / "socket").unlink()
        begin = time.monotonic()
        for _ in range(count):
            call(self.program, "submit", "--state", self.state, "--json", "--", "/bin/true")
        return time.monotonic() - begin


class Slurm:
    def __init__(self, build, folder):
        self.load = build / "bench/live/slurm_load"
        self.folder = folder
        self.script = pathlib.Path(f"{folder}.script")
        self.script.write_text("#!/bin/true\n")

    def start(self):
        os.environ["SLURM_CONF"] = call(HERE / "slurm.sh", "start", self.folder, NODES,
                                        PLACES).strip()

    def stop(self):
        call(HERE / "slurm.sh", "stop", self.folder)

    def seconds(self, what, *words):
        took = float(call(self.load, what, *words))
        call(self.load, "clear", 1)
        return took

    def commands(self, count):
        begin = time.monotonic()
        for _ in range(count):
            call("sbatch", "--hold", "-o", "/dev/null", self.script)
        took = time.monotonic() - begin
        call(self.load, "clear", 1)
        return took


class Bench:
    def __init__(self, options, orrery, slurm):
        self.options, self.orrery, self.slurm = options, orrery, slurm
        self.failed = []

    def compare(self, title, bar, runs, ours, theirs, agents=0, more=True):
        """Runs all of them, one after the other; `ours` by way; `more`: a rate, of which more is better. The bar is for
        the first way."""
        mine, other, busy = {way: [] for way in ours}, [], [others_busy()]
        for _ in range(runs):
            for way, run in ours.items():
                self.orrery.clear()
                self.orrery.start(agents=agents)
                mine[way].append(run())
                self.orrery.stop()
                busy.append(others_busy())
            if self.slurm:
                other.append(theirs())
                busy.append(others_busy())
        print(title)
        for way, values in mine.items():
            print(f"  orrery, {way}  {Figure(values)}")
        if not self.slurm:
            return
        print(f"  slurm         {Figure(other)}")
        if max(busy) > BUSY_MOST and not self.options.any_load:
            print(f"  no ratio: others used up to {max(busy):.0%} of the processors")
            return
        ratios = []
        for values in mine.values():
            a, b = statistics.median(values), statistics.median(other)
            ratios.append(a / b if more else b / a)
        verdict = "reached" if ratios[0] >= bar else "MISSED"
        if ratios[0] < bar:
            self.failed.append(title)
        print(f"  {' and '.join(f'{ratio:.2f}' for ratio in ratios)} times Slurm; bar {bar}: "
              f"{verdict} (others used up to {max(busy):.0%} of the processors)")

    # Slurm's clients are on this machine and prove their user over a Unix socket (munge); ours do
    # the same by the scheduler's socket (socket). Over mutual TLS (grpc) they could be anywhere.

    def clients(self):
        count, few = self.options.jobs, self.options.jobs // 10
        self.compare("64 clients, submissions a second (no nodes; held jobs)", 10,
                     self.options.runs,
                     {way: lambda way=way: count / self.orrery.seconds("submit", count, 64, way)
                      for way in ("socket", "grpc")},
                     lambda: few / self.slurm.seconds("submit", few, 64))

    def array(self):
        self.compare("one array of 10,000 in one call, seconds", 1, self.options.runs,
                     {way: lambda way=way: self.orrery.seconds("array", 10000, way)
                      for way in ("socket", "grpc")},
                     lambda: self.slurm.seconds("array", 10000), more=False)

    def commands(self):
        count = 100
        self.compare("one command after another, submissions a second", 1, self.options.runs,
                     {"socket": lambda: count / self.orrery.commands(count),
                      "grpc": lambda: count / self.orrery.commands(count, socket=False)},
                     lambda: count / self.slurm.commands(count))

    def empty(self):
        count, few = 2000, 300
        self.compare("empty jobs a second, from submission until the last end is known", 10,
                     self.options.runs,
                     {way: lambda way=way: count / self.orrery.seconds("empty", count, 8, way)
                      for way in ("socket", "grpc")},
                     lambda: few / self.slurm.seconds("empty", few, 8), agents=NODES)

    def scale(self):
        for policy in ("srtf", "las"):
            self.scale_of(policy)

    def scale_of(self, policy):
        rounds, restarts, memory, memory_after = [], [], [], []
        for _ in range(self.options.runs):
            self.orrery.clear()
            self.orrery.state.mkdir()
            output = call(self.orrery.load, "scale", self.orrery.state, policy, 1000, 100000,
                        self.options.seconds, "kill")
            figures = dict(re.findall(r"^orrery_(\S+) (\S+)$", output, re.MULTILINE))
            rounds.append({name: 1e3 * float(figures[f"round_seconds{key}"]) for name, key in
                           (("p50", '{quantile="0.5"}'), ("p99", '{quantile="0.99"}'),
                            ("max", "_max"))})
            memory.append(float(figures["resident_bytes"]) / 2**20)
            begin = time.monotonic()
            self.orrery.start(policy)
            call(self.orrery.program, "status", "1", "--state", self.orrery.state, "--json")
            restarts.append(time.monotonic() - begin)
            memory_after.append(self.orrery.memory_mb())
            self.orrery.stop()
        print(f"{policy}, 1,000 agents, 100,000 jobs wait; {self.options.seconds} s of jobs that "
              "end and come")
        for name in ("p50", "p99", "max"):
            print(f"  round {name}, ms        {Figure([each[name] for each in rounds])}")
        print(f"  restart to answer, s  {Figure(restarts)}   after kill -9")
        print(f"  memory, MB            {Figure(memory)}   the agents included")
        print(f"  memory, MB            {Figure(memory_after)}   after the restart")


def main():
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    reader.add_argument("--only", default="clients,array,commands,empty,scale")
    reader.add_argument("--runs", type=int, default=5)
    reader.add_argument("--jobs", type=int, default=30000, help="of a run with 64 clients")
    reader.add_argument("--seconds", type=int, default=20, help="of a run at scale")
    reader.add_argument("--folder", help="on the disk to measure; the temporary folder if left out")
    reader.add_argument("--install", action="store_true", help="Slurm's packages, by apt-get")
    reader.add_argument("--no-slurm", action="store_true")
    reader.add_argument("--any-load", action="store_true", help="ratios on a busy machine, too")
    options = reader.parse_args()
    if options.install:
        call(ROOT / "tools/setup", "bench-live")
    print(f"{platform.node()}: {os.cpu_count()} processors, {platform.system()} "
          f"{platform.release()}, load {' '.join(open('/proc/loadavg').read().split()[:3])}, "
          f"{time.strftime('%F %T')}", flush=True)
    build = options.build.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended as well
    with contextlib.ExitStack() as stack:
        def make_folder(where):
            made = pathlib.Path(tempfile.mkdtemp(prefix="orrery-live-", dir=where))
            stack.callback(shutil.rmtree, made, ignore_errors=True)
            return made
        folder = make_folder(options.folder)
        folder.chmod(0o755)  # munged is not root
        (folder / "orrery").mkdir()
        memory = make_folder("/dev/shm" if os.path.isdir("/dev/shm") else options.folder)
        orrery, slurm = Orrery(build, folder / "orrery", memory), None
        stack.callback(orrery.stop)
        if not options.no_slurm:
            slurm = Slurm(build, folder / "slurm")
            slurm.start()
            stack.callback(slurm.stop)
        # Once the end has begun it is not cut short.
        stack.callback(signal.signal, signal.SIGTERM, signal.SIG_IGN)
        bench = Bench(options, orrery, slurm)
        for name in options.only.split(","):
            if name not in ("clients", "array", "commands", "empty", "scale"):
                sys.exit(f"--only {name}: write clients, array, commands, empty or scale")
            getattr(bench, name)()
            sys.stdout.flush()
    sys.exit(1 if bench.failed else 0)


if __name__ == "__main__":
    main()
