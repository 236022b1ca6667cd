"""Talks to Orrery from inside a job: progress, checkpoints, and where to stop.

    import orrery.job

    with orrery.job.connect() as job:
        start = load(job.checkpoint_dir) if job.resumed else 0
        for step in job.steps(range(start, 1000)):
            train(step)
        if job.stopping:
            save(job.checkpoint_dir, job.done)
            job.checkpointed(job.done)

One file, standard library only; it also works alone, copied beside your program. Outside Orrery
everything here does nothing, and should_stop() is always False. No call raises because the agent is
away: a thread connects again by itself and says what is still true. The one call that can wait is
should_stop(), and only between the scheduler's question and its answer, HOLD_S at most.

An iteration's number is how many are done since the job first began, earlier runs included; all
ranks count alike. The lines on the socket are described in docs/formats/job-protocol.md.
"""
import contextlib
import json
import math
import os
import select
import socket
import threading
import time
import traceback
from types import TracebackType
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type,
                    TypeVar)

V = TypeVar("V")
Message = Dict[str, Any]
OnResize = Callable[[int, int], object]

VERSION = 1
HOLD_S = 30.0  # how long a rank waits for the others' agreement
PROGRESS_S = 0.1  # between two messages of progress; what came last is what is sent
RETRY_S = (0.05, 5.0)  # between two attempts to connect: first, longest
LONGEST_LINE = 64 * 1024
KINDS = ("progress", "checkpointed", "can_stop_at", "bye")


def connect(every: int = 1) -> "Job":
    """The Job of this process. `every`: should_stop() asks after each `every` iterations."""
    return Job(os.environ, every)


