"""The examples under the real scheduler: preempted, resumed and resized; losses to the bit."""
import functools
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import live

try:
    import torch
except ImportError:
    torch = None

EXAMPLES = live.ROOT / "examples" / "pytorch"
IMAGES = ("images.py", "--epochs", "3")


@functools.lru_cache(maxsize=None)
def undisturbed(ranks, name, *words):
    """The last line of an example that runs to its end, without a scheduler."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with tempfile.TemporaryDirectory(prefix="orrery") as folder:
        # No more of this environment than a job gets: variables of a BLAS library change the bits.
        environment = {key: os.environ[key] for key in ("PATH", "HOME", "USER", "LANG") if key in os.environ}
        environment.update(OMP_NUM_THREADS="1", WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        processes = [subprocess.Popen([sys.executable, "-B", str(EXAMPLES / name), *words], text=True, cwd=folder,
                                      stdout=subprocess.PIPE, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
                     for rank in range(ranks)]
        outputs = [process.communicate(timeout=live.LONG_ENOUGH_S)[0] for process in processes]
    return next(line for line in outputs[0].splitlines() if line.startswith("done at iteration"))


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Example(live.LiveTest):
    def start(self, name, *words, **properties):
        return self.submit(sys.executable, str(EXAMPLES / name), *words, **{"time": "30m", "grace": "30s", **properties})

    def end_of(self, job):
        """The last line of a job that is done."""
        self.ends(job)
        return next(line for line in self.client.text(job).splitlines() if line.startswith("done at iteration"))

    def rows(self):
        file = self.folder / "c" / "metrics.csv"
        return [line.split(",") for line in file.read_text().splitlines()[1:]] if file.exists() else []

    def preempt(self, job):
        """Takes the job from its node, and gives it back to it."""
        self.wait_for(lambda: self.rows() or self.client.job(job).final)
        self.orrery("drain", "n1", "--now")
        self.wait_for_state(job, "Paused")
        self.orrery("resume", "n1")

    def preempted_equals_undisturbed(self, ranks, *words):
        job = self.start(*words, gpus=ranks, per="gpu", checkpoint_dir=str(self.folder / "c"))
        self.preempt(job)
        disturbed = self.end_of(job)
        status = self.client.job(job)
        self.assertEqual((status.epoch, status.failures), (2, 0))
        self.assertEqual(disturbed, undisturbed(ranks, *words))
        iterations = [int(row[0]) for row in self.rows()]
        self.assertEqual(iterations, sorted(set(iterations)))


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Preempted(Example):
    def test_images_on_two_processes_end_with_the_same_loss(self):
        self.preempted_equals_undisturbed(2, *IMAGES)

    def test_processes_behind_one_socket_end_with_the_same_loss(self):
        # As torchrun starts them, whose own program Debian 12's python does not run.
        script = ("for r in 0 1; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 \"$@\" & p=\"$p $!\"; done; "
                  "for i in $p; do wait $i || exit; done")
        job = self.submit("sh", "-c", script, "launch", sys.executable, str(EXAMPLES / IMAGES[0]), *IMAGES[1:], gpus=2,
                          time="30m", grace="30s", checkpoint_dir=str(self.folder / "c"))
        self.preempt(job)
        self.assertEqual(self.end_of(job), undisturbed(2, *IMAGES))

    def test_gpt_ends_with_the_same_loss(self):
        self.preempted_equals_undisturbed(1, "gpt.py", "--iterations", "150")


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Elastic(Example):
    options = (*live.LiveTest.LOCAL, "--policy", "elasticflow")

    def test_a_job_that_the_policy_shrinks_and_grows_trains_the_same_batches(self):
        other = self.submit("sleep", "300", gpus=2, time="30m")
        self.wait_for_state(other, "Running")
        words = ("elastic.py", "--iterations", "300", "--sample", "0.002")
        job = self.start(*words, elastic="1..4", per="gpu", checkpoint_dir=str(self.folder / "c"))
        self.wait_for(self.rows)
        third = self.submit("sleep", "300", gpus=1, time="30m")
        self.wait_for_state(third, "Running")
        at = len(self.rows())
        self.wait_for(lambda: len(self.rows()) > at)
        self.client.cancel(other)
        resized = self.end_of(job)
        text = self.client.text(job)
        self.assertEqual(re.findall(r"on (\d) processes", text)[:3], ["2", "1", "3"], text)
        alone = undisturbed(1, *words[:3])
        losses = [float(re.search(r"loss (\S+)", line).group(1)) for line in (resized, alone)]
        self.assertAlmostEqual(losses[0] / losses[1], 1.0, places=3)

@unittest.skipIf(torch is None, "python3-torch is not installed")
class TwoAgents(Example):
    options = ()

    def setUp(self):
        super().setUp()
        self.agents = {}
        self.addCleanup(lambda: [agent.kill() or agent.wait() for agent in self.agents.values()])
        for name in ("a", "b"):
            self.start_agent(name)
        self.wait_for(lambda: sum(node.gpus_free for node in self.client.nodes()) == 2, "agents")

    def start_agent(self, name):
        address = (self.state / "address").read_text().strip()
        keys = self.folder / f"keys-{name}"
        if not keys.exists():
            token = self.orrery("token", "--role", "agent", "--name", name)
            self.orrery("join", "--server", address, "--role", "agent", "--name", name, "--credentials", str(keys), text=token)
        with open(self.folder / f"agent-{name}.log", "a") as log:
            self.agents[name] = subprocess.Popen(
                [live.BINARY, "agent", "--state", str(self.folder / name), "--server", address, "--credentials", str(keys),
                 "--name", name, "--address", "127.0.0.1", "--gpus", "1"], stderr=log)

    def process_of_rank(self, rank):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                words = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if b"images.py" in words and f"RANK={rank}".encode() in variables and any(
                    str(self.folder).encode() in variable for variable in variables):
                return int(process.name)
        return None

    def test_a_rank_and_an_agent_that_are_killed_cost_no_bit(self):
        job = self.start(*IMAGES, "--checkpoint-every", "10", gpus=2, per="gpu", retries=1, checkpoint_dir=str(self.folder / "c"))
        self.wait_for(lambda: len(self.rows()) >= 2)
        self.agents["b"].kill()
        self.agents["b"].wait()
        os.kill(self.process_of_rank(0), signal.SIGKILL)
        self.start_agent("b")
        status = self.ends(job)
        self.assertEqual((status.failures, status.epoch), (1, 2))
        self.assertEqual(self.end_of(job), undisturbed(2, *IMAGES))


if __name__ == "__main__":
    unittest.main()
