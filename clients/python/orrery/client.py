"""A client of a running scheduler: submit, status, wait, logs, cancel, events, whatif, nodes."""
import dataclasses
import json
import os
import secrets
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, TextIO, TypeVar, Union

from . import connection, messages
from .errors import Aborted, DeadlineExceeded, NotFound, Unavailable
from .jobspec import Jobs, JobSpec, Time, job_numbers, nanoseconds
from .messages import A, Call, JobStatus, NodeStatus, Q, SubmitAnswer
from .table import Table

R = TypeVar("R")

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
ONE_WAIT_S = 1.0  # how long one call waits for news: Ctrl-C is answered after that
APART_S = 0.05
FOR_EVER_S = float("inf")


class JobFailed(Aborted):
    """A job that was waited for is not Done. `jobs` are those that are not."""

    def __init__(self, message: str, jobs: "Table[JobStatus]") -> None:
        super().__init__(message)
        self.jobs = jobs


@dataclasses.dataclass(frozen=True)
class Event:
    """One event of the scheduler's log; `fields` is the line as docs/formats/events.md has it."""

    fields: Mapping[str, Any]
    line: str


@dataclasses.dataclass(frozen=True)
class Forecast:
    """A what-if answer: for people, and with the fields of docs/formats/whatif.md."""

    text: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text


