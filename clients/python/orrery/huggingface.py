"""A callback for Hugging Face's Trainer: progress, the agreed stop, and where to continue.

    from orrery.huggingface import OrreryCallback, last_checkpoint

    arguments = TrainingArguments(os.environ.get("ORRERY_CHECKPOINT_DIR") or "out", save_steps=500)
    trainer = Trainer(model, arguments, train_dataset=data, callbacks=[OrreryCallback()])
    trainer.train(resume_from_checkpoint=last_checkpoint(arguments.output_dir))

An iteration is an optimizer step. The Trainer writes the checkpoints, into its output_dir.
"""
import os
import pathlib
import re
from typing import Any, Optional

from .speaker import Speaker

try:
    from transformers import TrainerCallback
except ImportError:
    raise ImportError("orrery.huggingface needs transformers, which is not installed here: `pip install transformers`") from None


def last_checkpoint(folder: str) -> Optional[str]:
    """The newest checkpoint-STEP that the Trainer has completed; None where there is none."""
    path = pathlib.Path(folder)
    found = [(int(match.group(1)), entry) for entry in (path.iterdir() if path.is_dir() else ())
             for match in [re.fullmatch(r"checkpoint-(\d+)", entry.name)]
             if match and (entry / "trainer_state.json").exists()]  # written last
    return str(max(found)[1]) if found else None


class OrreryCallback(TrainerCallback):
    def __init__(self) -> None:
        self._speaker: Optional[Speaker] = None
        self.stop_reason: Optional[str] = None

    @property
    def stopping(self) -> bool:
        return self.stop_reason is not None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._speaker = Speaker(os.environ)
        self._speaker.job.progress(state.global_step, state.max_steps or None)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        if self._speaker is None:
            return control
        self._speaker.job.progress(state.global_step, state.max_steps or None)
        if state.global_step < state.max_steps:  # at its end it has finished
            self.stop_reason = self._speaker.reason_to_stop(state.global_step)
        if self.stop_reason:
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if self._speaker is not None and logs and "loss" in logs:
            self._speaker.job.progress(state.global_step, state.max_steps or None, loss=float(logs["loss"]))

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._speaker is not None:
            self._speaker.job.checkpointed(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._speaker is not None:
            self._speaker.close(finished=not self.stopping)
            self._speaker = None
