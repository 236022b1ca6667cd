"""orrery.training without torch: what is saved, what continues, and what is said to the scheduler."""
import contextlib
import csv
import io
import math
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import orrery  # noqa: E402
from orrery import metrics as metrics_module  # noqa: E402
from orrery import run as run_module  # noqa: E402
from orrery.checkpoint import Checkpoints  # noqa: E402
from test_job import LONG_ENOUGH_S, Agent  # noqa: E402


class Line:
    """A model y = w x, trained by hand, with noise that only a restored random state repeats."""

    def __init__(self):
        self.w = random.random()

    def step(self, batch, rate=0.01):
        loss = sum((self.w * x - 3 * x) ** 2 for x in batch) / len(batch)
        gradient = sum(2 * x * (self.w * x - 3 * x) for x in batch) / len(batch)
        self.w -= rate * gradient + 1e-3 * random.random()
        return loss

    def state_dict(self):
        return {"w": self.w}

    def load_state_dict(self, state):
        self.w = state["w"]


class Training(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orrery")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.checkpoints = self.folder / "c"
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        for name in list(os.environ):
            if name.startswith("ORRERY"):
                del os.environ[name]

    def train(self, until=None, model=None, loader=None, **options):
        """Trains; after `until` iterations it fails as if the machine had gone."""
        random.seed(7)
        model = (model or Line)()
        loader = orrery.Loader([0.1 * i for i in range(40)], 6, seed=3) if loader is None else loader
        options = {"epochs": 3, "folder": self.checkpoints, "checkpoint_every": 4, "metrics_every": 1, **options}
        try:
            with orrery.training(model, None, loader, **options) as run:
                self.run_ = run
                for batch in run:
                    run.report(loss=model.step(batch))
                    if until is not None and run.iteration + 1 == until:
                        raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        return model

    def rows(self):
        with open(self.checkpoints / "metrics.csv", newline="") as file:
            return list(csv.DictReader(file))


class Continuing(Training):
    def test_ends_with_the_same_bits_as_an_undisturbed_run(self):
        undisturbed = self.train(folder=self.folder / "other")
        self.assertEqual((self.run_.iteration, self.run_.epoch, self.run_.samples), (21, 3, 120))
        self.train(until=10)
        self.assertFalse(self.run_.resumed or self.run_.finished)
        continued = self.train()
        self.assertTrue(self.run_.resumed and self.run_.finished)
        self.assertEqual(continued.w, undisturbed.w)
        losses = [row["loss"] for row in self.rows()]
        with open(self.folder / "other" / "metrics.csv", newline="") as file:
            self.assertEqual(losses, [row["loss"] for row in csv.DictReader(file)])

    def test_a_training_that_has_ended_is_not_trained_again(self):
        first = self.train()
        again = self.train()
        self.assertEqual((self.run_.iteration, again.w), (21, first.w))
        self.assertTrue(self.run_.finished)

    def test_more_epochs_go_on_from_the_end(self):
        self.train(epochs=2)
        self.train(epochs=3)
        self.assertEqual((self.run_.resumed, self.run_.iteration), (True, 21))

    def test_iterations_can_end_in_the_middle_of_an_epoch(self):
        self.train(epochs=None, iterations=9)
        self.assertEqual((self.run_.iteration, self.run_.epoch, self.run_.finished), (9, 1, True))

    def test_a_list_of_batches_continues_too(self):
        batches = [[0.1, 0.2], [0.3], [0.4, 0.5]]
        undisturbed = self.train(loader=batches, folder=self.folder / "other", checkpoint_every=2)
        self.train(loader=batches, until=6, checkpoint_every=2)
        self.assertEqual(self.train(loader=batches, checkpoint_every=2).w, undisturbed.w)

    def test_the_batch_stays_what_it_was_at_first(self):
        self.train(until=10)
        self.train(loader=orrery.Loader([0.1 * i for i in range(40)], 3, seed=3))
        self.assertEqual((self.run_.global_batch, self.run_.iteration), (6, 21))

    def test_a_loop_that_the_program_leaves_saves_no_half_iteration(self):
        with orrery.training(Line(), None, [[1.0]] * 9, folder=self.checkpoints, checkpoint_every=4) as run:
            for _ in run:
                if run.iteration == 6:
                    break
        self.assertEqual((run.finished, run.stopping, run.iteration), (False, False, 6))
        self.assertEqual(Checkpoints(str(self.checkpoints)).iterations(), [4])

    def test_a_sharded_model_is_refused(self):
        with self.assertRaisesRegex(orrery.InvalidArgument, "model: is sharded over its processes"):
            orrery.training(type("FullyShardedDataParallel", (Line,), {})(), None, [[1.0]])

    def test_what_cannot_be_repeated_is_refused(self):
        with self.assertRaisesRegex(orrery.InvalidArgument, "loader: can be read only once"):
            self.train(loader=iter([[1.0]]))
        with self.assertRaisesRegex(orrery.FailedPrecondition, "gives no batch in epoch 0"):
            self.train(loader=orrery.AnyIterable(Lengthless([])))

    def test_parts_that_are_not_in_the_checkpoint_are_named(self):
        self.train(until=10)
        with self.assertRaisesRegex(orrery.FailedPrecondition, "holds no extra.ema, unlike this program"):
            self.train(extra={"ema": Line()})

    def test_wrong_calls_are_named(self):
        for options, pattern in (({"epochs": 0}, "epochs: 0; write 1 or more"),
                                 ({"iterations": 5}, "two ends"),
                                 ({"extra": {"ema": 3}}, "extra.ema: a int has no state_dict")):
            with self.assertRaisesRegex(orrery.InvalidArgument, pattern):
                self.train(**options)

    def test_several_processes_that_cannot_speak_are_refused(self):
        os.environ["ORRERY_RANKS"] = "4"
        with self.assertRaisesRegex(orrery.FailedPrecondition, "one of 4 processes.*init_process_group"):
            self.train()


class Lengthless:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


class Damage(Training):
    def setUp(self):
        super().setUp()
        self.errors = io.StringIO()
        shown = contextlib.redirect_stderr(self.errors)
        shown.__enter__()
        self.addCleanup(shown.__exit__, None, None, None)
        self.undisturbed = self.train(folder=self.folder / "other").w
        self.train(until=10)
        self.newest = self.checkpoints / "iteration-8.pickle"
        self.assertEqual(Checkpoints(str(self.checkpoints)).iterations(), [8, 4])

    def continued(self, iteration):
        continued = self.train(until=iteration + 1)
        self.assertEqual((self.run_.iteration, self.run_.resumed), (iteration, True))
        del continued
        self.assertEqual(self.train().w, self.undisturbed)

    def test_a_cut_off_checkpoint_is_passed_over(self):
        self.newest.write_bytes(self.newest.read_bytes()[:-1])
        self.continued(4)
        self.assertRegex(self.errors.getvalue(), r"iteration-8.pickle: is damaged: it has \d+ bytes of \d+; continues "
                                                 "from iteration 4")

    def test_a_flipped_bit_is_found(self):
        data = bytearray(self.newest.read_bytes())
        data[len(data) // 2] ^= 1
        self.newest.write_bytes(bytes(data))
        self.continued(4)

    def test_a_missing_file_and_a_strange_manifest_are_passed_over(self):
        self.newest.unlink()
        (self.checkpoints / "iteration-9.json").write_text("{")
        (self.checkpoints / "iteration-10.json").write_text('{"version":1,"file":"../x","bytes":1,"sha256":""}')
        self.continued(4)
        self.assertNotIn("iteration-10.json", os.listdir(self.checkpoints))

    def test_a_draft_of_a_process_that_was_killed_counts_as_nothing(self):
        (self.checkpoints / "iteration-12.pickle.new").write_bytes(b"half")
        (self.checkpoints / "iteration-12.pickle").write_bytes(b"without a manifest")
        self.continued(8)
        self.assertEqual([name for name in os.listdir(self.checkpoints) if name.endswith(".new")], [])

    def test_work_is_not_begun_again_without_being_asked(self):
        for file in self.checkpoints.glob("iteration-*.pickle"):
            file.write_bytes(b"")
        with self.assertRaisesRegex(orrery.DataLoss, "no checkpoint is whole .*has 0 bytes of .*to begin again"):
            self.train()

    def test_a_checkpoint_of_a_newer_version_is_refused(self):
        manifest = self.checkpoints / "iteration-8.json"
        manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 2'))
        with self.assertRaisesRegex(orrery.FailedPrecondition, "is of version 2, and this program reads 1"):
            self.train()

    def test_a_full_disk_leaves_the_checkpoint_before(self):
        saved = os.fsync
        os.fsync = full
        try:
            with self.assertRaisesRegex(orrery.ResourceExhausted, "iteration 21 could not be written .*No space left"):
                self.train()  # those on the way are warned of, the last one is needed
        finally:
            os.fsync = saved
        self.assertEqual(self.run_.iteration, 21)
        self.continued(8)


def full(*_):
    raise OSError(28, "No space left on device")


class Killed(Training):
    SCRIPT = """
import random, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import orrery
from test_run import Line
random.seed(7)
model = Line()
loader = orrery.Loader([0.1 * i for i in range(40)], 6, seed=3)
with orrery.training(model, None, loader, epochs=8, folder=sys.argv[3],
                      checkpoint_every=int(sys.argv[4]), metrics_every=1) as run:
    for batch in run:
        run.loss(model.step(batch))
print(model.w.hex())
"""

    def start(self, folder, every=1):
        tests = str(pathlib.Path(__file__).resolve().parent)
        words = [self.SCRIPT, str(pathlib.Path(tests).parent), tests, str(folder), str(every)]
        return subprocess.Popen([sys.executable, "-B", "-c", *words], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "PYTHONWARNINGS": "error"})

    def test_a_process_that_is_killed_at_any_moment_loses_no_checkpoint(self):
        undisturbed, _ = self.start(self.folder / "other", 1000).communicate(timeout=LONG_ENOUGH_S)
        pause = threading.Event()
        for wanted in (8, 21, 38):
            process = self.start(self.checkpoints)
            while process.poll() is None and self.rows_there() < wanted:
                pause.wait(0.001)
            process.kill()
            process.communicate()
        disturbed, _ = self.start(self.checkpoints).communicate(timeout=LONG_ENOUGH_S)
        self.assertEqual(disturbed, undisturbed)
        self.assertEqual(len(disturbed.splitlines()), 1)

    def rows_there(self):
        try:
            return len((self.checkpoints / "metrics.csv").read_bytes().splitlines()) - 1
        except FileNotFoundError:
            return 0


class Speaking(Training):
    def setUp(self):
        super().setUp()
        self.agent = Agent(str(self.folder / "s"))
        self.addCleanup(lambda: self.agent.close())
        os.environ.update(ORRERY_SOCKET=self.agent.path, ORRERY_CHECKPOINT_DIR=str(self.checkpoints), ORRERY_RANK="0",
                          ORRERY_RANKS="1")

    def test_says_progress_loss_and_checkpoints_and_that_it_has_finished(self):
        heard = []
        thread = threading.Thread(target=lambda: (self.agent.accept(), heard.extend(self.everything())))
        thread.start()
        self.train(folder=None)
        thread.join(LONG_ENOUGH_S)
        last = [message for message in heard if message["kind"] == "progress"][-1]
        self.assertEqual((last["iteration"], last["of"], last["samples"]), (21, 21, 120.0))
        self.assertTrue(math.isfinite(last["loss"]))
        self.assertEqual([message["iteration"] for message in heard if message["kind"] == "checkpointed"][-1], 21)
        self.assertEqual(heard[-1], {"kind": "bye", "finished": True})

    def everything(self):
        while True:
            message = self.agent.hear()
            if message is None:
                return
            yield message

    def test_stops_where_all_agree_and_goes_on_from_there(self):
        undisturbed = self.train(folder=self.folder / "other", checkpoint_every=None)
        self.agent.close()
        self.agent = Agent(str(self.folder / "s"))
        gate = threading.Event()

        class Slow(Line):
            def step(self, batch, rate=0.01):
                gate.wait(0.01)
                return super().step(batch, rate)

        heard = []

        def agree():
            self.agent.accept()
            self.agent.hear_kind("progress")
            self.agent.say(kind="prepare_stop")
            earliest = self.agent.hear_kind("can_stop_at")["iteration"]
            self.agent.say(kind="stop_at", iteration=earliest + 2, reason="preempt")
            heard.append(earliest + 2)
            heard.append(self.agent.hear_kind("checkpointed"))
            heard.append(self.agent.hear_kind("bye"))

        thread = threading.Thread(target=agree)
        thread.start()
        self.train(model=Slow, folder=None, checkpoint_every=None, epochs=300)
        thread.join(LONG_ENOUGH_S)
        self.assertTrue(self.run_.stopping and not self.run_.finished)
        self.assertEqual(self.run_.stop_reason, "preempt")
        self.assertEqual(heard[1:], [{"kind": "checkpointed", "iteration": heard[0]}, {"kind": "bye", "finished": False}])
        self.assertEqual(self.run_.iteration, heard[0])
        del os.environ["ORRERY_SOCKET"]
        self.assertEqual(self.train(folder=None).w, undisturbed.w)

    def test_a_program_that_fails_is_not_finished_and_saves_nothing(self):
        accepted = threading.Event()

        class Waiting(Line):
            def step(self, batch, rate=0.01):
                accepted.wait(LONG_ENOUGH_S)
                return super().step(batch, rate)

        thread = threading.Thread(target=lambda: (self.agent.accept(), accepted.set()))
        thread.start()
        self.train(until=3, folder=None, model=Waiting)
        thread.join(LONG_ENOUGH_S)
        self.assertEqual(self.agent.hear_kind("bye"), {"kind": "bye", "finished": False})
        self.assertEqual(Checkpoints(str(self.checkpoints)).iterations(), [])


class Metrics(Training):
    def test_rows_of_iterations_that_are_done_again_are_there_once(self):
        self.train(until=11)
        with open(self.checkpoints / "metrics.csv", "a") as file:
            file.write("11,1,66,17")  # a row that was cut off
        self.train(extra=None)
        rows = self.rows()
        self.assertEqual([int(row["iteration"]) for row in rows], list(range(1, 22)))
        self.assertEqual(rows[-1]["samples"], "120")
        self.assertGreater(float(rows[-1]["samples_per_s"]), 0)

    def test_a_metric_may_come_later(self):
        model = Line()
        with orrery.training(model, None, [[1.0]] * 4, folder=self.checkpoints, metrics_every=1) as run:
            for batch in run:
                run.loss(model.step(batch))
                if run.iteration == 2:
                    run.report(accuracy=0.5)
        self.assertEqual([row["accuracy"] for row in self.rows()], ["", "", "0.5", ""])
        self.assertEqual(run.epoch, 1)

    def test_what_cannot_be_written_ends_no_training(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), mock.patch.object(metrics_module.Metrics, "write", full):
            self.train(epochs=1)
        self.assertEqual(self.run_.iteration, 7)
        self.assertEqual(errors.getvalue().count("metrics.csv: no more metrics can be written (No space left"), 1)
        with contextlib.redirect_stderr(errors), mock.patch.object(metrics_module.Metrics, "_rewrite", full):
            self.train(epochs=2)
        self.assertEqual(self.run_.iteration, 14)
        self.assertIn("no metrics can be written there (No space left", errors.getvalue())

    def test_tensorboard_gets_the_numbers_where_it_is_installed(self):
        seen = []

        class SummaryWriter:
            def __init__(self, folder, purge_step):
                seen.append((folder, purge_step))

            def add_scalar(self, name, value, step):
                seen.append((name, value, step))

            def close(self):
                seen.append("closed")

        fakes = {name: types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.tensorboard")}
        fakes["torch.utils.tensorboard"].SummaryWriter = SummaryWriter
        with mock.patch.dict(sys.modules, fakes):
            metrics = metrics_module.Metrics(str(self.folder / "m.csv"), 3, str(self.folder / "board"))
            metrics.write({"iteration": 4, "epoch": 0, "time_s": "1.5", "loss": 0.25})
            metrics.close()
        self.assertEqual(seen, [(str(self.folder / "board"), 4), ("epoch", 0, 4), ("loss", 0.25, 4), "closed"])

    def test_what_is_no_number_is_named_and_a_loss_of_nan_is_written_down(self):
        with self.assertRaisesRegex(orrery.InvalidArgument, r"report\(loss=...\): 'x' is no number"):
            with orrery.training(Line(), None, [[1.0]], folder=self.checkpoints) as run:
                for _ in run:
                    run.report(loss="x")
        with orrery.training(Line(), None, [[1.0]], folder=self.checkpoints) as run:
            for _ in run:
                run.loss(math.nan)
        self.assertEqual(self.rows()[-1]["loss"], "nan")

    def test_outside_of_orrery_nothing_but_metrics_is_written(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import orrery\n"
                  "class M:\n  def state_dict(self): return {}\n  def load_state_dict(self, s): pass\n"
                  "with orrery.training(M(), None, [1, 2, 3]) as run:\n  for b in run: run.loss(b)\n"
                  "print(run.iteration, run.checkpoint_dir, 'torch' in sys.modules)\n")
        done = subprocess.run([sys.executable, "-B", "-c", script, sys.path[0]], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual((done.stdout, done.stderr), ("3 None False\n", ""))
        self.assertEqual(os.listdir(self.folder), ["orrery-metrics.csv"])


class Termination(Training):
    def test_sigterm_ends_it_after_the_iteration_with_a_checkpoint(self):
        undisturbed = self.train(folder=self.folder / "other")
        before = signal.getsignal(signal.SIGTERM)
        with self.assertRaises(SystemExit) as ended:
            with orrery.training(self.model(), None, orrery.Loader([0.1 * i for i in range(40)], 6, seed=3), epochs=3,
                                 folder=self.checkpoints) as run:
                for batch in run:
                    self.line.step(batch)
                    if run.iteration == 4:
                        os.kill(os.getpid(), signal.SIGTERM)
        self.assertEqual((ended.exception.code, run.iteration, run.stop_reason), (143, 5, "terminated"))
        self.assertIs(signal.getsignal(signal.SIGTERM), before)
        self.assertEqual(self.train().w, undisturbed.w)

    def model(self):
        random.seed(7)
        self.line = Line()
        return self.line


class TheInterval(Training):
    def test_is_measured_and_then_the_same_for_all(self):
        before, run_module.CHECKPOINT_S = run_module.CHECKPOINT_S, 1e-9
        try:
            self.train(checkpoint_every=None, epochs=4)
        finally:
            run_module.CHECKPOINT_S = before
        self.assertEqual(Checkpoints(str(self.checkpoints)).iterations(), [28, 27])

    def test_only_the_two_newest_are_kept(self):
        self.train(checkpoint_every=2)
        self.assertEqual(Checkpoints(str(self.checkpoints)).iterations(), [21, 20])
        self.assertEqual(len(list(self.checkpoints.glob("iteration-*"))), 4)
        state = pickle.loads((self.checkpoints / "iteration-21.pickle").read_bytes())
        self.assertEqual(state["iteration"], 21)


if __name__ == "__main__":
    unittest.main()