class Client:
    """Finds the scheduler as the command line does.

    `state` (or ORRERY_STATE) is the state directory of one on this machine, `server` is HOST:PORT of
    another, with the certificate that `orrery join` left in `credentials`.

    A call that gets no answer is repeated for `patience` seconds, so a restart of the scheduler is
    not seen; a submission has a key and stays one. wait(), logs() and events() that had an answer go
    on for as long as it takes, or until their `timeout`. One answer may take `timeout` seconds.
    An object serves one thread at a time.
    """

    def __init__(self, state: Union[str, "os.PathLike[str]", None] = None, *, server: Optional[str] = None,
                 credentials: Union[str, "os.PathLike[str]", None] = None, timeout: float = 30.0,
                 patience: float = 6.0) -> None:
        self._timeout = timeout
        self._patience = patience
        self._connection = connection.find(os.fspath(state) if state else None, server,
                                           os.fspath(credentials) if credentials else None, os.environ)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"orrery.Client({self._connection.where!r})"

    def close(self) -> None:
        self._connection.close()

    def submit(self, job: Union[JobSpec, Sequence[Union[str, "os.PathLike[str]"]]],
               **properties: Any) -> SubmitAnswer:
        """Answers once the job is on disk: submit(["python3", "train.py"], gpus=2, time="2h")."""
        request = messages.SubmitRequest(_spec(job, properties).request(), secrets.token_hex(16))
        return self._ask(messages.SUBMIT, request)

    def status(self, jobs: Optional[Jobs] = None, *, finished: bool = True, user: str = "",
               limit: Optional[int] = None, predict: bool = False) -> "Table[JobStatus]":
        """All jobs, or those that are named; `predict`: with the start of those that wait."""
        numbers = () if jobs is None else job_numbers(jobs)
        if jobs is not None and not numbers:
            return Table()
        request = messages.StatusRequest(numbers, finished, user, limit, predict)
        answer = self._ask(messages.STATUS, request)
        if len(numbers) > len(answer.jobs):
            missing = sorted(set(numbers) - {job.id for job in answer.jobs})
            if missing:
                raise NotFound(f"there is no job {missing[0]}")
        return Table(answer.jobs)

    def job(self, job: Union[int, SubmitAnswer]) -> JobStatus:
        """All about one job, with the predicted start of one that waits."""
        return self.status(job, predict=True)[0]

    def wait(self, jobs: Jobs, timeout: Optional[float] = None, *, check: bool = True) -> "Table[JobStatus]":
        """Returns when all these jobs have ended for good; JobFailed if one is not Done and `check`."""
        numbers = job_numbers(jobs)
        end = _end(timeout)
        patience = self._patience
        next_event = self._news_from()
        while True:
            found = self._ask_for(min(patience, end - time.monotonic()), lambda: self.status(numbers))
            patience = FOR_EVER_S
            open_jobs = [job.id for job in found if not job.final]
            if not open_jobs:
                break
            if time.monotonic() >= end:
                raise DeadlineExceeded(f"{_some(open_jobs)} not ended within {timeout:g} s; cancel() would end it")
            next_event = self._wait_for_news(next_event, min(end, time.monotonic() + 10.0))
        bad: "Table[JobStatus]" = Table(job for job in found if job.state != "Done")
        if bad and check:
            more = "" if len(bad) == 1 else f", and {len(bad) - 1} more"
            raise JobFailed(f"job {bad[0].id} {bad[0].state}: {bad[0].reason}{more}", bad)
        return found

    def logs(self, job: Union[int, SubmitAnswer], *, rank: int = 0, follow: bool = False, errors: bool = False,
             timeout: Optional[float] = None) -> Iterator[bytes]:
        """The output of a job in pieces; `follow`: until it has ended for good."""
        (number,) = job_numbers(job)
        end = _end(timeout)
        request = messages.LogsRequest(number, rank, errors=errors)
        patience = self._patience
        while True:
            left = end - time.monotonic()
            wait = int(max(0.0, min(ONE_WAIT_S, left)) * 1e9) if follow else 0
            request = dataclasses.replace(request, wait_ns=wait)
            answer = self._ask_for(min(patience, left), lambda: self._once(messages.LOGS, request))
            patience = FOR_EVER_S if follow else patience
            request = dataclasses.replace(request, offset=answer.next, node=answer.node)
            if answer.bytes_:
                yield answer.bytes_
            elif answer.ended or not follow:
                return
            elif left <= 0:
                raise DeadlineExceeded(f"job {number} not ended within {timeout:g} s; follow it again")
            else:
                time.sleep(APART_S)
            if answer.ended:
                return

    def text(self, job: Union[int, SubmitAnswer], *, rank: int = 0, errors: bool = False) -> str:
        """The output of a job so far."""
        return b"".join(self.logs(job, rank=rank, errors=errors)).decode("utf-8", "replace")

    def follow(self, job: Union[int, SubmitAnswer], *, rank: int = 0, to: Optional[TextIO] = None) -> None:
        """Writes the output of a job to `to`, usually standard output, until it has ended."""
        for piece in self.logs(job, rank=rank, follow=True):
            (to or sys.stdout).write(piece.decode("utf-8", "replace"))

    def cancel(self, jobs: Jobs) -> List[int]:
        """Ends these jobs; those that it answers had not ended already."""
        return list(self._ask(messages.CANCEL, messages.CancelRequest(job_numbers(jobs))).cancelled)

    def nodes(self) -> "Table[NodeStatus]":
        return Table(self._ask(messages.NODES, messages.Nothing()).nodes)

    def events(self, start: Optional[int] = None, *, follow: bool = False,
               timeout: Optional[float] = None) -> Iterator[Event]:
        """Events in order, from number `start`; a negative one counts from the end.

        `follow`: for ever, or until `timeout`; it begins with the last ten.
        """
        end = _end(timeout)
        at = (-10 if follow else 0) if start is None else start
        patience = self._patience
        while True:
            left = end - time.monotonic()
            wait = int(max(0.0, min(ONE_WAIT_S, left)) * 1e9) if follow else 0
            request = messages.EventsRequest(at, wait_ns=wait)
            answer = self._ask_for(min(patience, left), lambda: self._once(messages.EVENTS, request))
            patience = FOR_EVER_S if follow else patience
            for line in answer.lines:
                yield Event(json.loads(line), line)
            at = answer.next
            if not answer.lines:
                if not follow or left <= 0:
                    return
                time.sleep(APART_S)

    def whatif(self, job: Union[JobSpec, Mapping[str, Any], None] = None, *, nodes: int = 0,
               policy: str = "") -> Forecast:
        """When would this job start? whatif({"gpus": 4, "time": "2h"}), also under another policy."""
        request = None
        if job is not None:
            spec = job if isinstance(job, JobSpec) else JobSpec(["job"], **job)
            request = spec.request()
        answer = self._ask(messages.WHATIF, messages.WhatIfRequest(request, nodes, policy))
        return Forecast(answer.text, json.loads(answer.json or "{}"))

    def _once(self, call: "Call[Q, A]", request: Q) -> A:
        wait_s = getattr(request, "wait_ns", 0) / 1e9
        return self._connection.call(call, request, self._timeout + wait_s)

    def _ask(self, call: "Call[Q, A]", request: Q) -> A:
        return self._ask_for(self._patience, lambda: self._once(call, request))

    def _ask_for(self, most: float, question: Callable[[], R]) -> R:
        """Asks again for `most` seconds while there is no answer, waiting longer each time."""
        end = time.monotonic() + most
        pause = FIRST_PAUSE_S
        while True:
            try:
                return question()
            except (Unavailable, DeadlineExceeded):
                left = end - time.monotonic()
                if left <= 0:
                    raise
                time.sleep(min(pause, left))
                pause = min(2 * pause, LONGEST_PAUSE_S)

    def _news_from(self) -> int:
        return int(self._ask(messages.EVENTS, messages.EventsRequest(-1, 1)).next)

    def _wait_for_news(self, at: int, until: float) -> int:
        """Comes back when there is news or time is up; answers where the next news begin."""
        while True:
            left = until - time.monotonic()
            if left <= 0:
                return at
            try:
                request = messages.EventsRequest(at, wait_ns=int(min(left, ONE_WAIT_S) * 1e9))
                answer = self._once(messages.EVENTS, request)
            except (Unavailable, DeadlineExceeded):
                time.sleep(min(left, ONE_WAIT_S))
                return at
            time.sleep(min(left, APART_S))
            at = answer.next
            if answer.lines:
                return at


def _spec(job: Union[JobSpec, Sequence[Union[str, "os.PathLike[str]"]]], properties: Dict[str, Any]) -> JobSpec:
    if isinstance(job, JobSpec):
        return dataclasses.replace(job, **properties)
    return JobSpec(job, **properties)


def _end(timeout: Optional[float]) -> float:
    return FOR_EVER_S if timeout is None else time.monotonic() + timeout


def _some(jobs: Sequence[int]) -> str:
    return f"job {jobs[0]} has" if len(jobs) == 1 else f"{len(jobs)} jobs have"


__all__ = ["Client", "Event", "Forecast", "JobFailed", "Time", "nanoseconds"]