class Job:
    """All methods may be called from any thread. In a forked child they do nothing."""

    def __init__(self, environment: Mapping[str, str], every: int = 1) -> None:
        self.checkpoint_dir = environment.get("ORRERY_CHECKPOINT_DIR") or None
        self.resumed = environment.get("ORRERY_RESUMED") == "1"
        self.rank = _number(environment.get("ORRERY_RANK"), 0)
        self.ranks = _number(environment.get("ORRERY_RANKS"), 1)
        self.epoch = _number(environment.get("ORRERY_EPOCH"), 0)
        self.stop_reason: Optional[str] = None  # preempt, resize, drain or cancel, once there is one
        self.error: Optional[str] = None  # why the agent does not want to hear this process any more
        self._every = max(1, every)
        self._path = environment.get("ORRERY_SOCKET") or None
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._done: Optional[int] = None  # as should_stop() or progress() last said
        self._asks = False  # the program asks should_stop(), so it can promise something
        self._asked = False  # the agent wants to know where this rank can stop
        self._promise: Optional[int] = None
        self._stop_at: Optional[int] = None
        self._stopping = False
        self._resize: Optional[Tuple[int, int]] = None
        self._on_resize: Optional[OnResize] = None
        self._outbox: Dict[str, Message] = {}  # kind -> message; one of each, the newest
        self._said: Dict[str, Message] = {}  # what is said again on a new connection
        self._connected = False
        self._closing = False
        self._thread: Optional[threading.Thread] = None
        if self._path:
            self._wake_read, self._wake_write = os.pipe()
            os.set_blocking(self._wake_read, False)
            os.set_blocking(self._wake_write, False)
            self._thread = threading.Thread(target=self._run, name="orrery", daemon=True)
            self._thread.start()

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close(finished=kind is None and not self._stopping)

    @property
    def connected(self) -> bool:
        return self._connected

    @property
    def done(self) -> int:
        """Iterations done, as last reported to this object."""
        return self._done or 0

    @property
    def stopping(self) -> bool:
        """should_stop() or steps() has said to stop: save a checkpoint and leave."""
        return self._stopping

    def progress(self, done: int, of: Optional[int] = None, loss: Optional[float] = None,
                 samples: Optional[float] = None) -> None:
        """`done` iterations are done, of `of` in all. One that went further is at its end."""
        message = {"kind": "progress", "iteration": int(done)}
        if of is not None:
            message["of"] = max(int(of), int(done))
        for key, value in (("loss", loss), ("samples", samples)):
            if value is not None and math.isfinite(value):
                message[key] = float(value)
        if os.getpid() != self._pid:
            return
        with self._changed:
            self._done = max(self._done or 0, int(done))
            self._say(message)

    def checkpointed(self, done: int) -> None:
        """The state after `done` iterations is safe in checkpoint_dir."""
        if not self._alive():
            return
        with self._changed:
            self._say({"kind": "checkpointed", "iteration": int(done)})

    def should_stop(self, done: int) -> bool:
        """Asked when `done` iterations are done: True when all ranks stop here."""
        if not self._alive():
            return False
        with self._changed:
            self._done = max(self._done or 0, int(done))
            self._asks = True
            if self._asked and self._promise is None:
                self._answer(done)
            if self._promise is not None and done >= self._promise:
                self._hold()
            if self._stop_at is not None and done >= self._stop_at:
                self._stopping = True
            return self._stopping

    def steps(self, iterable: Iterable[V], start: Optional[int] = None, of: Optional[int] = None) -> Iterator[V]:
        """The values of `iterable`, as long as the job shall go on; reports progress after each.

        The first value is the iteration after `start`. A plain range(a, b) starts at a, of b.
        """
        counted: object = iterable
        plain = counted if isinstance(counted, range) and counted.step == 1 else None
        done = start if start is not None else plain.start if plain is not None else 0
        of = plain.stop if of is None and plain is not None else of
        if self.should_stop(done):
            return
        for value in iterable:
            yield value
            done += 1
            self.progress(done, of)
            if done % self._every == 0 and self.should_stop(done):
                return

    def on_resize(self, callback: Optional[OnResize]) -> None:
        """callback(gpus, ranks), in another thread, when the job's next start has another size."""
        with self._changed:
            self._on_resize = callback
            notice = self._resize
        if callback and notice:
            callback(*notice)

    def close(self, finished: bool = False) -> None:
        """Says what is still to be said, and goodbye. `finished`: the job's work is done."""
        if not self._alive() or self._closing or self._thread is None:
            return
        with self._changed:
            self._outbox["bye"] = {"kind": "bye", "finished": bool(finished)}
            self._closing = True
            self._changed.notify_all()
        self._wake()
        self._thread.join(2.0)
        if not self._thread.is_alive():
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _alive(self) -> bool:
        return self._thread is not None and os.getpid() == self._pid

    def _say(self, message: Message) -> None:
        if self._alive() and not self._closing:
            self._outbox[message["kind"]] = message
            self._wake()

    def _wake(self) -> None:
        try:
            os.write(self._wake_write, b".")
        except BlockingIOError:
            pass  # full, which wakes as well

    def _answer(self, earliest: int) -> None:
        self._promise = int(earliest)
        self._say({"kind": "can_stop_at", "iteration": self._promise})

    def _hold(self) -> None:
        """Waits where this rank promised to wait; going on could leave the others in a collective."""
        deadline = time.monotonic() + HOLD_S
        while self._stop_at is None and self.error is None and not self._closing:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._changed.wait(left)
        if self._stop_at is None:
            self._promise = None
            self._asked = False
            self._said.pop("can_stop_at", None)

    def _heard(self, message: Message) -> Optional[OnResize]:
        kind = message.get("kind")
        if kind == "error":
            self.error = str(message.get("message", "closed by the agent"))
            self._changed.notify_all()
        elif kind == "prepare_stop":
            self._asked = True
            if self._promise is not None:
                self._answer(self._promise)
            elif self._asks:
                self._answer((self.done // self._every + 1) * self._every)
        elif kind == "stop_at" and isinstance(message.get("iteration"), int):
            self._stop_at = message["iteration"]
            self.stop_reason = message.get("reason")
            self._changed.notify_all()
        elif kind == "resize":
            self._resize = (_number(message.get("gpus"), 0), _number(message.get("ranks"), 0))
            return self._on_resize
        elif kind == "welcome":
            self._connected = True
            self.checkpoint_dir = self.checkpoint_dir or message.get("checkpoint_dir") or None
        return None

    def _run(self) -> None:
        wait = RETRY_S[0]
        while self.error is None:
            connection = self._dial()
            if connection is not None:
                with connection:
                    if self._talk(connection):
                        wait = RETRY_S[0]
            self._connected = False
            if self._closing or self.error is not None:
                return
            self._pause(wait)
            wait = min(2 * wait, RETRY_S[1])

    def _pause(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._closing and time.monotonic() < deadline:
            select.select([self._wake_read], [], [], max(0.0, deadline - time.monotonic()))
            self._drain_wake()

    def _drain_wake(self) -> None:
        try:
            os.read(self._wake_read, 4096)
        except OSError:
            pass

    def _dial(self) -> Optional[socket.socket]:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(1.0)
            connection.connect(self._path or "")
        except (OSError, ValueError):
            connection.close()
            return None
        connection.setblocking(False)
        return connection

    def _talk(self, connection: socket.socket) -> bool:
        """One connection to its end; whether the agent was there."""
        hello = [{"kind": "hello", "version": VERSION, "rank": self.rank}]
        with self._changed:
            unsent = _lines(hello + [m for m in self._said.values() if m["kind"] not in self._outbox])
        received = b""
        next_progress = 0.0
        welcome = False
        while True:
            with self._changed:
                due = not unsent and time.monotonic() >= next_progress
                if due or self._closing:
                    unsent += self._take_outbox(KINDS)
                    next_progress = time.monotonic() + PROGRESS_S
                elif not unsent:
                    unsent = self._take_outbox(("can_stop_at",))  # the others wait for it
                waiting = bool(self._outbox)
                over = self._closing and not unsent
            if over:
                return True
            left = max(0.0, next_progress - time.monotonic()) if waiting else None
            try:
                readers, writers, _ = select.select(
                    [connection, self._wake_read], [connection] if unsent else [], [], left
                )
                if self._wake_read in readers:
                    self._drain_wake()
                if writers:
                    unsent = unsent[connection.send(unsent) :]
                if connection in readers:
                    piece = connection.recv(4096)
                    if not piece:
                        return welcome
                    received = self._hear_lines(received + piece)
                    welcome = welcome or self._connected
            except (BlockingIOError, InterruptedError):
                continue
            except (OSError, ValueError):
                return welcome
            if self.error is not None or len(received) > LONGEST_LINE:
                return welcome

    def _take_outbox(self, kinds: Sequence[str]) -> bytes:
        messages = [self._outbox.pop(kind) for kind in kinds if kind in self._outbox]
        self._said.update((message["kind"], message) for message in messages)
        return _lines(messages)

    def _hear_lines(self, received: bytes) -> bytes:
        *lines, rest = received.split(b"\n")
        for line in lines:
            try:
                message = json.loads(line.decode("utf-8"))
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            with self._changed:
                callback = self._heard(message)
            if callback and self._resize:
                try:
                    callback(*self._resize)
                except Exception:  # the program's own, which must not end this thread
                    traceback.print_exc()
        return rest


class StepTrace:
    """What this rank does in each training step, for `orrery stragglers analyse`.

        trace = orrery_job.StepTrace("steps", job.rank)
        for step in job.steps(range(1000)):
            with trace.operation(step, "compute"):
                loss.backward()
            with trace.operation(step, "gradient-all-reduce"):
                all_reduce(gradients)
        trace.close()

    Each rank writes PREFIX.RANK.csv; `cat PREFIX.*.csv > steps.csv` makes one trace of them. Clocks
    of the ranks' machines should agree. docs/formats/step-trace.md lists the operations; wait for
    the GPU before an operation ends, or its time is that of its launch.
    """

    COLUMNS = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc"

    def __init__(self, prefix: str, rank: int = 0) -> None:
        self._rank = rank
        self._step: Optional[int] = None
        self._counts: Dict[str, int] = {}  # of each operation in this step
        self._file = open("%s.%d.csv" % (prefix, rank), "w")
        if rank == 0:
            self._file.write(self.COLUMNS + "\n")

    @contextlib.contextmanager
    def operation(self, step: int, name: str) -> Iterator[None]:
        """Times the block as this operation of this step. What raises is not recorded."""
        start, before = time.time(), time.perf_counter()
        yield
        self.add(step, name, start, time.perf_counter() - before)

    def add(self, step: int, name: str, start: float, duration: float) -> None:
        """An operation that was timed otherwise: seconds since the epoch, and seconds."""
        if step != self._step:
            self._step, self._counts = step, {}
        number = self._counts.get(name, 0)
        self._counts[name] = number + 1
        self._file.write("%d,0,%d,%d,%s,%.9f,%.9f,%d,-1,-1,-1\n" % (
            self._rank, self._rank, step, name, start, max(0.0, duration), number))

    def close(self) -> None:
        self._file.close()


def _number(text: Any, otherwise: int) -> int:
    try:
        return int(text)
    except (TypeError, ValueError):
        return otherwise


def _lines(messages: List[Message]) -> bytes:
    return b"".join(json.dumps(message).encode("utf-8") + b"\n" for message in messages)
