"""Callbacks against fakes that call the documented hooks in their order.

Where Lightning or transformers is installed the last two tests train with them; else they skip.
"""
import os
import pathlib
import sys
import tempfile
import threading
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import orrery  # noqa: E402
from test_job import LONG_ENOUGH_S, Agent  # noqa: E402


def installed(name):
    try:
        __import__(name)
        return True
    except ImportError:
        return False


LIGHTNING = installed("lightning") or installed("pytorch_lightning")
TRANSFORMERS = installed("transformers")


def imported(module, fake, **names):
    """orrery.MODULE over a fake of the library, where that is not installed."""
    sys.modules.pop(module, None)
    before = {name: sys.modules.get(name) for name in fake}
    for name in fake:
        sys.modules[name] = types.ModuleType(name)
    for name, value in names.items():
        setattr(sys.modules[fake[-1]], name, value)
    try:
        __import__(module)
        return sys.modules.pop(module)
    finally:
        for name, value in before.items():
            if value is None:
                del sys.modules[name]
            else:
                sys.modules[name] = value


class Heard(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orrery")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        self.agent = Agent(str(self.folder / "s"))
        self.addCleanup(lambda: self.agent.close())
        os.environ.update(ORRERY_SOCKET=self.agent.path, ORRERY_CHECKPOINT_DIR=str(self.folder), ORRERY_RANK="0",
                          ORRERY_RANKS="1")
        self.heard = []
        self.asked = threading.Event()
        self.stop = False
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()
        self.addCleanup(self.thread.join, LONG_ENOUGH_S)

    def listen(self):
        self.agent.accept()
        self.asked.set()
        while True:
            message = self.agent.hear()
            if message is None:
                return
            self.heard.append(message)
            if message["kind"] == "can_stop_at":
                self.agent.say(kind="stop_at", iteration=message["iteration"] + 1, reason="drain")

    def kinds(self):
        self.thread.join(LONG_ENOUGH_S)
        return [(message["kind"], message.get("iteration", message.get("finished"))) for message in self.heard]


class FakeLightning:
    """As much of a Trainer as a callback sees."""

    min_epochs = min_steps = None
    is_global_zero = True
    should_stop = False
    estimated_stepping_batches = 1000

    def __init__(self):
        self.global_step = 0

    def save_checkpoint(self, path):
        pathlib.Path(path).write_text(str(self.global_step))

    def fit(self, callback, before_step):
        callback.on_train_start(self, None)
        for batch in range(2000):
            before_step()
            if batch % 2:  # two batches are accumulated
                self.global_step += 1
            callback.on_train_batch_end(self, None, {"loss": 0.5}, None, batch)
            if self.should_stop or self.global_step == self.estimated_stepping_batches:
                break
        callback.on_train_end(self, None)


class Lightning(Heard):
    def setUp(self):
        super().setUp()
        self.module = imported("orrery.lightning", ["lightning", "lightning.pytorch"],
                               Callback=type("Callback", (), {}))

    def test_stops_with_a_checkpoint_where_all_agree(self):
        callback = self.module.OrreryCallback(checkpoint_every=2)
        self.assertIsNone(callback.resume_from)
        trainer = FakeLightning()

        def before_step():
            self.asked.wait(LONG_ENOUGH_S)
            if trainer.global_step == 5 and not self.stop:
                self.stop = True
                self.agent.say(kind="prepare_stop")
            if self.stop:
                threading.Event().wait(0.01)

        trainer.fit(callback, before_step)
        kinds = self.kinds()
        stopped = trainer.global_step
        self.assertTrue(callback.stopping and stopped < 1000)
        self.assertEqual(callback.stop_reason, "drain")
        self.assertIn(("checkpointed", stopped), kinds)
        self.assertEqual(kinds[-1], ("bye", False))
        self.assertEqual(callback.resume_from, str(self.folder / f"step-{stopped}.ckpt"))
        self.assertEqual(len(list(self.folder.glob("step-*"))), 2)

    def test_a_training_that_ends_has_finished(self):
        callback = self.module.OrreryCallback()
        trainer = FakeLightning()
        trainer.estimated_stepping_batches = 4
        trainer.fit(callback, lambda: self.asked.wait(LONG_ENOUGH_S))
        self.assertEqual(self.kinds()[-1], ("bye", True))

    def test_what_keeps_it_from_stopping_is_refused(self):
        trainer = FakeLightning()
        trainer.min_epochs = 3
        with self.assertRaisesRegex(orrery.FailedPrecondition, "Trainer: min_epochs and min_steps keep"):
            trainer.fit(self.module.OrreryCallback(), lambda: None)
        orrery.job.connect().close()


class FakeHuggingFace:
    def __init__(self, folder, max_steps=1000):
        self.folder = folder
        self.state = types.SimpleNamespace(global_step=0, max_steps=max_steps)
        self.control = types.SimpleNamespace(should_save=False, should_training_stop=False)

    def train(self, callback, before_step):
        callback.on_train_begin(None, self.state, self.control)
        while not self.control.should_training_stop and self.state.global_step < self.state.max_steps:
            before_step()
            self.state.global_step += 1
            callback.on_step_end(None, self.state, self.control, model=None)
            callback.on_log(None, self.state, self.control, logs={"loss": 0.5})
            if self.control.should_save:
                self.control.should_save = False
                path = self.folder / f"checkpoint-{self.state.global_step}"
                path.mkdir()
                (path / "trainer_state.json").touch()
                callback.on_save(None, self.state, self.control)
        callback.on_train_end(None, self.state, self.control)


class HuggingFace(Heard):
    def setUp(self):
        super().setUp()
        self.module = imported("orrery.huggingface", ["transformers"], TrainerCallback=type("TrainerCallback", (), {}))

    def test_stops_with_a_checkpoint_where_all_agree(self):
        callback = self.module.OrreryCallback()
        trainer = FakeHuggingFace(self.folder)

        def before_step():
            self.asked.wait(LONG_ENOUGH_S)
            if trainer.state.global_step == 5:
                self.agent.say(kind="prepare_stop")
            if trainer.state.global_step >= 5:
                threading.Event().wait(0.01)

        trainer.train(callback, before_step)
        kinds = self.kinds()
        stopped = trainer.state.global_step
        self.assertTrue(callback.stopping and stopped < 1000)
        self.assertEqual(kinds[-2:], [("checkpointed", stopped), ("bye", False)])
        (self.folder / "checkpoint-99999").mkdir()  # not completed
        self.assertEqual(self.module.last_checkpoint(str(self.folder)), str(self.folder / f"checkpoint-{stopped}"))

    def test_a_training_that_ends_has_finished(self):
        callback = self.module.OrreryCallback()
        FakeHuggingFace(self.folder, 4).train(callback, lambda: self.asked.wait(LONG_ENOUGH_S))
        kinds = self.kinds()
        self.assertEqual(kinds[-1], ("bye", True))
        self.assertIsNone(self.module.last_checkpoint(str(self.folder)))


class Missing(unittest.TestCase):
    def test_the_library_that_is_needed_is_named(self):
        for module, there, name in (("orrery.lightning", LIGHTNING, "Lightning"),
                                    ("orrery.huggingface", TRANSFORMERS, "transformers")):
            if not there:
                with self.assertRaisesRegex(ImportError, f"{module} needs {name}, which is not installed here: `pip"):
                    __import__(module)


@unittest.skipUnless(LIGHTNING, "Lightning is not installed")
class RealLightning(Heard):
    def test_trains_and_finishes(self):
        import torch
        from orrery.lightning import Callback, OrreryCallback  # noqa: F401
        pl = sys.modules.get("lightning.pytorch") or sys.modules["pytorch_lightning"]

        class Model(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 1)

            def training_step(self, batch, index):
                return self.layer(batch[0]).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 2)), 4)
        callback = OrreryCallback(checkpoint_every=4)
        pl.Trainer(max_epochs=2, callbacks=[callback], logger=False, enable_progress_bar=False, accelerator="cpu",
                   default_root_dir=str(self.folder)).fit(Model(), data, ckpt_path=callback.resume_from)
        self.assertEqual(self.kinds()[-1], ("bye", True))
        self.assertIsNotNone(callback.resume_from)


@unittest.skipUnless(TRANSFORMERS, "transformers is not installed")
class RealHuggingFace(Heard):
    def test_trains_and_finishes(self):
        import torch
        import transformers
        from orrery.huggingface import OrreryCallback, last_checkpoint

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 1)

            def forward(self, x):
                return {"loss": self.layer(x).square().mean()}

        arguments = transformers.TrainingArguments(str(self.folder), max_steps=8, save_steps=4, report_to=[], use_cpu=True)
        transformers.Trainer(Model(), arguments, train_dataset=[{"x": torch.randn(2)} for _ in range(64)],
                             callbacks=[OrreryCallback()]).train()
        self.assertEqual(self.kinds()[-1], ("bye", True))
        self.assertIsNotNone(last_checkpoint(str(self.folder)))


if __name__ == "__main__":
    unittest.main()
