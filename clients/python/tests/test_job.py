"""What a program relies on: run by ctest, or `python3 -m unittest discover -s tests` in the folder above."""
import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import orrery_job  # noqa: E402

LONG_ENOUGH_S = 30.0
COUNTER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "counter.py"


class Agent:
    """As much of an agent as a test needs: one connection at a time, everything in the open."""

    def __init__(self, path):
        self.path = path
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.settimeout(LONG_ENOUGH_S)
        self.server.bind(path)
        self.server.listen(4)
        self.connection = None
        self.rest = b""

    def accept(self, **welcome):
        self.connection, _ = self.server.accept()
        self.connection.settimeout(LONG_ENOUGH_S)
        self.rest = b""
        hello = self.hear()
        self.say(kind="welcome", version=1, checkpoint_dir="/c", epoch=1, ranks=1, resume=False, **welcome)
        return hello

    def hear(self):
        while b"\n" not in self.rest:
            piece = self.connection.recv(4096)
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line.decode("utf-8"))

    def hear_kind(self, kind):
        while True:
            message = self.hear()
            if message is None or message["kind"] == kind:
                return message

    def say(self, **message):
        self.connection.sendall(json.dumps(message).encode("utf-8") + b"\n")

    def hang_up(self):
        self.connection.close()

    def close(self):
        if self.connection:
            self.connection.close()
        self.server.close()
        if os.path.exists(self.path):
            os.unlink(self.path)


