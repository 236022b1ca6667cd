"""orrery.training: a training loop that reports, saves, stops where all agree, and continues."""
import contextlib
import math
import os
import signal
import sys
import threading
import time
from typing import Any, Dict, Iterator, Mapping, Optional, Union

from . import randomness
from .checkpoint import Checkpoints
from .errors import DataLoss, Error, FailedPrecondition, InvalidArgument
from .loader import AnyIterable, Loader, of_torch, piece_of, samples_in
from .metrics import Metrics
from .randomness import loaded
from .speaker import Speaker

STATE_VERSION = 1
MEASURED = 20  # iterations whose time decides how often a checkpoint is due
CHECKPOINT_S = 600.0  # between two checkpoints, unless the program says how many iterations


def training(model: Any, optimizer: Any, loader: Any, *, epochs: Optional[int] = None,
             iterations: Optional[int] = None, scheduler: Any = None, extra: Optional[Mapping[str, Any]] = None,
             folder: Union[str, "os.PathLike[str]", None] = None, seed: int = 0,
             checkpoint_every: Optional[int] = None, metrics_every: int = 10, ask_every: int = 1) -> "Run":
    """A Run: `with orrery.training(model, optimizer, loader, epochs=10) as run: for batch in run: ...`

    `model`, `optimizer`, `scheduler` and the values of `extra` have state_dict and load_state_dict;
    any but the model may be None. `loader` is a torch DataLoader, an orrery.Loader, or anything
    that can be iterated over again. It ends after `epochs` (usually 1) or `iterations`.

    Checkpoints and metrics.csv go to `folder`: usually that of the job, and outside of Orrery there
    are no checkpoints without it. A checkpoint is written every `checkpoint_every` iterations
    (usually about every ten minutes), at the end and at a stop. `metrics_every`: iterations between
    two rows of metrics. `ask_every`: the scheduler's request to stop is looked at so often.
    """
    for name, value in (("epochs", epochs), ("iterations", iterations), ("checkpoint_every", checkpoint_every),
                        ("metrics_every", metrics_every), ("ask_every", ask_every)):
        if value is not None and value < 1:
            raise InvalidArgument(f"{value}; write 1 or more", name)
    if epochs is not None and iterations is not None:
        raise InvalidArgument("name two ends of the training; leave out one", "epochs and iterations")
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    for name, value in (extra or {}).items():
        parts["extra." + name] = value
    for name, part in parts.items():
        if any(kind.__name__ == "FullyShardedDataParallel" for kind in type(part).__mro__):
            raise InvalidArgument("is sharded over its processes (FSDP), and process 0 alone saves here; use "
                                  "DistributedDataParallel, or orrery.job with checkpoints of your own", name)
        missing = [verb for verb in ("state_dict", "load_state_dict") if not hasattr(part, verb)]
        if missing and (part is not None or name == "model"):
            raise InvalidArgument(f"a {type(part).__name__} has no {missing[0]}, so it cannot be saved", name)
    return Run({name: part for name, part in parts.items() if part is not None}, loader, os.environ,
               epochs=1 if epochs is None and iterations is None else epochs, iterations=iterations,
               folder=None if folder is None else os.fspath(folder), seed=seed,
               checkpoint_every=checkpoint_every, metrics_every=metrics_every, ask_every=ask_every)


