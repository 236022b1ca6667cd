"""What a user asks for, under the names that `orrery submit` and the job file have."""
import dataclasses
import datetime
import os
import re
import signal as signals
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import InvalidArgument
from .messages import JobRequest, SubmitAnswer, Variable

Time = Union[float, int, str, datetime.timedelta]
Jobs = Union[int, SubmitAnswer, Iterable[int]]

UNITS_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "": 1.0}
POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}
NODE_TIMEOUT_MAX_NS = 24 * 365 * 100 * 3600 * 10**9  # "never"
PASSED_ON = ("PATH", "HOME", "USER", "LANG")


@dataclasses.dataclass(frozen=True)
class JobSpec:
    """A job to be. Times are seconds, a timedelta, or text such as "90s", "15m", "2h" or "7d".

    docs/formats/job-file.md describes each property; `-` in a name there is `_` here.
    """

    command: Sequence[Union[str, "os.PathLike[str]"]]
    name: str = ""
    user: str = ""
    tenant: str = ""
    gpus: Optional[int] = None
    gpu_type: str = ""
    elastic: Union[str, Tuple[int, int], None] = None  # fewest and most: (1, 8) or "1..8"
    cpus: Optional[float] = None
    memory: Optional[str] = None  # "16G"
    time: Optional[Time] = None
    time_limit: Optional[Time] = None
    signal: Optional[str] = None  # "USR1@60s": ahead of the time limit
    profile: str = ""
    deadline: Optional[Time] = None
    soft: bool = False
    priority: int = 0
    array: Union[str, Iterable[int], None] = None  # "1-100", or numbers
    after: Optional[Jobs] = None
    retries: int = 0
    per: str = "node"  # "gpu": a process for each GPU
    grace: Optional[Time] = None
    node_timeout: Optional[Time] = None  # or "never"
    dir: Optional[str] = None
    private_tmp: bool = False
    output: str = ""
    error: str = ""
    export: Union[str, None] = None  # "ALL": the whole environment of this process; "NONE"
    checkpoint_dir: str = ""
    env: Optional[Mapping[str, object]] = None

    def request(self) -> JobRequest:
        """As the scheduler takes it, with what this process adds: its directory and variables."""
        if isinstance(self.command, (str, bytes)):
            raise InvalidArgument("write the program and its arguments as a list, such as ['python3', "
                                  "'train.py']; no shell is between", "command")
        least, most = _elastic(self.elastic)
        before = _signal(self.signal)
        folder = os.path.abspath(self.dir or ".")
        return JobRequest(
            argv=tuple(os.fspath(word) for word in self.command),
            environment=self._variables(),
            directory=folder,
            name=self.name, user=self.user, tenant=self.tenant,
            gpus=self.gpus if self.gpus is not None or not most else least,
            gpus_min=least, gpus_max=most,
            cpu_milli=0 if self.cpus is None else _cpus(self.cpus),
            memory_bytes=0 if self.memory is None else _memory(self.memory),
            gpu_type=self.gpu_type, model=self.profile,
            expected_ns=_ns("time", self.time),
            deadline_ns=None if self.deadline is None else _ns("deadline", self.deadline),
            deadline_is_soft=self.soft, priority=self.priority,
            after=_jobs(self.after), retries=self.retries, process_per_gpu=_per_gpu(self.per),
            grace_ns=None if self.grace is None else _ns("grace", self.grace),
            output=_absolute(self.output), errors=_absolute(self.error),
            checkpoint_directory=_absolute(self.checkpoint_dir),
            array=_numbers("array", self.array),
            time_limit_ns=_ns("time_limit", self.time_limit),
            signal=before[0], signal_before_ns=before[1], private_tmp=self.private_tmp,
            node_timeout_ns=(NODE_TIMEOUT_MAX_NS if self.node_timeout == "never"
                             else _ns("node_timeout", self.node_timeout)))

    def _variables(self) -> Tuple[Variable, ...]:
        if self.export not in (None, "ALL", "NONE"):
            raise InvalidArgument(f"{self.export!r}: write 'ALL' or 'NONE', and variables as env={{...}}", "export")
        found: Dict[str, str] = {}
        for name, value in os.environ.items():
            if self.export == "ALL" or self.export is None and (name in PASSED_ON or name.startswith("LC_")):
                found[name] = value
        for name, given in (self.env or {}).items():
            if not name or "=" in name:
                raise InvalidArgument(f"{name!r} is no name of a variable", "env")
            found[name] = str(given)
        return tuple(Variable(name, found[name]) for name in sorted(found))