class WithAgent(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="orrery")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "s")
        self.agent = Agent(self.path)
        self.addCleanup(lambda: self.agent.close())

    def connect(self, every=1, **more):
        environment = {
            "ORRERY_SOCKET": self.path,
            "ORRERY_CHECKPOINT_DIR": "/c",
            "ORRERY_RANK": "3",
            "ORRERY_RANKS": "4",
            "ORRERY_RESUMED": "1",
        }
        environment.update(more)
        job = orrery_job.Job(environment, every)
        self.addCleanup(job.close)
        return job

    def wait_for(self, condition):
        deadline = time.monotonic() + LONG_ENOUGH_S
        pause = threading.Event()
        while not condition():
            self.assertLess(time.monotonic(), deadline, "took too long")
            pause.wait(0.005)

    def test_a_job_knows_what_it_was_started_with(self):
        job = self.connect()
        self.assertEqual((job.checkpoint_dir, job.rank, job.ranks, job.resumed), ("/c", 3, 4, True))
        self.assertEqual(self.agent.accept(), {"kind": "hello", "version": 1, "rank": 3})
        self.wait_for(lambda: job.connected)

    def test_progress_checkpoints_and_goodbye_arrive(self):
        with self.connect() as job:
            self.agent.accept()
            job.progress(5, 90, loss=0.5, samples=320)
            wanted = {"kind": "progress", "iteration": 5, "of": 90, "loss": 0.5, "samples": 320.0}
            self.assertEqual(self.agent.hear(), wanted)
            job.checkpointed(5)
            self.assertEqual(self.agent.hear(), {"kind": "checkpointed", "iteration": 5})
        self.assertEqual(self.agent.hear(), {"kind": "bye", "finished": True})
        self.assertIsNone(self.agent.hear())

    def test_a_job_that_fails_is_not_finished(self):
        with self.assertRaises(KeyError):
            with self.connect() as job:
                self.agent.accept()
                raise KeyError("the program's own")
        self.assertEqual(self.agent.hear_kind("bye"), {"kind": "bye", "finished": False})
        job.close()

    def test_a_loss_that_is_no_number_is_left_out(self):
        job = self.connect()
        self.agent.accept()
        job.progress(1, loss=math.nan, samples=math.inf)
        self.assertEqual(self.agent.hear(), {"kind": "progress", "iteration": 1})

    def test_a_job_beyond_its_end_is_at_its_end(self):
        job = self.connect()
        self.agent.accept()
        job.progress(12, 10)
        self.assertEqual(self.agent.hear(), {"kind": "progress", "iteration": 12, "of": 12})

    def test_much_progress_becomes_little_and_the_last_one_counts(self):
        job = self.connect()
        self.agent.accept()
        for done in range(1, 20001):
            job.progress(done)
        heard = []
        while not heard or heard[-1] < 20000:
            heard.append(self.agent.hear_kind("progress")["iteration"])
        self.assertLess(len(heard), 1000)
        self.assertEqual(heard, sorted(heard))

    def test_a_rank_waits_where_it_promised_and_stops_where_all_agree(self):
        job = self.connect()
        self.agent.accept()
        done = []

        def train():
            for step in job.steps(range(10, 1000)):
                done.append(step)

        self.assertFalse(job.should_stop(10))
        self.agent.say(kind="prepare_stop")
        self.assertEqual(self.agent.hear_kind("can_stop_at")["iteration"], 11)
        trainer = threading.Thread(target=train)
        trainer.start()
        self.wait_for(lambda: done)
        self.assertEqual(self.agent.hear_kind("progress")["iteration"], 11)
        self.assertEqual(done, [10], "it promised to wait")
        self.agent.say(kind="stop_at", iteration=14, reason="resize")
        trainer.join(LONG_ENOUGH_S)
        self.assertEqual(done, [10, 11, 12, 13])
        self.assertTrue(job.stopping)
        self.assertEqual((job.stop_reason, job.done), ("resize", 14))
        job.close(finished=not job.stopping)
        self.assertEqual(self.agent.hear_kind("bye"), {"kind": "bye", "finished": False})

    def test_a_rank_that_cannot_stop_everywhere_promises_the_next_place_where_it_can(self):
        job = self.connect(every=100)
        self.agent.accept()
        self.assertFalse(job.should_stop(200))
        job.progress(217)
        self.agent.say(kind="prepare_stop")
        self.assertEqual(self.agent.hear_kind("can_stop_at")["iteration"], 300)

    def test_a_program_that_never_asks_promises_nothing_until_it_does(self):
        job = self.connect()
        self.agent.accept()
        job.progress(4)
        self.agent.say(kind="prepare_stop")
        self.agent.say(kind="resize", gpus=2, ranks=2)
        self.wait_for(lambda: job._resize)
        job.checkpointed(4)
        self.assertEqual(self.agent.hear()["kind"], "progress")
        self.assertEqual(self.agent.hear()["kind"], "checkpointed")
        self.agent.say(kind="stop_at", iteration=6, reason="preempt")
        self.wait_for(lambda: job.stop_reason)
        self.assertFalse(job.should_stop(5))
        self.assertTrue(job.should_stop(6))

    def test_a_rank_does_not_wait_for_ever(self):
        job = self.connect()
        self.agent.accept()
        self.assertFalse(job.should_stop(1))
        self.agent.say(kind="prepare_stop")
        self.assertEqual(self.agent.hear_kind("can_stop_at")["iteration"], 2)
        before, orrery_job.HOLD_S = orrery_job.HOLD_S, 0.01
        try:
            self.assertFalse(job.should_stop(2))
        finally:
            orrery_job.HOLD_S = before
        self.assertFalse(job.should_stop(3))
        self.agent.say(kind="prepare_stop")
        self.assertEqual(self.agent.hear_kind("can_stop_at")["iteration"], 4)

    def test_after_the_agent_came_back_it_hears_what_still_holds(self):
        job = self.connect()
        self.agent.accept()
        self.assertFalse(job.should_stop(7))
        job.progress(7, 9)
        self.assertEqual(self.agent.hear_kind("progress")["iteration"], 7)
        self.agent.say(kind="prepare_stop")
        self.assertEqual(self.agent.hear_kind("can_stop_at")["iteration"], 8)
        self.agent.close()
        self.agent = Agent(self.path)
        self.assertEqual(self.agent.accept()["kind"], "hello")
        again = sorted([self.agent.hear(), self.agent.hear()], key=lambda message: message["kind"])
        self.assertEqual(again[0], {"kind": "can_stop_at", "iteration": 8})
        self.assertEqual(again[1], {"kind": "progress", "iteration": 7, "of": 9})

    def test_without_an_agent_nothing_fails(self):
        self.agent.close()
        with self.connect() as job:
            for step in job.steps(range(3)):
                job.checkpointed(step)
            job.progress(3, 3)
            self.assertFalse(job.connected)
            self.assertFalse(job.should_stop(3))

    def test_an_error_of_the_agent_is_final_and_harmless(self):
        job = self.connect()
        self.agent.accept()
        self.agent.say(kind="error", message="another connection took its place")
        self.wait_for(lambda: job.error)
        self.assertIsNone(self.agent.hear())
        job._thread.join(LONG_ENOUGH_S)
        self.assertFalse(job._thread.is_alive(), "it must not come back and fight for its place")
        self.assertFalse(job.should_stop(3))
        job.progress(4)

    def test_strange_lines_are_passed_over(self):
        job = self.connect()
        self.agent.accept()
        self.agent.connection.sendall(b"not JSON\n[1]\n{}\n\xff\n" + b'{"kind":"of tomorrow"}\n')
        self.agent.say(kind="stop_at", iteration="soon")
        self.agent.say(kind="stop_at", iteration=2, reason="cancel", more=[1])
        self.wait_for(lambda: job.stop_reason == "cancel")
        self.assertTrue(job.should_stop(2))

    def test_a_resize_reaches_a_callback_that_is_set_late(self):
        job = self.connect()
        self.agent.accept()
        sizes = []
        self.agent.say(kind="resize", gpus=4, ranks=2)
        self.wait_for(lambda: job._resize)
        job.on_resize(lambda gpus, ranks: sizes.append((gpus, ranks)))
        self.assertEqual(sizes, [(4, 2)])
        self.agent.say(kind="resize", gpus=8, ranks=4)
        self.wait_for(lambda: len(sizes) == 2)
        self.assertEqual(sizes[1], (8, 4))

    def test_a_forked_child_is_silent(self):
        job = self.connect()
        self.agent.accept()
        child = os.fork()
        if child == 0:
            job.progress(99)
            os._exit(1 if job.should_stop(99) else 0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        job.progress(1)
        self.assertEqual(self.agent.hear()["iteration"], 1)

    def test_the_counter_stops_and_goes_on_where_it_was(self):
        environment = dict(os.environ, ORRERY_SOCKET=self.path, ORRERY_CHECKPOINT_DIR=self.folder.name)
        call = [sys.executable, "-B", str(COUNTER), "100000", "--step", "0.001"]
        first = subprocess.Popen(call, env=environment, stdout=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(first.kill)
        self.agent.accept()
        self.agent.hear_kind("progress")
        self.agent.say(kind="prepare_stop")
        count = self.agent.hear_kind("can_stop_at")["iteration"] + 2
        self.agent.say(kind="stop_at", iteration=count, reason="preempt")
        self.assertEqual(self.agent.hear_kind("checkpointed")["iteration"], count)
        self.assertEqual(self.agent.hear_kind("bye")["finished"], False)
        output, _ = first.communicate(timeout=LONG_ENOUGH_S)
        self.assertEqual(output, "counting from 0 to 100000\npreempt at {}\n".format(count))
        call[3] = str(count + 3)
        second = subprocess.run(call, env=environment, stdout=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(second.returncode, 0)
        self.assertEqual(second.stdout, "counting from {} to {}\ndone at {}\n".format(count, call[3], call[3]))


class Alone(unittest.TestCase):
    def test_outside_orrery_a_program_runs_unchanged(self):
        with orrery_job.Job({}) as job:
            self.assertEqual(list(job.steps(range(2, 5))), [2, 3, 4])
            self.assertEqual(list(job.steps("ab", start=7)), ["a", "b"])
            job.progress(9, 10, loss=1.0)
            job.checkpointed(9)
            job.on_resize(lambda gpus, ranks: self.fail())
            self.assertFalse(job.should_stop(9))
            self.assertFalse(job.stopping or job.connected or job.resumed)
            self.assertEqual((job.checkpoint_dir, job.rank, job.ranks, job.done), (None, 0, 1, 9))


class Steps(unittest.TestCase):
    """The table that `orrery stragglers analyse` reads."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = os.path.join(folder.name, "steps")

    def lines(self, rank):
        return pathlib.Path("%s.%d.csv" % (self.prefix, rank)).read_text().splitlines()

    def test_only_rank_0_writes_the_header(self):
        for rank in (0, 1):
            trace = orrery_job.StepTrace(self.prefix, rank)
            trace.add(7, "compute", 100.5, 0.25)
            trace.close()
        self.assertEqual(self.lines(0), [
            "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc",
            "0,0,0,7,compute,100.500000000,0.250000000,0,-1,-1,-1"])
        self.assertEqual(self.lines(1), ["1,0,1,7,compute,100.500000000,0.250000000,0,-1,-1,-1"])

    def test_operations_of_one_name_are_numbered_in_each_step(self):
        trace = orrery_job.StepTrace(self.prefix, 1)
        for step, name in ((1, "compute"), (1, "compute"), (1, "optimizer"), (2, "compute")):
            with trace.operation(step, name):
                pass
        trace.close()
        fields = [line.split(",") for line in self.lines(1)]
        self.assertEqual([(f[3], f[4], f[7]) for f in fields],
                         [("1", "compute", "0"), ("1", "compute", "1"), ("1", "optimizer", "0"), ("2", "compute", "0")])
        self.assertTrue(all(float(f[6]) >= 0 for f in fields))

    def test_what_raises_is_not_recorded(self):
        trace = orrery_job.StepTrace(self.prefix, 1)
        with self.assertRaises(ValueError):
            with trace.operation(1, "compute"):
                raise ValueError()
        trace.close()
        self.assertEqual(self.lines(1), [])


if __name__ == "__main__":
    unittest.main()