class Run:
    """One run of a training. An iteration is a global batch; numbers count earlier runs too."""

    def __init__(self, parts: Dict[str, Any], loader: Any, environment: Mapping[str, str], *, epochs: Optional[int],
                 iterations: Optional[int], folder: Optional[str], seed: int, checkpoint_every: Optional[int],
                 metrics_every: int, ask_every: int) -> None:
        self._parts = parts
        self._given = loader
        self._environment = environment
        self._epochs, self._iterations = epochs, iterations
        self._folder = folder
        self._seed = seed
        self._every = {"checkpoint": checkpoint_every or 0, "metrics": metrics_every, "ask": ask_every}
        self._metric: Dict[str, Any] = {}
        self.last: Dict[str, float] = {}  # metrics as they were last written, by an earlier run perhaps
        self.iteration = 0  # that are done
        self.epoch = 0
        self.samples = 0
        self.rank, self.ranks = 0, 1
        self.weight = 1.0
        self._share = 1.0  # of the present piece in the part of this process
        self.last_of_epoch = False  # this batch is, where the loader has a length
        self.resumed = False  # it continues from a checkpoint
        self.finished = False  # all iterations are done
        self.stopping = False  # it was asked to stop, and the checkpoint is written
        self.stop_reason: Optional[str] = None
        self._window = (0.0, 0)  # time and samples of the last row of metrics
        self._measured = (0, 0.0)  # first iteration of this run, and the time after it
        self._metrics: Optional[Metrics] = None
        self._checkpoints: Optional[Checkpoints] = None
        self._start = 0  # iterations of this epoch that are done
        self._saved = -1
        self._terminated = False
        self._handler: Any = None
        self._random: Optional[Dict[str, Any]] = None

    # ---- the block

    def __enter__(self) -> "Run":
        self._speaker = Speaker(self._environment, self._every["ask"])
        self._gang, self._job = self._speaker.gang, self._speaker.job
        self.rank, self.ranks = self._gang.rank, self._gang.ranks
        try:
            folder = self._folder or self._environment.get("ORRERY_CHECKPOINT_DIR") or None
            self._checkpoints = Checkpoints(folder) if folder else None
            self._loader = self._source()
            self._restore()
            self._metrics = self._open_metrics(folder) if self.rank == 0 else None
            if self.resumed and self._saved > 0:
                self._job.checkpointed(self._saved)
            self._job.progress(self.iteration, self._end(), samples=self.samples or None)
            self._catch_termination()
        except BaseException:
            self._job.close(finished=False)
            raise
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGTERM, self._handler)
        if self._metrics is not None:
            self._metrics.close()
        # A program that left the loop by itself has finished too. It is in the middle of an
        # iteration, so its state is not one to continue from.
        self._job.close(finished=kind is None and not self.stopping)
        if kind is None:
            self._gang.close()
            if self.stop_reason == "terminated":
                raise SystemExit(128 + signal.SIGTERM)

    def __iter__(self) -> Iterator[Any]:
        """Batches of this process, from where the training stands to its end or stop."""
        end = self._end()
        if self._random is not None:
            randomness.set_random_state(self._random)
            self._random = None
        self._window = (time.monotonic(), self.samples)
        self._measured = (self.iteration, 0.0)
        if not self._is_over(end) and self._must_stop():
            return
        while not self._is_over(end):
            epoch = self.epoch
            for part in self._loader.epoch(epoch, self._start, self.rank, self.ranks):
                self.weight = part.weight
                self.last_of_epoch = self._start + 1 == self._length()
                yield part.batch
                self._count(part.samples, end)
                if self._is_over(end):
                    break
                if self._must_stop():
                    return
                if self._every["checkpoint"] and self.iteration % self._every["checkpoint"] == 0:
                    self._save(must=False)
            if self.epoch == epoch and not self._is_over(end):
                self._end_epoch()
        self.finished = True
        self._save()

    # ---- what the program says

    def loss(self, loss: Any) -> Any:
        """Reports the loss of this process's part, and answers it weighted for backward().

        The weight is 1 where all processes have equally many samples. Where they have not, the mean
        of the gradients that DistributedDataParallel takes is still that of the global batch.
        """
        if self._share != 1.0:  # of a piece of the part
            part = (loss.detach() if hasattr(loss, "detach") else loss) * self._share
            self.report(loss=part + self._metric.get("loss", 0.0))
        else:
            self.report(loss=loss)
        weight = self.weight * self._share
        return loss if weight == 1.0 else loss * weight

    def pieces(self, batch: Any, most: int) -> Iterator[Any]:
        """The batch in pieces of at most `most` samples, for a part that does not fit the GPU.

        loss() weights each, so that their gradients add up to that of the batch: step once, after
        the last. DistributedDataParallel exchanges gradients with the last piece alone.
        """
        whole = samples_in(batch)
        for begin in range(0, whole, most):
            end = min(begin + most, whole)
            self._share = (end - begin) / whole
            model = self._parts["model"]
            alone = model.no_sync() if end < whole and hasattr(model, "no_sync") else contextlib.nullcontext()
            with alone:
                yield piece_of(batch, begin, end)
        self._share = 1.0

    def report(self, **metrics: Any) -> None:
        """Metrics of this iteration: numbers, or tensors of one number, read only when written.

        What is written is the mean over all processes.
        """
        self._metric.update(metrics)

    def save(self) -> None:
        """Writes a checkpoint now. All processes must call it after the same iteration."""
        self._save()

    @property
    def checkpoint_dir(self) -> Optional[str]:
        return None if self._checkpoints is None else str(self._checkpoints.folder)

    @property
    def global_batch(self) -> int:
        """Samples of an iteration over all processes; 0: not known."""
        return self._loader.batch

    # ---- length

    def _length(self) -> int:
        try:
            return len(self._loader)
        except TypeError:
            return -1

    def _end(self) -> Optional[int]:
        if self._iterations is not None:
            return self._iterations
        length = self._length()
        return None if length < 0 else length * (self._epochs or 1)

    def _is_over(self, end: Optional[int]) -> bool:
        return self.iteration >= end if end is not None else self.epoch >= (self._epochs or 1)

    def _count(self, samples: int, end: Optional[int]) -> None:
        """One more iteration is done."""
        self.iteration += 1
        self._start += 1
        self.samples += samples
        if self._start == self._length():
            self.epoch, self._start = self.epoch + 1, 0
        self._report(end)
        self._measure()

    def _end_epoch(self) -> None:
        """The batches ended without a length that had said so."""
        if self._start == 0:
            raise FailedPrecondition(f"gives no batch in epoch {self.epoch}", "loader")
        self.epoch, self._start = self.epoch + 1, 0

    # ---- the data

    def _source(self) -> Union[Loader, AnyIterable]:
        if isinstance(self._given, (Loader, AnyIterable)):
            return self._given
        torch = loaded("torch")
        if torch is not None and isinstance(self._given, torch.utils.data.DataLoader):
            return of_torch(self._given, self.ranks, self._seed)
        if iter(self._given) is self._given:
            raise InvalidArgument("can be read only once, so no place in it can be found again; give a list, a "
                                  "DataLoader or an orrery.Loader", "loader")
        return AnyIterable(self._given)

    # ---- checkpoints

    def _restore(self) -> None:
        if self._checkpoints is None:
            return
        found = self._gang.first(self._newest() if self.rank == 0 else None)
        if isinstance(found, Error):
            raise found
        newest, faults = found
        for fault in faults if self.rank == 0 else ():
            _warn(f"{fault}; continues from iteration {newest}")
        if newest is None:
            return
        state, wrong = None, None
        try:
            state = self._checkpoints.load(newest)
        except DataLoss as fault:
            wrong = f"process {self.rank}: {fault}"
        wrongs = [text for text in self._gang.gather(wrong) if text]
        if wrongs or state is None:
            raise DataLoss("not every process can read the checkpoint, which needs a folder that all nodes share ("
                           + "; ".join(wrongs) + ")", str(self._checkpoints.folder))
        self._take(state, f"{self._checkpoints.folder}/iteration-{newest}")
        self._saved = newest
        self.resumed = True

    def _newest(self) -> Any:
        try:
            return self._checkpoints.newest() if self._checkpoints is not None else (None, [])
        except Error as fault:
            return fault

    def _take(self, state: Dict[str, Any], where: str) -> None:
        if state.get("version") != STATE_VERSION:
            raise FailedPrecondition(f"is of version {state.get('version')}, and this program reads {STATE_VERSION}",
                                     where)
        for name in sorted(set(state["parts"]) ^ set(self._parts)):
            held = "holds" if name in state["parts"] else "holds no"
            raise FailedPrecondition(f"{held} {name}, unlike this program; give orrery.training() what it had", where)
        for name, part in self._parts.items():
            try:
                _inner(part).load_state_dict(state["parts"][name])
            except (RuntimeError, ValueError, KeyError, TypeError) as fault:
                raise FailedPrecondition(f"does not fit the {name} ({fault}); go back to the program that wrote it, "
                                         "or name another folder", where) from fault
        self.iteration, self.epoch, self.samples = state["iteration"], state["epoch"], state["samples"]
        self._start, self.last = state["start"], state["last"]
        if isinstance(self._loader, Loader):
            self._loader = self._loader.with_batch(state["batch"] or self._loader.batch)
        same = state["ranks"] == self.ranks
        if not same and not isinstance(self._loader, Loader):
            raise FailedPrecondition(f"was written by {state['ranks']} processes, and this loader has no order that "
                                     f"{self.ranks} could continue; give an orrery.Loader", where)
        if same:
            self._random = state["random"][self.rank]
        else:
            randomness.seed_all(randomness.mix(self._seed + self.iteration * 65537 + self.rank & randomness.MASK))
            self._random = randomness.random_state()

    def _save(self, must: bool = True) -> None:
        if self._checkpoints is None or self._saved == self.iteration:
            return
        random = self._gang.gather(randomness.random_state())
        fault: Optional[Error] = None
        if self.rank == 0:
            state = {"version": STATE_VERSION, "iteration": self.iteration, "epoch": self.epoch, "start": self._start,
                     "samples": self.samples, "last": self.last, "ranks": self.ranks, "batch": self._loader.batch, "random": random,
                     "parts": {name: _inner(part).state_dict() for name, part in self._parts.items()}}
            try:
                self._checkpoints.save(self.iteration, state)
            except Error as error:
                fault = error
        fault = self._gang.first(fault)
        if fault is None:
            self._saved = self.iteration
            self._job.checkpointed(self.iteration)
        elif must:
            raise fault
        elif self.rank == 0:
            _warn(f"{fault}; the checkpoint of iteration {self._saved} stays")

    def _measure(self) -> None:
        """After some iterations process 0 says how many lie between two checkpoints."""
        first, began = self._measured
        if self.iteration == first + 1:  # the first is slower than the others
            self._measured = (first, time.monotonic())
        if self._every["checkpoint"] or self._checkpoints is None or self.iteration != first + MEASURED:
            return
        each_s = (time.monotonic() - began) / (MEASURED - 1)
        self._every["checkpoint"] = self._gang.first(max(1, math.ceil(CHECKPOINT_S / max(each_s, 1e-6))))

    # ---- stopping

    def _must_stop(self) -> bool:
        self.stop_reason = self._speaker.reason_to_stop(self.iteration, self._terminated)
        if self.stop_reason is None:
            return False
        self._save()
        self.stopping = True
        return True

    def _catch_termination(self) -> None:
        """SIGTERM ends the run after the iteration, with a checkpoint, where one process decides.

        Several processes get it after different iterations, and have no agreement then.
        """
        if self.ranks > 1 and self._gang.own_socket:
            return
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._handler = signal.signal(signal.SIGTERM, self._on_termination)

    def _on_termination(self, number: int, frame: Any) -> None:
        self._terminated = True

    # ---- reports

    def _open_metrics(self, folder: Optional[str]) -> Optional[Metrics]:
        try:
            if folder is None:
                return Metrics("orrery-metrics.csv", self.iteration)
            return Metrics(os.path.join(folder, "metrics.csv"), self.iteration, os.path.join(folder, "tensorboard"))
        except OSError as fault:
            _warn(f"{folder or '.'}: no metrics can be written there ({fault.strerror}); the training goes on without")
            return None

    def _report(self, end: Optional[int]) -> None:
        metric, self._metric = self._metric, {}
        now = time.monotonic()
        if not (self._is_over(end) or self.iteration % self._every["metrics"] == 0):
            self._job.progress(self.iteration, end, samples=self.samples or None)
            return
        self.last = self._mean({name: _float(name, value) for name, value in metric.items()})
        self._job.progress(self.iteration, end, loss=self.last.get("loss"), samples=self.samples or None)
        if self._metrics is None:
            return
        began, samples = self._window
        row: Dict[str, Any] = {"iteration": self.iteration, "epoch": self.epoch, "time_s": f"{time.time():.3f}"}
        if samples != self.samples:
            row["samples"] = self.samples
            row["samples_per_s"] = round((self.samples - samples) / max(now - began, 1e-9), 3)
        row.update(self.last)
        try:
            self._metrics.write(row)
        except OSError as fault:
            _warn(f"{self._metrics.path}: no more metrics can be written ({fault.strerror}); the training goes on without")
            self._metrics = None
        self._window = (now, self.samples)

    def _mean(self, values: Dict[str, float]) -> Dict[str, float]:
        """Over all processes, each with the weight of its part of the batch."""
        if self.ranks == 1:
            return values
        found = [(weight, of) for weight, of in self._gang.gather((self.weight, values)) if weight]
        return {name: sum(weight * of.get(name, math.nan) for weight, of in found) / self.ranks for name in values}


def _inner(part: Any) -> Any:
    """A model without its DistributedDataParallel, so that it loads with and without."""
    torch = loaded("torch")
    if torch is not None and torch.distributed.is_available():
        if isinstance(part, torch.nn.parallel.DistributedDataParallel):
            return part.module
    return part


def _float(name: str, value: Any) -> float:
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidArgument(f"{value!r} is no number", f"report({name}=...)") from None


def _warn(text: str) -> None:
    print(f"orrery: {text}", file=sys.stderr, flush=True)