def nanoseconds(name: str, value: Time) -> int:
    """A length of time in nanoseconds."""
    seconds = None
    if isinstance(value, datetime.timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str):
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(d|h|m|s|ms|)", value)
        seconds = float(found.group(1)) * UNITS_S[found.group(2)] if found else None
    if seconds is None or not 0 <= seconds <= 3.2e9:
        raise InvalidArgument(f"{value!r} is no length of time; write 90, '90s', '15m', '2h' or '7d'", name)
    return round(seconds * 1e9)


def _ns(name: str, value: Optional[Time]) -> int:
    return 0 if value is None else nanoseconds(name, value)


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path else ""


def _cpus(cpus: float) -> int:
    if not 0.001 <= cpus <= 100_000:
        raise InvalidArgument(f"{cpus!r}: write a number of CPUs such as 8 or 0.5", "cpus")
    return round(cpus * 1000)


def _memory(memory: str) -> int:
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)([KMGT])(B|iB|)", str(memory))
    if not found:
        raise InvalidArgument(f"{memory!r} is no amount of memory; write '500M', '16G' or '1.5T'", "memory")
    unit: int = (1000 if found.group(3) == "B" else 1024) ** POWERS[found.group(2)]
    return round(float(found.group(1)) * unit)


def _elastic(elastic: Union[str, Tuple[int, int], None]) -> Tuple[int, int]:
    if elastic is None:
        return 0, 0
    if isinstance(elastic, str):
        found = re.fullmatch(r"(\d+)\.\.(\d+)", elastic)
        bounds = [int(found.group(1)), int(found.group(2))] if found else []
    else:
        bounds = list(elastic)
    if len(bounds) != 2 or not 1 <= bounds[0] <= bounds[1]:
        raise InvalidArgument(f"{elastic!r}: write the fewest and the most GPUs, such as '1..8'", "elastic")
    return bounds[0], bounds[1]


def _numbers(name: str, numbers: Union[str, Iterable[int], None]) -> Tuple[int, ...]:
    if numbers is None:
        return ()
    if not isinstance(numbers, str):
        return tuple(numbers)
    found: List[int] = []
    for part in numbers.split(","):
        span = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        if not span or int(span.group(3) or 1) < 1 or len(found) > 100_000:
            raise InvalidArgument(f"{numbers!r}: write numbers such as '1-100', '1,3,5-9' or '0-100:10'", name)
        first = int(span.group(1))
        last = int(span.group(2) or first)
        if last - first > 10_000_000:
            raise InvalidArgument(f"{numbers!r} is more than 100000 numbers", name)
        found.extend(range(first, last + 1, int(span.group(3) or 1)))
    return tuple(found)


def _jobs(jobs: Optional[Jobs]) -> Tuple[int, ...]:
    return () if jobs is None else job_numbers(jobs)


def job_numbers(jobs: Jobs) -> Tuple[int, ...]:
    """The numbers of one job, of a submission, or of several jobs."""
    if isinstance(jobs, SubmitAnswer):
        return jobs.ids
    found = (jobs,) if isinstance(jobs, int) else tuple(jobs)
    for job in found:
        if isinstance(job, bool) or not isinstance(job, int) or job < 1:
            raise InvalidArgument(f"there is no job {job!r}; they are numbered from 1")
    return found


def _per_gpu(per: str) -> bool:
    if per not in ("gpu", "node"):
        raise InvalidArgument(f"{per!r}: write 'gpu' (a process for each) or 'node'", "per")
    return per == "gpu"


def _signal(text: Optional[str]) -> Tuple[int, int]:
    if text is None:
        return 0, 0
    word, _, before = text.partition("@")
    number = int(word) if word.isdigit() else getattr(
        signals, word if word.startswith("SIG") else "SIG" + word, None)
    if not isinstance(number, int) or not 1 <= number <= 64:
        raise InvalidArgument(f"{text!r} is no signal; write 'USR1@60s', 'TERM@2m' or '10@90s'", "signal")
    return int(number), nanoseconds("signal", before or "60s")
