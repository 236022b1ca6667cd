"""A callback for Lightning's Trainer: progress, the agreed stop, and where to continue.

    from orrery.lightning import OrreryCallback

    orrery = OrreryCallback()
    trainer = Trainer(max_epochs=90, callbacks=[orrery])
    trainer.fit(model, data, ckpt_path=orrery.resume_from)

An iteration is an optimizer step. min_epochs and min_steps would keep Lightning from stopping.
"""
import os
import pathlib
import re
from typing import Any, List, Optional, Union

from .errors import FailedPrecondition
from .speaker import Speaker

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback
    except ImportError:
        raise ImportError("orrery.lightning needs Lightning, which is not installed here: `pip install lightning`") from None

KEPT = 2


class OrreryCallback(Callback):
    """`checkpoint_every` optimizer steps, and at a stop, a checkpoint goes to the job's folder."""

    def __init__(self, checkpoint_every: Optional[int] = None, folder: Union[str, "os.PathLike[str]", None] = None) -> None:
        super().__init__()
        named = folder or os.environ.get("ORRERY_CHECKPOINT_DIR")
        self._folder = pathlib.Path(named) if named else None
        self._every = checkpoint_every
        self._step = -1
        self._speaker: Optional[Speaker] = None
        self.stop_reason: Optional[str] = None

    @property
    def resume_from(self) -> Optional[str]:
        """The newest checkpoint, for trainer.fit(ckpt_path=...); None where there is none."""
        found = self._checkpoints()
        return str(found[0]) if found else None

    @property
    def stopping(self) -> bool:
        return self.stop_reason is not None

    def _checkpoints(self) -> List[pathlib.Path]:
        if self._folder is None or not self._folder.is_dir():
            return []
        found = [(int(match.group(1)), path) for path in self._folder.iterdir()
                 for match in [re.fullmatch(r"step-(\d+)\.ckpt", path.name)] if match]
        return [path for _, path in sorted(found, reverse=True)]

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.min_epochs or trainer.min_steps:
            raise FailedPrecondition("min_epochs and min_steps keep Lightning from stopping where the scheduler asks it "
                                     "to; leave them out", "Trainer")
        self._speaker = Speaker(os.environ)
        self._step = trainer.global_step
        self._speaker.job.progress(self._step, self._of(trainer))

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        step = trainer.global_step
        if self._speaker is None or step == self._step:  # gradients are still accumulated
            return
        self._step = step
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        self._speaker.job.progress(step, self._of(trainer), loss=float(loss) if loss is not None and step % 10 == 0 else None)
        self.stop_reason = self._speaker.reason_to_stop(step)
        if self.stop_reason or self._every and step % self._every == 0:
            self._save(trainer, step)
        if self.stop_reason:
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._close(finished=not self.stopping)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._close(finished=False)

    def _close(self, finished: bool) -> None:
        if self._speaker is not None:
            self._speaker.close(finished)
            self._speaker = None

    def _of(self, trainer: Any) -> Optional[int]:
        steps = trainer.estimated_stepping_batches
        return int(steps) if 0 < steps < float("inf") else None

    def _save(self, trainer: Any, step: int) -> None:
        if self._folder is None or self._speaker is None:
            return
        path = self._folder / f"step-{step}.ckpt"
        draft = path.with_suffix(".new")
        trainer.save_checkpoint(str(draft))  # all processes take part
        if trainer.is_global_zero:
            os.replace(draft, path)
            for old in self._checkpoints()[KEPT:]:
                old.unlink()
        self._speaker.job.checkpointed(step)
